internal import TidelineStore
internal import TidelineSupport

/// A series of commits, and what a store holds after each.
///
/// Every commit changes several rows of two tables, so that half of one shows; a row of the second table has its number.
struct CommitScript: Sendable {
    /// One commit.
    enum Step: Sendable {
        /// Definitions.
        case define([TableSchema])
        /// Changes in one transaction.
        case change([TableChange])
    }

    private(set) var steps: [Step] = []
    /// What there is before the first step, and after each.
    private(set) var states = [StoreState()]
    private var chance: SplitMix64

    /// No commits.
    init(seed: UInt64) { chance = SplitMix64(seed: seed) }

    /// Definitions of two tables, one with indexes, and so many commits.
    init(commits: Int, seed: UInt64, longest: Int = 400) {
        self.init(seed: seed)
        define([.items, .notes])
        for _ in 0..<commits { change(longest: longest) }
    }

    /// Adds definitions.
    mutating func define(_ tables: [TableSchema]) {
        var state = states[steps.count]
        for table in tables { state.define(table) }
        steps.append(.define(tables))
        states.append(state)
    }

    /// Adds a commit of random rows.
    ///
    /// - Parameters:
    ///   - rows: How many of the first table it puts.
    ///   - longest: How long their text may be.
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

    /// Adds definitions that change both tables and make a third: columns, and indexes over the rows there are.
    mutating func evolve() {
        var (items, notes) = (TableSchema.items, TableSchema.notes)
        items.columns.append(.string("place"))
        notes.indexes = [["number"]]
        define([items, notes, TableSchema("Place", columns: [.string("name")], indexes: [["name"]])])
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

    /// Text that does not shrink much when it is compressed.
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
    /// Makes a script's commit.
    func perform(_ step: CommitScript.Step) throws {
        switch step {
        case .define(let tables): try define(tables)
        case .change(let changes): try commit(changes)
        }
    }
}
