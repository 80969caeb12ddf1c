internal import Synchronization

/// A signed-in user of the server, with the authentication token for requests.
///
/// Store it where secrets are stored, and set it as ``SyncClient/currentUser`` after a restart.
public struct SignedInUser: Sendable, Hashable, Codable {
    /// The user's identifier on the server, such as `sid:…`.
    public var userID: String
    /// The server's token, sent as `X-ZUMO-AUTH`. It never appears in a description, log, or error of this package.
    public var authenticationToken: String

    /// Creates a user with a token from the server.
    public init(userID: String, authenticationToken: String) {
        self.userID = userID
        self.authenticationToken = authenticationToken
    }
}

extension SignedInUser: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "SignedInUser(userID: \(userID.debugDescription))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["userID": userID]) }
}

/// Stores the current user of a client.
final class Account: Sendable {
    private let current = Mutex<SignedInUser?>(nil)

    var user: SignedInUser? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
