/// The result of a pull.
public struct PullResult: Sendable, Hashable {
    /// The number of pages received, not counting retries, look-ups, and lists of ``PullSettings/removesLeavers``.
    public internal(set) var requests = 0
    /// The number of rows received. A row that the next page returns again unchanged is counted once.
    public internal(set) var rowsPulled = 0
    /// The number of rows stored because they were new or changed.
    public internal(set) var rowsStored = 0
    /// The number of rows removed because the server deleted them.
    public internal(set) var rowsRemoved = 0
    /// The number of rows removed because they have left the query; see ``PullSettings/removesLeavers``.
    public internal(set) var leaversRemoved = 0
    /// The number of rows that were skipped because they do not fit the local table; see
    /// ``PullSettings/RowMismatch/skipAndReport``.
    public internal(set) var rowsSkipped = 0
    /// The first 1,000 skipped rows.
    public internal(set) var skippedRows: [SkippedRow] = []
    /// The number of transactions that wrote to the local store.
    public internal(set) var writes = 0

    /// The maximum number of skipped rows to list. Further rows are only counted.
    static let maximumSkippedRows = 1_000

    mutating func note(skipped: [SkippedRow]) {
        rowsSkipped += skipped.count
        skippedRows += skipped.prefix(Self.maximumSkippedRows - skippedRows.count)
    }
}
