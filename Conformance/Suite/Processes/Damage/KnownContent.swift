internal import TidelineStore

/// The content of a store after each of some commits: indexes, changed and deleted rows, values longer than pages.
struct KnownContent: Sendable {
    /// The content of every table, keyed by the table's name.
    typealias State = [String: Content]

    /// The content of a table.
    struct Content: Sendable {
        /// The rows, sorted by identifier.
        let rows: [Row]
        private let byID: [RowID: Row]

        init(_ rows: [Row]) {
            self.rows = rows
            byID = Dictionary(rows.compactMap { row in row.id.map { ($0, row) } }) { $1 }
        }

        subscript(id: RowID) -> Row? { byID[id] }
    }

    /// The number of commits after the definitions.
    static let commits = 16

    static let items = TableSchema(
        "Item",
        columns: [
            .string("text"), .bool("done"), .int("rank"), .double("score"), .timestamp("due"), .bytes("data"),
            .json("tags"),
        ], systemColumns: [], indexes: [["rank"], ["done", "due"]])
    static let counters = TableSchema(
        "Counter", columns: [.int("value"), .string("name")], systemColumns: [], idType: .int, indexes: [["name"]])
    static let tables = [counters, items]

    /// The states before the definitions, after them, and after each commit.
    static let states: [State] = {
        var state: State = [:]
        var states = [state]
        for table in tables { state[table.name] = Content([]) }
        states.append(state)
        for number in 0..<commits {
            for table in tables {
                state[table.name] = Content(rows(state[table.name]?.rows ?? [], after: number, in: table))
            }
            states.append(state)
        }
        return states
    }()

    /// The identifiers of all rows that were ever in a table, keyed by the table's name.
    static let ids: [String: [RowID]] = Dictionary(
        uniqueKeysWithValues: tables.map { table in (table.name, (0..<(commits * 12)).map { id($0, in: table) }) })

    /// Makes the commit with the given number.
    static func apply(_ number: Int, to store: some StoreWriter) throws {
        for table in tables {
            try store.upsert(upserted(by: number, into: table), into: table.name)
            try store.delete(ids: deleted(by: number, from: table), from: table.name)
        }
    }

    /// Makes the commits with the given numbers; defines the tables before the first one.
    static func fill(_ store: some LocalStore, _ numbers: Range<Int>) throws {
        if numbers.lowerBound == 0 { try store.define(tables) }
        for number in numbers { try store.write { try apply(number, to: $0) } }
    }

    // MARK: - One commit

    private static func upserted(by number: Int, into table: TableSchema) -> [Row] {
        let new = (0..<12).map { row(number * 12 + $0, version: number, in: table) }
        // Each commit except the first changes two older rows.
        let old = number == 0 ? [] : [0, 5].map { row((number - 1) * 12 + $0, version: number, in: table) }
        return new + old
    }

    private static func deleted(by number: Int, from table: TableSchema) -> [RowID] {
        number == 0 ? [] : [id((number - 1) * 12 + 7, in: table)]
    }

    private static func id(_ number: Int, in table: TableSchema) -> RowID {
        table.idType == .int ? .int(Int64(number)) : .string("item-\(number)")
    }

    private static func row(_ number: Int, version: Int, in table: TableSchema) -> Row {
        var row = Row(id: id(number, in: table))
        if table.idType == .int {
            row["value"] = .int(Int64(number * 1_000 + version))
            row["name"] = .string("counter \(number % 10)")
            return row
        }
        row["text"] = .string("\(version)/\(number) " + String(repeating: "abc", count: number % 40))
        row["done"] = .bool(number % 3 == 0)
        row["rank"] = number % 7 == 0 ? .null : .int(Int64(number % 20))
        row["score"] = .double(Double(number) / 4)
        row["due"] = .timestamp(Timestamp(clampingTicks: Int64(number) * 10_000_001))
        // A few values span several pages.
        let length = number % 40 == 11 ? 9_000 : number % 50
        row["data"] = .bytes((0..<length).map { UInt8(truncatingIfNeeded: $0 * 7 + number + version) })
        row["tags"] = .json("[\(number),\(version)]")
        return row
    }

    private static func rows(_ rows: [Row], after number: Int, in table: TableSchema) -> [Row] {
        let changes = upserted(by: number, into: table)
        let deleted = Set(deleted(by: number, from: table))
        let replaced = Set(changes.compactMap(\.id)).union(deleted)
        let kept = rows.filter { row in row.id.map { !replaced.contains($0) } ?? true }
        let all = kept + changes.filter { row in row.id.map { !deleted.contains($0) } ?? true }
        return all.sorted { a, b in
            guard case .int(let left)? = a.id, case .int(let right)? = b.id else { return a.idText < b.idText }
            return left < right
        }
    }
}
