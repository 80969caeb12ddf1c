import Testing
import TidelineBenchmark

@Suite("The rows of a run")
struct RowSourceTests {
    @Test("A row is the same whenever it is asked for", arguments: KeyOrder.allCases)
    func rowsAreRepeatable(order: KeyOrder) throws {
        let source = RowSource(table: BenchmarkTable(), keyOrder: order, seed: 7, lists: 3)
        #expect(source.values(5) == source.values(5))
        #expect(source.values(5) != source.values(6))
        #expect(Set((0..<1000).map { source.id($0) }).count == 1000)
    }
}
