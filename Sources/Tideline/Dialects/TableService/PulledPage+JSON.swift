internal import TidelineStore
internal import TidelineWire

extension PulledPage {
    /// Creates a page from the JSON of a table service. Its rows are parsed straight into their packed form.
    ///
    /// - Parameters:
    ///   - skipsRejectedRows: Whether rows that do not fit the table are skipped instead of being an error.
    ///   - requested: The number of rows requested.
    ///   - maximum: The maximum number of rows to use, or `nil` for all.
    ///   - hasNextLink: Whether the response has a link to a next page in its headers.
    /// - Throws: ``SyncError`` with code invalidAnswer and the column and id from the parser.
    convenience init(
        body: [UInt8], _ codec: RowCodec, skipsRejectedRows: Bool = false, requested: Int = 0, maximum: Int? = nil,
        hasNextLink: Bool = false, serverDate: Timestamp? = nil, requestedAt: UInt64 = 0
    ) throws {
        var rows = PackedRows(shape: codec.answerParser.shape, byteCapacity: body.count)
        let info: PageInfo
        do {
            info = try body.withUnsafeBytes {
                try codec.answerParser.parsePage($0, into: &rows, skipsRejectedRows: skipsRejectedRows)
            }
        } catch let error as WireError {
            throw SyncError(unreadable: error, table: codec.schema.name)
        }
        // A server that ignores `$top` returns more rows than the caller wants.
        if let maximum, rows.count > maximum { rows.truncate(toCount: maximum) }
        let count = rows.count
        let rejectedRows = info.rejectedRows.filter { $0.position <= count }
        var summary = PageSummary(
            count: count + rejectedRows.count, totalCount: info.totalCount,
            hasNextLink: hasNextLink || info.nextLink != nil, requested: requested)
        if let last = rejectedRows.last, last.position == count {
            summary.lastID = last.id
        } else if count > 0 {
            summary.lastID = rows.withRow(at: count - 1) { $0.idText }
        }
        self.init(
            rows, codec, summary: summary, deleted: info.deleted.filter { $0 < count },
            skipped: rejectedRows.map { SkippedRow($0, table: codec.schema.name) }, rejectedRows: rejectedRows,
            serverDate: serverDate, requestedAt: requestedAt)
    }
}

extension RowCodec {
    /// Parses the row in the body of a response to a change. It lacks the columns that the response omits.
    func row(body: [UInt8]) throws -> Row {
        try body.withUnsafeBytes { try changeParser.parseRow($0, requireID: true) }
    }

    /// Parses the rows of a page. The column `deleted` marks the tombstones.
    func rows(page body: [UInt8]) throws -> [Row] {
        let page = try PulledPage(body: body, self)
        return (0..<page.rows.count).map { index in
            var row = completed(page.row(at: index))
            row["deleted"] = .bool(page.deleted.contains(index))
            return row
        }
    }
}

extension SyncError {
    /// Creates the error for a response that cannot be read, with the column and id from the parser.
    init(unreadable error: WireError, table: String, id: String? = nil, status: Int? = nil) {
        let place = error.offset.map { " (byte \($0) of the response)" } ?? ""
        self.init(
            .invalidAnswer, "the server's response cannot be read: \(error.message)\(place)", table: table,
            column: error.column, id: error.id ?? id, status: status, cause: error)
    }
}
