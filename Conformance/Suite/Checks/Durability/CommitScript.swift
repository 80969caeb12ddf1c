internal import TidelineStore
internal import TidelineSupport

/// Commits, each of several rows of two tables, so that a partial one is detected, and a store's content after each.
/// A row of the second table contains the number of the commit.
struct CommitScript: Sendable {
    /// One commit.
    enum Step: Sendable {
        /// Table definitions.
        case define([TableSchema])
        /// Table definitions that a redefinition applies.
        case redefine([TableSchema])
        /// Changes in one transaction.
        case change([TableChange])
    }

    private(set) var steps: [Step] = []
    /// The states before the first step and after each step.
    private(set) var states = [StoreState()]
    private var chance: SplitMix64

    /// Creates an empty script.
    init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    /// Creates a script that defines two tables, one with indexes, and makes the given number of commits.
    init(commits: Int, seed: UInt64, longest: Int = 400) {
        self.init(seed: seed)
        define([.items, .notes])
        for _ in 0..<commits { change(longest: longest) }
    }

    /// Adds table definitions, which a redefinition applies if `redefines` is true.
    mutating func define(_ tables: [TableSchema], redefines: Bool = false) {
        var state = states[steps.count]
        for table in tables { state.define(table) }
        steps.append(redefines ? .redefine(tables) : .define(tables))
        states.append(state)
    }

    /// Adds a commit with `rows` random rows of the first table, whose text has at most the length `longest`.
    mutating func change(rows: Int = 4, longest: Int = 400, ids: Int = 24) {
        let number = steps.count
        let items = (0..<rows).map { index in item((number * rows + index) % ids, longest) }
        let notes = (0..<2).map { note("note-\((number + $0) % 7)") } + [note("commit", number)]
        let deleted = RowID.string("item-\(Int.random(in: 0..<ids, using: &chance))")
        add([
            TableChange(table: "TodoItem", rows: items, deleted: [deleted]),
            TableChange(table: "Note", rows: notes),
        ])
    }

    /// Adds definitions that change both tables and create a third: columns, and indexes over existing rows.
    mutating func evolve(redefines: Bool = false) {
        var (items, notes) = (TableSchema.items, TableSchema.notes)
        items.columns.append(.string("place"))
        notes.indexes = [["number"]]
        let place = TableSchema("Place", columns: [.string("name")], indexes: [["name"]])
        define([items, notes, place], redefines: redefines)
    }

    /// Adds a commit that deletes many rows.
    mutating func clear(ids: Int) {
        let number = steps.count
        add([
            TableChange(table: "TodoItem", deleted: (0..<ids).map { .string("item-\($0)") }),
            TableChange(table: "Note", rows: [note("commit", number)]),
        ])
    }

    private mutating func add(_ changes: [TableChange]) {
        var state = states[steps.count]
        for change in changes { state.apply(change) }
        steps.append(.change(changes))
        states.append(state)
    }

    private mutating func item(_ number: Int, _ longest: Int) -> Row {
        [
            "id": .string("item-\(number)"), "text": .string(text(longest)),
            "complete": .bool(Bool.random(using: &chance)), "priority": .int(Int64.random(in: 0..<5, using: &chance)),
            "score": .double(Double(Int.random(in: 0..<1000, using: &chance)) / 8),
        ]
    }

    private mutating func note(_ id: String, _ number: Int? = nil) -> Row {
        let number = number ?? Int.random(in: 0..<1000, using: &chance)
        return ["id": .string(id), "text": .string(text(40)), "number": .int(Int64(number))]
    }

    /// Returns text that is hard to compress.
    private mutating func text(_ longest: Int) -> String {
        let length = Int.random(in: 0...longest, using: &chance)
        var letters: [UInt8] = []
        letters.reserveCapacity(length + 12)
        while letters.count < length {
            var bits = chance.next()
            for _ in 0..<12 {
                letters.append(UInt8(ascii: "A") + UInt8(truncatingIfNeeded: bits & 31))
                bits >>= 5
            }
        }
        return String(decoding: letters.prefix(length), as: UTF8.self)
    }
}

extension LocalStore {
    /// Performs one step of a script.
    func perform(_ step: CommitScript.Step) throws {
        switch step {
        case .define(let tables): try define(tables)
        case .redefine(let tables): try redefine { _ in tables }
        case .change(let changes): try commit(changes)
        }
    }
}

/// The content of a store: its app tables with their rows, sorted by identifier.
struct StoreState: Sendable {
    private(set) var tables: [TableSchema] = []
    private(set) var rows: [String: [Row]] = [:]

    /// Creates the empty state.
    init() {}

    /// Reads the state of a store.
    init(of store: any LocalStore) throws {
        tables = try store.appTables()
        rows = try StoreState.rows(of: tables, in: store)
    }

    private static func rows<Store: LocalStore>(of tables: [TableSchema], in store: Store) throws -> [String: [Row]] {
        try store.read { reader in
            var rows: [String: [Row]] = [:]
            for table in tables {
                let found = try reader.allRows(table.name)
                try expectIndexes(of: table, in: reader, toFind: found)
                rows[table.name] = found
            }
            return rows
        }
    }

    /// Fails unless queries that an index may answer find all of the rows.
    private static func expectIndexes(of table: TableSchema, in reader: some StoreReader, toFind rows: [Row]) throws {
        for column in Set(table.indexes.compactMap(\.columns.first)) {
            for (value, matches) in Dictionary(grouping: rows, by: { $0[column] ?? Value.null }) {
                let query = TableQuery(table.name, predicate: .comparison(.equal, .column(column), .literal(value)))
                let found = try reader.ids(query)
                guard Set(found) == Set(matches.map(\.idText)) else {
                    throw CheckFailure("\(table.name): the index on \(column) and the rows disagree")
                }
            }
        }
    }

    /// Describes how another state differs from this one, or returns `nil` if they are equal.
    func difference(in found: StoreState) -> String? {
        guard found.tables.map(\.name) == tables.map(\.name) else {
            return "found the tables \(found.tables.map(\.name)), expected \(tables.map(\.name))"
        }
        for (table, other) in zip(tables, found.tables) {
            guard table == other else {
                return "\(table.name) is defined as \(other.swiftSource), expected \(table.swiftSource)"
            }
            let (right, rows) = (rows[table.name] ?? [], found.rows[table.name] ?? [])
            if let difference = RowDifference(found: rows, expected: right) { return "\(table.name): \(difference)" }
        }
        return nil
    }

    // MARK: Changing

    /// Defines or evolves a table.
    mutating func define(_ table: TableSchema) {
        tables.removeAll { $0.name == table.name }
        tables.append(table)
        tables.sort { $0.name < $1.name }
        rows[table.name] = table.completing(rows[table.name] ?? [])
    }

    /// Changes rows; stored rows name all columns.
    mutating func apply(_ change: TableChange) {
        guard let table = tables.first(where: { $0.name == change.table }) else { return }
        let gone = Set(change.deleted + change.rows.compactMap(\.id))
        let kept = (rows[change.table] ?? []).filter { row in row.id.map { !gone.contains($0) } ?? true }
        rows[change.table] = (kept + table.completing(change.rows)).sorted { $0.idText < $1.idText }
    }
}

/// The changes of one transaction to one table.
struct TableChange: Sendable {
    var table: String
    var rows: [Row] = []
    var deleted: [RowID] = []
}

extension LocalStore {
    /// Makes changes in one transaction.
    func commit(_ changes: [TableChange]) throws {
        try write { writer in
            for change in changes {
                if !change.deleted.isEmpty { try writer.delete(ids: change.deleted, from: change.table) }
                try writer.upsert(change.rows, into: change.table)
            }
        }
    }
}
