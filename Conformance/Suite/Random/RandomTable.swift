internal import TidelineStore
internal import TidelineSupport

/// A table with random rows in a store, its expected content, and queries over it.
final class RandomTable {
    private let context: CheckContext
    private let schema: TableSchema
    private let seed: UInt64
    private var store: TracedStore
    /// The expected content of the table, each row with all columns.
    private var rows: [Row]
    private var packed: PackedRows
    /// Rows that are not in the table yet.
    private var reserve: [Row]
    /// The last write: the previous rows, the changed rows, and the deleted ones.
    private var last: (rows: [Row], changes: [Row], deleted: [RowID])
    private var source: RandomRows
    private var queries: RandomQuery
    private var random: SplitMix64

    /// Creates a table in a store of its own.
    init(_ context: CheckContext, seed: UInt64, rows count: Int) throws {
        let capabilities = context.capabilities
        var source = RandomRows(
            seed: seed,
            values: RandomValues(
                includesNaN: capabilities.storesNaN && seed % 3 == 0, includesInfinity: capabilities.storesInfinity,
                includesLongTexts: capabilities.maximumIDLength >= 255))
        schema = seed % 4 == 0 ? RandomRows.everyType() : source.indexedSchema()
        let made = schema.completing(source.rows(count + count / 4, of: schema))
        rows = Array(made.prefix(count))
        reserve = Array(made.dropFirst(count))
        packed = try schema.packed(rows)
        last = (rows, [], [])
        queries = RandomQuery(seed: seed, schema: schema, rows: made, values: source.values)
        random = SplitMix64(seed: seed)
        self.context = context
        self.seed = seed
        self.source = source
        store = try context.open()
        try store.define([schema])
        try store.write { [rows, schema] in try $0.upsert(rows, into: schema.name) }
    }

    /// Returns the next query over all kinds of nodes.
    func nextQuery() -> TableQuery { queries.next() }

    /// Returns the next query that an index can serve.
    func nextIndexedQuery() -> TableQuery { queries.nextIndexed() }

    /// Runs a query in a read.
    func ask(_ query: TableQuery) throws {
        let expected = try Answer.expected(query, schema, packed)
        try telling(query, .read) { try store.read { try Answer.of($0, query).difference(from: expected) } }
    }

    /// Runs a query page by page.
    func askPaged(_ query: TableQuery, size: Int) throws {
        var whole = query
        (whole.skip, whole.limit, whole.includesTotalCount) = (0, nil, false)
        let expected = try Answer.expected(whole, schema, packed)
        for start in stride(from: 0, through: expected.matching, by: size) { try ask(whole.skip(start).limit(size)) }
    }

    /// Deletes by a query and commits or rolls back.
    func delete(_ query: TableQuery, commits: Bool) throws {
        let expected = try Answer.expected(query, schema, packed)
        try telling(query, .delete) {
            var difference: String?
            let body: (TracedWriter) throws -> Void = { [rows] writer in
                difference = try QueryCase.deletion(query, expected, of: rows, by: writer)
            }
            try commits ? store.write(body) : store.rollBack(body)
            return difference
        }
        if commits { try become(changes: [], deleted: expected.rows.compactMap(\.id)) }
    }

    /// Changes, inserts, and deletes rows in one write, runs `count` queries within it, and commits or rolls back.
    func change(asking count: Int = 0, commits: Bool = true, _ next: (RandomTable) -> TableQuery) throws {
        let (changes, deleted) = nextChange()
        let before = (rows, reserve, last)
        try become(changes: changes, deleted: deleted)
        let answers = try (0..<count).map { _ in
            let query = next(self)
            return (query, try Answer.expected(query, schema, packed))
        }
        let body: (TracedWriter) throws -> Void = { [self] writer in
            try writer.upsert(changes, into: schema.name)
            try writer.delete(ids: deleted, from: schema.name)
            for (query, expected) in answers {
                try telling(query, .readInWrite) { try Answer.of(writer, query).difference(from: expected) }
            }
        }
        try commits ? store.write(body) : store.rollBack(body)
        if commits { return }
        (rows, reserve, last) = before
        packed = try schema.packed(rows)
    }

    /// Closes and reopens the store if it keeps its rows.
    func reopen() throws { store = try context.reopened(store) }

    private func nextChange() -> (changes: [Row], deleted: [RowID]) {
        let changed = rows.shuffled(using: &random).prefix(rows.count / 8 + 1).map { source.change(of: $0, in: schema) }
        let deleted = rows.shuffled(using: &random).prefix(rows.count / 10).compactMap(\.id)
        let inserted = reserve.shuffled(using: &random).prefix(reserve.count / 2)
        return ((changed + inserted).shuffled(using: &random), deleted)
    }

    private func become(changes: [Row], deleted: [RowID]) throws {
        last = (rows, changes, deleted)
        let inserted = Set(changes.compactMap(\.id))
        let gone = Set(deleted)
        reserve.removeAll { row in row.id.map(inserted.contains) ?? false }
        reserve += rows.filter { row in row.id.map(gone.contains) ?? false }
        rows = queryCase(TableQuery(schema.name), .read).rowsAfterwards
        packed = try schema.packed(rows)
    }

    private func queryCase(_ query: TableQuery, _ step: QueryCase.Step) -> QueryCase {
        QueryCase(
            schema: schema, rows: last.rows, changes: last.changes, deleted: last.deleted, query: query, step: step)
    }
}

// MARK: - Failures

extension RandomTable {
    /// Converts a difference or an error into a failure that shows the smallest case found.
    private func telling(_ query: TableQuery, _ step: QueryCase.Step, _ difference: () throws -> String?) throws {
        let found: String?
        do { found = try difference() } catch { found = "an unexpected error was thrown: \(error)" }
        guard let found else { return }
        let failing = queryCase(query, step)
        let comment = "found with seed \(seed)"
        guard context.failure(of: failing) != nil else {
            let message =
                "\(CheckContext.text(query)): \(found)\nIn a new store with the same rows the answer is correct."
            throw CheckFailure(message, script: context.trace.script(named: "wrongAnswer", comment: comment))
        }
        let small = failing.shrunk { context.failure(of: $0) != nil }
        let place =
            switch small.step {
            case .read: ""
            case .readInWrite: " in a write"
            case .delete: " as a deletion"
            }
        throw CheckFailure(
            "\(CheckContext.text(small.query))\(place): \(context.failure(of: small) ?? found)",
            script: small.script(named: "wrongAnswer", comment: comment))
    }
}

extension CheckContext {
    /// Returns the error of a new store for a case, or `nil` if there is none.
    fileprivate func failure(of found: QueryCase) -> String? {
        do {
            let folder = try CheckFolder()
            defer { folder.remove() }
            let store = try harness.open(StoreOpening(directory: folder.path))
            defer { try? store.close() }
            return found.failure(in: store)
        } catch {
            return "the store cannot be opened: \(error)"
        }
    }

    /// Calls `body` with `count` random tables per round, each in its own store and with its own trace.
    func everyRandomTable(_ count: Int, rows: Int, _ body: (RandomTable) throws -> Void) throws {
        for number in 0..<UInt64(count * rounds) {
            let folder = try folder("table\(number)")
            let part = part(in: folder)
            defer { part.end() }
            try body(RandomTable(part, seed: seed &* 1_000 &+ number, rows: rows))
        }
    }
}
