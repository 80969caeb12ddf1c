internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension TableService {
    func insert(_ body: [UInt8], into name: String) throws -> TableResponse {
        let incoming = try RowBody(body)
        if !incoming.id.isEmpty { try ItemID.validate(incoming.id) }
        let table = try table(name, for: incoming, isInsert: true)
        var row = try incoming.typed(by: table)
        if row.key == nil { row.id = options.makeID() }
        row["deleted"] = false
        return try store.write { writer in
            let key = row.key ?? .string(row.id)
            let taken = try writer.withRow(in: table.schema.name, id: key) { TableResponse(.conflict, row: $0) }
            if let taken { return taken }
            let stamp = try stamps.next(for: table.schema.name, in: writer)
            var stored = row
            stored["createdAt"] = .timestamp(stamp)
            return try put(stored, stamped: stamp, into: table, writer, status: .created)
        }
    }

    func update(_ id: String, in table: ServedTable, ifMatch: IfMatch?, body: [UInt8]) throws -> TableResponse {
        let incoming = try RowBody(body)
        guard !incoming.columns.isEmpty else {
            throw RequestRejection(.badRequest, "an update needs a column to change")
        }
        guard incoming.id.isEmpty || table.matches(incoming.id, id) else {
            throw RequestRejection(.badRequest, "the id in the body is not the one in the path")
        }
        let table = try self.table(table.schema.name, for: incoming, isInsert: false)
        return try change(id, in: table, to: try incoming.typed(by: table)) { row in
            if row.isDeleted { return try missing(id, in: table) }
            if let ifMatch { return ifMatch.refusal(of: row) }
            // Without If-Match a version in the body speaks for the one the change was made on.
            guard let version = incoming.version, version != row["version"]?.string else { return nil }
            return TableResponse(.conflict, row: row)
        }
    }

    func delete(_ id: String, from table: ServedTable, ifMatch: IfMatch?) throws -> TableResponse {
        try change(id, in: table, to: ["deleted": true]) { row in
            row.isDeleted ? try missing(id, in: table) : ifMatch?.refusal(of: row)
        }
    }

    func undelete(_ id: String, in table: ServedTable, ifMatch: IfMatch?) throws -> TableResponse {
        try change(id, in: table, to: ["deleted": false]) { row in
            if let refusal = ifMatch?.refusal(of: row) { return refusal }
            return row.isDeleted ? nil : TableResponse(.ok, row: row)
        }
    }

    /// Lays `change` over a row, unless there is none or `answer` has another answer for the row as it is.
    private func change(
        _ id: String, in table: ServedTable, to change: Row,
        unless answer: (borrowing RowView) throws -> TableResponse?
    ) throws -> TableResponse {
        try store.write { writer in
            var change = change
            let found: TableResponse?? = try writer.withRow(in: table.schema.name, id: .string(id)) { row in
                change.key = row.key
                return try answer(row)
            }
            guard let other = found else { return try missing(id, in: table) }
            if let other { return other }
            let stamp = try stamps.next(for: table.schema.name, in: writer)
            return try put(change, stamped: stamp, into: table, writer, status: .ok)
        }
    }

    /// Writes the row with its stamp and a new version, and answers with it as it is stored.
    private func put(
        _ row: Row, stamped stamp: Timestamp, into table: ServedTable, _ writer: Store.Writer,
        status: HTTPResponse.Status
    ) throws -> TableResponse {
        var row = row
        row["updatedAt"] = .timestamp(stamp)
        row["version"] = .string(options.makeVersion())
        try writer.upsert(row, into: table.schema.name)
        let key = row.key ?? .string(row.id)
        let answer = try writer.withRow(in: table.schema.name, id: key) { TableResponse(status, row: $0) }
        return try answer ?? missing(row.id, in: table)
    }

    /// The table for a row, with all columns that the row gives a value.
    private func table(_ name: String, for body: RowBody, isInsert: Bool) throws -> ServedTable {
        let grows = options.createsTablesOnFirstInsert
        guard let table = catalog.table(name) else {
            if isInsert, grows { return try catalog.table(name, with: body.columns.columnSchemas) }
            return try table(name)
        }
        let unknown = body.columns.filter { table.parser.shape.index(of: $0.name) == nil }
        guard grows else {
            guard let first = unknown.first else { return table }
            throw RequestRejection(
                .badRequest, "table \(name.debugDescription) has no column \(first.name.debugDescription)")
        }
        let new = unknown.columnSchemas
        return new.isEmpty ? table : try catalog.table(name, with: new)
    }
}

extension IfMatch {
    /// The answer for a row of another version than these.
    fileprivate func refusal(of row: borrowing RowView) -> TableResponse? {
        allows(row["version"]?.string) ? nil : TableResponse(.preconditionFailed, row: row)
    }
}

extension ServedTable {
    /// Whether two ids name one row.
    fileprivate func matches(_ a: String, _ b: String) -> Bool {
        switch schema.idMatching {
        case .asciiCaseInsensitive: a.asciiLowercased.utf8.elementsEqual(b.asciiLowercased.utf8)
        case .exact: a.utf8.elementsEqual(b.utf8)
        }
    }
}

extension [(name: String, value: Value)] {
    /// Columns for these values, by type; none for a null.
    fileprivate var columnSchemas: [ColumnSchema] {
        compactMap { column in column.value.type.map { ColumnSchema(column.name, $0) } }
    }
}
