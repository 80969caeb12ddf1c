internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// Reads the rows in the server's responses to direct requests. Types follow from the table's definition, or from the
/// JSON if the table is not defined.
struct RemoteRowReader: Sendable {
    let table: String
    /// The local definition of the table, or `nil` if there is none.
    let schema: TableSchema?
    private let parser: PageParser?
    /// The parser of rows that have only some of the server's columns.
    private let partialParser: PageParser?

    init(table: String, schema: TableSchema?) {
        self.table = table
        self.schema = schema
        parser = schema.map { PageParser(schema: $0, keepsOthers: true) }
        partialParser = schema.map { PageParser(schema: $0) }
    }

    /// Returns the row to send, validated against the definition. Without a definition, the dialect checks names and
    /// values.
    ///
    /// - Parameter isKnown: Whether the row exists. The identifier of an existing row need not be valid for a new row.
    func checked(_ row: Row, isKnown: Bool = false) throws -> Row {
        guard let schema else { return row }
        return try RowInput.checked(row, for: schema, isKnown: isKnown)
    }

    /// Returns whether two identifiers refer to the same row.
    func isSame(_ a: String, _ b: String) -> Bool {
        let key = { (id: String) in schema?.itemKey(id) ?? id.asciiLowercased }
        return RowID.string(key(a)) == .string(key(b))
    }

    /// Returns the row in a response.
    ///
    /// - Parameter id: The identifier of the requested row, or `nil` if the server assigns it.
    /// - Throws: ``SyncError`` with code invalidAnswer for a response without a row or with a different row.
    func row(in answer: ServerAnswer, id: String?) throws -> Row {
        let row = try readable(answer, id: id) { try parse(answer.rowBody[...]) }
        guard let id, !isSame(row.idText, id) else { return row }
        throw SyncError(
            .invalidAnswer, "the server returned the row \(row.idText.debugDescription) instead", table: table, id: id,
            status: answer.status)
    }

    /// Returns the rows of a page, and the total number of matching rows if the response includes it.
    ///
    /// - Parameter selection: The columns of the rows, or `nil` for all.
    func rows(
        in answer: ServerAnswer, selection: [String]?
    ) throws -> (rows: [Row], totalCount: Int64?, nextLink: String?) {
        try readable(answer, id: nil) {
            let page = try JSONPage(answer.response.body)
            let rows = try page.rows.map { try parse(answer.response.body[$0], selection: selection) }
            return (rows, page.totalCount, page.nextLink)
        }
    }

    /// A parser that keeps all columns of a row as received, to send them back.
    private static let wholeRows = PageParser(
        schema: TableSchema("", columns: [], systemColumns: [.version, .extra]), keepsOthers: true)

    /// Returns the row in a response with its identifier and version, and all other columns in `__extra`.
    func wholeRow(in answer: ServerAnswer, id: String) throws -> Row {
        try readable(answer, id: id) {
            try answer.response.body.withUnsafeBytes { try Self.wholeRows.parseRow($0, requireID: true) }
        }
    }

    /// Returns the rows of a page as ``wholeRow(in:id:)`` returns a single row.
    func wholeRows(in answer: ServerAnswer) throws -> [Row] {
        try readable(answer, id: nil) {
            try JSONPage(answer.response.body).rows.map { range in
                try answer.response.body[range].withUnsafeBytes { try Self.wholeRows.parseRow($0, requireID: true) }
            }
        }
    }

    private func parse(_ bytes: ArraySlice<UInt8>, selection: [String]? = nil) throws -> Row {
        let requiresID = selection?.contains("id") ?? true
        do {
            return try bytes.withUnsafeBytes { bytes in
                if let parser = selection == nil ? parser : partialParser {
                    return try parser.parseRow(bytes, requireID: requiresID)
                }
                let row = try JSONRow.parse(bytes, allowsIntegerID: true)
                guard row.id != nil || !requiresID else { throw WireError(.missingID, "a row has no id", offset: 0) }
                return row
            }
        } catch var error as WireError {
            error.offset = error.offset.map { $0 + bytes.startIndex }
            throw error
        }
    }

    private func readable<T>(_ answer: ServerAnswer, id: String?, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as WireError {
            throw SyncError(unreadable: error, table: table, id: id, status: answer.status)
        }
    }
}
