import Testing
import TidelineConformance
import TidelineStore

@testable import TidelineKeyValue

/// Tests that comparisons on the packed bytes of rows agree with comparisons of their keys.
@Suite struct RawOrderTests {
    private static func rows(_ seed: UInt64) throws -> PackedRows {
        var source = RandomRows(seed: seed, values: RandomValues(includesNaN: true))
        let schema = RandomRows.everyType()
        return try PackedRows(source.rows(60, of: schema), of: schema)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>, [false, true])
    func numbersOrderAsTheirKeysDo(_ seed: UInt64, isDescending: Bool) throws {
        let rows = try Self.rows(seed)
        let table = StoredTable(testing: RandomRows.everyType())
        for column in table.shape.columns where column.type.isWord {
            let reference = try #require(ColumnReference(column.name, in: table.evaluator))
            let term = try #require(NumericSortKey(reference, isDescending: isDescending))
            let position = try #require(reference.position)
            var found: [(place: NumericSortKey.Place, key: [UInt8])] = []
            for row in 0..<rows.count {
                try rows.withRow(at: row) { row in
                    var key = KeyBuilder()
                    key.append(column: position, of: row, descending: isDescending)
                    guard let bytes = RowBytes(row) else { throw RowDamage() }
                    found.append((try term.place(of: bytes), key.bytes))
                }
            }
            for a in found {
                #expect(a.key.withUnsafeBytes { NumericSortKey.Place(atStartOf: $0) } == a.place)
                for b in found { #expect((a.place < b.place) == a.key.precedes(b.key)) }
            }
        }
    }

    /// An index key equals the key of its row and differs from the keys of rows with other values. A text that contains
    /// zeros may need the whole key.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func keysOfAnIndexAreComparedInPlace(_ seed: UInt64) throws {
        let rows = try Self.rows(seed)
        var schema = RandomRows.everyType()
        schema.indexes =
            schema.columns.map { [$0.name, "id"] } + schema.columns.map { [$0.name] }
            + zip(schema.columns, schema.columns.dropFirst()).map { [$0.name, $1.name] }
        let table = StoredTable(testing: schema)
        for index in table.indexes {
            for first in 0..<rows.count {
                rows.withRow(at: first) { row in
                    var key = KeyBuilder(index.space)
                    key.begin(index, of: row, ids: table.ids)
                    let idCount = row.withIDBytes { $0.count }
                    for second in 0..<rows.count {
                        rows.withRow(at: second) { other in
                            var expected = KeyBuilder(index.space)
                            expected.begin(index, of: other, ids: table.ids)
                            let otherCount = other.withIDBytes { $0.count }
                            let isSame = expected.bytes.dropLast(otherCount) == key.bytes.dropLast(idCount)
                            let isPlain = key.bytes.withUnsafeBytes {
                                index.matchesEntry($0, idCount: idCount, of: other)
                            }
                            #expect(!isPlain || isSame)
                        }
                    }
                }
            }
        }
    }

    @Test func mostKeysOfAnIndexNeedNotBePutTogether() throws {
        let schema = TableSchema("t", columns: [.string("list"), .int("rank")], indexes: [["list", "rank"]])
        let table = StoredTable(testing: schema)
        let rows = try PackedRows(
            [["id": "a", "list": "x", "rank": 1], ["id": "b", "list": .null, "rank": -1], ["id": "c", "list": ""]],
            of: schema)
        for position in 0..<rows.count {
            rows.withRow(at: position) { row in
                var key = KeyBuilder(table.indexes[0].space)
                key.begin(table.indexes[0], of: row, ids: table.ids)
                #expect(key.bytes.withUnsafeBytes { table.indexes[0].matchesEntry($0, idCount: 1, of: row) })
            }
        }
    }
}
