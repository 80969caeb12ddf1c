internal import TidelineStore

/// Defines the synchronized tables of a store, and removes columns and indexes.
struct TableDefinitions<Store: LocalStore>: Sendable {
    let queue: OperationQueue<Store>
    let definitions: DefinitionStore

    private var database: SyncDatabase<Store> { queue.database }

    /// Defines tables in addition to all earlier definitions; see ``SyncClient/define(_:)``.
    ///
    /// - Parameters:
    ///   - keepsExtra: Whether rows keep the server's columns that a table does not define.
    ///   - check: Throws if the definitions, with everything that was defined earlier, are not accepted.
    nonisolated(nonsending) func define(
        _ tables: [TableSchema], keepsExtra: Bool, evolving evolve: @escaping DefinitionStore.Evolution,
        check: @escaping @Sendable (_ unions: [TableSchema]) throws -> Void
    ) async throws {
        for table in tables {
            try RowInput.checkName(table.name)
            try table.checkReferences()
            guard table.idType == .string, table.systemColumns.isSuperset(of: [.updatedAt, .version]),
                !table.systemColumns.contains(.deleted)
            else {
                throw SyncError(
                    .invalidArgument,
                    "a synchronized table needs string ids and the system columns updatedAt and version, "
                        + "but not deleted",
                    table: table.name)
            }
        }
        var tables = tables
        if keepsExtra { for index in tables.indices { tables[index].systemColumns.insert(.extra) } }
        try await database.performing { [definitions, tables] store in
            try definitions.define(tables, in: store, evolving: evolve, check: check)
        }
    }

    /// See ``SyncClient/drop(columns:from:)``.
    nonisolated(nonsending) func drop(columns: [String], from table: String) async throws {
        let drop = ColumnDrop(columns: columns, table: table, operations: queue.operations, definitions: definitions)
        try await database.retryingAfterPushes {
            try await database.lock(of: table).withLock {
                try await database.performing { [queue] store in
                    try drop.perform(in: store) { try queue.requireNotInFlight($0, table: table, in: $1) }
                }
            }
        }
    }

    /// See ``SyncClient/drop(indexes:from:)``.
    nonisolated(nonsending) func drop(indexes: [IndexSchema], from table: String) async throws {
        try await database.lock(of: table).withLock {
            try await database.performing { [definitions] store in
                try store.redefine { writer in
                    var schema = try writer.schema(of: table)
                    for index in indexes {
                        guard schema.indexes.contains(index) else {
                            throw SyncError(
                                .invalidArgument,
                                "the table has no index on \(index.columns.joined(separator: ", "))", table: table)
                        }
                    }
                    schema.indexes.removeAll { indexes.contains($0) }
                    try definitions.forget(indexes: indexes, of: table, in: writer)
                    return [schema]
                }
            }
        }
    }
}
