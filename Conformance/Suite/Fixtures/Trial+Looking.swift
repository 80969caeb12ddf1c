internal import TidelineStore

extension Trial {
    /// Makes a change and looks at what came of it: inside the write, in a read after it, and, where stores keep their
    /// rows, after the store was closed and opened anew.
    ///
    /// - Parameters:
    ///   - name: The folder of the store.
    ///   - look: Gets a reader, and the words for a message that say where it looks from.
    /// - Returns: The store, opened anew.
    @discardableResult
    func apply(
        to store: TracedStore, in name: String = "store", _ change: (TracedWriter) throws -> Void,
        thenLook look: (any StoreReader, _ place: String) throws -> Void
    ) throws -> TracedStore {
        try store.write { writer in
            try change(writer)
            try look(writer, "inside the write")
        }
        try store.read { try look($0, "in a read after the write") }
        guard capabilities.isPersistent else { return store }
        let again = try reopened(store, in: name)
        try again.read { try look($0, "after the store was opened anew") }
        return again
    }

    /// Fails unless a table holds exactly these rows, by look-up, scan and count.
    ///
    /// - Parameter rows: In any order; columns that they do not name are null.
    func expect(_ schema: TableSchema, in reader: any StoreReader, holds rows: [Row], _ place: String) throws {
        let complete = schema.completing(rows)
        for row in complete {
            guard let id = row.key else { throw KitError("a row expected in \(schema.name) has no id") }
            let found = try reader.row(in: schema.name, id: id)
            try expect(found, is: row, "\(place), the look-up of \(Self.text(id)) in \(schema.name)")
        }
        try expect(Query(schema.name), in: reader, over: complete, of: schema, place)
    }

    /// Fails unless a query's rows, their order, total count and count are what the evaluator says of these rows.
    ///
    /// - Parameter rows: All rows of the table, each with all columns.
    func expect(
        _ query: Query, in reader: any StoreReader, over rows: [Row], of schema: TableSchema, _ place: String
    ) throws {
        let expected = try Answer.expected(query, schema, try schema.packed(rows))
        if let difference = try Answer.of(reader, query).difference(from: expected) {
            throw CheckFailure("\(place), \(query.swiftSource): \(difference)")
        }
    }

    /// Fails unless a query finds the rows of these ids, in this order.
    func expect(_ query: Query, in reader: any StoreReader, finds ids: [RowID], _ place: String) throws {
        let found = try reader.rows(matching: query).rows.compactMap(\.key)
        guard found == ids else {
            throw CheckFailure(
                "\(place), \(query.swiftSource) finds \(Self.text(found)), expected \(Self.text(ids))")
        }
    }
}
