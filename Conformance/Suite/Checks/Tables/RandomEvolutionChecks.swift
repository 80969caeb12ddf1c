internal import TidelineStore
internal import TidelineSupport

extension Check {
    /// Random definitions, compared with a model of the rows.
    static let randomEvolutions: [Check] = [
        Check(
            "TAB-140",
            "A table that is randomly redefined and changed gives the same answers as a model",
            why: "Rows of all versions coexist. The model keeps every value ever stored and shows defined columns.",
            tier: .stress
        ) { context in
            for round in 0..<(2 * context.rounds) {
                var evolution = EvolvingTable(context, round: round)
                var store = try context.open("round \(round)")
                for step in 0..<10 {
                    try store.define([evolution.evolve()])
                    try store.write { writer in try evolution.change(writer) }
                    let what = "round \(round), definition \(step)"
                    try context.expect(store.tables(), is: [evolution.schema], "\(what): the definition")
                    try store.read { try context.expectColumns(of: evolution.schema, in: $0, what) }
                    store = try context.expectAnswers(
                        evolution.queries(), in: store, over: evolution.visible, of: evolution.schema, what)
                }
            }
        }
    ]
}

/// A table whose definition and rows change at random, and a model of its content.
private struct EvolvingTable {
    private(set) var schema = TableSchema.t(systemColumns: [])
    /// All rows, including hidden columns.
    private var rows: [String: Row] = [:]
    private var random: SplitMix64
    private let values: RandomValues

    /// A column of every type and two more: all columns that the table can have.
    private static let columns = (ColumnType.allCases + [.int, .string]).enumerated().map { number, type in
        ColumnSchema("c\(number)", type)
    }

    init(_ context: CheckContext, round: Int) {
        random = SplitMix64(seed: context.seed &+ UInt64(round))
        values = RandomValues(
            includesNaN: context.capabilities.storesNaN, includesInfinity: context.capabilities.storesInfinity,
            nullShare: 0.2)
    }

    /// The rows under the current definition, sorted by identifier.
    var visible: [Row] {
        rows.sorted { $0.key < $1.key }.map { _, row in row.filteringColumns { schema.column($0) != nil } }
    }

    /// Returns some of the columns in some order, with some indexes.
    mutating func evolve() -> TableSchema {
        let count = Int.random(in: 1...Self.columns.count, using: &random)
        schema.columns = Array(Self.columns.shuffled(using: &random).prefix(count))
        schema.indexes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            let names = (schema.columns.map(\.name) + ["id"]).shuffled(using: &random)
            return IndexSchema(Array(names.prefix(Int.random(in: 1...2, using: &random))))
        }
        return schema
    }

    /// Inserts and merges rows that name some of the columns, and deletes a few rows.
    mutating func change(_ writer: some StoreWriter) throws {
        for _ in 0..<8 {
            let id = "r\(Int.random(in: 0..<24, using: &random))"
            var row = Row(id: .string(id))
            for column in schema.columns where Bool.random(using: &random) {
                row[column.name] = values.value(for: column, using: &random)
            }
            try writer.upsert(row, into: schema.name)
            rows[id] = rows[id]?.merging(row) ?? row
        }
        for _ in 0..<2 {
            let id = "r\(Int.random(in: 0..<24, using: &random))"
            try writer.delete(id: id, from: schema.name)
            rows[id] = nil
        }
    }

    /// Returns a query for all rows and queries that depend on one of the columns.
    mutating func queries() -> [TableQuery] {
        let column = pick(schema.columns, using: &random)
        let value = visible.lazy.compactMap { $0[column.name] }.first { !$0.isNull }
        return [TableQuery(schema.name)] + TableQuery.about(column.name, like: .literal(value ?? .null))
    }
}
