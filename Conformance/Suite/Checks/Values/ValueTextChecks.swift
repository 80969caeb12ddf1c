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
}
