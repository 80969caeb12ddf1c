internal import TidelineStore

/// The rows of a query in chunks, so that a scan of a large table does not hold it in memory.
///
/// Few rows are read by one statement. If there are more, a cursor reads the rest, or all of them if the query has no
/// order: the server can then return the rows of two statements in different orders. The cursor is opened before the
/// first rows are used, so that it does not see changes that are made for them.
struct RowChunks {
    private let table: StoredTable
    private let connection: Connection
    private let cursor: String
    private var isOpen = false
    /// The number of rows that were read last.
    private var lastCount: Int
    private var first: Chunk?

    /// A number of rows from the beginning of a result.
    struct Chunk {
        let rows: QueryRows
        let count: Int
    }

    /// The number of rows that the first statement reads at most, and that a cursor reads at most.
    private static let firstCount = 100
    private static let maximumCount = 2_000
    /// The factor by which a read can be larger than the one before, in case rows are larger than those before.
    private static let growth = 10
    /// The number of bytes to read at a time, if rows have the size of those that were read before.
    private static let maximumBytes = 4 << 20

    /// - Parameters:
    ///   - statement: Returns the statement for a window of the rows.
    ///   - isOrdered: Whether the statements order the rows.
    ///   - cursor: A name that no other open cursor of the connection has.
    init(
        of table: StoredTable, _ window: QueryPlan.Window, isOrdered: Bool, cursor: String, on connection: Connection,
        _ statement: (QueryPlan.Window) -> QueryPlan.Statement
    ) throws(StoreError) {
        self.table = table
        self.connection = connection
        self.cursor = cursor.sqlName
        let limit = window.limit ?? .max
        let most = table.rowCount(in: Self.maximumBytes, limit: Self.firstCount)
        let query = statement(.init(skip: window.skip, limit: min(limit, most + 1)))
        // A plan for any parameters would be one for the value that most rows have.
        let rows = try connection.runOnce(query.sql, query.parameters)
        table.note(rows)
        lastCount = rows.count
        guard rows.count > most, limit > most else {
            first = Chunk(rows: rows, count: rows.count)
            return
        }
        let firstCount = isOrdered ? most : 0
        if isOrdered { first = Chunk(rows: rows, count: firstCount) }
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
        let most = table.rowCount(in: Self.maximumBytes, limit: min(lastCount * Self.growth, Self.maximumCount))
        let rows = try connection.runOnce("FETCH FORWARD \(most) FROM \(cursor)")
        guard rows.count > 0 else { return nil }
        table.note(rows)
        lastCount = rows.count
        return Chunk(rows: rows, count: rows.count)
    }

    mutating func close() throws(StoreError) {
        guard isOpen else { return }
        isOpen = false
        try connection.execute("CLOSE \(cursor)")
    }
}
