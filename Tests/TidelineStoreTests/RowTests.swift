import Testing
import TidelineStore
import TidelineTestSupport

@Suite("Rows and values")
struct RowTests {
    @Test("Equal values have equal hashes, different values differ")
    func valueEquality() {
        let different: [Value] = [
            .null, false, true, 0, 1, 0.0, 1.0, .double(.nan), "", "a", "é", "e\u{301}", "1", .json(""), .json("a"),
            .bytes([]), .bytes([97]), .timestamp(.min), .timestamp(Timestamp(clampingTicks: 0)), .double(.infinity),
        ]
        for (i, a) in different.enumerated() {
            for (j, b) in different.enumerated() {
                #expect((a == b) == (i == j), "\(a) and \(b)")
                if a == b { #expect(a.hashValue == b.hashValue) }
            }
        }
        #expect(Value.double(-0.0) == 0.0)
        #expect(Value.double(-0.0).hashValue == Value.double(0).hashValue)
        #expect(Set(different).count == different.count)
    }

    @Test("A row is a set of named values")
    func columns() {
        var row: Row = ["id": "1", "a": 1, "b": .null, "a": 2]
        #expect(row["a"] == 2)
        #expect(row["b"] == .null)
        #expect(row["c"] == nil)
        #expect(row.columnNames == ["a", "b"])
        row["a"] = nil
        #expect(row == ["b": .null, "id": "1"])
        #expect(row != ["id": "1"])
        #expect(row != ["id": "2", "b": .null])
        #expect((["a": 1, "b": 2] as Row).hashValue == (["b": 2, "a": 1] as Row).hashValue)
        #expect(row.merging(["b": 3, "c": "x", "id": "9"]) == ["id": "1", "b": 3, "c": "x"])
        let merged = (["a": 1, "b": 2, "c": 3] as Row).merging(["c": 4, "d": 5, "a": 6, "id": 1.5])
        #expect(
            merged == ["a": 6, "b": 2, "c": 4, "d": 5, "id": 1.5] && merged.columnNames == ["a", "b", "c", "d", "id"])
        #expect(row.filteringColumns { $0 != "b" }.isEmpty)
        row["id"] = ""
        #expect(row.id == nil && row.idText == "")
        row["id"] = 5
        #expect(row.id == .int(5) && row.idText == "5")
        row["id"] = 1.5
        #expect(row.id == nil && row["id"] == 1.5 && row.columnNames.contains("id"))
        row.id = "7"
        #expect(row["id"] == "7" && !row.columnNames.contains("id"))
    }

    @Test("A name in another normalization form is the same name")
    func names() throws {
        var row: Row = ["é": 1, "e\u{301}": 2]
        #expect(row["é"] == 2 && row["e\u{301}"] == 2 && row.values.count == 1)
        #expect(Set([row]).contains(["e\u{301}": 2]))
        let schema = TableSchema("t", columns: [.int("n"), .int("é"), .int("K")])
        row = ["id": "1", "e\u{301}": 3, "\u{212A}": 4]
        let packed = try PackedRows([row], of: schema).withRow(at: 0) { $0.owned() }
        #expect(packed["é"] == 3 && packed["e\u{301}"] == 3 && packed["\u{212A}"] == 4 && packed["N"] == nil)
        #expect(packed == row && packed.hashValue == row.hashValue)
        #expect(packed.columnNames.map { Array($0.utf8) } == [Array("é".utf8), Array("K".utf8)])
        #expect(packed.merging(["e\u{301}": 5]).values.count == 2)
        #expect(schema.column("e\u{301}")?.name.utf8.count == 2)
    }

    @Test("Names that are not in normalization form C are refused, with the scalars and what to write")
    func normalizationForms() {
        let forms = [
            ("cafe\u{301}", #""cafe\u{0301}""#, #""caf\u{00E9}""#), ("\u{212A}", #""\u{212A}""#, #""K""#),
            ("\u{1100}\u{1161}", #""\u{1100}\u{1161}""#, #""\u{AC00}""#),
            ("a\u{301}\u{323}", #""a\u{0301}\u{0323}""#, #""\u{1EA1}\u{0301}""#),
        ]
        for (name, found, expected) in forms {
            let refused: [(TableSchema, column: String?)] = [
                (TableSchema(name, columns: []), nil), (TableSchema("t", columns: [.int(name)]), name),
                (TableSchema("t", columns: [.int(expected)], indexes: [[name]]), name),
                (TableSchema("t", columns: [], references: [ForeignKey(column: name, table: "t")]), name),
                (TableSchema("t", columns: [.string("a")], references: [ForeignKey(column: "a", table: name)]), "a"),
            ]
            for (schema, column) in refused {
                let error = #expect(throws: StoreError.self) { try schema.validate() }
                #expect(error?.code == .schemaMismatch && error?.table == schema.name && error?.column == column)
                let message = error?.message ?? ""
                for part in [found, expected, "form C"] { #expect(message.contains(part), "\(message)") }
            }
        }
        for name in ["caf\u{E9}", "😀", "日本", "\u{1E9E}", "x\u{301}", "\u{AC00}", "a"] {
            #expect(throws: Never.self) { try TableSchema(name, columns: [.int(name)], indexes: [[name]]).validate() }
        }
    }

    @Test("Contradictory definitions are refused")
    func schemas() throws {
        try TableSchema("Item", columns: [.int("a")], indexes: [["a", "id", "version"]]).validate()
        let names = ["", "__x", "a\0", "\u{85}", String(repeating: "x", count: 129)]
        var refused =
            names.map { TableSchema($0, columns: []) } + names.map { TableSchema("Item", columns: [.int($0)]) }
        refused += ["id", "ID", "version", "Deleted"].map { TableSchema("Item", columns: [.int($0)]) }
        refused += [
            TableSchema("Item", columns: [.int("a"), .string("A")]),
            TableSchema("Item", columns: [.int("a")], indexes: [["b"]]),
            TableSchema("Item", columns: [.int("a")], indexes: [[]]),
            TableSchema("Item", columns: [.int("a")], indexes: [["a", "a"]]),
            TableSchema("Item", columns: [], references: [ForeignKey(column: "x", table: "T")]),
            TableSchema("Item", columns: (0...TableSchema.maximumColumnCount).map { .int("c\($0)") }),
        ]
        for schema in refused {
            let error = #expect(throws: StoreError.self) { try schema.validate() }
            #expect(error?.code == .schemaMismatch)
        }
    }
}
