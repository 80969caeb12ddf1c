import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineMemory
import TidelineStore
import TidelineSupport

/// Tests rows across many definitions, against a model that keeps all values ever stored.
@Suite struct RandomDefinitionTests {
    @Test(arguments: [Int.max, 128], [TableSchema.IDMatching.asciiCaseInsensitive, .exact])
    func rowsKeepTheirValuesThroughEveryDefinition(_ maximumKeyLength: Int, _ matching: TableSchema.IDMatching) throws {
        let seed = UInt64.random(in: 0...99_999)
        let engine = WrappedEngine(maximumKeyLength: maximumKeyLength)
        var script = DefinitionScript(seed: seed, matching: matching)
        var store = try KeyValueStore(engine: engine)
        for step in 0..<60 {
            try script.runStep(on: store)
            if step % 10 == 9 { store = try KeyValueStore(engine: engine) }
            try script.expectAgreement(store)
            try engine.audit("seed \(seed), step \(step)")
        }
    }
}

/// Random definitions and changes from a seed, and their expected result.
private struct DefinitionScript {
    private struct Dropped: Error {}

    /// A row of the model: its original id and the values of all columns that ever existed.
    private struct Known {
        var id: String
        var values: [String: Value]
    }

    private static let columns: [ColumnSchema] = [
        .int("a"), .string("b"), .double("c"), .bytes("d"), .bool("e"), .timestamp("f"), .json("g"), .string("h"),
    ]

    private let seed: UInt64
    private var random: SplitMix64
    private var schema: TableSchema
    private var rows: [String: Known] = [:]
    private let ids: [String]
    private let values = RandomValues(includesLongTexts: true, nullShare: 0.2)

    init(seed: UInt64, matching: TableSchema.IDMatching) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        schema = TableSchema("t", columns: [], idMatching: matching)
        ids =
            (0..<12).map { "id\($0)" } + ["ID1", "Id2", "iD3", "é", "É", "a", "a\0", "aa", "A\0"]
            + (0..<6).map { String(repeating: "😀", count: 120) + "\($0 % 3)" + ($0 < 3 ? "x" : "X") }
    }

    mutating func runStep(on store: KeyValueStore<WrappedEngine>) throws {
        if Int.random(in: 0..<3, using: &random) == 0 || schema.columns.isEmpty { try define(on: store) }
        let before = rows
        do {
            try store.write { writer throws in
                for _ in 0..<Int.random(in: 1...4, using: &random) { try change(writer) }
                if Int.random(in: 0..<5, using: &random) == 0 { throw Dropped() }
            }
        } catch is Dropped {
            rows = before
        }
    }

    private mutating func define(on store: KeyValueStore<WrappedEngine>) throws {
        schema.columns = Array(
            Self.columns.shuffled(using: &random).prefix(Int.random(in: 1...8, using: &random)))
        schema.systemColumns = Bool.random(using: &random) ? [.version] : []
        schema.indexes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let names = (schema.allColumns.map(\.name) + ["id"]).shuffled(using: &random)
            return IndexSchema(Array(names.prefix(Int.random(in: 1...3, using: &random))))
        }
        try store.define([schema])
    }

    private mutating func change(_ writer: some StoreWriter) throws {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let doomed = (0..<3).map { _ in ids.randomElement(using: &random) ?? "" }
            let removed = doomed.count { rows.removeValue(forKey: key($0)) != nil }
            #expect(try writer.delete(ids: doomed.map { .string($0) }, from: "t") == removed, "seed \(seed)")
        case 1:
            let column = schema.columns.randomElement(using: &random)?.name ?? "id"
            let query = TableQuery("t").order(by: column).limit(2)
            for row in try writer.rows(matching: query).rows { rows[key(row.idText)] = nil }
            try writer.delete(matching: query)
        default:
            let batch = batch()
            var packed = PackedRows(shape: batch.shape)
            for row in batch.rows {
                try packed.append(row)
                note(row)
            }
            try writer.upsert(packed, into: "t")
        }
    }

    /// Returns rows in the table's shape or in a shape of their own.
    private mutating func batch() -> (shape: RowShape, rows: [Row]) {
        var columns = schema.allColumns
        if Int.random(in: 0..<3, using: &random) == 0 {
            columns = Array(columns.shuffled(using: &random).prefix(Int.random(in: 0...columns.count, using: &random)))
        }
        let share = Bool.random(using: &random) ? 1 : 0.5
        let rows = (0..<Int.random(in: 1...8, using: &random)).map { _ in
            var row = Row(id: .string(ids.randomElement(using: &random) ?? ""))
            for column in columns where Double.random(in: 0..<1, using: &random) < share {
                row[column.name] = values.value(for: column, using: &random)
            }
            return row
        }
        return (RowShape(table: "t", columns: columns), rows)
    }

    private mutating func note(_ row: Row) {
        var known = rows[key(row.idText)] ?? Known(id: row.idText, values: [:])
        for name in row.columnNames { known.values[name] = row[name] }
        rows[key(row.idText)] = known
    }

    /// Returns the key by which ids are compared. The ids above are not canonically equivalent, so `==` suffices.
    private func key(_ id: String) -> String { schema.idMatching == .exact ? id : id.asciiLowercased }

    func expectAgreement(_ store: KeyValueStore<WrappedEngine>) throws {
        try store.read { reader throws in
            let found = try reader.rows(matching: TableQuery("t", includesTotalCount: true))
            try #require(found.totalCount == rows.count && found.rows.count == rows.count, "seed \(seed)")
            for row in found.rows { try expectRow(row) }
            for id in ids {
                let row = try reader.row(in: "t", id: id)
                try #require((row == nil) == (rows[key(id)] == nil), "seed \(seed)")
                if let row { try expectRow(row) }
            }
        }
    }

    private func expectRow(_ row: Row) throws {
        let known = try #require(rows[key(row.idText)], "seed \(seed)")
        try #require(row.idText == known.id, "seed \(seed)")
        try #require(row.columnNames == schema.allColumns.map(\.name), "seed \(seed)")
        for name in row.columnNames {
            try #require(row[name] == known.values[name] ?? .null, "seed \(seed), \(name) of \(row.idText)")
        }
    }
}
