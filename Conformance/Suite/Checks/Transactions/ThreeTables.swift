internal import TidelineStore
internal import TidelineSupport

/// Three tables of different kinds with rows, which transactions change together.
enum ThreeTables {
    /// A table with indexes, one without, and one with integer ids, an index, and a required column.
    static let schemas: [TableSchema] = [.items, .notes, .tallies]

    /// Returns the initial rows of a table, sorted by id.
    static func rows(_ schema: TableSchema) -> [Row] {
        switch schema.name {
        case TableSchema.items.name: schema.completing(items)
        case TableSchema.notes.name: schema.completing(notes)
        default: schema.completing(tallies)
        }
    }

    /// Returns a store in which the tables are defined and filled.
    static func store(_ context: CheckContext, in name: String = "store") throws -> TracedStore {
        let store = try context.store(schemas, in: name)
        try store.write { writer in
            for schema in schemas { try writer.upsert(rows(schema), into: schema.name) }
        }
        return store
    }

    /// Changes rows of each table: a row is added to or removed from each, and index entries move.
    static func change(_ writer: TracedWriter) throws {
        try writer.upsert([["id": "a", "priority": 9], ["id": "new", "priority": 9]], into: "TodoItem")
        try writer.delete(ids: ["b"], from: "TodoItem")
        try writer.delete(matching: TableQuery("Note").filter(.column("number") > 1))
        try writer.upsert([.tally(1, 99), .tally(7, 99)], into: "Tally")
    }

    private static let items: [Row] = [
        ["id": "a", "text": "Milk", "complete": false, "priority": 1, "due": .timestamp(.init(clampingTicks: 10))],
        ["id": "b", "text": "Bread", "complete": true, "priority": 2, "score": 0.5],
        ["id": "c", "text": "Eggs", "complete": false, "priority": 2],
        ["id": "d", "complete": true, "due": .timestamp(.init(clampingTicks: 20))],
    ]
    private static let notes: [Row] = [
        ["id": "a", "text": "first", "number": 1], ["id": "b", "text": "second", "number": 2],
        ["id": "c", "number": 3],
    ]
    private static let tallies: [Row] = [
        Row(id: 1, "n", 10), Row(id: 2, "n", 20), Row(id: 3, "n", 20),
    ]
}

extension Row {
    fileprivate init(id: RowID, _ column: String, _ value: TidelineStore.Value) {
        self.init(id: id)
        self[column] = value
    }

    /// Returns a row of the table of tallies.
    static func tally(_ id: Int64, _ count: Int64) -> Row { Row(id: .int(id), "n", .int(count)) }
}

extension TableSchema {
    /// A table of counters, keyed by number.
    static let tallies = TableSchema(
        "Tally", columns: [.int("n", optional: false), .string("owner")], idType: .int, indexes: [["n"]])
}

extension CheckContext {
    /// Fails unless a scan of a table returns these rows, sorted by id.
    func expect(
        _ schema: TableSchema, in reader: some StoreReader, holds rows: [Row], _ what: @autoclosure () -> String
    ) throws {
        try expect(reader.allRows(schema.name), are: schema.completing(rows), "\(what()), table \(schema.name)")
    }

    /// Fails unless the tables hold their initial rows.
    func expectAsFilled(
        _ store: TracedStore, only schemas: [TableSchema] = ThreeTables.schemas, _ what: @autoclosure () -> String
    ) throws {
        try store.read { reader in
            for schema in schemas {
                try expect(schema, in: reader, holds: ThreeTables.rows(schema), what())
            }
        }
    }

    /// Fails unless queries that an index may serve return the evaluator's answers: along each index, both ways,
    /// and by current and former values of its first column (all values, or the first and last of many).
    ///
    /// - Parameter formerly: Rows with values that the index had before, or that it must not have.
    func expectIndexes(
        of schema: TableSchema, in reader: some StoreReader, find rows: [Row], formerly: [Row] = [],
        _ what: @autoclosure () -> String
    ) throws {
        let packed = try schema.packed(schema.completing(rows))
        for index in schema.indexes {
            let values = (rows + formerly).map { $0[index.columns[0]] ?? .null }.uniqued()
            for query in index.queries(schema.name, values.count > 16 ? values.prefix(8) + values.suffix(8) : values) {
                try expect(query, in: reader, over: packed, of: schema, what())
            }
        }
    }
}

extension IndexSchema {
    fileprivate func queries(_ table: String, _ values: [Value]) -> [TableQuery] {
        let along = [false, true].map { descending in
            TableQuery(table, order: columns.map { OrderTerm($0, descending: descending) }, includesTotalCount: true)
        }
        let first = RowPredicate.column(columns[0])
        return along
            + values.flatMap { value -> [TableQuery] in
                let equal = TableQuery(table).filter(first == .literal(value))
                let ordered = columns.dropFirst().prefix(1).map { equal.order(by: $0) }
                return [equal, TableQuery(table).filter(first >= .literal(value))] + ordered
            }
    }
}
