internal import TidelineStore

extension SampleTable {
    fileprivate static let types = SampleTable(
        .bool("bool"), .int("int"), .double("double"), .timestamp("timestamp"), .bytes("bytes"), .json("json"),
        values: [
            "a": [true, .int(.max), 0.0, .ticks(1), .bytes([1, 0]), .json("[1]")],
            "b": [false, .int(.min), -0.0, .ticks(0), .bytes([127, 255]), .json("[1,2]")],
            "c": [.null, 0, -1.5, .ticks(-1), .bytes([0]), .json("{}")],
            "d": [false, .int(1 << 53 + 1), 1e300, .timestamp(.max), .bytes([1]), .json("[ 1]")],
            "e": [true, -1, .double(.leastNonzeroMagnitude), .timestamp(.min), .bytes([])],
            "f": [false, .int(1 << 53), .null, .ticks(10_000_000), .bytes([255]), .json("{\"a\":1}")],
            "g": [true, 7, -1e300, .null, .bytes([128]), .json("[]")],
        ])

    fileprivate static let beyond = SampleTable(
        .double("d"),
        values: [
            "a": [.double(.infinity)], "b": [.double(-.infinity)], "c": [1.0], "d": [],
            "e": [.double(.greatestFiniteMagnitude)],
        ])

    fileprivate static let nan = SampleTable(
        .double("d"),
        values: [
            "a": [.double(.nan)], "b": [1.0], "c": [], "d": [-1e300], "e": [.double(.nan)],
        ])

    private static let mixedIDs: [Row] = ["b", "A", "c", "B2", "a1", "\u{C9}", "Z", "_", "2", "12"].map { id in
        ["id": .string(id), "n": 1]
    }
    fileprivate static let folded = SampleTable(.int("n"), idMatching: .asciiCaseInsensitive, rows: mixedIDs)
    fileprivate static let exact = SampleTable(.int("n"), idMatching: .exact, rows: mixedIDs + [["id": "a", "n": 1]])
    fileprivate static let numbered = SampleTable(
        .int("n"), idType: .int,
        values: [
            2: [1], 10: [1], -1: [1], .int(.min): [1], .int(.max): [1], .int(1 << 53 + 1): [1], .int(1 << 53): [1],
            0: [1],
        ])
}

private func by(_ column: String, descending: Bool = false) -> TableQuery {
    TableQuery("").order(by: column, descending: descending)
}

extension Check {
    /// The order of each type.
    static let orderTypes: [Check] = [
        Check("ORD-019", "Bools are ordered null, false, true", over: .types) { table in
            table.gives(by("bool"), "c", "b", "d", "f", "a", "e", "g")
            table.gives(by("bool", descending: true), "a", "e", "g", "b", "d", "f", "c")
        },
        Check(
            "ORD-020", "Ints are ordered by sign and all 64 bits",
            why: "The bytes of negative numbers are greater than those of positive ones; doubles round large ints.",
            over: .types
        ) { table in
            table.gives(by("int"), "b", "e", "c", "g", "f", "d", "a")
            table.gives(by("int", descending: true), "a", "d", "f", "g", "c", "e", "b")
        },
        Check(
            "ORD-021", "Doubles are ordered by value, and -0.0 and 0.0 are equal",
            why: "Bitwise, negative doubles sort in reverse, and -0.0 sorts before 0.0, whatever the ids.", over: .types
        ) { table in
            table.gives(by("double"), "f", "g", "c", "a", "b", "e", "d")
            table.gives(by("double", descending: true), "d", "e", "a", "b", "c", "g", "f")
        },
        Check("ORD-022", "Infinities sort before and after all other doubles", needs: [.infinity], over: .beyond) {
            table in
            table.gives(by("d"), "d", "b", "c", "e", "a")
            table.gives(by("d", descending: true), "a", "e", "c", "b", "d")
        },
        Check("ORD-023", "NaN sorts after null and before all other doubles", needs: [.nan], over: .nan) { table in
            table.gives(by("d"), "c", "a", "e", "d", "b")
            table.gives(by("d", descending: true), "b", "d", "a", "e", "c")
        },
        Check("ORD-024", "Instants are ordered to 100 ns, also before 1970", over: .types) { table in
            table.gives(by("timestamp"), "g", "e", "c", "b", "a", "f", "d")
            table.gives(by("timestamp", descending: true), "d", "f", "a", "b", "c", "e", "g")
        },
        Check("ORD-025", "Bytes are ordered as unsigned numbers, a prefix first", over: .types) { table in
            table.gives(by("bytes"), "e", "c", "d", "a", "b", "g", "f")
            table.gives(by("bytes", descending: true), "f", "g", "b", "a", "d", "c", "e")
        },
        Check("ORD-026", "JSON is ordered by the bytes of its text", over: .types) { table in
            table.gives(by("json"), "e", "d", "b", "a", "g", "f", "c")
            table.gives(by("json", descending: true), "c", "f", "g", "a", "b", "d", "e")
        },
        Check(
            "ORD-027", "Text is ordered by its UTF-8 bytes",
            why: "A locale's collation sorts 'a' before 'Z' and '2' before '12'; UTF-16 sorts emoji before U+E000.",
            over: .texts
        ) { table in
            table.gives(
                by("s"), "23", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14",
                "15", "16", "17", "18", "19", "20", "21", "22")
        },
        Check("ORD-028", "Text in descending order is the reverse, with null last", over: .texts) { table in
            table.gives(
                by("s", descending: true), "22", "21", "20", "19", "18", "17", "16", "15", "14", "13", "12", "11",
                "10", "09", "08", "07", "06", "05", "04", "03", "02", "01", "23")
        },
        Check("ORD-029", "Texts and bytes longer than an engine's keys are ordered by their ends", over: .long) {
            table in
            table.gives(by("s"), "f", "e", "a", "b", "c", "d")
            table.gives(by("s", descending: true), "d", "c", "b", "a", "e", "f")
            table.gives(by("b"), "f", "e", "a", "b", "c", "d")
        },
        Check("ORD-030", "System columns can be ordered by like others") { context in
            let rows: [Row] = [
                ["id": "a", "updatedAt": .ticks(11), "version": "b"],
                ["id": "b", "updatedAt": .ticks(10), "version": "B"],
                ["id": "c"], ["id": "d", "updatedAt": .ticks(10), "version": "a"],
            ]
            try context.expectAnswers(over: SampleTable(.int("n"), rows: rows)) { table in
                table.gives(by("updatedAt"), "c", "b", "d", "a")
                table.gives(by("updatedAt", descending: true), "a", "b", "d", "c")
                table.gives(by("version"), "c", "b", "d", "a")
            }
        },
    ]

    /// The order of ids.
    static let orderIDs: [Check] = [
        Check(
            "ORD-031", "If ids are case-insensitive, so is their order",
            why: "In byte order 'Z' sorts before 'a'; an order must be consistent with equality.", over: .folded
        ) { table in
            table.gives(TableQuery(""), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
            table.gives(by("id"), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
        },
        Check("ORD-032", "If ids match exactly, they are ordered by their bytes", over: .exact) { table in
            table.gives(TableQuery(""), "12", "2", "A", "B2", "Z", "_", "a", "a1", "b", "c", "\u{C9}")
            table.gives(by("id"), "12", "2", "A", "B2", "Z", "_", "a", "a1", "b", "c", "\u{C9}")
        },
        Check("ORD-033", "A descending order by id is the reverse", over: .folded) { table in
            let query = by("id", descending: true)
            table.gives(query, "\u{C9}", "Z", "c", "B2", "b", "a1", "A", "_", "2", "12")
            table.gives(query.order(by: "n"), "\u{C9}", "Z", "c", "B2", "b", "a1", "A", "_", "2", "12")
        },
        Check("ORD-034", "Ties are broken by id according to the table's id matching", over: .folded) { table in
            table.gives(by("n"), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
            table.gives(by("n", descending: true), "12", "2", "_", "A", "a1", "b", "B2", "c", "Z", "\u{C9}")
        },
        Check("ORD-035", "Ties are broken by descending id if the order says so", over: .folded) { table in
            let query = by("n").order(by: "id", descending: true)
            table.gives(query, "\u{C9}", "Z", "c", "B2", "b", "a1", "A", "_", "2", "12")
        },
        Check(
            "ORD-036", "Int ids are ordered numerically, also for ties",
            why: "As text, 10 sorts before 2, and negative ids by their digits; the queue depends on this order.",
            over: .numbered
        ) { table in
            for query in [TableQuery(""), by("id"), by("n"), by("n", descending: true)] {
                table.gives(query, .int(.min), -1, 0, 2, 10, .int(1 << 53), .int(1 << 53 + 1), .int(.max))
            }
        },
        Check("ORD-037", "Int ids in descending order start with the greatest", over: .numbered) { table in
            let query = by("id", descending: true)
            table.gives(query, .int(.max), .int(1 << 53 + 1), .int(1 << 53), 10, 2, 0, -1, .int(.min))
            table.gives(query.limit(1), .int(.max))
            table.gives(query.filter(.id < 10).limit(2), 2, 0)
        },
    ]
}
