internal import TidelineStore

extension Check {
    /// Text ids with any content.
    static let idTexts: [Check] = [
        Check(
            "VAL-036", "Ids with any characters are distinct in upsert, lookup, filter, and deletion",
            why: "`%`, quotes, separators, and NUL have a meaning in query languages, paths, and keys."
        ) { context in
            let ids = [
                "/", "\\", "'", "\"", "%", "_", ";", "&", "<", " ", "  ", " a", "a ", "*", "?", "[a]", ":", "\u{1}",
                "\u{FF}", "😀", "👨‍👩‍👧", "日本", "{}", "1", "01", "1.0", "null", "../x", "' OR 1=1; --", "a/b", "a\u{1}b",
                "\u{7F}", "\u{FFFF}", "\u{10FFFF}",
            ]
            try expectApart(ids, context)
        },
        Check("VAL-037", "Ids with characters after a NUL are distinct, such as `a`, `a\\0`, `aa`") { context in
            let ids = ["a", "a\0", "a\0\0", "a\0b", "aa", "\0", "\0\0", "\0a", "a\u{1}"]
            try expectApart(ids, context)
        },
        Check(
            "VAL-038", "Canonically equivalent ids are distinct",
            why: "Swift treats them as equal: a dictionary or a set of strings merges them."
        ) { context in
            let ids = ["é", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}"]
            try expectApart(ids, context)
        },
        Check(
            "VAL-039", "Ids of the maximum length are kept completely and may differ only in their last character",
            why: "The limit counts characters; emoji have four bytes each, which may exceed an engine's key length."
        ) { context in
            let length = min(context.capabilities.maximumIDLength, 10_000)
            let ids = ["x", "é", "日", "😀"].flatMap { character in
                ["a", "b", character].map { String(repeating: character, count: length - 1) + $0 }
                    + [String(repeating: character, count: length - 1)]
            }
            try expectApart(ids, context)
        },
        Check("VAL-040", "An id that is one character too long is refused, naming column and table") { context in
            try expectOverlongIDsRefused(context)
        },
        Check(
            "VAL-041", "An id never matches another table, however the names begin",
            why: "If a key concatenates the table's name and the id, `t` with `2a` equals `t2` with `a`."
        ) { context in
            let tables = ["t", "t2", "t2a", "t/", "t/a", "t:", "2", "t t"].map {
                TableSchema($0, columns: [.string("of")])
            }
            let ids = ["a", "2", "2a", "/a", "a/", ":a", "2/a", "2:a", "t", " ta"]
            let store = try context.store(tables)
            func rows(_ table: TableSchema, without left: String? = nil) -> [Row] {
                ids.filter { $0 != left }.map { ["id": .string($0), "of": .string(table.name)] }
            }
            let again = try context.apply(to: store) { writer in
                for table in tables { try writer.upsert(rows(table), into: table.name) }
            } thenLook: { reader, place in
                for table in tables { try context.expect(table, in: reader, holds: rows(table), place) }
            }
            try again.delete(ids: ["2a"], from: "t")
            try again.read { reader in
                for table in tables {
                    let left = rows(table, without: table.name == "t" ? "2a" : nil)
                    try context.expect(table, in: reader, holds: left, "after the deletion of 2a from t")
                }
            }
        },
    ]

    /// Expects these ids to be distinct under either matching, each found, queried, and deleted as itself.
    private static func expectApart(_ ids: [String], _ context: CheckContext) throws {
        for matching in [TableSchema.IDMatching.asciiCaseInsensitive, .exact] {
            try expectApart(ids, matching, context)
        }
    }

    private static func expectApart(_ ids: [String], _ matching: TableSchema.IDMatching, _ context: CheckContext) throws
    {
        let schema = TableSchema("Keyed", columns: [.int("n")], idMatching: matching, indexes: [["n"]])
        let rows = zip(0..., ids).map { Row(id: .string($1)).merging(["n": .int($0)]) }
        let store = try context.apply(to: context.store(schema, in: context.unusedName)) { writer in
            try writer.upsert(rows.reversed(), into: "Keyed")
            try writer.upsert(rows, into: "Keyed")
        } thenLook: { reader, place in
            try context.expect(schema, in: reader, holds: rows, place)
            let all = TableQuery("Keyed")
            for (id, row) in zip(ids, rows) {
                let values: [Value] = [.string(id), "none of them"]
                for condition in [RowPredicate.column("id") == .literal(values[0]), .column("id").isIn(values)] {
                    try context.expect(all.filter(condition), in: reader, finds: [.string(id)], place)
                }
                let number = RowPredicate.column("n") == .literal(row["n"] ?? .null)
                try context.expect(all.filter(number), in: reader, finds: [.string(id)], place)
            }
        }
        for (position, id) in ids.enumerated() {
            let count = try store.delete(ids: [.string(id)], from: "Keyed")
            try context.expect(count, is: 1, "rows deleted by the id \(CheckContext.text(id))")
            let left = Array(rows[(position + 1)...])
            try store.read {
                try context.expect(schema, in: $0, holds: left, "after the deletion of \(CheckContext.text(id))")
            }
        }
    }
}
