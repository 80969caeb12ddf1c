internal import TidelineStore

extension SampleTable {
    /// Values of every type that are easily confused.
    fileprivate static let equality = SampleTable(
        .bool("bool"), .int("int"), .double("double"), .string("string"), .timestamp("timestamp"), .bytes("bytes"),
        .json("json"),
        values: [
            "a": [true, 1, 1.5, "Milk", .ticks(0), .bytes([1, 2]), .json("[1]")],
            "b": [false, 2, -2.5, "milk", .ticks(1), .bytes([1, 2, 0]), .json("[ 1]")],
            "c": [true, -1, 0.1, "", .ticks(-1), .bytes([]), .json("{}")],
            "d": [false, 0, 0.0, "Milk ", .timestamp(.max), .bytes([0]), .json("{\"a\":1}")], "e": [],
            "f": [false, .int(.max), 1e300, "a\0b", .timestamp(.min), .bytes([255]), .json("[]")],
            "g": [
                .null, .int(.max - 1), .double(1e300.nextDown), "a", .timestamp(Timestamp.max.advanced(byTicks: -1)),
                .bytes([1]), .json("[1,1]"),
            ],
        ])
}

private let bool = RowPredicate.column("bool")
private let int = RowPredicate.column("int")
private let double = RowPredicate.column("double")
private let string = RowPredicate.column("string")
private let timestamp = RowPredicate.column("timestamp")
private let bytes = RowPredicate.column("bytes")
private let json = RowPredicate.column("json")

extension Check {
    /// Equality on every type.
    static let filterEquality: [Check] = [
        Check("FIL-001", "A query without a condition finds every row once", over: .equality) { table in
            table.gives(TableQuery(""), "a", "b", "c", "d", "e", "f", "g")
            table.findsAll(true)
            table.findsNothing(false)
        },
        Check(
            "FIL-002", "== on a bool column finds the rows with that truth value, and no null rows",
            why: "Engines that store false as 0, or as nothing, also return the rows without a value.", over: .equality
        ) { table in
            table.finds(bool == true, "a", "c")
            table.finds(bool == false, "b", "d", "f")
        },
        Check(
            "FIL-003", "== on an int column compares all 64 bits",
            why: "An int converted to a double loses precision beyond 2^53: the greatest int equals its neighbor.",
            over: .equality
        ) { table in
            table.finds(int == 1, "a")
            table.finds(int == -1, "c")
            table.finds(int == 0, "d")
            table.finds(int == .literal(.int(.max)), "f")
            table.finds(int == .literal(.int(.max - 1)), "g")
            table.findsNothing(int == .literal(.int(.min)))
        },
        Check("FIL-004", "== on a double column distinguishes neighboring doubles", over: .equality) { table in
            table.finds(double == 1.5, "a")
            table.finds(double == 0.1, "c")
            table.findsNothing(double == .literal(.double(0.1.nextUp)))
            table.finds(double == 1e300, "f")
            table.finds(double == .literal(.double(1e300.nextDown)), "g")
            table.findsNothing(double == 2.5)
        },
        Check(
            "FIL-005", "== on a string column is case-sensitive",
            why: "Many engines compare text ignoring case by default.", over: .equality
        ) { table in
            table.finds(string == "Milk", "a")
            table.finds(string == "milk", "b")
            table.findsNothing(string == "MILK")
            table.findsNothing(string == "Mil")
        },
        Check(
            "FIL-006", "Trailing spaces are significant, and an empty text is not null",
            why: "Engines with fixed-width text pad it before comparing; some treat '' as null.", over: .equality
        ) { table in
            table.finds(string == "Milk ", "d")
            table.findsNothing(string == " ")
            table.finds(string == "", "c")
            table.finds(string.isNull, "e")
        },
        Check(
            "FIL-007", "A NUL within a text is an ordinary character",
            why: "A text passed as a C string ends there, so that 'a' equals 'a\\0b'.", over: .equality
        ) { table in
            table.finds(string == "a", "g")
            table.finds(string == "a\0b", "f")
            table.findsNothing(string == "a\0")
            table.finds(string > "a", "b", "f")
            table.finds(string.isIn(["a\0b", "a\0c"]), "f")
        },
        Check(
            "FIL-008", "== on a timestamp column distinguishes instants 100 ns apart",
            why: "Servers use a precision of 100 ns; with milliseconds, a pull loses or repeats rows.", over: .equality
        ) { table in
            table.finds(timestamp == .ticks(0), "a")
            table.finds(timestamp == .ticks(1), "b")
            table.finds(timestamp == .ticks(-1), "c")
            table.finds(timestamp == Timestamp.max, "d")
            table.finds(timestamp == Timestamp.min, "f")
            table.findsNothing(timestamp == .ticks(2))
        },
        Check(
            "FIL-009", "== on a bytes column compares length and every byte, including trailing zeros", over: .equality
        ) { table in
            table.finds(bytes == .literal(.bytes([1, 2])), "a")
            table.finds(bytes == .literal(.bytes([1, 2, 0])), "b")
            table.finds(bytes == .literal(.bytes([])), "c")
            table.finds(bytes == .literal(.bytes([0])), "d")
            table.finds(bytes == .literal(.bytes([255])), "f")
            table.findsNothing(bytes == .literal(.bytes([0, 0])))
        },
        Check(
            "FIL-010", "== on a JSON column compares the text of the value",
            why: "An engine that stores parsed JSON returns another text, or treats [1] and [ 1] as equal.",
            over: .equality
        ) { table in
            table.finds(json == .literal(.json("[1]")), "a")
            table.finds(json == .literal(.json("[ 1]")), "b")
            table.finds(json == .literal(.json("{}")), "c")
            table.finds(json == .literal(.json("[]")), "f")
            table.findsNothing(json == .literal(.json("{ }")))
        },
    ]

    /// Inequality, operands in other positions, and values that only look alike.
    static let filterOperands: [Check] = [
        Check("FIL-011", "!= is the opposite of == on every type, also for rows without a value", over: .equality) {
            table in
            table.finds(bool != true, "b", "d", "e", "f", "g")
            table.finds(int != 1, "b", "c", "d", "e", "f", "g")
            table.finds(double != 0.0, "a", "b", "c", "e", "f", "g")
            table.finds(string != "Milk", "b", "c", "d", "e", "f", "g")
            table.finds(timestamp != .ticks(0), "b", "c", "d", "e", "f", "g")
            table.finds(bytes != .literal(.bytes([])), "a", "b", "d", "e", "f", "g")
            table.finds(json != .literal(.json("[]")), "a", "b", "c", "d", "e", "g")
            table.findsAll(string != "nowhere")
        },
        Check(
            "FIL-012", "A comparison with the literal on the left is evaluated correctly",
            why: "If `1 < x` is reversed, the operator must be reversed as well: `x > 1`.", over: .equality
        ) { table in
            table.finds(1 == int, "a")
            table.finds(1 != int, "b", "c", "d", "e", "f", "g")
            table.finds(1 < int, "b", "f", "g")
            table.finds(1 <= int, "a", "b", "f", "g")
            table.finds(1 > int, "c", "d")
            table.finds(1 >= int, "a", "c", "d")
            table.finds("Milk" < string, "b", "d", "f", "g")
            table.finds("Milk" >= string, "a", "c")
            table.finds(.null != string, "a", "b", "c", "d", "f", "g")
        },
        Check(
            "FIL-013", "Comparing a column with a value of another type is an error that names table and column",
            why: "Engines with loose types treat '1' and true as 1, or find nothing, which hides the mistake."
        ) { context in
            let others: [(String, [RowPredicate])] = [
                ("s", [1, true, .literal(.json("[1]"))]), ("n", ["1", true, .ticks(0)]), ("d", ["1.5"]),
                ("b", [1, "yes"]),
                ("at", ["1970-01-01T00:00:00.0000000Z", 0]), ("raw", ["\u{1}\u{2}"]), ("j", ["[1]"]), ("id", [1]),
            ]
            let refused = others.flatMap { name, values in
                values.flatMap { value -> [(predicate: RowPredicate, column: String?)] in
                    let column = RowPredicate.column(name)
                    return [column == value, column != value, column < value, value >= column].map { ($0, name) }
                }
            }
            let nested: [(predicate: RowPredicate, column: String?)] = [
                (.column("n") == .column("s"), "n"), (.column("b") == .column("n") + 1, "b"),
                (.or([true, .not(.column("n") == "1")]), "n"),
            ]
            try context.expectRefusal(of: refused + nested, .invalidValue)
        },
        Check("FIL-014", "A column compares with another column as with a literal of its value", over: .columns) {
            table in
            table.finds(.column("x") == .column("y"), "a", "c")
            table.finds(.column("x") < .column("y"), "b")
            table.finds(.column("x") >= .column("y"), "a", "c", "d")
            table.finds(.column("s") == .column("t"), "a")
            table.finds(.column("s") > .column("t"), "b", "d")
            table.finds(.column("s") != .column("t"), "b", "c", "d", "e")
        },
        Check("FIL-015", "An int column compares with a double column by exact value", over: .columns) { table in
            table.finds(.column("x") == .column("d"), "a")
            table.finds(.column("x") < .column("d"), "b")
            table.finds(.column("x") > .column("d"), "c", "d")
            table.finds(.column("d") <= .column("x"), "a", "c", "d")
        },
        Check(
            "FIL-016", "Canonically equivalent texts are different texts",
            why: "Swift's == on strings uses canonical equivalence; a store compares UTF-8 bytes, as servers do.",
            over: .spellings
        ) { table in
            table.finds(.column("s") == "caf\u{E9}", "composed")
            table.finds(.column("s") == "cafe\u{301}", "decomposed")
            table.finds(.column("s") != "caf\u{E9}", "angstrom", "decomposed", "upper", "å")
            table.finds(.column("s") == "\u{E5}", "å")
            table.finds(.column("s").isIn(["cafe\u{301}", "\u{212B}"]), "angstrom", "decomposed")
            table.finds(.column("s") == "CAF\u{C9}", "upper")
        },
        Check(
            "FIL-017", "Text that looks like a number compares as text",
            why: "A column without a declared type may convert '1.0' and '01' to 1.", over: .digits
        ) { table in
            table.finds(.column("s") == "1", "one")
            table.finds(.column("s") == "1.0", "decimal")
            table.finds(.column("s") == "01", "zero")
            table.finds(.column("s") == "1e0", "exponent")
            table.finds(.column("s") > "1", "decimal", "exponent", "two")
            table.findsNothing(.column("s") == " 1")
        },
    ]
}

extension SampleTable {
    fileprivate static let columns = SampleTable(
        .int("x"), .int("y"), .double("d"), .string("s"), .string("t"),
        values: [
            "a": [1, 1, 1.0, "one", "one"], "b": [1, 2, 1.5, "one", "One"],
            "c": [.int(1 << 53 + 1), .int(1 << 53 + 1), .double(0x1p53), "a", "a\u{301}"],
            "d": [.int(.max), .int(.min), -1.0, "10", "1"], "e": [5, .null, .null, "five"],
        ])

    fileprivate static let spellings = SampleTable(
        .string("s"),
        values: [
            "composed": ["caf\u{E9}"], "decomposed": ["cafe\u{301}"], "upper": ["CAF\u{C9}"], "å": ["\u{E5}"],
            "angstrom": ["\u{212B}"],
        ])

    fileprivate static let digits = SampleTable(
        .string("s"),
        values: [
            "one": ["1"], "decimal": ["1.0"], "zero": ["01"], "exponent": ["1e0"], "two": ["2"],
        ])
}
