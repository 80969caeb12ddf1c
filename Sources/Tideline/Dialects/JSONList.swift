internal import Synchronization
internal import TidelineStore
internal import TidelineWire

/// The rows of a custom dialect's page that were parsed straight into their packed form.
final class JSONList: Sendable {
    /// `nil` after the pull has taken them.
    private let batch: Mutex<PackedRows?>
    /// The last row, or `nil` if there is none.
    let last: Row?
    /// The positions of the deleted rows, ascending.
    let deleted: [Int]
    let skipped: [SkippedRow]
    /// The other members of the response.
    let rest: Row

    /// Parses a page; see ``ServerPage/init(json:list:of:renaming:end:)``.
    init(_ body: [UInt8], _ name: String?, of page: PageRequest, renaming names: [String: String]) throws {
        let shape = page.schema.makeShape()
        let serverNames = (shape.columns.map(\.name) + ["id", "deleted"]).map { names[$0] ?? $0 }
        guard Set(serverNames).count == serverNames.count else {
            throw SyncError(.invalidArgument, "two columns have the same name on the server", table: page.table)
        }
        var parser = PageParser(schema: page.schema, keepsOthers: true, renaming: names)
        parser.completesRows = true
        parser.checksNames = true
        parser.list = name ?? ""
        var rows = PackedRows(shape: shape, byteCapacity: body.count)
        do {
            let info = try body.withUnsafeBytes {
                try parser.parsePage($0, into: &rows, skipsRejectedRows: page.skipsRejectedRows)
            }
            try rows.forEachRow { row in
                if row.withIDBytes({ $0.count < 3 }) { try ItemID.validateExisting(row.idText) }
            }
            rest = try JSONRow.parse(info.members.isEmpty ? Array("{}".utf8) : info.members, allowsIntegerID: true)
            deleted = info.deleted
            skipped = info.rejectedRows.map { SkippedRow($0, table: page.table) }
        } catch let error as WireError {
            throw SyncError(unreadable: error, table: page.table)
        }
        last = rows.count == 0 ? nil : rows.withRow(at: rows.count - 1) { $0.owned() }
        batch = Mutex(rows)
    }

    /// Returns the rows, once.
    func takeRows() -> PackedRows? { batch.withLock { $0.take() } }

    /// Copies of the rows, with true in the column `deleted` of those that were deleted.
    var rows: [Row] {
        let deleted = Set(deleted)
        return batch.withLock { batch in
            guard let count = batch?.count else { return [] }
            return (0..<count).compactMap { index in
                var row = batch?.withRow(at: index) { $0.owned() }
                if deleted.contains(index) { row?["deleted"] = true }
                return row
            }
        }
    }
}
