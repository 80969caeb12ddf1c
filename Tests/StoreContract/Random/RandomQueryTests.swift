import Testing
import TidelineStore
import TidelineTestStores
import TidelineConformance

/// All stores answer the same random queries over the same random rows as the evaluator does.
///
/// `TIDELINE_TEST_TABLES` sets how many tables, `TIDELINE_TEST_ROWS` the rows of each, `TIDELINE_TEST_QUERIES` the
/// queries over each, `TIDELINE_TEST_SEED` where to begin. A failure names store and seed, and shows the smallest case
/// found as Swift.
@Suite struct RandomQueryTests {
    private static let rowsPerTable = TestSettings.number("ROWS", default: 250)
    private static let queriesPerTable = TestSettings.number("QUERIES", default: 60)
    private static let seeds = TestSettings.seeds(TestSettings.number("TABLES", default: 6))

    @Test(arguments: seeds)
    func answersAreTheEvaluators(_ seed: UInt64) throws {
        let table = try RandomTable(seed: seed, rows: Self.rowsPerTable)
        for _ in 0..<Self.queriesPerTable { try table.compareNext() }
        try table.compareInWrite(count: min(Self.queriesPerTable / 3, 20))
        for _ in 0..<(Self.queriesPerTable / 3) { try table.compareNext() }
    }

    /// Queries that find nothing, or everything, would find no fault either.
    @Test func theQueriesFindSomeRowsAndLeaveOut() throws {
        var telling = 0
        for seed in UInt64(1)...20 {
            var source = RandomRows(seed: seed, values: RandomValues(includesLongTexts: true))
            let schema = source.indexedSchema()
            let rows = source.rows(60, of: schema)
            let packed = try schema.packed(rows)
            var queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
            for _ in 0..<20 {
                let found = try Answer.expected(queries.nextIndexed(), schema, packed).matching
                if (1..<60).contains(found) { telling += 1 }
            }
        }
        #expect(telling >= 200, "\(telling) of 400")
    }
}

/// A table in every store, what must be in it, and queries over it.
private final class RandomTable {
    private struct RollBack: Error {}

    let seed: UInt64
    let schema: TableSchema
    private var stores: [(kind: StoreKind, store: AnyStore)]
    private var rows: [Row]
    private var packed: PackedRows
    private var source: RandomRows
    private var queries: RandomQuery
    private var random: SplitMix64
    private var number = 0
    /// The query that a store is asked.
    private var asked: Query

    init(seed: UInt64, rows count: Int) throws {
        // Not every store keeps NaN: each third table has it, in those that do.
        let includesNaN = seed % 3 == 0
        var source = RandomRows(
            seed: seed, values: RandomValues(includesNaN: includesNaN, includesLongTexts: true))
        let schema = seed % 4 == 0 ? RandomRows.everyType() : source.indexedSchema()
        let made = source.rows(count, of: schema)
        let rows = made.map { $0.completed(for: schema) }
        let stores = try StoreKind.all.map { ($0, try $0.makeStore()) }
            .filter { !includesNaN || $1.capabilities.storesNaN }
        for (_, store) in stores {
            try store.define([schema])
            try store.write { try $0.upsert(made, into: schema.name) }
        }
        packed = try schema.packed(rows)
        self.seed = seed
        self.schema = schema
        self.stores = stores
        self.rows = rows
        self.source = source
        queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
        random = SplitMix64(seed: seed)
        asked = Query(schema.name)
    }

    private func nextQuery() -> Query {
        number += 1
        return number % 2 == 0 ? queries.next() : queries.nextIndexed()
    }

    /// Puts the next query to all stores; now and then as a deletion, which is rolled back.
    func compareNext() throws {
        let query = nextQuery()
        let step: QueryCase.Step = number % 7 == 0 ? .delete : .read
        let expected = try Answer.expected(query, schema, packed)
        asked = query
        try compare(step) { store in
            guard step == .delete else { return try store.read { try Answer.of($0, query).difference(from: expected) } }
            return try Self.rollingBack(store) { try QueryCase.deletion(query, expected, of: rows, by: $0) }
        }
    }

    /// Changes the table in one write of every store, puts queries within it, and commits or rolls back.
    func compareInWrite(count: Int) throws {
        let changed = rows.shuffled(using: &random).prefix(rows.count / 8 + 1)
        let changes = changed.map { source.change(of: $0, in: schema) }
        let deleted = rows.shuffled(using: &random).prefix(rows.count / 10).compactMap(\.key)
        let after = merged(changes, without: Set(deleted))
        let afterwards = try schema.packed(after)
        var answers: [(Query, Answer)] = []
        for _ in 0..<count {
            let query = nextQuery()
            answers.append((query, try Answer.expected(query, schema, afterwards)))
        }
        let commits = seed % 2 == 0
        let before = rows
        rows = after
        try compare(.readInWrite) { store in
            func body(_ writer: AnyWriter) throws -> String? {
                try writer.upsert(changes, into: schema.name)
                try writer.delete(ids: deleted, from: schema.name)
                for (query, answer) in answers {
                    asked = query
                    if let difference = try Answer.of(writer, query).difference(from: answer) { return difference }
                }
                return nil
            }
            return try commits ? store.write(body) : Self.rollingBack(store, body)
        }
        if commits { packed = afterwards } else { rows = before }
    }

    private func merged(_ changes: [Row], without deleted: Set<RowID>) -> [Row] {
        let byID = Dictionary(uniqueKeysWithValues: changes.map { ($0.key, $0) })
        return rows.filter { !($0.key.map(deleted.contains) ?? false) }
            .map { row in byID[row.key].map { row.merging($0) } ?? row }
    }

    private static func rollingBack(_ store: AnyStore, _ body: (AnyWriter) throws -> String?) throws -> String? {
        var result: String?
        do {
            try store.write { writer in
                result = try body(writer)
                throw RollBack()
            }
        } catch is RollBack {
            // That is how it is to end.
        }
        return result
    }

    /// Records what a store does wrong, with the smallest case that shows it, and asks that store no more.
    private func compare(_ step: QueryCase.Step, _ failure: (AnyStore) throws -> String?) throws {
        var wrong: Set<String> = []
        for (kind, store) in stores {
            let difference: String?
            do { difference = try failure(store) } catch { difference = "\(error)" }
            guard let difference else { continue }
            wrong.insert(kind.testDescription)
            let found = QueryCase(schema: schema, rows: rows, query: asked, step: step)
            Issue.record("\(kind.testDescription), seed \(seed): \(Self.report(found, difference, kind))")
        }
        stores.removeAll { wrong.contains($0.kind.testDescription) }
    }

    private static func report(_ found: QueryCase, _ difference: String, _ kind: StoreKind) -> String {
        guard found.failure(in: kind) != nil else {
            return "\(difference)\nonly over the rows as they came to be; \(found.query.swiftSource)"
        }
        let small = found.shrunk(for: kind)
        return "\(small.failure(in: kind) ?? difference)\n\(small)"
    }
}
