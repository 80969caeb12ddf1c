internal import Synchronization
internal import TidelineStore

/// A signed-in user of the server, with the authentication token for requests.
///
/// Store it where secrets are stored, and set it as ``SyncClient/currentUser`` after a restart.
public struct SignedInUser: Sendable, Hashable, Codable {
    /// The user's identifier on the server, such as `sid:…`.
    public var userID: String
    /// The server's token, sent as `X-ZUMO-AUTH`, or as ``CustomDialect/authentication(token:)`` returns it. It never
    /// appears in a description, log, or error of this package.
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
    private struct State {
        var user: SignedInUser?
        /// Whether the user fits the owner of the store as recorded in `record`.
        var isConfirmed = false
        var record: String?
        /// The epoch in which the record was last read; see ``SyncDatabase/commitEpoch(_:)``.
        var epoch: UInt64?
    }

    private let state = Mutex(State())

    var user: SignedInUser? {
        get { state.withLock { $0.user } }
        set {
            state.withLock { state in
                if !Self.isSame(state.user?.userID, newValue?.userID) { state.isConfirmed = false }
                state.user = newValue
            }
        }
    }

    /// The identifier of the current user.
    var userID: String? { user?.userID }

    static func isSame(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.utf8.elementsEqual(b.utf8)
    }

    // MARK: Owner of the store

    /// Returns whether the current user is known to fit the record of the store's owner in an epoch.
    func isConfirmed(at epoch: UInt64) -> Bool { state.withLock { $0.isConfirmed && $0.epoch == epoch } }

    /// Returns whether the current user is known to fit the record of the store's owner, which was read in an epoch.
    func isConfirmed(_ record: String?, at epoch: UInt64?) -> Bool {
        state.withLock { state in
            guard state.isConfirmed, Self.isSame(state.record, record) else { return false }
            state.epoch = epoch
            return true
        }
    }

    /// Notes that the record is about to change.
    func forgetEpoch() { state.withLock { $0.epoch = nil } }

    /// Notes that a user fits the record of the store's owner, unless another user has signed in meanwhile.
    func confirm(_ record: String?, for userID: String?, at epoch: UInt64?) {
        state.withLock { state in
            guard Self.isSame(state.user?.userID, userID) else { return }
            (state.isConfirmed, state.record, state.epoch) = (true, record, epoch)
        }
    }

    // MARK: Pushes and pulls

    /// The identifier of the user for whom the current push or pull runs; outside of one, that of the current user.
    var sendingUserID: String? {
        guard let scope = UserScope.current(of: self) else { return userID }
        return scope.userID
    }

    /// Runs a push or pull for the current user, also if another one signs in meanwhile.
    nonisolated(nonsending) func withCurrentUser<T>(
        _ body: nonisolated(nonsending) () async throws -> T
    ) async rethrows -> T {
        try await UserScope.run(UserScope(account: ObjectIdentifier(self), userID: userID), body)
    }

    /// Returns the user whose token a request carries.
    ///
    /// Within a push or pull, this is the user for whom it runs, with the newest token; nobody if it began without a
    /// user.
    /// - Throws: ``SyncError`` with code otherUser if another user has signed in since it began; with code
    ///   authentication if a user has who edits rows since then, and it began without a user.
    func userForRequest() throws(SyncError) -> SignedInUser? {
        let user = user
        guard let scope = UserScope.current(of: self), !Self.isSame(scope.userID, user?.userID) else { return user }
        guard let userID = scope.userID else {
            throw SyncError(
                .authentication,
                "nobody was signed in when the push or pull began, but \(user?.userID.debugDescription ?? "somebody") is now; "
                    + "push or pull again")
        }
        throw SyncError(
            .otherUser,
            "the user \(userID.debugDescription) was signed in when the push or pull began, but "
                + (user.map { "\($0.userID.debugDescription) is now" } ?? "nobody is now")
                + "; nothing is sent for another user")
    }
}

/// The user for whom a push or pull runs, visible to its tasks.
final class UserScope: Sendable {
    @TaskLocal private static var current: UserScope?

    let account: ObjectIdentifier
    let userID: String?
    // A task that the push or pull started, such as in a delegate, may outlive it.
    private let hasEnded = Mutex(false)

    init(account: ObjectIdentifier, userID: String?) {
        self.account = account
        self.userID = userID
    }

    static func current(of account: Account) -> UserScope? {
        current.flatMap { scope in
            scope.account == ObjectIdentifier(account) && !scope.hasEnded.withLock { $0 } ? scope : nil
        }
    }

    nonisolated(nonsending) static func run<T>(
        _ scope: UserScope, _ body: nonisolated(nonsending) () async throws -> T
    ) async rethrows -> T {
        defer { scope.hasEnded.withLock { $0 = true } }
        return try await $current.withValue(scope) { try await body() }
    }
}
