public import TidelineLive
internal import TidelineStore

extension RecordTable {
    /// Observes the local records that match a query, by default all.
    ///
    /// The sequence begins with the records as they are, and continues with one update for each transaction that
    /// changes them; see <doc:LiveQueries>.
    ///
    /// ```swift
    /// for try await update in todos.observe(TodoItem.where { !$0.complete }.order { $0.due }) {
    ///     show(update.rows, update.changes)
    /// }
    /// ```
    /// - Returns: A sequence that throws ``SyncError``, with code ``SyncError/Code/invalidArgument`` for an invalid
    ///   query, and ``SyncError/Code/store`` if the table lacks a column of the type. A row that does not fit the type
    ///   does not end it, and counts for the query's skip and limit; see `LiveUpdate.failures`.
    public func observe(_ query: RecordQuery<Record> = Record.all) -> LiveQuery<Record> {
        untyped.observe(query.query).map { try $0.record() }
    }

    /// Observes the number of local records that match a query, by default all.
    public func observeCount(_ query: RecordQuery<Record> = Record.all) -> LiveValue<Int> {
        untyped.observeCount(query.query)
    }

    /// Observes whether a local record matches a query, by default any.
    public func observeExistence(_ query: RecordQuery<Record> = Record.all) -> LiveValue<Bool> {
        untyped.observeExistence(query.query)
    }
}
