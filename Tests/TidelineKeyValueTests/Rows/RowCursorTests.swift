import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests of stored rows, which are not trusted, and of rows of older definitions.
@Suite struct RowCursorTests {
    private static let old = [ColumnSchema.int("a"), .string("b"), .bytes("gone")]
    private static let new = [ColumnSchema.timestamp("t"), .string("b"), .int("a"), .bool("z")]

    /// Creates a table whose second layout has other columns, in another order.
    private static func makeTable(
        idType: TableSchema.IDType = .string, matching: TableSchema.IDMatching = .asciiCaseInsensitive
    ) -> StoredTable {
        let schema = TableSchema("item", columns: new, systemColumns: [], idType: idType, idMatching: matching)
        let retired = [ColumnSchema.bytes("gone")]
        return StoredTable(
            StoredDefinition(
                schema: schema, retired: retired, layouts: [old, new + retired], rows: KeySpace(number: 7), indexes: [])
        )
    }

    /// Returns the stored key and value of a row in one of the table's layouts.
    private static func stored(
        _ row: Row, layout: Int, of table: StoredTable
    ) throws -> (key: [UInt8], value: [UInt8]) {
        var packed = PackedRows(shape: table.layouts[layout].shape)
        try packed.append(row)
        var key = KeyBuilder(table.rows)
        _ = key.append(id: row.id ?? "", of: table.ids)
        var value = packed.withRow(at: 0) { $0.withPackedBytes { Array($0) } }
        value[4] = UInt8(layout)
        if table.ids == .folded, key.bytes.dropFirst(4).elementsEqual(row.idText.utf8) == false {
            value += row.idText.utf8
        }
        return (key.bytes, value)
    }

    private static func read(
        _ entry: (key: [UInt8], value: [UInt8]), _ table: StoredTable
    ) throws -> Row {
        try entry.key.withUnsafeBytes { key in
            try entry.value.withUnsafeBytes { value in
                var cursor = RowCursor(table)
                try cursor.point(key: key, value: value)
                return cursor.view.owned()
            }
        }
    }

    @Test func oneCursorReadsRowsOfAllLayoutsAndSizes() throws {
        let table = Self.makeTable()
        var cursor = RowCursor(table)
        for count in [0, 70_000, 1, 66_000, 40] {
            for layout in [0, 1] {
                let text = Value.string(String(repeating: "x", count: count))
                let entry = try Self.stored(["id": .string("\(count)"), "b": text], layout: layout, of: table)
                try entry.key.withUnsafeBytes { key in
                    try entry.value.withUnsafeBytes { try cursor.point(key: key, value: $0) }
                    #expect(cursor.view.idText == "\(count)")
                    #expect(cursor.view["b"] == text && cursor.view["a"] == .null)
                }
            }
        }
    }

    /// Flips every bit and cuts at every length: the result is the right row, a row with other values, or an error with
    /// the location, but never a trap.
    @Test(arguments: [0, 1], [TableSchema.IDType.string, .int])
    func damagedRowsAreFoundOrReadable(_ layout: Int, _ idType: TableSchema.IDType) throws {
        let table = Self.makeTable(idType: idType)
        let id: RowID = idType == .int ? .int(7) : "Seven"
        var row = Row(id: id)
        for column in table.layouts[layout].shape.columns { row[column.name] = .null }
        row["a"] = 5
        row["b"] = "text"
        row["gone"] = .bytes([0, 1, 2])
        let entry = try Self.stored(row, layout: layout, of: table)
        for bit in 0..<entry.value.count * 8 {
            var value = entry.value
            value[bit / 8] ^= 1 << (bit % 8)
            expectDamage((entry.key, value), table) { _ in true }
        }
        for count in 0..<entry.value.count {
            // If only the original id was cut off, the value is a whole row.
            expectDamage((entry.key, Array(entry.value.prefix(count))), table) { row in
                idType == .string && row["a"] == 5 && row["b"] == "text"
            }
        }
        expectDamage((entry.key, entry.value + [1]), table)
        expectDamage((entry.key, []), table)
        var layouts = entry.value
        layouts[4] = 2
        expectDamage((entry.key, layouts), table)
        layouts[7] = 0xFF
        expectDamage((entry.key, layouts), table)
    }

    /// - Parameter isAllowed: Whether the value may be read as the row.
    private func expectDamage(
        _ entry: (key: [UInt8], value: [UInt8]), _ table: StoredTable, unless isAllowed: (Row) -> Bool = { _ in false }
    ) {
        do {
            let row = try Self.read(entry, table)
            for name in row.columnNames { _ = row[name] }
            #expect(isAllowed(row))
        } catch let error as StoreError {
            #expect(error.code == .corrupt && error.table == "item" && error.id == Self.name(entry.key, table))
        } catch {
            Issue.record(error)
        }
    }

    private static func name(_ key: [UInt8], _ table: StoredTable) -> String {
        table.ids == .int ? "7" : String(decoding: key.dropFirst(4), as: UTF8.self)
    }

    /// An original id that contradicts its key would belong to another row.
    @Test func aSpellingThatIsNotTheKeysIsDamage() throws {
        let table = Self.makeTable()
        var entry = try Self.stored(["id": "Seven"], layout: 1, of: table)
        entry.value[entry.value.count - 1] = UInt8(ascii: "m")
        expectDamage(entry, table)
        let exact = Self.makeTable(matching: .exact)
        var other = try Self.stored(["id": "seven"], layout: 1, of: exact)
        other.value += Array("seven".utf8)
        expectDamage(other, exact)
    }

    @Test(arguments: [[], [0], [0, 0, 0], [0, 0, 0, 7], [0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7]] as [[UInt8]])
    func aKeyThatIsNoRowsIsDamageWhereIDsAreIntegers(_ key: [UInt8]) throws {
        let table = Self.makeTable(idType: .int)
        let entry = try Self.stored(Row(id: .int(1)), layout: 1, of: table)
        let error = #expect(throws: StoreError.self) { _ = try Self.read((key, entry.value), table) }
        #expect(error?.code == .corrupt && error?.table == "item")
    }
}
