import Testing
import TidelineConformance

@testable import TidelineStore

@Suite("Packed rows")
struct PackedRowsTests {
    private let shape = RowShape(
        table: "Item", columns: [.int("n"), .string("s"), .bool("b"), .bytes("d"), .double("x"), .json("j")])

    private func values(_ rows: borrowing PackedRows, at index: Int = 0) -> [Value?] {
        rows.withRow(at: index) { row in (0..<row.shape.count).map { row.value(at: $0) } }
    }

    @Test("Values are read back as they were set, in any order, and the last value of a column counts")
    func order() throws {
        var rows = PackedRows(shape: shape)
        rows.beginRow()
        rows.set(.bytes([1, 2, 3]), at: 3)
        rows.set("first", at: 1)
        rows.setID("a")
        rows.set(7, at: 0)
        rows.set("second", at: 1)
        rows.set(true, at: 2)
        rows.setNull(at: 2)
        rows.set(.json("[]"), at: 5)
        rows.setNull(at: 5)
        rows.set(.json("{}"), at: 5)
        rows.set("third, longer", at: 1)
        rows.setID("ab")
        try rows.endRow()
        #expect(values(rows) == [7, "third, longer", .null, .bytes([1, 2, 3]), nil, .json("{}")])
        #expect(rows.withRow(at: 0) { $0.idText } == "ab")
    }

    @Test("A row over 64 KiB is wide, in any order, and the rows next to it are narrow", arguments: [false, true])
    func wide(isReversed: Bool) throws {
        let long = String(repeating: "é", count: 40_000)
        let blob = [UInt8](repeating: 7, count: 70_000)
        var rows = PackedRows(shape: shape)
        for id in ["a", "b", "c"] {
            rows.beginRow()
            rows.setID(.string(id))
            let sets: [(Value, Int)] = [
                (1, 0), (.string(id == "b" ? long : id), 1), (.bytes(id == "b" ? blob : []), 3),
            ]
            for (value, index) in isReversed ? sets.reversed() : sets { rows.set(value, at: index) }
            try rows.endRow()
        }
        #expect(values(rows, at: 0) == [1, "a", nil, .bytes([]), nil, nil])
        #expect(values(rows, at: 1) == [1, .string(long), nil, .bytes(blob), nil, nil])
        #expect(values(rows, at: 2) == [1, "c", nil, .bytes([]), nil, nil])
        #expect(rows.withRow(at: 1) { $0.idText } == "b")
    }

    @Test("The narrow form ends at 65,535 bytes of values", arguments: [65_534, 65_535, 65_536, 65_537])
    func narrowLimit(size: Int) throws {
        var rows = PackedRows(shape: shape)
        let blob = [UInt8](repeating: 1, count: size)
        try rows.append(["id": "a", "d": .bytes(blob), "j": .json("")])
        #expect(values(rows)[3] == .bytes(blob))
        #expect(values(rows)[5] == .json(""))
    }

    @Test("A thousand columns", arguments: [true, false])
    func manyColumns(isWide: Bool) throws {
        let shape = RowShape(columns: (0..<1_000).map { .string("c\($0)") })
        var rows = PackedRows(shape: shape)
        rows.beginRow()
        rows.setID("a")
        let text = String(repeating: "x", count: isWide ? 100 : 10)
        for index in 0..<1_000 where index % 3 != 0 { rows.set(.string("\(index)\(text)"), at: index) }
        try rows.endRow()
        for (index, value) in values(rows).enumerated() {
            #expect(value == (index % 3 == 0 ? nil : .string("\(index)\(text)")))
        }
    }

    @Test("A row that fails or is cancelled does not change the batch")
    func failures() throws {
        var rows = PackedRows(shape: shape)
        try rows.append(["id": "a", "n": 1])
        let size = rows.byteCount
        for row in [["n": 1], ["id": 1], ["id": "b", "nope": 1], ["id": "b", "n": "1"], ["id": "b", "b": 1]] as [Row] {
            do throws(StoreError) {
                try rows.append(row)
                Issue.record("\(row) was taken")
            } catch {
                #expect(error.code == .invalidValue)
                #expect(error.table == "Item")
                #expect(error.column != nil)
            }
        }
        rows.beginRow()
        rows.set("x", at: 1)
        rows.cancelRow()
        rows.cancelRow()
        rows.beginRow()
        rows.set("x", at: 1)
        #expect(throws: StoreError.self) { try rows.endRow() }
        #expect(rows.count == 1)
        #expect(rows.byteCount == size)
        try rows.append(["id": "b", "s": "y"])
        #expect(values(rows, at: 1) == [nil, "y", nil, nil, nil, nil])
        rows.removeAll()
        #expect([rows.count, rows.byteCount] == [0, 0])
        try rows.append(["id": "c"])
        #expect(values(rows) == [nil, nil, nil, nil, nil, nil])
    }

    @Test("An id of another type than the table's is refused")
    func idTypes() throws {
        var numbered = PackedRows(shape: RowShape(table: "Op", idType: .int, columns: []))
        for id in ["12345678", "1", ""] {
            numbered.beginRow()
            numbered.setID(.string(id))
            #expect(throws: StoreError.self) { try numbered.endRow() }
        }
        numbered.beginRow()
        [1, 2, 3].withUnsafeBytes { numbered.setID(bytes: UnsafeRawBufferPointer(rebasing: $0[..<3])) }
        #expect(throws: StoreError.self) { try numbered.endRow() }
        numbered.beginRow()
        numbered.setID(.int(.min))
        try numbered.endRow()
        #expect(numbered.count == 1)
        #expect(numbered.withRow(at: 0) { $0.id } == .int(.min))

        var textual = PackedRows(shape: RowShape(table: "Item", columns: []))
        #expect(throws: StoreError.self) { try numbered.withRow(at: 0) { try textual.append(copying: $0) } }
        textual.beginRow()
        textual.setID(1)
        #expect(throws: StoreError.self) { try textual.endRow() }
        #expect(textual.count == 0)
    }

    @Test("Copies between batches and owned rows are equal", arguments: 0..<20 as Range<UInt64>)
    func copies(seed: UInt64) throws {
        var source = RandomRows(seed: seed, values: RandomValues(includesNaN: true))
        let schema = source.schema()
        let rows = source.rows(30, of: schema)
        var packed = PackedRows(shape: schema.makeShape())
        for row in rows { try packed.append(row) }
        var shuffled = schema
        shuffled.columns.reverse()
        for shape in [packed.shape, schema.makeShape(), shuffled.makeShape()] {
            var copy = PackedRows(shape: shape)
            var owned = PackedRows(shape: shape)
            for index in 0..<packed.count {
                try packed.withRow(at: index) { try copy.append(copying: $0) }
                try packed.withRow(at: index) { try owned.append($0.owned()) }
            }
            for (index, row) in rows.enumerated() {
                #expect(copy.withRow(at: index) { $0.owned() } == row)
                #expect(owned.withRow(at: index) { $0.owned() } == row)
                #expect(owned.withRow(at: index) { $0.owned().hashValue } == row.hashValue)
            }
        }
    }
}
