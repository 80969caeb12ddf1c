internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// Reads the rows in the server's answers to direct requests: typed by the table's definition where there is one, else by
/// what the JSON shows.
struct RemoteRowReader: Sendable {
    let table: String
    /// The local definition of the table, nil for none.
    let schema: TableSchema?
    private let parser: PageParser?

    init(table: String, schema: TableSchema?) {
        self.table = table
        self.schema = schema
        parser = schema.map { PageParser(schema: $0) }
    }

    /// The row to send, as the definition wants it. Without a definition the dialect checks names and values.
    ///
    /// - Parameter isKnown: Whether the row exists, so that its id need not be one that a new row may have.
    func checked(_ row: Row, isKnown: Bool = false) throws -> Row {
        guard let schema else { return row }
        if let type = row.key?.type, type != schema.idType {
            throw SyncError(
                .invalidArgument, "an id of this table is of type \(schema.idType), not \(type)", table: table,
                column: "id", id: row.id)
        }
        return try RowInput.checked(row, for: schema, isKnown: isKnown)
    }

    /// Whether two ids name the same row.
    func isSame(_ a: String, _ b: String) -> Bool {
        schema?.idMatching == .exact
            ? a.utf8.elementsEqual(b.utf8) : a.asciiLowercased.utf8.elementsEqual(b.asciiLowercased.utf8)
    }

    /// The row that an answer holds.
    ///
    /// - Parameter id: The id of the row asked for; nil where the server makes it.
    /// - Throws: ``SyncError`` with code invalidAnswer for an answer that holds no row or another one.
    func row(in answer: TransportResponse, id: String?) throws -> Row {
        let row = try readable(answer, id: id) { try parse(answer.body[...], requiresID: true) }
        guard let id, !isSame(row.id, id) else { return row }
        throw SyncError(
            .invalidAnswer, "the server answered with the row \(row.id.debugDescription) instead", table: table, id: id,
            status: answer.response.status.code)
    }

    /// The rows of a page, and how many match in all where the answer says so.
    func rows(
        in answer: TransportResponse, requiresID: Bool
    ) throws -> (rows: [Row], totalCount: Int64?) {
        try readable(answer, id: nil) {
            let page = try JSONPage(answer.body)
            let rows = try page.rows.map { try parse(answer.body[$0], requiresID: requiresID) }
            return (rows, page.totalCount)
        }
    }

    private func parse(_ bytes: ArraySlice<UInt8>, requiresID: Bool) throws -> Row {
        do {
            return try bytes.withUnsafeBytes { bytes in
                if let parser { return try parser.parseRow(bytes, requireID: requiresID) }
                let row = try JSONRow.parse(bytes, allowsIntegerID: true)
                guard row.key != nil || !requiresID else { throw WireError(.missingID, "a row has no id", offset: 0) }
                return row
            }
        } catch var error as WireError {
            error.offset = error.offset.map { $0 + bytes.startIndex }
            throw error
        }
    }

    private func readable<T>(_ answer: TransportResponse, id: String?, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as WireError {
            let place = error.offset.map { " (byte \($0) of the answer)" } ?? ""
            throw SyncError(
                .invalidAnswer, "the server's answer cannot be used: \(error.message)\(place)", table: table,
                column: error.column, id: error.id ?? id, status: answer.response.status.code, cause: error)
        }
    }
}
