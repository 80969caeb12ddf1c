internal import TidelineStore

/// Where a store parts from what a script asks of it.
struct ScriptFailure: Error {
    /// What must hold at a place of a script, and does not.
    enum Promise {
        /// The call does what it does without an error.
        case success
        /// The call throws an error of that code, or any of the store's.
        case refusal(StoreError.Code?)
        /// The body's own error comes out.
        case ownError
        /// So many rows are deleted.
        case deletion(Int)
        /// A query's answer is this one.
        case answer(Query, Answer)
        /// A row is found by its id; or none is.
        case row(table: String, id: RowID, Row?)
        /// These are the definitions.
        case definitions([TableSchema])
    }

    /// Where in a script.
    enum Place {
        /// At a step itself, or in a read after it.
        case step
        /// Within a step's write, at a change or right after it.
        case change(Int)
        /// In the read of another thread, when it begins or when it ends.
        case held
    }

    /// The number of the step; of a read of another thread, the step at which it ends.
    var step: Int
    var place: Place
    var promise: Promise
    /// What was expected and what was found.
    var message: String
}

extension StoreModel {
    /// What readers of one version find wrong, nil when they find everything as it is here: every table as a whole and
    /// along each index both ways, counts, and each row by its id.
    func failure(in reader: some StoreReader) throws -> ScriptFailure? {
        for name in tables.keys.sorted() {
            if let failure = try failure(in: reader, table: name) { return failure }
        }
        return nil
    }

    /// What a reader finds wrong with a table.
    func failure(in reader: some StoreReader, table: String, isQuick: Bool = false) throws -> ScriptFailure? {
        guard let schema = tables[table]?.schema else { return nil }
        let rows = rows(table)
        let queries = isQuick ? [Query(table)] : schema.queries
        if let failure = try failure(in: reader, schema, rows, queries) { return failure }
        return isQuick ? nil : try lookUpFailure(in: reader, schema, rows)
    }

    private func failure(
        in reader: some StoreReader, _ schema: TableSchema, _ rows: [Row], _ queries: [Query]
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
            guard let id = row.key else { continue }
            let found = try reader.row(in: schema.name, id: id)
            if let difference = RowDifference(found: found.map { [$0] } ?? [], expected: [row]) {
                let message = "table \(schema.name.swiftSource), id \(Trial.text(id)): \(difference)"
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

    /// The same at another place.
    func at(_ place: Place) -> ScriptFailure {
        var copy = self
        copy.place = place
        return copy
    }
}

extension TableSchema {
    /// All rows, in order of id and along each index both ways.
    fileprivate var queries: [Query] {
        [Query(name, includesTotalCount: true)]
            + indexes.flatMap { index in
                [false, true].map { descending in
                    Query(
                        name, order: index.columns.map { OrderTerm($0, descending: descending) },
                        selection: index.columns)
                }
            }
    }
}
