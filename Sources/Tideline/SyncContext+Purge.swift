internal import TidelineStore

extension SyncContext {
    nonisolated(nonsending) func purge(_ query: TableQuery, resetsTokens: Bool) async throws -> Int {
        let (operations, tokens) = (operations, tokens)
        return try await mapped {
            try await lock(of: query.table).withLock {
                try await changing { writer in
                    let pending = try operations.count(table: query.table, in: writer)
                    guard pending == 0 else {
                        throw SyncError(
                            .operationsPending,
                            "\(pending) operations are pending; push first, or use forcePurge()",
                            table: query.table)
                    }
                    let removed = try writer.delete(matching: query)
                    if resetsTokens {
                        try tokens.remove(table: query.table, in: writer)
                    } else if try writer.isEmpty(TableQuery(query.table)) {
                        try tokens.noteEmpty(table: query.table, in: writer)
                    }
                    return removed
                }
            }
        }
    }

    nonisolated(nonsending) func forcePurge(table: String) async throws -> ForcePurgeResult {
        let (operations, errorStore, decisions, tokens) = (operations, errorStore, decisionStore, tokens)
        return try await mapped {
            try await lock(of: table).withLock {
                try await changing { [self] writer in
                    let ofTable = TableQuery(operations.tables.operations).filter(.column("table") == .value(table))
                    let pending = try operations.operations(matching: ofTable, in: writer)
                    try requireNotInFlight(pending, table: table, in: writer)
                    try writer.delete(matching: ofTable)
                    try writer.delete(
                        matching: TableQuery(errorStore.tables.errors).filter(.column("table") == .value(table)))
                    try decisions.remove(table: table, in: writer)
                    try tokens.remove(table: table, in: writer)
                    return ForcePurgeResult(
                        rows: try writer.delete(matching: TableQuery(table)), operations: pending.count)
                }
            }
        }
    }
}
