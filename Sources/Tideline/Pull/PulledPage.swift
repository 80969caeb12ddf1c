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
    let askedAt: UInt64

    /// - Parameters:
    ///   - skipsMisfits: Whether rows that do not fit the table are skipped instead of being an error.
    ///   - requested: The number of rows requested.
    ///   - maximum: The maximum number of rows to use, or `nil` for all.
    ///   - hasNextLink: Whether the response has a link to a next page in its headers.
    /// - Throws: ``SyncError`` with code invalidAnswer and the column and id from the parser.
    init(
        body: [UInt8], _ codec: RowCodec, skipsMisfits: Bool = false, requested: Int = 0, maximum: Int? = nil,
        hasNextLink: Bool = false, serverDate: Timestamp? = nil, askedAt: UInt64 = 0
    ) throws {
        self.codec = codec
        var rows = PackedRows(shape: codec.answerParser.shape, byteCapacity: body.count)
        let info: PageInfo
        do {
            info = try body.withUnsafeBytes {
                try codec.answerParser.parsePage($0, into: &rows, skipsMisfits: skipsMisfits)
            }
        } catch let error as WireError {
            throw SyncError(unreadable: error, table: codec.schema.name)
        }
        // A server that ignores `$top` returns more rows than the caller wants.
        if let maximum, rows.count > maximum { rows.truncate(toCount: maximum) }
        let count = rows.count
        deleted = info.deleted.filter { $0 < count }
        let misfits = info.misfits.filter { $0.position <= count }
        skipped = misfits.map { SkippedRow($0, table: codec.schema.name) }
        columns = StampColumns(rows.shape)
        var summary = PageSummary(
            count: count + misfits.count, totalCount: info.totalCount,
            hasNextLink: hasNextLink || info.nextLink != nil, requested: requested)
        if let last = misfits.last, last.position == count {
            summary.lastID = last.id
        } else if count > 0 {
            summary.lastID = rows.withRow(at: count - 1) { $0.idText }
        }
        cases = PulledPage.note(rows, columns, ignoresCase: codec.schema.idMatching != .exact, &summary)
        summary.note(misfits)
        self.rows = rows
        self.summary = summary
        self.serverDate = serverDate
        self.askedAt = askedAt
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
    fileprivate mutating func note(_ misfits: [RowMisfit]) {
        guard undatedID == nil else { return }
        for updatedAt in misfits.lazy.compactMap(\.updatedAt) {
            oldest = min(oldest ?? updatedAt, updatedAt)
            newest = max(newest ?? updatedAt, updatedAt)
        }
        if newest == nil { undatedID = misfits.first?.id }
    }
}
