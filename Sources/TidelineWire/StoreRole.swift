package import TidelineStore

/// The role of a store: a client's, with a queue and tokens, or a server's, with tombstones.
///
/// Each role rejects a store of the other role, because it would redefine the store's tables.
package enum StoreRole {
    /// The system table that marks a server's store. The server adds columns, and a row for each of its tables.
    package static let serverMark = TableSchema("MS_TableService", columns: [], systemColumns: [], isSystem: true)

    /// Checks that a store with these tables can be used by a client.
    package static func requireClient(_ tables: [TableSchema]) throws(StoreError) {
        let isServers = tables.contains { $0.name == serverMark.name && $0.isSystem }
        guard isServers || (!tables.contains(where: SystemTables.isSettings) && servesTables(tables)) else { return }
        throw StoreError(
            .schemaMismatch,
            "the store belongs to a server, and a client would redefine its tables; open another store for the client")
    }

    /// Checks that a store with these tables can be used by a server.
    package static func requireServer(_ tables: [TableSchema]) throws(StoreError) {
        let isServers = tables.contains { $0.name == serverMark.name && $0.isSystem } || servesTables(tables)
        guard !isServers, tables.contains(where: SystemTables.isSettings) else { return }
        throw StoreError(
            .schemaMismatch,
            "the store belongs to a client, and a server would redefine its tables; open another store for the server")
    }

    /// Whether one of the app's tables has tombstones, which clients do not keep.
    private static func servesTables(_ tables: [TableSchema]) -> Bool {
        tables.contains { !$0.isSystem && $0.systemColumns == .all }
    }
}
