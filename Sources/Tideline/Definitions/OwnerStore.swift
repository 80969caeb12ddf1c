internal import TidelineStore

/// The server and user to which the queue and tokens of a store belong.
struct StoreOwner: Sendable, Hashable, Codable {
    /// The normalized address of the server, or `nil` until the first response is stored.
    var server: String?
    /// The user, if the app names one.
    var user: String?
}

/// Stores the owner of the store in the config table, and checks that a client has the same owner.
struct OwnerStore: Sendable {
    let tables: SystemTables
    /// The server and user of this client.
    let own: StoreOwner

    /// The key type of the owner in the config table. Tokens, the operation counter, and definitions have different key
    /// types.
    private static let keyType: Int64 = 4
    private static let rowID = "owner"

    /// The record that fits this client's user, as last read, so that most local changes need not decode it.
    private let confirmed = LockedValue<String?>(nil)

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
        if let user = recorded.user, user != client.user {
            throw SyncError(
                .otherUser,
                "the local store contains rows and pending changes of the user \(user.debugDescription), "
                    + "but this client "
                    + (client.user.map { "has the user \($0.debugDescription)" } ?? "has no user")
                    + "; set the user of the store in SyncOptions.userID, call wipe() to empty the store or "
                    + "switchServer(keepingPending:) to reassign it, or open another store")
        }
        let owner = StoreOwner(server: recorded.server ?? client.server, user: recorded.user ?? client.user)
        return owner == recorded ? nil : owner
    }

    /// Compares this client's user with the store's before a local change, and records the user if the store has none.
    ///
    /// A client without a user cannot change the store of a user either: the changes would be pushed as the user's.
    func confirmUser(in writer: some StoreWriter) throws {
        let record = try record(in: writer)
        // Another client may record a user at any time, so the record is read for each change.
        if record == nil ? own.user == nil : confirmed.withLock({ $0 == record }) { return }
        if let owner = try confirm(StoreOwner(user: own.user), in: writer) { return try save(owner, in: writer) }
        confirmed.withLock { $0 = record }
    }

    func save(_ owner: StoreOwner, in writer: some StoreWriter) throws {
        let row: Row = [
            "id": .string(Self.rowID), "table": "", "key": .string(Self.rowID), "keyType": .int(Self.keyType),
            "value": .string(try RecordJSON.encode(owner)),
        ]
        try writer.upsert(row, into: tables.config)
    }

    private func recorded(in reader: some StoreReader) throws -> StoreOwner {
        guard let record = try record(in: reader) else { return StoreOwner() }
        return try RecordJSON.decode(from: record)
    }

    private func record(in reader: some StoreReader) throws -> String? {
        try reader.withRow(in: tables.config, id: .string(Self.rowID)) { $0["value"]?.string } ?? nil
    }
}

extension ServerAddress {
    /// The normalized address, which is equal for two clients of the same server.
    ///
    /// It consists of the scheme and host in lower case (the host without a trailing dot), the port unless it is the
    /// default port of the scheme, and the path as written. The scheme is significant because a server without
    /// encryption can be impersonated. The query is not included because it may contain a key.
    var identity: String {
        var authority = authority.asciiLowercased
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        if authority.hasSuffix(".") { authority.removeLast() }
        return "\(scheme)://\(authority)\(path)"
    }
}
