public import TidelineStore

extension SyncClient {
    /// Runs a step of the app's migration, once for each store.
    ///
    /// Definitions only grow, so most changes of a model need no migration; see ``define(_:)``. A step is for the
    /// others: values that move from one column to another, or change their type.
    ///
    /// ```swift
    /// try await client.define(Todo.self)             // declares the column "priority" besides the earlier "urgent"
    /// try await client.migrate("urgent-to-priority") { step in
    ///     try step.rewrite("TodoItem") { row in
    ///         if row["priority"]?.int == nil { row["priority"] = row["urgent"]?.bool == true ? 1 : 0 }
    ///     }
    /// }
    /// ```
    /// The step and its name are committed in one transaction. A step that throws changes nothing, and runs again when
    /// it is called next. Call the steps of all versions in their order after the definition of the tables, each time
    /// the app starts.
    ///
    /// A step that rewrites a table of which another process has an operation in flight waits for the push of that
    /// process, and runs again. If the app was killed during a push, that takes up to 15 seconds.
    ///
    /// - Parameters:
    ///   - name: The name of the step, of at most 200 bytes, which no other step has in any version of the app.
    ///   - step: The changes, local (``SyncTransaction/rewrite(_:_:)``), or queued for the server like any other edit.
    /// - Returns: Whether the step ran. `false` if it had been committed before, also by another process.
    /// - Throws: The error of the closure; ``SyncError`` as ``transaction(_:)``, and with code
    ///   ``SyncError/Code/invalidArgument`` for a name that is blank or too long, ``SyncError/Code/cancelled`` if the
    ///   task is cancelled while it waits.
    @discardableResult
    public nonisolated(nonsending) func migrate(
        _ name: String, _ step: @escaping @Sendable (_ step: SyncTransaction) throws -> Void
    ) async throws -> Bool {
        guard !name.allSatisfy(\.isWhitespace), name.utf8.count <= 200 else {
            throw SyncError(
                .invalidArgument,
                "the name of a migration step has 1 to 200 bytes and is not blank: \(name.debugDescription)")
        }
        return try await context.database.retryingAfterPushes {
            try await context.transaction { transaction in
                guard try transaction.perform({ try $0.beginMigration(name) }) else { return false }
                try step(transaction)
                return true
            }
        }
    }
}

extension SyncTransaction {
    /// Changes each row of a table with a closure, locally: nothing is queued for the server.
    ///
    /// The rows that pending operations keep, such as the one that an update is compared with, are changed in the same
    /// way. An update therefore does not send the changed columns unless they were edited before, and an insert sends
    /// the row as it is now. The server's next version of a row replaces the values, including those that it does not
    /// have. Until then, a pull with a query id that was pulled before keeps them. If it fetches all rows because the
    /// definition has changed, it keeps them where the server has none. A pull without a query id, or the first one of
    /// a query id or after a reset of its token, stores the server's values.
    ///
    /// - Parameters:
    ///   - table: The name of the table.
    ///   - change: Changes the row. It is called once or more for each row, and must not depend on other rows.
    /// - Returns: The number of rows that changed.
    /// - Throws: The error of the closure. ``SyncError``, naming table, column, and id, for a value that does not fit
    ///   its column and for a changed identifier; with code ``SyncError/Code/operationInFlight`` while an operation of
    ///   the table is in flight, also in another process, for which only ``SyncClient/migrate(_:_:)`` waits. The
    ///   transaction can then not be committed.
    @discardableResult
    public func rewrite(_ table: String, _ change: (inout Row) throws -> Void) throws -> Int {
        var thrown: (any Error)?
        do {
            return try perform { scope in
                try scope.rewrite(table) { row in
                    do {
                        try change(&row)
                    } catch {
                        thrown = error
                        throw error
                    }
                }
            }
        } catch {
            // Other rows may have been written before the error.
            failure = failure ?? SyncError.wrapping(error)
            throw thrown ?? error
        }
    }
}
