internal import Foundation
internal import TidelineStore

/// Whose queue and tokens a store holds.
struct StoreOwner: Sendable, Hashable, Codable {
    /// The server's address, normalized; nil as long as no answer was stored.
    var server: String?
    /// The user, where the app names one.
    var user: String?
}

/// The owner of the store as the config table keeps it, and the check that a client is of the same.
struct OwnerStore: Sendable {
    let tables: SystemTables
    /// The server and user of this client.
    let own: StoreOwner

    /// The key type of the owner in the config table; tokens, the operation counter and definitions have others.
    private static let keyType: Int64 = 4
    private static let rowID = "owner"

    /// Compares a server and user with those of the store.
    ///
    /// - Parameter client: This client's; without a server, servers are not compared.
    /// - Returns: What is to be recorded, as the store has had no server or user so far; nil if there is nothing.
    /// - Throws: ``SyncError`` with code otherServer or otherUser.
    func confirm(_ client: StoreOwner, in reader: some StoreReader) throws -> StoreOwner? {
        let recorded = try recorded(in: reader)
        if let server = recorded.server, let given = client.server, server != given {
            throw SyncError(
                .otherServer,
                "the local store holds rows and pending changes of \(server), and this client is of \(given); call "
                    + "switchServer(keepingPending:) to move the store to this server, wipe() to empty it, or open "
                    + "another store")
        }
        if let user = recorded.user, user != client.user {
            throw SyncError(
                .otherUser,
                "the local store holds rows and pending changes of the user \(user.debugDescription), and this client "
                    + (client.user.map { "is of the user \($0.debugDescription)" } ?? "names no user")
                    + "; call wipe() to empty the store, switchServer(keepingPending:) to hand it over, or open another "
                    + "store")
        }
        let owner = StoreOwner(server: recorded.server ?? client.server, user: recorded.user ?? client.user)
        return owner == recorded ? nil : owner
    }

    /// Compares this client's user with the store's before a local change, and records it.
    func confirmUser(in writer: some StoreWriter) throws {
        guard own.user != nil else { return }
        if let owner = try confirm(StoreOwner(user: own.user), in: writer) { try save(owner, in: writer) }
    }

    func save(_ owner: StoreOwner, in writer: some StoreWriter) throws {
        let value = String(decoding: try JSONEncoder().encode(owner), as: UTF8.self)
        let row: Row = [
            "id": .string(Self.rowID), "table": "", "key": .string(Self.rowID), "keyType": .int(Self.keyType),
            "value": .string(value),
        ]
        try writer.upsert(row, into: tables.config)
    }

    private func recorded(in reader: some StoreReader) throws -> StoreOwner {
        guard let value = try reader.row(in: tables.config, id: Self.rowID)?["value"]?.string else {
            return StoreOwner()
        }
        return try JSONDecoder().decode(StoreOwner.self, from: Data(value.utf8))
    }
}

extension ServerAddress {
    /// The address by which two clients are of the same server: scheme and host in lower case, the host without a dot at
    /// its end, the port unless it is the scheme's own, and the path as it is written.
    ///
    /// The scheme counts, as a server without encryption can be anybody; the query does not, as it may hold a key.
    var identity: String {
        var authority = authority.asciiLowercased
        let port = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(port) { authority.removeLast(port.count) }
        if authority.hasSuffix(".") { authority.removeLast() }
        return "\(scheme)://\(authority)\(path)"
    }
}
