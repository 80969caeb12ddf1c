internal import TidelineStore

/// The rows of a query in chunks, so that a scan of a large table does not hold it in memory.
///
/// Few rows are read by one statement. If there are more, a cursor reads the rest, or all of them if the query has no order: the
/// server can then return the rows of two statements in different orders. The cursor is opened before the first rows are used,
/// so that it does not see changes that are made for them.
struct RowChunks {
    private let connection: Connection
    private let cursor: String
    private var isOpen = false
    private var fetchCount = 0
    private var first: Chunk?

    /// A number of rows from the beginning of a result.
    struct Chunk {
        let rows: QueryRows
        let count: Int
    }

    /// The number of rows that the first statement reads, and that a cursor reads at most.
    private static let firstCount = 100
    private static let maximumCount = 2_000
    /// The number of bytes that a cursor reads at a time, if rows have the size of those before.
    private static let maximumBytes = 4 << 20

    /// - Parameters:
    ///   - statement: Returns the statement for a window of the rows.
    ///   - isOrdered: Whether the statements order the rows.
    ///   - cursor: A name that no other open cursor of the connection has.
    init(
        _ window: QueryPlan.Window, isOrdered: Bool, cursor: String, on connection: Connection,
        _ statement: (QueryPlan.Window) -> QueryPlan.Statement
    ) throws(StoreError) {
        self.connection = connection
        self.cursor = cursor.sqlName
        let limit = window.limit ?? .max
        let most = min(limit, Self.firstCount + 1)
        let query = statement(.init(skip: window.skip, limit: most))
        let rows = try connection.run(query.sql, query.parameters)
        guard rows.count > Self.firstCount, limit > Self.firstCount else {
            first = Chunk(rows: rows, count: rows.count)
            return
        }
        let firstCount = isOrdered ? Self.firstCount : 0
        if isOrdered { first = Chunk(rows: rows, count: firstCount) }
        fetchCount = Self.fetchCount(after: rows)
        let (skip, isTooFar) = window.skip.addingReportingOverflow(firstCount)
        guard !isTooFar else { return }
        let rest = statement(.init(skip: skip, limit: window.limit.map { $0 - firstCount }))
        try connection.runOnce("DECLARE \(self.cursor) NO SCROLL CURSOR FOR \(rest.sql)", rest.parameters)
        isOpen = true
    }

    /// Returns the next rows, or `nil` if there are no more.
    mutating func next() throws(StoreError) -> Chunk? {
        if let first {
            self.first = nil
            return first
        }
        guard isOpen else { return nil }
        let rows = try connection.runOnce("FETCH FORWARD \(fetchCount) FROM \(cursor)")
        guard rows.count > 0 else { return nil }
        fetchCount = Self.fetchCount(after: rows)
        return Chunk(rows: rows, count: rows.count)
    }

    /// Returns the number of rows to read after rows of about the same size.
    private static func fetchCount(after rows: QueryRows) -> Int {
        min(max(maximumBytes / max(rows.byteCount / rows.count, 1), 1), maximumCount)
    }

    /// Closes the cursor.
    mutating func close() throws(StoreError) {
        guard isOpen else { return }
        isOpen = false
        try connection.execute("CLOSE \(cursor)")
    }
}
