internal import Foundation
internal import TidelineStore

extension Check {
    /// Texts and bytes that are easily mistaken for something else.
    static let valueTexts: [Check] = [
        Check(
            "VAL-023", "An empty text is not null, nor are empty bytes",
            why: "Some engines do not distinguish them, and bindings pass an empty value as a null pointer."
        ) { context in
            for (type, empty) in [(ColumnType.string, Value.string("")), (.bytes, .bytes([]))] {
                try context.expectKept([empty, .null], as: type)
                let rows: [Row] = [["id": "empty", "v": empty, "n": 0], ["id": "null", "n": 0]]
                try context.applyToValueTables(of: type, rows) { table, reader, place in
                    let (all, operand) = (TableQuery(table.name), RowPredicate.column("v"))
                    try context.expect(all.filter(operand == .null), in: reader, finds: ["null"], place)
                    try context.expect(all.filter(operand == .literal(empty)), in: reader, finds: ["empty"], place)
                    try context.expect(all.order(by: "v"), in: reader, finds: ["null", "empty"], place)
                }
            }
        },
        Check("VAL-024", "Characters after a NUL are stored, compared, and ordered") { context in
            let texts = ["\0", "\0\0", "\0a", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "aa", "b\0"]
            try context.expectKept(texts.map { .string($0) }, as: .string)
            try context.expectOrdered(texts.map { .string($0) }, as: .string)
        },
        Check(
            "VAL-025", "Canonically equivalent texts are distinct, each with its own bytes",
            why: "Swift treats composed and decomposed letters as equal; a dictionary of strings loses one."
        ) { context in
            let texts = ["A\u{30A}", "e\u{301}", "\u{C5}", "é", "\u{1112}\u{1161}\u{11AB}", "\u{212B}", "\u{D55C}"]
            try context.expectKept(texts.map { .string($0) }, as: .string)
            try context.expectOrdered(texts.map { .string($0) }, as: .string)
        },
        Check(
            "VAL-026", "Texts are compared and ordered by their UTF-8 bytes",
            why: "Collations ignore case or accents; UTF-16 sorts emoji before other letters."
        ) { context in
            let texts = [
                "", " ", "12", "2", "A", "B", "Z", "_", "a", "aB", "ab", "b", "z", "ß", "é", "İ", "ı", "日", "\u{E000}",
                "\u{FFFD}", "😀", "😀a", "\u{10FFFF}",
            ]
            try context.expectOrdered(texts.map { .string($0) }, as: .string)
        },
        Check("VAL-027", "A text that looks like a number, a date, JSON, or SQL stays that text") { context in
            let texts = [
                "1", "01", "1.0", "1e3", "-0", "0x41", "9007199254740993", "true", "null", "NULL", "NaN", "{}", "[1]",
                "{\"a\": 1}", "2026-01-02", "2026-01-02T03:04:05.6789012Z", "x'41'", "'; DROP TABLE Plain; --", "?1",
                ":v", "\"v\"", "v", "%s", "\\0", "\\u0041", "&amp;", "$(v)", "١",
            ]
            try context.expectKept(texts.map { .string($0) }, as: .string)
            let rows = zip(0..., texts).map { Row(id: .string("row \($0)")).merging(["v": .string($1), "n": 0]) }
            try context.applyToValueTables(of: .string, rows) { table, reader, place in
                for row in rows {
                    let query = TableQuery(table.name, predicate: .column("v") == .literal(row["v"] ?? .null))
                    try context.expect(query, in: reader, finds: [.string(row.idText)], place)
                }
            }
        },
        Check("VAL-028", "Bytes are ordered byte by byte, a prefix first") { context in
            let runs: [[UInt8]] = [
                [], [0], [0, 0], [0, 1], [0, 255], [1], [1, 0], [0x7F], [0x80], [0xC3, 0x28], [0xFE, 255], [255],
                [255, 0], [255, 255],
            ]
            try context.expectOrdered(runs.map { .bytes($0) }, as: .bytes)
        },
        Check("VAL-029", "JSON is compared by the bytes of its text") { context in
            let texts = ["[1, 2]", "[1,2]", "[]", "{ }", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", "{}"]
            try context.expectOrdered(texts.map { .json($0) }, as: .json)
        },
    ]

    /// Large values.
    static let valueSizes: [Check] = [
        Check(
            "VAL-030", "Texts that differ only after many equal bytes are distinct and ordered",
            why: "Engines limit the length of a key; an index entry truncated there loses the rest."
        ) { context in
            for length in [255, 480, 511, 2_000] {
                let stem = String(repeating: "k", count: length)
                let texts = ["", "\0", "A", "a", "a\0", "aa", "é"].map { stem + $0 }
                try context.expectOrdered(texts.map { .string($0) }, as: .string)
            }
        },
        Check("VAL-031", "Bytes that differ only after many equal ones are distinct and ordered") { context in
            for length in [255, 511, 3_000] {
                let stem = [UInt8](repeating: 0, count: length)
                let ends: [[UInt8]] = [[], [0], [0, 0], [0, 1], [1], [255]]
                try context.expectOrdered(ends.map { .bytes(stem + $0) }, as: .bytes)
            }
        },
        Check("VAL-032", "Values with lengths around powers of two are returned completely") { context in
            let lengths = [127, 128, 255, 256, 1_024, 4_095, 4_096, 32_768, 65_535, 65_536]
            let texts = lengths.map { String(repeating: "x", count: $0 - 1) + "y" }
            try context.expectKept(texts.map { .string($0) }, as: .string)
            try context.expectKept(texts.map { .bytes(Array($0.utf8)) }, as: .bytes)
        },
        Check("VAL-033", "A text of 1 MB is returned byte for byte") { context in
            let text = String(repeating: "aé😀\0e\u{301}", count: 1 << 20 / 11)
            try expectLarge(.string(text), as: .string, context)
        },
        Check("VAL-034", "Bytes of 4 MB are returned byte for byte") { context in
            // No page, block, or buffer size divides the length, so a lost or swapped block is detected.
            let pattern = (0..<1_021).map { UInt8(truncatingIfNeeded: $0) }
            var bytes: [UInt8] = []
            while bytes.count < 4 << 20 { bytes += pattern }
            try expectLarge(.bytes(bytes), as: .bytes, context)
        },
        Check("VAL-035", "A row with many long values and its neighbors are returned completely") { context in
            let schema = TableSchema("Wide", columns: (0..<30).map { .string("c\($0)") }, indexes: [["c3"]])
            let rows = ["a", "b", "c"].map { id in
                schema.columns.enumerated().reduce(into: Row(id: .string(id))) { row, column in
                    row[column.element.name] = .string(String(repeating: id, count: column.offset * 500))
                }
            }
            try context.expect(schema, of: context.store(schema), holds: rows) { try $0.upsert(rows, into: "Wide") }
        },
    ]

    /// Stores a value next to a small one and expects both from lookup and scan.
    private static func expectLarge(_ value: Value, as type: ColumnType, _ context: CheckContext) throws {
        let schema = TableSchema("Large", columns: [ColumnSchema("v", type), .string("after")])
        let (row, stored) = (["id": "1", "v": value, "after": "x"] as Row, data(value))
        try context.storing([row, ["id": "2", "after": "y"]], in: schema) { reader, place in
            for found in [try reader.row(in: "Large", id: "1"), try reader.allRows("Large").first] {
                let bytes = data(found?["v"])
                try context.expect(found?["v"]?.type, is: type, "\(place), the type of the value")
                try context.expect(bytes.count, is: stored.count, "\(place), the number of bytes")
                try context.expect(bytes == stored, "\(place), the bytes differ from those stored")
                try context.expect(found?["after"], is: "x", "\(place), the column after them")
            }
        }
    }

    /// Returns the bytes as `Data`, which compares megabytes at once; elementwise, that takes seconds.
    private static func data(_ value: Value?) -> Data {
        switch value {
        case .string(let text)?: Data(text.utf8)
        case .bytes(let bytes)?: Data(bytes)
        default: Data()
        }
    }
}
