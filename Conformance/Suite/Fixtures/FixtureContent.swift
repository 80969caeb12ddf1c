internal import TidelineStore

/// The content of the stores from earlier releases that TAB-201 opens. It never changes, as those stores do not;
/// additional requirements belong in separate content.
enum FixtureContent {
    /// A column of every type, the system columns, indexes.
    static let everything = TableSchema(
        "Everything",
        columns: [
            .bool("bool"), .int("int"), .double("double"), .string("string"), .timestamp("timestamp"), .bytes("bytes"),
            .json("json"), .string("required", optional: false),
        ],
        systemColumns: .all, indexes: [["int"], ["string", "double"], ["timestamp", "id"]],
        references: [ForeignKey(column: "string", table: "a b's \"table\"")])

    /// A table with integer identifiers.
    static let numbers = TableSchema("Number", columns: [.string("text")], systemColumns: [], idType: .int)

    /// A table whose name is a keyword of query languages and whose identifiers are case-sensitive.
    static let odd = TableSchema(
        "a b's \"table\"", columns: [.string("select"), .int("größe")], systemColumns: .standard, idMatching: .exact,
        indexes: [["select"]])

    /// A system table.
    static let system = TableSchema(
        "kept by the framework", columns: [.string("value")], systemColumns: [], isSystem: true)

    /// All tables, sorted by name.
    static let tables = [everything, numbers, odd, system]

    /// The rows of each table, sorted by identifier, keyed by the table's name.
    static let rows: [String: [Row]] = [
        everything.name: everythingRows, numbers.name: numberRows, odd.name: oddRows,
        system.name: [["id": "key", "value": "kept"]],
    ]

    /// Defines a table and stores its rows, partly by changes and deletions, which leave traces in files.
    static func fill(_ table: TableSchema, in store: some LocalStore) throws {
        try store.define([table])
        let rows = rows[table.name] ?? []
        try store.write { writer in
            try writer.upsert(rows.map { changed($0, of: table) }, into: table.name)
            try writer.upsert(gone(from: table), into: table.name)
        }
        try store.put(rows, into: table.name)
        try store.delete(ids: [gone(from: table).id].compactMap { $0 }, from: table.name)
    }

    // MARK: - Rows

    private static let everythingRows: [Row] = [
        row("a", [true, 1, 0.5, "text", at(0), .bytes([1, 2, 3]), .json("{\"a\":[1,null]}")]),
        row("b", [false, -1, -0.0, "", at(-1), .bytes([]), .json("[]")]),
        row("c", [.null, .null, .null, .null, .null, .null, .null]),
        row("d", [true, .int(.min), 1e300, "größe 😀 e\u{301}", at(17_091_648_000_000_001), .bytes([0]), .json("{}")]),
        row(
            "e",
            [true, .int(.max), 1e-300, .string(String(repeating: "long ", count: 130)), at(1), bytes, .json("[1]")]),
        row("f", [false, 9_007_199_254_740_993, 0.1, "a\0b", at(2), .bytes([255]), .json("[\"é\"]")]),
    ]

    private static let numberRows: [Row] = [
        ["id": .int(.min), "text": "least"], ["id": -1, "text": .null], ["id": 0, "text": "zero"],
        ["id": 255, "text": "a byte"], ["id": .int(.max), "text": "greatest"],
    ]

    private static let oddRows: [Row] = [
        Row(id: "A%_'\\", ["select": "x", "größe": 1]).completed(for: odd),
        Row(id: "a%_'\\", ["select": "y", "größe": .null]).completed(for: odd),
    ]

    private static let bytes = Value.bytes(Array(UInt8.min...UInt8.max))

    private static func at(_ ticks: Int64) -> Value { .timestamp(Timestamp(clampingTicks: ticks)) }

    private static func row(_ id: String, _ values: [Value]) -> Row {
        var row = Row(id: .string(id))
        for (column, value) in zip(everything.columns, values) { row[column.name] = value }
        row["required"] = .string("required \(id)")
        row["createdAt"] = at(10_000_000)
        row["version"] = .string("version \(id)")
        return row.completed(for: everything)
    }

    /// Returns the row before its change.
    private static func changed(_ row: Row, of table: TableSchema) -> Row {
        var old = row
        for column in table.allColumns where column.type == .string { old[column.name] = "old" }
        return old
    }

    /// Returns a row that is later deleted.
    private static func gone(from table: TableSchema) -> Row {
        var row = Row(id: table.idType == .int ? 77 : "gone")
        for column in table.allColumns where !column.isOptional { row[column.name] = "gone" }
        return row
    }
}

extension Row {
    fileprivate init(id: String, _ values: [String: TidelineStore.Value]) {
        self.init(id: .string(id))
        for (name, value) in values.sorted(by: { $0.key < $1.key }) { self[name] = value }
    }
}
