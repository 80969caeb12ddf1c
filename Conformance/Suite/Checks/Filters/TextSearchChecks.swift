internal import TidelineStore

extension SampleTable {
    /// Texts that contain patterns of query languages, and texts that such patterns would match.
    fileprivate static let patterns = SampleTable(
        .string("s"),
        values: [
            "a": ["100%"], "b": ["1000"], "c": ["a_b"], "d": ["axb"], "e": ["a*b"], "f": ["a?b"], "g": ["[ab]"],
            "h": ["ab"], "i": ["a\\b"], "j": ["it's"], "k": ["its"], "l": ["say \"hi\""], "m": [""], "n": [],
            "o": ["A_B"], "p": ["caf\u{E9}"], "q": ["cafe\u{301}"], "r": ["a\0b"], "s": ["😀!"], "t": ["%"],
            "u": ["a.b"], "v": ["^a$"],
        ])

    /// Texts with several lines.
    fileprivate static let lines = SampleTable(
        .string("s"),
        values: [
            "a": ["end"], "b": ["end\n"], "c": ["end\r\n"], "d": ["first\nend"], "e": ["end\nlast"], "f": ["\n"],
            "g": ["end\u{2028}last"],
        ])

    fileprivate static let letters = SampleTable(
        .string("s"), .string("t"),
        values: [
            "a": ["Milk", "MILK"], "b": ["MILK", "Milk "], "c": ["\u{C9}", "\u{E9}"], "d": [], "e": ["", ""],
            "f": ["M\u{130}lk", "milk"], "g": ["\u{212A}", "k"], "h": ["stra\u{DF}e", "STRASSE"],
            "i": ["a\0B", "A\0b"],
        ])
}

private let s = RowPredicate.column("s")
private let t = RowPredicate.column("t")

extension Check {
    /// Searches within texts.
    static let filterTextSearch: [Check] = [
        Check("FIL-077", "contains, startsWith, and endsWith find texts at the given position", over: .patterns) {
            table in
            table.finds(s.contains("00"), "a", "b")
            table.finds(s.hasPrefix("100"), "a", "b")
            table.finds(s.hasSuffix("00"), "b")
            table.finds(s.contains("ts"), "k")
            table.findsNothing(s.hasSuffix("10"))
            table.finds(s.hasPrefix("its"), "k")
        },
        Check(
            "FIL-078", "% in a search is a percent sign",
            why: "It matches any text in SQL's LIKE: a search for '100%' finds '1000', and a deletion deletes it.",
            over: .patterns
        ) { table in
            table.finds(s.contains("%"), "a", "t")
            table.finds(s.contains("0%"), "a")
            table.finds(s.hasPrefix("100%"), "a")
            table.finds(s.hasPrefix("%"), "t")
            table.finds(s.hasSuffix("%"), "a", "t")
            table.findsNothing(s.contains("1%0"))
            table.finds(s == "%", "t")
        },
        Check(
            "FIL-079", "_ in a search is an underscore",
            why: "It matches any single character in SQL's LIKE.", over: .patterns
        ) { table in
            table.finds(s.contains("_"), "c", "o")
            table.finds(s.contains("a_b"), "c")
            table.finds(s.hasPrefix("a_"), "c")
            table.finds(s.hasSuffix("_b"), "c")
            table.findsNothing(s.hasPrefix("____"))
        },
        Check(
            "FIL-080", "* and ? in a search are an asterisk and a question mark",
            why: "They are wildcards of GLOB and of NSPredicate's LIKE.", over: .patterns
        ) { table in
            table.finds(s.contains("*"), "e")
            table.finds(s.hasPrefix("a*"), "e")
            table.finds(s.hasSuffix("*b"), "e")
            table.finds(s.contains("?"), "f")
            table.finds(s.hasPrefix("a?"), "f")
            table.finds(s.hasSuffix("?b"), "f")
        },
        Check(
            "FIL-081", "[ and ] in a search are brackets",
            why: "GLOB and some dialects of LIKE interpret [ab] as a or b.", over: .patterns
        ) { table in
            table.finds(s.contains("[ab]"), "g")
            table.finds(s.hasPrefix("[a"), "g")
            table.finds(s.hasPrefix("["), "g")
            table.finds(s.hasSuffix("b]"), "g")
            table.findsNothing(s.hasPrefix("[^x]"))
        },
        Check(
            "FIL-082", "A backslash in a search is a backslash",
            why: "It is the usual escape character: if not doubled, it changes the meaning of the next character.",
            over: .patterns
        ) { table in
            table.finds(s.contains("\\"), "i")
            table.finds(s.hasPrefix("a\\"), "i")
            table.finds(s.hasSuffix("\\b"), "i")
            table.findsNothing(s.contains("\\%"))
            table.findsNothing(s.contains("\\_"))
            table.findsNothing(s.contains("\\\\"))
        },
        Check(
            "FIL-083", "Quotes in a search are quotes",
            why: "A literal pasted into a statement ends at the first quote; the rest is executed.", over: .patterns
        ) { table in
            table.finds(s.contains("'"), "j")
            table.finds(s == "it's", "j")
            table.finds(s.hasPrefix("it'"), "j")
            table.finds(s.hasSuffix("\""), "l")
            table.finds(s.contains("\"hi"), "l")
            table.findsNothing(s.contains("' OR '1'='1"))
            table.findsNothing(s == "''")
        },
        Check(
            "FIL-084", "Special characters of regular expressions in a search are ordinary characters", over: .patterns
        ) { table in
            table.finds(s.contains("a.b"), "u")
            table.finds(s.hasPrefix("^a"), "v")
            table.finds(s.hasSuffix("$"), "v")
            table.findsNothing(s.contains(".*"))
            table.findsNothing(s.contains("a|b"))
        },
        Check(
            "FIL-085", "Searches are case-sensitive",
            why: "SQL's LIKE ignores the case of ASCII letters by default.", over: .patterns
        ) { table in
            table.finds(s.contains("B"), "o")
            table.finds(s.hasPrefix("A"), "o")
            table.finds(s.hasSuffix("B"), "o")
            table.finds(s.contains("_b"), "c")
            table.findsNothing(s.hasPrefix("IT"))
        },
        Check("FIL-086", "Every text contains, starts and ends with the empty text; null does not", over: .letters) {
            table in
            table.finds(s.contains(""), "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(s.hasPrefix(""), "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(s.hasSuffix(""), "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(!s.contains(""), "d")
        },
        Check("FIL-087", "A search text longer than the text finds nothing", over: .patterns) { table in
            table.findsNothing(s.hasPrefix("100%100%"))
            table.findsNothing(s.hasSuffix("100100%"))
            table.findsNothing(s.contains("its it's"))
            table.findsNothing(s.hasSuffix("xits"))
        },
    ]

    /// Searches in texts that are not plain ASCII, and the operands of searches.
    static let filterTextMatching: [Check] = [
        Check(
            "FIL-088", "Searches compare bytes: an accent is found separately, and 'é' is not 'e' with an accent",
            why: "Swift's string functions compare characters and treat both as equal.", over: .patterns
        ) { table in
            table.finds(s.contains("\u{E9}"), "p")
            table.finds(s.contains("e\u{301}"), "q")
            table.finds(s.hasSuffix("\u{301}"), "q")
            table.finds(s.hasPrefix("cafe"), "q")
            table.finds(s.hasSuffix("\u{E9}"), "p")
            table.finds(s.hasPrefix("😀"), "s")
        },
        Check("FIL-089", "Searches continue past a NUL, in the text and in the search text", over: .patterns) { table in
            table.finds(s.contains("\0"), "r")
            table.finds(s.hasPrefix("a\0"), "r")
            table.finds(s.hasSuffix("\0b"), "r")
            table.findsNothing(s.contains("\0c"))
            table.findsNothing(s.hasPrefix("a\0c"))
        },
        Check("FIL-090", "A search in null, or for null, is false, and its negation is true", over: .letters) { table in
            table.finds(!s.contains("i"), "b", "c", "d", "e", "f", "g", "h", "i")
            table.finds(s.contains("M") == .null, "d")
            table.findsNothing(s.hasPrefix(.null))
            table.findsAll(!s.hasSuffix(.null))
        },
        Check("FIL-091", "The search text may be a column, and the searched text a literal", over: .letters) { table in
            table.finds(t.hasPrefix(s), "e")
            table.finds(RowPredicate.literal("a MILK b").contains(s), "b", "e")
            table.finds(RowPredicate.literal("Milk and more").hasPrefix(s), "a", "e")
            table.finds(t.contains(s.substring(from: 0, length: 1)), "a", "b", "e")
        },
        Check(
            "FIL-092", "equalsIgnoringCase ignores the case of ASCII letters only",
            why: "Rules beyond ASCII depend on the language: the Turkish I, the German ß, the Kelvin sign.",
            over: .letters
        ) { table in
            table.finds(s.equalsIgnoringCase("mILK"), "a", "b")
            table.finds(s.equalsIgnoringCase("\u{E9}"))
            table.findsNothing(s.equalsIgnoringCase("k"))
            table.finds(s.equalsIgnoringCase("STRA\u{DF}E"), "h")
            table.findsNothing(s.equalsIgnoringCase("strasse"))
            table.findsNothing(s.equalsIgnoringCase("milk "))
            table.findsNothing(s.equalsIgnoringCase("M_lk"))
        },
        Check(
            "FIL-093", "equalsIgnoringCase holds for two nulls but not for one; columns are compared beyond a NUL",
            over: .letters
        ) { table in
            table.finds(s.equalsIgnoringCase(t), "a", "d", "e", "i")
            table.finds(s.equalsIgnoringCase(.null), "d")
            table.finds(!s.equalsIgnoringCase("milk"), "c", "d", "e", "f", "g", "h", "i")
        },
        Check(
            "FIL-147", "A line break in a text is an ordinary character in a search",
            why: "In a regex, $ matches before the last one, ^ may match after each, and . does not match it.",
            over: .lines
        ) { table in
            table.finds(s.hasSuffix("end"), "a", "d")
            table.finds(s.hasPrefix("end"), "a", "b", "c", "e", "g")
            table.finds(s.contains("last"), "e", "g")
            table.finds(s.contains("end"), "a", "b", "c", "d", "e", "g")
            table.finds(s.hasSuffix("\n"), "b", "c", "f")
            table.finds(s.contains("\n"), "b", "c", "d", "e", "f")
            table.finds(s.contains("d\nl"), "e")
            table.finds(s.equalsIgnoringCase("END"), "a")
            table.finds(s == "end", "a")
        },
    ]
}
