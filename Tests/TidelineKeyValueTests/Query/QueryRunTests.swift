import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineKeyValue

/// Tests that a query gives the evaluator's results for every access path.
@Suite struct QueryRunTests {
    /// The tables of the random tests: the same rows without indexes, with the declared indexes, and with many indexes.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func answersAreTheEvaluatorsWithEverySetOfIndexes(_ seed: UInt64) throws {
        var source = RandomRows(seed: seed, values: RandomValues(includesNaN: true))
        var schema = seed % 4 == 0 ? RandomRows.everyType() : source.schema()
        let rows = source.rows(50, of: schema)
        let packed = try PackedRows(rows, of: schema)
        var random = SplitMix64(seed: seed)
        let names = schema.allColumns.map(\.name) + ["id"]
        let many = (0..<8).map { _ in
            IndexSchema(Array(names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))))
        }
        for indexes in [[], schema.indexes, many] {
            schema.indexes = indexes
            let length = seed % 2 == 0 ? Int.max : 128
            let fixture = try QueryFixture(schema, packed, maximumKeyLength: length)
            var queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
            for _ in 0..<30 { try expectAnswer(queries.nextIndexed(), fixture, packed, seed) }
            for _ in 0..<10 { try expectAnswer(queries.next(), fixture, packed, seed) }
        }
    }

    private func expectAnswer(
        _ query: TableQuery, _ fixture: QueryFixture, _ rows: borrowing PackedRows, _ seed: UInt64
    ) throws {
        let expected = try fixture.table.evaluator.result(of: query, over: rows)
        let answer = try fixture.result(of: query)
        let copied = try fixture.result(of: query, isWriting: true)
        let note = "seed \(seed): \(try fixture.run(query).plan)\n\(query)"
        #expect(answer.totalCount == expected.totalCount, "\(note)")
        #expect(answer.rows.map(\.id) == expected.rows.map(\.id), "\(note)")
        #expect(answer.rows == expected.rows, "\(note)")
        #expect(copied.rows == expected.rows && copied.totalCount == expected.totalCount, "\(note)")
        let all = try fixture.table.evaluator.result(
            of: TableQuery(query.table, predicate: query.predicate), over: rows)
        #expect(try fixture.count(query) == all.rows.count, "\(note)")
        let found = try fixture.run(query).matchingIDs()
        let keys = (0..<found.count).map { index in found.withKey(at: index) { Array($0) } }
        #expect(keys == expected.rows.compactMap(\.id).map(fixture.rowKey), "\(note)")
    }
}
