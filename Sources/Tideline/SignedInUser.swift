internal import Synchronization

/// A user who is signed in to the server, with the token that signs the requests in.
///
/// Keep it where secrets are kept, and set it as ``SyncClient/currentUser`` after a restart.
public struct SignedInUser: Sendable, Hashable, Codable {
    /// The server's name of the user, such as `sid:…`.
    public var userID: String
    /// The server's token, sent as `X-ZUMO-AUTH`. No description, log or error of this package shows it.
    public var authenticationToken: String

    /// A user with a token of the server's.
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

/// The user of a client's requests.
final class Account: Sendable {
    private let current = Mutex<SignedInUser?>(nil)

    var user: SignedInUser? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
