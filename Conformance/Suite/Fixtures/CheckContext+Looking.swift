internal import TidelineStore

extension CheckContext {
    /// Makes a change and checks its result inside the write, in a read after it, and, if stores keep their rows, after
    /// reopening. `look` receives a reader and, for messages, where it reads. Returns the reopened store.
    @discardableResult
    func apply(
        to store: TracedStore, _ change: (TracedWriter) throws -> Void,
        thenLook look: (any StoreReader, _ place: String) throws -> Void
    ) throws -> TracedStore {
        try store.write { writer in
            try change(writer)
            try look(writer, "inside the write")
        }
        try store.read { try look($0, "in a read after the write") }
        guard capabilities.isPersistent else { return store }
        let again = try reopened(store)
        try again.read { try look($0, "after the store was reopened") }
        return again
    }

    /// Stores rows in a new table and checks them inside the write, in a read after it, and after reopening.
    func storing(
        _ rows: [Row], in table: TableSchema, thenLook look: (any StoreReader, _ place: String) throws -> Void
    ) throws {
        try apply(to: store(table), { try $0.upsert(rows, into: table.name) }, thenLook: look)
    }

    /// Makes a change and fails unless a table then holds exactly these rows: inside the write, after it, and reopened.
    func expect(
        _ schema: TableSchema, of store: TracedStore, holds rows: [Row], after change: (TracedWriter) throws -> Void
    ) throws {
        try apply(to: store, change) { try expect(schema, in: $0, holds: rows, $1) }
    }

    /// Fails unless a table holds exactly these rows, in any order and with null for columns that they do not name,
    /// according to lookups, a scan, and a count.
    func expect(_ schema: TableSchema, in reader: any StoreReader, holds rows: [Row], _ place: String) throws {
        let complete = schema.completing(rows)
        for row in complete {
            guard let id = row.id else { throw HarnessError("a row expected in \(schema.name) has no id") }
            let found = try reader.row(in: schema.name, id: id)
            try expect(found, is: row, "\(place), the lookup of \(Self.text(id)) in \(schema.name)")
        }
        try expect(TableQuery(schema.name), in: reader, over: complete, of: schema, place)
    }

    /// Fails unless the rows of scans and lookups have the columns of their table at the positions of its shape.
    func expectColumns(of schema: TableSchema, in reader: some StoreReader, _ place: String) throws {
        let columns = schema.allColumns.map(\.name)
        try reader.scan(TableQuery(schema.name)) { view in
            try expect(view.shape.columns.map(\.name), is: columns, "\(place), the columns of a scanned row, in order")
            let found = try reader.withRow(in: schema.name, id: view.id) { $0.shape.columns.map(\.name) }
            try expect(found ?? [], is: columns, "\(place), the columns of a row that is looked up, in order")
            return .next
        }
    }

    /// Fails unless a query's rows, their order, total count, and count equal the evaluator's answer for these rows.
    ///
    /// - Parameter rows: All rows of the table, each with all columns.
    func expect(
        _ query: TableQuery, in reader: any StoreReader, over rows: [Row], of schema: TableSchema, _ place: String
    ) throws {
        try expect(query, in: reader, over: schema.packed(rows), of: schema, place)
    }

    /// Fails unless a query's rows, their order, total count, and count equal the evaluator's answer for these rows.
    func expect(
        _ query: TableQuery, in reader: some StoreReader, over rows: borrowing PackedRows, of schema: TableSchema,
        _ place: @autoclosure () -> String
    ) throws {
        let expected = try Answer.expected(query, schema, rows)
        if let difference = try Answer.of(reader, query).difference(from: expected) {
            throw CheckFailure("\(place()), \(Self.text(query)): \(difference)")
        }
    }

    /// Fails unless a query is answered like the evaluator does, or refused.
    func expectAnswerOrRefusal(
        _ query: TableQuery, in reader: any StoreReader, over rows: [Row], of schema: TableSchema
    ) throws {
        let expected = try Answer.expected(query, schema, schema.packed(rows))
        do {
            if let difference = try Answer.of(reader, query).difference(from: expected) {
                throw CheckFailure("a table of \(schema.columns.count) columns, \(Self.text(query)): \(difference)")
            }
        } catch let error as StoreError where error.code == .unsupportedQuery {}
    }

    /// Fails unless a query finds the rows with these identifiers, in this order.
    func expect(_ query: TableQuery, in reader: any StoreReader, finds ids: [RowID], _ place: String) throws {
        let found = try reader.rows(matching: query).rows.compactMap(\.id)
        guard found == ids else {
            throw CheckFailure("\(place), \(query.swiftSource) finds \(Self.text(found)), expected \(Self.text(ids))")
        }
    }
}
