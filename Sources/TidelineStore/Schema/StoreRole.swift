/// Whether a store is a client's, with queue and tokens, or a server's, with tombstones: each refuses the other's, whose
/// tables it would redefine.
package enum StoreRole {
    /// Marks a server's store: a system table without rows.
    package static let serverMark = TableSchema("MS_TableService", columns: [], systemColumns: [], isSystem: true)

    /// Checks that a store with these tables may be a client's.
    package static func requireClient(_ tables: [TableSchema]) throws(StoreError) {
        let isServers = tables.contains { $0.name == serverMark.name && $0.isSystem }
        guard isServers || (!isClients(tables) && servesTables(tables)) else { return }
        throw StoreError(
            .schemaMismatch,
            "the store is a server's, which a client would redefine; open another one for the client")
    }

    /// Checks that a store with these tables may be a server's.
    package static func requireServer(_ tables: [TableSchema]) throws(StoreError) {
        let isServers = tables.contains { $0.name == serverMark.name && $0.isSystem } || servesTables(tables)
        guard !isServers, isClients(tables) else { return }
        throw StoreError(
            .schemaMismatch,
            "the store is a client's, with its queue, which a server would redefine; open another one for the server")
    }

    /// Whether there is a table of settings as every client's store has it, under whatever name.
    private static func isClients(_ tables: [TableSchema]) -> Bool {
        let config = SystemTables().configSchema
        return tables.contains { table in
            table.isSystem && config.columns.allSatisfy { column in table.columns.contains { $0.isStoredAs(column) } }
        }
    }

    /// Whether there is a table of the app with tombstones, which clients do not keep.
    private static func servesTables(_ tables: [TableSchema]) -> Bool {
        tables.contains { !$0.isSystem && $0.systemColumns == .all }
    }
}
