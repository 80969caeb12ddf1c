#if Commands
import Testing
import TidelineStore

@testable import TidelineBenchmark

@Suite("The rows of a run")
struct RowSourceTests {
    @Test("A row is always the same, but not for another seed or revision", arguments: KeyOrder.allCases)
    func rowsAreRepeatable(order: KeyOrder) throws {
        let source = RowSource(table: BenchmarkTable(), keyOrder: order, seed: 7, lists: 3)
        #expect(source.values(5) == source.values(5) && source.values(5) != source.values(6))
        #expect(Set((0..<1000).map { source.id($0) }).count == 1000)
        let other = RowSource(table: BenchmarkTable(), keyOrder: order, seed: 2, lists: 3)
        // A number in sequence depends on no seed.
        #expect(order == .sequential || source.id(5) != other.id(5))
        #expect(source.text(5) != other.text(5))
        #expect(Set((0..<50).map { source.text(9, revision: $0) }).count == 50)
    }

    @Test("Ids have the selected order")
    func idsAreOrdered() {
        func ids(_ order: KeyOrder) -> [String] {
            let source = RowSource(table: BenchmarkTable(), keyOrder: order, seed: 7, lists: 3)
            return (0..<2000).map { source.id($0).text }
        }
        let sequential = ids(.sequential)
        #expect(sequential == sequential.sorted())
        // Eight rows share a millisecond.
        let byTime = ids(.uuid7).map { $0.prefix(13) }
        #expect(byTime == byTime.sorted() && Set(byTime).count == 250)
        let random = ids(.random)
        let rising = zip(random, random.dropFirst()).count { $0 < $1 }
        #expect((900...1100).contains(rising))
    }

    @Test("Ids are UUIDs of their version", arguments: [(KeyOrder.random, "4"), (.uuid7, "7")])
    func idsAreUUIDs(order: KeyOrder, version: String) throws {
        let source = RowSource(table: BenchmarkTable(), keyOrder: order, seed: 7, lists: 3)
        for index in 0..<100 {
            let parts = source.id(index).text.split(separator: "-")
            #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
            #expect(parts[2].hasPrefix(version) && "89ab".contains(parts[3].prefix(1)))
            #expect(parts.joined().allSatisfy { "0123456789abcdef".contains($0) })
        }
    }

    @Test("Values match the table's columns and have the selected size")
    func valuesFit() throws {
        let source = RowSource(table: BenchmarkTable(columns: 13), valueSize: 41, seed: 7, lists: 3)
        let columns = source.table.schema.allColumns
        #expect(columns.count == 13)
        for index in 0..<200 {
            let values = source.values(index)
            #expect(values.count == columns.count)
            #expect(zip(columns, values).allSatisfy { $1.isNull || $1.type == $0.type })
            #expect(values[0].string?.utf8.count == 41 && values[8].string?.utf8.count == 41)
            #expect(values[1] == .string(source.filter(source.list(of: index)).list))
        }
    }

    @Test("Rows are distributed evenly over the lists")
    func listsAreEven() {
        let source = RowSource(table: BenchmarkTable(), seed: 7, lists: 4)
        let sizes = Dictionary(grouping: 0..<4000) { source.list(of: $0) }.mapValues(\.count)
        #expect(sizes.count == 4 && sizes.values.allSatisfy { abs($0 - 1000) < 120 })
    }

    @Test("A batch contains its rows, packed and as Row values")
    func batchesHoldRows() throws {
        let source = RowSource(table: BenchmarkTable(), seed: 7, lists: 4)
        let batches = try source.batches(3..<10, of: 4, asRows: true)
        #expect(batches.map { $0.packed.count } == [4, 3])
        #expect(batches.map(\.indexes) == [[3, 4, 5, 6], [7, 8, 9]])
        for batch in batches {
            for position in 0..<batch.packed.count {
                let row = batch.packed.withRow(at: position) { $0.owned() }
                #expect(row == batch.rows[position])
                #expect(row.id == source.id(batch.indexes[position]))
                #expect(row.values.map(\.value) == source.values(batch.indexes[position]))
            }
        }
    }
}
#endif
