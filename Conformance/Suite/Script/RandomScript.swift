internal import TidelineStore
internal import TidelineSupport

/// Generates scripts from a seed.
struct RandomScript {
    /// The parts of a script that depend on a store's declarations.
    struct Options {
        var values: RandomValues
        var maximumIDLength: Int
        /// Whether the store may be closed and reopened between steps.
        var reopens = true
        /// Whether another thread may keep a read open between steps.
        var holds = true

        /// The options that a store's declarations allow.
        init(_ capabilities: StoreCapabilities) {
            values = RandomValues(
                includesNaN: capabilities.storesNaN, includesInfinity: capabilities.storesInfinity,
                includesLongTexts: true)
            maximumIDLength = capabilities.maximumIDLength
            reopens = capabilities.isPersistent
            holds = capabilities.readersDoNotBlockWriters
        }

        /// The options that every store supports.
        static let common: Options = {
            var options = Options(StoreCapabilities(name: "any", storesNaN: false, storesInfinity: false))
            options.holds = false
            return options
        }()
    }

    /// One name is a prefix of another, and the last one contains characters with a special meaning in query languages.
    private static let names = ["Item", "Item2", "it's a \"table\""]

    private let options: Options
    private var random: SplitMix64
    private var model: StoreModel
    private let bases: [Base]

    /// The properties of a table that never change.
    private struct Base {
        var schema: TableSchema
        var columns: [ColumnSchema]
        var ids: [RowID]
    }

    init(seed: UInt64, options: Options) {
        self.options = options
        random = SplitMix64(seed: seed)
        model = StoreModel(maximumIDLength: options.maximumIDLength)
        bases = Self.names.indices.map { Self.base(Self.names[$0], seed &+ UInt64($0), options.maximumIDLength) }
    }

    private static func base(_ name: String, _ seed: UInt64, _ maximumIDLength: Int) -> Base {
        let types = ColumnType.allCases
        let columns = (0..<8).map { number in
            ColumnSchema("c\(number)", types[Int((seed &+ UInt64(number)) % UInt64(types.count))])
        }
        let schema = TableSchema(
            name, columns: [], systemColumns: seed % 2 == 0 ? [] : .standard, idType: seed % 5 == 0 ? .int : .string,
            idMatching: seed % 3 == 0 ? .exact : .asciiCaseInsensitive)
        // Identifiers of the maximum length, and some that are just too long for an engine's keys.
        let length = min(maximumIDLength - 1, [254, 125, 127][Int(seed % 3)])
        return Base(schema: schema, columns: columns, ids: ids(schema.idType, length))
    }

    /// Returns a small set, so that rows recur: in both cases, too long for a key, different in the last character.
    private static func ids(_ type: TableSchema.IDType, _ length: Int) -> [RowID] {
        guard type == .string else { return [.min, -1, 0, 1, 2, .max].map { .int($0) } }
        let long = String(repeating: "😀", count: max(length, 1))
        return ["a", "A", "b", "aa", "a\0", "é", "É", "x1", "X1", long, long + "a", long + "A", long + "b"]
            .map { .string($0) }
    }

    /// Returns a script with `count` steps, the first of which defines tables.
    mutating func next(steps count: Int) -> Script {
        var steps: [Script.Step] = []
        while steps.count < max(count, 2) {
            let step = steps.isEmpty ? nextDefinition() : nextStep()
            advance(step)
            steps.append(step)
        }
        return Script(steps: steps)
    }

    /// Tracks the state, so that later steps can refer to existing rows.
    private mutating func advance(_ step: Script.Step) {
        switch step {
        case .define(let schemas): try? model.define(schemas)
        case .write(let changes, let commits): model = WritePlan(changes, commits: commits, in: model).model
        case .reopen, .hold, .release: break
        }
    }

    private mutating func nextStep() -> Script.Step {
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1: return nextDefinition()
        case 2, 3: return options.reopens ? .reopen : nextWrite()
        case 4, 5: return options.holds ? .hold : nextWrite()
        case 6: return options.holds ? .release : nextWrite()
        default: return nextWrite()
        }
    }

    private mutating func nextWrite() -> Script.Step {
        var made = model
        var changes: [Script.Change] = []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let change = nextChange(made)
            changes.append(change)
            _ = try? made.apply(change)
        }
        return .write(changes, commits: !chance(0.15, using: &random))
    }
}

// MARK: - Definitions

extension RandomScript {
    private mutating func nextDefinition() -> Script.Step {
        let isFirst = model.tables.isEmpty
        let count = isFirst ? 2 : pick([1, 1, 2], using: &random)
        var schemas = bases.shuffled(using: &random).prefix(count).map { nextSchema($0) }
        // Occasionally adds a definition that does not fit the stored data, so that none of them is applied.
        if !isFirst, chance(0.1, using: &random), let column = schemas[count - 1].columns.first {
            let other: ColumnType = column.type == .int ? .string : .int
            schemas[count - 1].columns[0] = ColumnSchema(column.name, other, isOptional: column.isOptional)
        }
        return .define(schemas)
    }

    private mutating func nextSchema(_ base: Base) -> TableSchema {
        var schema = base.schema
        let count = Int.random(in: 2...base.columns.count, using: &random)
        schema.columns = base.columns.shuffled(using: &random).prefix(count).map { column in
            ColumnSchema(column.name, column.type, isOptional: !chance(0.15, using: &random))
        }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let names = (schema.allColumns.map(\.name) + ["id"]).shuffled(using: &random)
            let index = IndexSchema(Array(names.prefix(Int.random(in: 1...2, using: &random))))
            if !schema.indexes.contains(index) { schema.indexes.append(index) }
        }
        return schema
    }
}

// MARK: - Changes

extension RandomScript {
    private mutating func nextChange(_ model: StoreModel) -> Script.Change {
        let defined = bases.filter { model.tables[$0.schema.name] != nil }
        guard let base = defined.randomElement(using: &random), let table = model.tables[base.schema.name] else {
            return .upsert([], into: bases[0].schema.name)
        }
        let name = base.schema.name
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<4:
            let ids = (0..<Int.random(in: 1...3, using: &random)).map { _ in pick(base.ids, using: &random) }
            return .delete(ids, from: name)
        case 4..<7: return .deleteMatching(nextQuery(table))
        case 7..<10: return .look(nextQuery(table))
        case 10: return .attempt(nextRows(base, table.schema) + [badRow(base, table.schema)], into: name)
        default:
            let rows = nextRows(base, table.schema)
            return .upsert(chance(0.03, using: &random) ? rows + [badRow(base, table.schema)] : rows, into: name)
        }
    }

    private mutating func nextRows(_ base: Base, _ schema: TableSchema) -> [Row] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in nextRow(base, schema) }
    }

    /// Returns a row that usually fits; occasionally it lacks a required column.
    private mutating func nextRow(_ base: Base, _ schema: TableSchema) -> Row {
        var row = Row(id: pick(base.ids, using: &random))
        for column in schema.allColumns where chance(column.isOptional ? 0.6 : 0.995, using: &random) {
            row[column.name] = options.values.value(for: column, using: &random)
        }
        return row
    }

    /// Returns a row that usually has an error.
    private mutating func badRow(_ base: Base, _ schema: TableSchema) -> Row {
        var row = nextRow(base, schema)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: row["c\(Int.random(in: 0..<9, using: &random))"] = .int(1)
        case 1: row.id = schema.idType == .int ? .string("1") : .int(1)
        case 2:
            guard schema.idType == .string, options.maximumIDLength <= 10_000 else { break }
            row.id = .string(String(repeating: "i", count: options.maximumIDLength + 1))
        case 3: row[pick(schema.allColumns, using: &random).name] = .null
        default: row[pick(schema.allColumns, using: &random).name] = nil
        }
        return row
    }

    private mutating func nextQuery(_ table: TableModel) -> TableQuery {
        var queries = RandomQuery(seed: random.next(), schema: table.schema, rows: table.rows, values: options.values)
        return chance(0.7, using: &random) ? queries.nextIndexed() : queries.next()
    }
}
