internal import TidelineStore
internal import TidelineWire

/// A parsed response of a pull.
final class PulledPage: Sendable {
    let rows: PackedRows
    let summary: PageSummary
    /// The positions of the tombstones, ascending.
    let deleted: [Int]
    /// The rows of the response that do not fit the table and are not in ``rows``.
    let skipped: [SkippedRow]
    /// The positions of the columns `version` and `updatedAt`.
    let columns: StampColumns
    /// The cases of letters in the rows' identifiers, if the table ignores case.
    let cases: IDCases
    /// The server's clock at the response.
    let serverDate: Timestamp?
    let codec: RowCodec
    /// The epoch of ``RecentlyPushedRows`` at which the page was requested.
    let requestedAt: UInt64

    /// The cursor after the page, as JSON, if the dialect has cursors.
    let cursor: String?
    /// See ``ServerPage/nextPull``, as JSON.
    let nextPull: String?
    /// Whether the dialect ends the pull with this page.
    let isLast: Bool

    /// - Parameters:
    ///   - rows: The rows and tombstones that fit the table.
    ///   - summary: The summary without the range of timestamps.
    ///   - rejectedRows: The rows that a parser has left out.
    init(
        _ rows: consuming PackedRows, _ codec: RowCodec, summary: PageSummary, deleted: [Int], skipped: [SkippedRow],
        rejectedRows: [RejectedRow] = [], serverDate: Timestamp? = nil, requestedAt: UInt64, cursor: String? = nil,
        nextPull: String? = nil, isLast: Bool = false
    ) {
        self.codec = codec
        self.deleted = deleted
        self.skipped = skipped
        self.serverDate = serverDate
        self.requestedAt = requestedAt
        self.cursor = cursor
        self.nextPull = nextPull
        self.isLast = isLast
        columns = StampColumns(rows.shape)
        var summary = summary
        cases = PulledPage.note(rows, columns, ignoresCase: codec.schema.idMatching != .exact, &summary)
        summary.note(rejectedRows)
        self.rows = rows
        self.summary = summary
    }

    /// Records the range of `updatedAt` and its order. There is no range if any row lacks `updatedAt`.
    ///
    /// - Returns: The cases of the identifiers, if the table ignores case.
    private static func note(
        _ rows: borrowing PackedRows, _ columns: StampColumns, ignoresCase: Bool, _ summary: inout PageSummary
    ) -> IDCases {
        var cases: IDCases = []
        guard rows.count > 0 else { return cases }
        var oldest = Timestamp.max
        var newest = Timestamp.min
        var previous = Timestamp.min
        rows.forEachRow { view in
            if ignoresCase { cases.note(view.packedID) }
            guard let updatedAt = columns.updatedAt(of: view) else {
                summary.undatedID = summary.undatedID ?? view.idText
                return
            }
            if updatedAt < previous { summary.isAscending = false }
            previous = updatedAt
            oldest = min(oldest, updatedAt)
            newest = max(newest, updatedAt)
        }
        guard summary.undatedID == nil else { return cases }
        summary.oldest = oldest
        summary.newest = newest
        return cases
    }

    /// Returns a copy of the row at a position.
    func row(at index: Int) -> Row { rows.withRow(at: index) { $0.owned() } }
}

extension PageSummary {
    /// Records the rows that do not fit, so that the pull continues after them.
    fileprivate mutating func note(_ rejectedRows: [RejectedRow]) {
        guard undatedID == nil else { return }
        for updatedAt in rejectedRows.lazy.compactMap(\.updatedAt) {
            oldest = min(oldest ?? updatedAt, updatedAt)
            newest = max(newest ?? updatedAt, updatedAt)
        }
        if newest == nil { undatedID = rejectedRows.first?.id }
    }
}

/// The facts about a page that the cursor needs.
struct PageSummary: Sendable, Hashable {
    /// The number of rows, including rows that do not fit the table.
    var count = 0
    /// The total number of matching rows, if the server reports it.
    var totalCount: Int64?
    /// Whether the server linked to a next page.
    var hasNextLink = false
    /// The identifier of the last row, in the server's order.
    var lastID: String?
    /// The least and greatest `updatedAt`, or `nil` if a row lacks it.
    var oldest: Timestamp?
    var newest: Timestamp?
    /// The identifier of a row without `updatedAt`.
    var undatedID: String?
    /// Whether `updatedAt` never decreases from one row to the next.
    var isAscending = true
    /// The number of rows requested.
    var requested = 0

    /// Whether there are fewer rows than requested.
    var isShort: Bool { count < requested }
}

/// A row from the server that does not fit the local table.
public struct SkippedRow: Sendable, Hashable {
    /// The name of the table.
    public let table: String
    /// The identifier of the row.
    public let id: String
    /// The column whose value does not fit, if known.
    public let column: String?
    /// The reason that the value does not fit.
    public let message: String
}

extension SkippedRow {
    init(_ rejectedRow: RejectedRow, table: String) {
        self.init(table: table, id: rejectedRow.id, column: rejectedRow.column, message: rejectedRow.message)
    }
}
