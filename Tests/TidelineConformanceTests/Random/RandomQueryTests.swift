import Testing
import TidelineConformance
import TidelineStore

@Suite struct RandomQueryTests {
    /// Queries that match no rows or all rows would not detect any fault.
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
