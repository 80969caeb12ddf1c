internal import TidelineStore

extension Check {
    /// Comparison of a table's text ids.
    static let idMatching: [Check] = [
        Check("VAL-042", "Ids that differ only in ASCII case are one id in an upsert, also within one batch") {
            context in
            let batch: [Row] = [["id": "Abc", "n": 1], ["id": "aBC", "m": 2], ["id": "ABC", "n": 3]]
            try expectKeyed(context, become: [["id": "Abc", "n": 3, "m": 2]]) { try $0.upsert(batch, into: $1) }
            try expectKeyed(context, from: [["id": "abC", "m": 1]], become: [["id": "abC", "n": 3, "m": 2]]) {
                for row in batch { try $0.upsert(row, into: $1) }
            }
        },
        Check(
            "VAL-043", "The id that was stored first is kept, whatever case a merge uses",
            why: "The server knows the row by this id; a store that keeps the last one renames the row."
        ) { context in
            let schema = keyed(.asciiCaseInsensitive)
            let whole: Row = ["id": "mixed", "n": 2, "m": 2, "version": "2", "createdAt": .null, "updatedAt": .null]
            let merged = [Row(id: "MiXed").merging(whole), Row(id: "lower").completed(for: schema)]
            try expectKeyed(context, from: [["id": "MiXed", "n": 1], ["id": "lower", "n": 1]], become: merged) {
                try $0.upsert([whole, ["id": "LOWER"], ["id": "Lower", "n": .null]], into: $1)
            }
        },
        Check("VAL-044", "A lookup finds an id in any ASCII case and returns the stored id") { context in
            try context.storing(
                [["id": "Abc-Z", "n": 1], ["id": "abc_z", "n": 2], ["id": "É", "n": 3]],
                in: keyed(.asciiCaseInsensitive)
            ) { reader, place in
                for (id, stored) in [("abc-z", "Abc-Z"), ("ABC-Z", "Abc-Z"), ("ABC_Z", "abc_z"), ("É", "É")] {
                    let found = try reader.row(in: "Keyed", id: .string(id))?.idText
                    try context.expect(found, is: stored, "\(place), the lookup of \(CheckContext.text(id))")
                }
            }
        },
        Check("VAL-045", "A deletion finds an id in any ASCII case") { context in
            let rows: [Row] = [["id": "Abc"], ["id": "dEF"], ["id": "x"]]
            try expectKeyed(context, from: rows, become: [["id": "x"]]) { writer, table in
                let count = try writer.delete(ids: ["aBC", "DEF", "X "], from: table)
                try context.expect(count, is: 2, "rows deleted by aBC, DEF and another")
            }
        },
        Check(
            "VAL-046", "A filter and IN find an id in any ASCII case and compare ids ignoring it",
            why: "The filter on `id` may use another code path than the lookup and must apply the same rule."
        ) { context in
            let rows: [Row] = [["id": "B", "n": 1], ["id": "a", "n": 1], ["id": "C", "n": 1], ["id": "_", "n": 1]]
            try context.storing(rows, in: keyed(.asciiCaseInsensitive)) { reader, place in
                let (all, id) = (TableQuery("Keyed"), RowPredicate.column("id"))
                try context.expect(all.filter(id == "b"), in: reader, finds: ["B"], place)
                try context.expect(all.filter("A" == id), in: reader, finds: ["a"], place)
                try context.expect(all.filter(id.isIn(["c", "A", "c", "d"])), in: reader, finds: ["a", "C"], place)
                try context.expect(all.filter(id < "B"), in: reader, finds: ["_", "a"], place)
                try context.expect(all.filter(id >= "b"), in: reader, finds: ["B", "C"], place)
                try context.expect(all.filter(id != "b"), in: reader, finds: ["_", "a", "C"], place)
                try context.expect(
                    all.filter(!(id == "b") && .column("n") == 1), in: reader, finds: ["_", "a", "C"], place)
            }
        },
        Check("VAL-047", "Rows are ordered by their ids ignoring ASCII case") { context in
            let ids = ["", "_", "a", "A0", "a1", "B", "ba", "BB", "c", "Z", "é"].map { "-" + $0 }
            let rows = ids.map { Row(id: .string($0)).merging(["n": 0]) }
            try context.storing(rows.reversed(), in: keyed(.asciiCaseInsensitive)) { reader, place in
                let (all, ordered) = (TableQuery("Keyed"), ids.map { RowID.string($0) })
                try context.expect(all, in: reader, finds: ordered, place)
                try context.expect(all.order(by: "n"), in: reader, finds: ordered, place)
                try context.expect(all.filter(.column("n") == 0), in: reader, finds: ordered, place)
                try context.expect(all.order(by: "id", descending: true), in: reader, finds: ordered.reversed(), place)
            }
        },
        Check(
            "VAL-048", "Non-ASCII letters in ids are case-sensitive",
            why: "Unicode case folding merges ids, and differently in each version of Unicode."
        ) { context in
            let ids = [
                "Ä", "ä", "É", "é", "İ", "ı", "i", "ß", "ss", "\u{1E9E}", "K", "\u{212A}", "Σ", "σ", "ς", "Д", "д",
            ]
            let rows = zip(0..., ids).map { Row(id: .string($1)).merging(["n": .int($0)]) }
            try expectKeyed(context, become: rows) { try $0.upsert(rows, into: $1) }
        },
        Check("VAL-049", "In a table with exact ids, ids that differ in case are distinct in lookup, filter, and order")
        { context in
            let rows: [Row] = [["id": "B", "n": 1], ["id": "a", "n": 2], ["id": "b", "n": 3]]
            try context.apply(to: context.store(keyed(.exact))) { writer in
                try writer.upsert(rows + [["id": "A", "n": 4]], into: "Keyed")
                try context.expect(writer.delete(ids: ["A", "c"], from: "Keyed"), is: 1, "rows deleted by the id A")
            } thenLook: { reader, place in
                try context.expect(keyed(.exact), in: reader, holds: rows, place)
                try context.expect(reader.row(in: "Keyed", id: "A"), is: nil, "\(place), the lookup of A")
                let (all, id) = (TableQuery("Keyed"), RowPredicate.column("id"))
                try context.expect(all, in: reader, finds: ["B", "a", "b"], place)
                try context.expect(all.filter(id == "b"), in: reader, finds: ["b"], place)
                try context.expect(all.filter(id == "A"), in: reader, finds: [], place)
                try context.expect(all.filter(id.isIn(["B", "A"])), in: reader, finds: ["B"], place)
                try context.expect(all.filter(id > "B"), in: reader, finds: ["a", "b"], place)
            }
        },
        Check(
            "VAL-054",
            "A lookup, deletion, or filter does not match an absent id that looks like a stored one",
            why: "Swift's `==`, or folding beyond ASCII, treats them as equal: the wrong row is found or deleted."
        ) { context in
            for matching in [TableSchema.IDMatching.asciiCaseInsensitive, .exact] {
                try context.apply(to: context.store(keyed(matching), in: context.unusedName)) { writer in
                    try writer.upsert(
                        zip(alike, 0...).map { Row(id: $0.stored).merging(["n": .int($1)]) }, into: "Keyed")
                    let deleted = try writer.delete(ids: alike.map(\.other), from: "Keyed")
                    try context.expect(deleted, is: 0, "the rows deleted by ids that only look like stored ones")
                } thenLook: { reader, place in
                    for (stored, other) in alike {
                        let found = try reader.row(in: "Keyed", id: other)
                        try context.expect(found, is: nil, "\(place), the lookup of \(other.text.debugDescription)")
                        let query = TableQuery("Keyed").filter(.column("id") == .literal(other.value))
                        try context.expect(query, in: reader, finds: [], place)
                        let same = TableQuery("Keyed").filter(.column("id").isIn([other.value, stored.value]))
                        try context.expect(same, in: reader, finds: [stored], place)
                    }
                }
            }
        },
    ]

    /// Ids and others that are canonically equivalent to them or differ in non-ASCII case.
    private static let alike: [(stored: RowID, other: RowID)] = [
        ("caf\u{E9}", "cafe\u{301}"), ("o\u{308}l", "\u{F6}l"), ("\u{212B}", "\u{C5}"),
        ("\u{AC00}", "\u{1100}\u{1161}"), ("\u{C4}pfel", "\u{E4}pfel"), ("\u{434}\u{430}", "\u{414}\u{410}"),
        ("k1", "\u{212A}1"),
    ]

    private static func keyed(_ matching: TableSchema.IDMatching) -> TableSchema {
        TableSchema("Keyed", columns: [.int("n"), .int("m")], idMatching: matching, indexes: [["n"]])
    }

    /// Makes a change in a table with case-insensitive ids and fails unless it then holds the expected rows.
    private static func expectKeyed(
        _ context: CheckContext, from rows: [Row] = [], become expected: [Row],
        after change: (TracedWriter, _ table: String) throws -> Void
    ) throws {
        let schema = keyed(.asciiCaseInsensitive)
        let store = try context.store(schema, holding: rows, in: context.unusedName)
        try context.expect(schema, of: store, holds: expected) { try change($0, "Keyed") }
    }
}
