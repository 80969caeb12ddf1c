internal import TidelineStore

/// A difference between a store and a script's expectations.
struct ScriptFailure: Error {
    /// The promise that does not hold at a place in a script.
    enum Promise {
        /// The call succeeds.
        case success
        /// The call throws an error with the given code, or any error of the store.
        case refusal(StoreError.Code?)
        /// The write rethrows the body's own error.
        case ownError
        /// The given number of rows is deleted.
        case deletion(Int)
        /// A query has this answer.
        case answer(TableQuery, Answer)
        /// A row is found by its identifier, or `nil` if there is none.
        case row(table: String, id: RowID, Row?)
        /// These are the definitions.
        case definitions([TableSchema])
    }

    /// A place in a script.
    enum Place {
        /// A step itself, or a read after it.
        case step
        /// A change within a step's write, or a read directly after it.
        case change(Int)
        /// The read of another thread, at its beginning or its end.
        case held
    }

    /// The number of the step; for a read of another thread, the step at which it ends.
    var step: Int
    var place: Place
    var promise: Promise
    /// The expected and the actual behavior.
    var message: String
}

extension StoreModel {
    /// Returns the first difference between a reader and this model, if any: of each table, as a whole and along each
    /// index in both directions, of counts, and of each row by its identifier.
    func failure(in reader: some StoreReader) throws -> ScriptFailure? {
        for name in tables.keys.sorted() {
            if let failure = try failure(in: reader, table: name) { return failure }
        }
        return nil
    }

    /// Returns the first difference in a table.
    func failure(in reader: some StoreReader, table: String, isQuick: Bool = false) throws -> ScriptFailure? {
        guard let schema = tables[table]?.schema else { return nil }
        let rows = rows(table)
        let queries = isQuick ? [TableQuery(table)] : schema.queries
        if let failure = try failure(in: reader, schema, rows, queries) { return failure }
        return isQuick ? nil : try lookUpFailure(in: reader, schema, rows)
    }

    private func failure(
        in reader: some StoreReader, _ schema: TableSchema, _ rows: [Row], _ queries: [TableQuery]
    ) throws -> ScriptFailure? {
        let packed = try schema.packed(rows)
        for query in queries {
            let expected = try Answer.expected(query, schema, packed)
            if let difference = try Answer.of(reader, query).difference(from: expected) {
                return ScriptFailure(.answer(query, expected), "\(query.swiftSource): \(difference)")
            }
        }
        return nil
    }

    private func lookUpFailure(
        in reader: some StoreReader, _ schema: TableSchema, _ rows: [Row]
    ) throws -> ScriptFailure? {
        for row in rows {
            guard let id = row.id else { continue }
            let found = try reader.row(in: schema.name, id: id)
            if let difference = RowDifference(found: found.map { [$0] } ?? [], expected: [row]) {
                let message = "table \(schema.name.swiftSource), id \(CheckContext.text(id)): \(difference)"
                return ScriptFailure(.row(table: schema.name, id: id, row), message)
            }
        }
        return nil
    }
}

extension ScriptFailure {
    init(_ promise: Promise, _ message: String) {
        self.init(step: 0, place: .step, promise: promise, message: message)
    }

    /// Returns the same failure at another place.
    func at(_ place: Place) -> ScriptFailure {
        var copy = self
        copy.place = place
        return copy
    }
}

extension TableSchema {
    /// Queries for all rows, sorted by identifier and along each index in both directions.
    fileprivate var queries: [TableQuery] {
        [TableQuery(name, includesTotalCount: true)]
            + indexes.flatMap { index in
                [false, true].map { descending in
                    TableQuery(
                        name, order: index.columns.map { OrderTerm($0, descending: descending) },
                        selection: index.columns)
                }
            }
    }
}
