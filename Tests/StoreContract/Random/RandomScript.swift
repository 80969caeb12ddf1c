import TidelineStore
import TidelineConformance

/// Scripts made from a seed.
struct RandomScript {
    private var random: SplitMix64
    private var values: RandomValues
    private let columns: [ColumnSchema]
    private let idType: IDType
    private let idMatching: IDMatching
    private let systemColumns: SystemColumns
    private let ids: [RowID]
    private var schema: TableSchema

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        values = RandomValues(includesLongTexts: true)
        columns = (0..<8).map { number in
            ColumnSchema("c\(number)", ColumnType.allCases[Int(seed &+ UInt64(number)) % ColumnType.allCases.count])
        }
        idType = seed % 5 == 0 ? .int : .string
        idMatching = seed % 3 == 0 ? .exact : .asciiCaseInsensitive
        systemColumns = seed % 2 == 0 ? [] : .standard
        ids = Self.makeIDs(idType)
        schema = TableSchema(Script.table, columns: [])
    }

    /// Few, so that rows meet again: in both cases, too long for a key, and the same but for their last character.
    private static func makeIDs(_ type: IDType) -> [RowID] {
        guard type == .string else { return [.min, -1, 0, 1, 2, .max].map { .int($0) } }
        let long = String(repeating: "😀", count: 252)
        return ["a", "A", "b", "aa", "a\0", "é", "É", "x1", "X1", long, long + "a", long + "A", long + "b"]
            .map { .string($0) }
    }

    /// A script of so many steps, the first of which defines the table.
    mutating func next(steps count: Int) -> Script {
        var steps: [Script.Step] = [.define(nextSchema())]
        for _ in 1..<max(count, 2) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: steps.append(.define(nextSchema()))
            case 1: steps.append(.reopen)
            default:
                let changes = (0..<Int.random(in: 1...4, using: &random)).map { _ in nextChange() }
                steps.append(.write(changes, commits: Int.random(in: 0..<6, using: &random) > 0))
            }
        }
        return Script(steps: steps)
    }

    private mutating func nextSchema() -> TableSchema {
        let count = Int.random(in: 2...columns.count, using: &random)
        let chosen = columns.shuffled(using: &random).prefix(count).map { column in
            ColumnSchema(column.name, column.type, isOptional: Int.random(in: 0..<6, using: &random) > 0)
        }
        schema = TableSchema(
            Script.table, columns: Array(chosen), systemColumns: systemColumns, idType: idType, idMatching: idMatching)
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let names = (schema.allColumns.map(\.name) + ["id"]).shuffled(using: &random)
            let index = IndexSchema(Array(names.prefix(Int.random(in: 1...2, using: &random))))
            if !schema.indexes.contains(index) { schema.indexes.append(index) }
        }
        return schema
    }

    private mutating func nextChange() -> Script.Change {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return .delete((0..<Int.random(in: 1...3, using: &random)).map { _ in nextID() })
        case 2: return .deleteMatching(nextQuery())
        default: return .upsert((0..<Int.random(in: 1...5, using: &random)).map { _ in nextRow() })
        }
    }

    private mutating func nextID() -> RowID { ids[Int.random(in: 0..<ids.count, using: &random)] }

    /// Mostly a row that fits; now and then one that names a column out of sight, or lacks a required one.
    private mutating func nextRow() -> Row {
        var row = Row(id: nextID())
        for column in schema.allColumns {
            let share = column.isOptional ? 6 : 20
            if Int.random(in: 0..<10, using: &random) < share {
                row[column.name] = values.value(for: column, using: &random)
            }
        }
        if Int.random(in: 0..<60, using: &random) == 0 { row["c\(Int.random(in: 0..<9, using: &random))"] = .int(1) }
        return row
    }

    private mutating func nextQuery() -> Query {
        var queries = RandomQuery(seed: random.next(), schema: schema, values: values)
        return queries.nextIndexed()
    }
}
