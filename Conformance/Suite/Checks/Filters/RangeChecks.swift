internal import TidelineStore

extension SampleTable {
    fileprivate static let ranges = SampleTable(
        .int("int"), .double("double"), .bool("bool"), .timestamp("timestamp"), .bytes("bytes"), .json("json"),
        values: [
            "a": [.int(.min), -2.5, false, .timestamp(.min), .bytes([]), .json("[1,2]")],
            "b": [-3, -0.5, true, .ticks(-1), .bytes([0]), .json("[1]")],
            "c": [0, 0.0, .null, .ticks(0), .bytes([1]), .json("[2]")],
            "d": [4, 4.0, .null, .ticks(1), .bytes([1, 0])],
            "e": [], "f": [10, 1e9, .null, .ticks(10_000_000), .bytes([127, 255])],
            "g": [.int(.max), 1e300, true, .timestamp(.max), .bytes([128]), .json("{}")],
        ])
}

private let int = RowPredicate.column("int")
private let double = RowPredicate.column("double")
private let timestamp = RowPredicate.column("timestamp")
private let bytes = RowPredicate.column("bytes")
private let s = RowPredicate.column("s")

extension Check {
    /// Ranges.
    static let filterRanges: [Check] = [
        Check(
            "FIL-052", "< and > exclude the bound, <= and >= include it",
            why: "An index scan starts at a key; off-by-one errors include or exclude that key.", over: .ranges
        ) { table in
            table.finds(int < 4, "a", "b", "c")
            table.finds(int <= 4, "a", "b", "c", "d")
            table.finds(int > 4, "f", "g")
            table.finds(int >= 4, "d", "f", "g")
            table.finds(int > 3, "d", "f", "g")
            table.finds(int < 5, "a", "b", "c", "d")
        },
        Check("FIL-053", "A range can include both of its bounds, from negative to positive numbers", over: .ranges) {
            table in
            table.finds(int.isBetween(-3, and: 4), "b", "c", "d")
            table.finds(int.isBetween(0, and: 0), "c")
            table.finds(int.isBetween(-2, and: 3), "c")
            table.finds(double.isBetween(-0.5, and: 4), "b", "c", "d")
            table.finds(timestamp.isBetween(.ticks(-1), and: .ticks(1)), "b", "c", "d")
            table.finds(!int.isBetween(-3, and: 4), "a", "e", "f", "g")
        },
        Check("FIL-054", "A range with exchanged bounds holds for no row", over: .ranges) { table in
            table.findsNothing(int.isBetween(4, and: -3))
            table.findsNothing(int > 4 && int < 4)
            table.findsNothing(int > 4 && int < 5)
            table.findsNothing(int > 4 && int < -3)
            table.findsNothing(int < -3 && int >= 4)
            table.findsNothing(double > 4 && double <= -0.5)
            table.findsNothing(timestamp.isBetween(.ticks(1), and: .ticks(-1)))
            table.finds(int.isBetween(4, and: -3) || int == 0, "c")
        },
        Check("FIL-055", "Ranges extend to the smallest and the greatest int", over: .ranges) { table in
            table.findsNothing(int < .literal(.int(.min)))
            table.finds(int <= .literal(.int(.min)), "a")
            table.finds(int > .literal(.int(.min)), "b", "c", "d", "f", "g")
            table.findsNothing(int > .literal(.int(.max)))
            table.finds(int >= .literal(.int(.max)), "g")
            table.finds(int < .literal(.int(.max)), "a", "b", "c", "d", "f")
        },
        Check("FIL-056", "Negative numbers are less than positive ones, in ints and doubles", over: .ranges) { table in
            table.finds(int < 0, "a", "b")
            table.finds(int > -4, "b", "c", "d", "f", "g")
            table.finds(double < 0, "a", "b")
            table.finds(double > -1, "b", "c", "d", "f", "g")
            table.finds(double < -0.5, "a")
        },
        Check("FIL-057", "Instants are compared to 100 ns, before 1970 and at the ends of their range", over: .ranges) {
            table in
            table.finds(timestamp > .ticks(0), "d", "f", "g")
            table.finds(timestamp >= .ticks(0), "c", "d", "f", "g")
            table.finds(timestamp < .ticks(0), "a", "b")
            table.finds(timestamp <= Timestamp.min, "a")
            table.findsNothing(timestamp > Timestamp.max)
            table.finds(timestamp >= .ticks(1) && timestamp < .ticks(10_000_000), "d")
        },
        Check("FIL-058", "Bytes are compared as unsigned numbers in order, a prefix first", over: .ranges) { table in
            table.finds(bytes < .literal(.bytes([1])), "a", "b")
            table.finds(bytes > .literal(.bytes([1])), "d", "f", "g")
            table.finds(bytes >= .literal(.bytes([127, 255])), "f", "g")
            table.finds(bytes > .literal(.bytes([])), "b", "c", "d", "f", "g")
            table.finds(bytes < .literal(.bytes([128])), "a", "b", "c", "d", "f")
        },
        Check("FIL-059", "false is less than true, and JSON is compared by its text", over: .ranges) { table in
            table.finds(.column("bool") < true, "a")
            table.finds(.column("bool") >= false, "a", "b", "g")
            table.finds(.column("bool") > false, "b", "g")
            table.finds(.column("json") < .literal(.json("[1]")), "a")
            table.finds(.column("json") >= .literal(.json("[1]")), "b", "c", "g")
        },
    ]

    /// Ranges of text.
    static let filterTextRanges: [Check] = [
        Check(
            "FIL-060", "Text is compared by its UTF-8 bytes: '' first, '12' before '2', 'Z' before 'a'",
            why: "A system collation sorts by language, and differently on the next device.", over: .texts
        ) { table in
            table.finds(s < "2", "01", "02", "03")
            table.finds(s <= "", "01")
            table.finds(s > "2" && s < "a", "05", "06")
            table.finds(s >= "z" && s < "\u{FF}", "14", "15")
            table.finds(s >= "B" && s < "b", "05", "06", "07", "08", "09", "10", "11", "12")
        },
        Check(
            "FIL-061", "Characters beyond U+FFFF sort after those before it",
            why: "In UTF-16, as in engines of other languages, an emoji is less than U+E000.", over: .texts
        ) { table in
            table.finds(s > "\u{FFFF}", "19", "20", "21", "22")
            table.finds(s < "\u{10000}" && s > "z", "15", "16", "17", "18")
            table.finds(s >= "\u{E000}" && s < "😀", "17", "18", "19")
        },
        Check("FIL-062", "A text is greater than its prefixes, also if it continues with a NUL", over: .texts) {
            table in
            table.finds(s > "a" && s < "b", "08", "09", "10", "11", "12")
            table.finds(s > "a" && s < "a ", "08")
            table.finds(s >= "a" && s <= "a\0", "07", "08")
        },
        Check(
            "FIL-063", "A prefix search finds exactly its texts, whatever the last character of the prefix",
            why: "A range from a prefix to its successor needs one: U+10FFFF has none, U+D7FF is followed by a gap.",
            over: .texts
        ) { table in
            table.finds(s.hasPrefix("a"), "07", "08", "09", "10", "11", "12")
            table.finds(s.hasPrefix("a\u{10FFFF}"), "11", "12")
            table.finds(s.hasPrefix("\u{10FFFF}"), "21", "22")
            table.finds(s.hasPrefix("\u{10FFFF}\u{10FFFF}"), "22")
            table.finds(s.hasPrefix("\u{D7FF}"), "16")
            table.finds(s.hasPrefix("Z"), "05")
            table.finds(s.hasPrefix("a\0"), "08")
        },
        Check("FIL-064", "A prefix search applies together with other conditions on its column", over: .texts) {
            table in
            table.finds(s.hasPrefix("a") && s > "a ", "10", "11", "12")
            table.finds(s.hasPrefix("a") && s < "ab", "07", "08", "09")
            table.finds(s.hasPrefix("a") && s.hasPrefix("ab"), "10")
            table.findsNothing(s.hasPrefix("a") && s.hasPrefix("b"))
            table.finds(s.hasPrefix("a") && s == "ab", "10")
            table.findsNothing(s.hasPrefix("a") && s == "b")
        },
        Check(
            "FIL-065", "Texts longer than an engine's keys are distinguished by their ends",
            why: "An index with truncated keys finds too much, or treats two texts as one.", over: .long
        ) { table in
            table.finds(s == .literal(.string(SampleTable.long("2"))), "b")
            table.finds(s > .literal(.string(SampleTable.long("1"))), "b", "c", "d")
            table.finds(s <= .literal(.string(SampleTable.long("2"))), "a", "b", "e", "f")
            table.finds(s.hasPrefix(.literal(.string(SampleTable.long("2")))), "b", "c")
            table.finds(s.isIn([.string(SampleTable.long("é")), .string(SampleTable.long("è"))]), "d")
            table.finds(s != .literal(.string(SampleTable.long(""))), "a", "b", "c", "d", "f")
        },
        Check("FIL-066", "Bytes longer than an engine's keys are distinguished by their ends", over: .long) { table in
            let column = RowPredicate.column("b")
            table.finds(column == .literal(.bytes(SampleTable.longBytes(2))), "b")
            table.finds(column > .literal(.bytes(SampleTable.longBytes(2))), "c", "d")
            table.finds(column < .literal(.bytes(SampleTable.longBytes(2))), "a", "e")
        },
    ]
}
