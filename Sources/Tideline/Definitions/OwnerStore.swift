internal import TidelineStore

/// The server and user to which the queue and tokens of a store belong.
struct StoreOwner: Sendable, Hashable, Codable {
    /// The normalized address of the server, or `nil` until the first response is stored.
    var server: String?
    /// The user, if the app names one in ``SyncOptions/userID``.
    var user: String?
    /// The identifier of the signed-in user (``SyncClient/currentUser``), if there was one.
    var account: String?

    /// Whether the owner is a user.
    var isUser: Bool { user != nil || account != nil }

    func hasSameUser(as other: StoreOwner) -> Bool {
        Account.isSame(user, other.user) && Account.isSame(account, other.account)
    }
}

/// Stores the owner of the store in the config table, and checks that a client has the same owner.
struct OwnerStore: Sendable {
    let config: ConfigTable
    /// The address of this client's server.
    let server: String
    /// The user that the app names.
    let user: String?
    /// The signed-in user.
    let account: Account
    /// Whether the app authenticates requests itself, so that requests without a signed-in user may have one.
    let hasAuthorization: Bool

    private static let rowID = "owner"

    /// The server and user of this client; within a push or pull, the user for whom it runs.
    var own: StoreOwner { StoreOwner(server: server, user: user, account: account.sendingUserID) }

    /// Compares a server and user with those of the store.
    ///
    /// - Parameter client: The server and user of this client. Without a server, servers are not compared.
    /// - Returns: The owner to record if the store lacks a server or user, or `nil` if there is nothing to record.
    /// - Throws: ``SyncError`` with code otherServer or otherUser.
    func confirm(_ client: StoreOwner, in reader: some StoreReader) throws -> StoreOwner? {
        let recorded = try recorded(in: reader)
        if let server = recorded.server, let given = client.server, server != given {
            throw SyncError(
                .otherServer,
                "the local store contains rows and pending changes of \(server), but this client uses \(given); call "
                    + "switchServer(keepingPending:) to move the store to this server, wipe() to empty it, or open "
                    + "another store")
        }
        if let user = recorded.user, !Account.isSame(user, client.user ?? client.account) {
            throw otherUser(
                user, client.user ?? client.account, advice: "set the user of the store in SyncOptions.userID")
        }
        // While nobody is signed in, changes belong to the store's owner.
        if let account = recorded.account, let given = client.account ?? (recorded.user == nil ? client.user : nil),
            !Account.isSame(account, given)
        {
            throw otherUser(account, given, advice: "sign in the user of the store")
        }
        let owner = StoreOwner(
            server: recorded.server ?? client.server, user: recorded.user ?? client.user,
            account: recorded.account ?? client.account)
        return owner == recorded ? nil : owner
    }

    private func otherUser(_ recorded: String, _ given: String?, advice: String) -> SyncError {
        SyncError(
            .otherUser,
            "the local store contains rows and pending changes of the user \(recorded.debugDescription), "
                + "but this client " + (given.map { "has the user \($0.debugDescription)" } ?? "has no user")
                + "; \(advice), call wipe() to empty the store or switchServer(keepingPending:) to reassign it, or open "
                + "another store")
    }

    /// Throws if requests would be sent without a user although the store belongs to one who had signed in.
    func requireSignIn(in reader: some StoreReader) throws {
        let own = own
        guard !own.isUser, !hasAuthorization, let account = try recorded(in: reader).account else { return }
        throw SyncError(
            .authentication,
            "nobody is signed in, but the local store contains rows and pending changes of the user "
                + "\(account.debugDescription); set currentUser, or call wipe() to empty the store")
    }

    /// Compares this client's user with the store's before a local change, and records the user if the store has none.
    ///
    /// A client without a user cannot change the store of a user whom the app names either: the changes would be pushed
    /// as the user's.
    ///
    /// - Parameter epoch: See ``SyncDatabase/commitEpoch(_:)``. In another epoch than the last time, another client may
    ///   have recorded a user, so the record is read again; without one, it is read for each change.
    func confirmUser(at epoch: UInt64? = nil, in writer: some StoreWriter) throws {
        if let epoch, account.isConfirmed(at: epoch) { return }
        let record = try record(in: writer)
        if account.isConfirmed(record, at: epoch) { return }
        let userID = account.userID
        let owner = StoreOwner(user: user, account: userID)
        if let owner = try confirm(owner, in: writer) { return try save(owner, in: writer) }
        account.confirm(record, for: userID, at: epoch)
    }

    func save(_ owner: StoreOwner, in writer: some StoreWriter) throws {
        account.forgetEpoch()
        try config.set(RecordJSON.encode(owner), of: Self.rowID, .owner, in: writer)
    }

    func recorded(in reader: some StoreReader) throws -> StoreOwner {
        guard let record = try record(in: reader) else { return StoreOwner() }
        return try RecordJSON.decode(from: record)
    }

    private func record(in reader: some StoreReader) throws -> String? {
        try config.value(of: Self.rowID, in: reader)
    }
}
