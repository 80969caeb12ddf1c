import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Stores answer random queries over random rows as the evaluator does.
///
/// `TIDELINE_TEST_QUERIES` sets how many per store, `TIDELINE_TEST_SEED` where to begin.
@Suite struct RandomQueryTests {
    private static let rowsPerTable = 300
    private static let queriesPerTable = 60
    private static let tables: Int = {
        let queries = ProcessInfo.processInfo.environment["TIDELINE_TEST_QUERIES"].flatMap { Int($0) } ?? 300
        return max(1, queries / queriesPerTable)
    }()
    private static let firstSeed: UInt64 = {
        ProcessInfo.processInfo.environment["TIDELINE_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    }()

    @Test(arguments: StoreKind.all)
    func answersAreTheEvaluators(_ subject: StoreKind) throws {
        for seed in Self.firstSeed..<(Self.firstSeed + UInt64(Self.tables)) {
            try checkTable(seed, subject)
        }
    }

    private func checkTable(_ seed: UInt64, _ subject: StoreKind) throws {
        var source = RandomRows(seed: seed)
        let schema = seed % 4 == 0 ? RandomRows.everyType() : source.schema()
        try subject.withStore(schema) { store throws in
            if store.capabilities.storesNaN { source.values.includesNaN = true }
            let rows = source.rows(Self.rowsPerTable, of: schema)
            try store.write { try $0.upsert(rows, into: schema.name) }
            var packed = PackedRows(shape: schema.makeShape())
            for row in rows { try packed.append(row) }
            var queries = RandomQuery(seed: seed, schema: schema, rows: rows)
            for _ in 0..<Self.queriesPerTable {
                try check(queries.next(), over: packed, in: store, schema, seed)
            }
        }
    }

    private func check(
        _ query: Query, over rows: borrowing PackedRows, in store: any LocalStore, _ schema: TableSchema, _ seed: UInt64
    ) throws {
        let expected = try Evaluator(schema: schema).result(of: query, over: rows)
        let answer: QueryResult
        do {
            answer = try store.read { try $0.rows(matching: query) }
        } catch {
            Issue.record("seed \(seed): \(error)\n\(query)")
            return
        }
        let isSame =
            answer.rows.count == expected.rows.count && answer.totalCount == expected.totalCount
            && zip(answer.rows, expected.rows).allSatisfy { $0.isIdentical(to: $1) }
        #expect(
            isSame,
            "seed \(seed): \(answer.rows.count) rows, \(expected.rows.count) expected\n\(query)\n\(firstDifference(answer, expected))"
        )
    }

    private func firstDifference(_ answer: QueryResult, _ expected: QueryResult) -> String {
        for (a, b) in zip(answer.rows, expected.rows) where !a.isIdentical(to: b) { return "\(a)\nexpected \(b)" }
        return "counts \(answer.totalCount ?? -1), \(expected.totalCount ?? -1) expected"
    }
}

extension Row {
    /// Whether both rows are the same to the bit: `==` holds -0.0 to be 0.0.
    func isIdentical(to other: Row) -> Bool {
        guard self == other else { return false }
        return values.allSatisfy { name, value in
            guard case .double(let double) = value, case .double(let expected)? = other[name] else { return true }
            return double.bitPattern == expected.bitPattern
        }
    }
}
