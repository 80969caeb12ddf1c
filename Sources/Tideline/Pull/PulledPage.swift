internal import TidelineStore
internal import TidelineWire

/// One answer of a pull, parsed.
final class PulledPage: Sendable {
    let rows: PackedRows
    let summary: PageSummary
    /// Positions of the rows that the server calls deleted, ascending.
    let deleted: [Int]
    /// Id and version of the rows at the greatest `updatedAt`, which come again with the next page.
    let boundary: [String: String]
    /// The server's clock when it answered.
    let serverDate: Timestamp?
    let codec: RowCodec
    /// The moment at which the page was asked for, by ``SettledRows``.
    let askedAt: UInt64

    /// - Throws: ``SyncError`` with code invalidAnswer, naming what the parser names.
    init(
        body: [UInt8], codec: RowCodec, parser: PageParser, hasNextLink: Bool = false, serverDate: Timestamp? = nil,
        askedAt: UInt64 = 0
    ) throws {
        var rows = PackedRows(shape: parser.shape, byteCapacity: body.count)
        let info: PageInfo
        do {
            info = try body.withUnsafeBytes { try parser.parsePage($0, into: &rows) }
        } catch let error as WireError {
            throw PulledPage.unusable(error, table: codec.schema.name)
        }
        var summary = PageSummary(count: rows.count, totalCount: info.totalCount, hasNextLink: hasNextLink)
        if rows.count > 0 { summary.lastID = rows.withRow(at: rows.count - 1) { $0.id } }
        let columns = PulledPage.columns(of: parser.shape)
        PulledPage.note(rows, columns, &summary)
        boundary = PulledPage.boundary(of: rows, columns, summary)
        self.rows = rows
        self.summary = summary
        deleted = info.deleted
        self.serverDate = serverDate
        self.codec = codec
        self.askedAt = askedAt
    }

    private static func unusable(_ error: WireError, table: String) -> SyncError {
        let place = error.offset.map { " (byte \($0) of the answer)" } ?? ""
        return SyncError(
            .invalidAnswer, "the server's answer cannot be used: \(error.message)\(place)", table: table,
            column: error.column, id: error.id, cause: error)
    }

    private typealias Columns = (updatedAt: Int, version: Int)

    /// The places of the system columns; -1 where the table does not keep one, as for a pull without a query id.
    private static func columns(of shape: RowShape) -> Columns {
        (shape.index(of: "updatedAt") ?? -1, shape.index(of: "version") ?? -1)
    }

    /// Notes the range of `updatedAt` and its order; no range when a single row lacks it.
    private static func note(_ rows: borrowing PackedRows, _ columns: Columns, _ summary: inout PageSummary) {
        guard columns.updatedAt >= 0, rows.count > 0 else { return }
        var oldest = Timestamp.max
        var newest = Timestamp.min
        var previous = Timestamp.min
        rows.forEachRow { view in
            guard let updatedAt = view.timestamp(at: columns.updatedAt) else {
                summary.undatedID = summary.undatedID ?? view.id
                return
            }
            if updatedAt < previous { summary.isAscending = false }
            previous = updatedAt
            oldest = min(oldest, updatedAt)
            newest = max(newest, updatedAt)
        }
        guard summary.undatedID == nil else { return }
        summary.oldest = oldest
        summary.newest = newest
    }

    private static func boundary(
        of rows: borrowing PackedRows, _ columns: Columns, _ summary: PageSummary
    ) -> [String: String] {
        guard let newest = summary.newest, columns.version >= 0 else { return [:] }
        var boundary: [String: String] = [:]
        for index in (0..<rows.count).reversed() {
            let isAtNewest = rows.withRow(at: index) { view in
                guard view.timestamp(at: columns.updatedAt) == newest else { return false }
                boundary[view.id] = view.string(at: columns.version) ?? ""
                return true
            }
            // In ascending order they are the last.
            if !isAtNewest, summary.isAscending { break }
        }
        return boundary
    }

    /// The row of a position, owned.
    func row(at index: Int) -> Row { rows.withRow(at: index) { $0.owned() } }
}
