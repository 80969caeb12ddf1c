internal import TidelineStore

extension SampleTable {
    fileprivate static let words = SampleTable(
        .string("s"), .int("n"),
        values: [
            "a": ["a\u{E9}😀b", 2], "b": ["  trim\t\n", -1], "c": ["", 0], "d": [.null, 1], "e": ["ABC\u{E9}"],
            "f": ["abab", 99], "g": ["e\u{301}", .int(.max)], "h": ["\u{A0}x\u{A0}", .int(.min)], "i": ["x\0y", 1],
        ])
}

private let s = RowPredicate.column("s")
private let n = RowPredicate.column("n")

extension Check {
    /// Functions of text.
    static let filterTextFunctions: [Check] = [
        Check(
            "FIL-094", "length counts Unicode scalars: an emoji is one, and a combining accent is another",
            why: "Engines count bytes, UTF-16 units, or Swift characters; some stop at a NUL.", over: .words
        ) { table in
            table.finds(s.length == 4, "a", "e", "f")
            table.finds(s.length == 2, "g")
            table.finds(s.length == 0, "c")
            table.finds(s.length == 3, "h", "i")
            table.finds(s.length == 8, "b")
            table.finds(s.length == .null, "d")
            table.finds(s.length > 4, "b")
        },
        Check(
            "FIL-095", "indexOf counts Unicode scalars from 0 and returns -1 if there is no match",
            why: "SQL's INSTR counts from 1 and returns 0 if there is no match.", over: .words
        ) { table in
            table.finds(s.index(of: "😀") == 2, "a")
            table.finds(s.index(of: "b") == 3, "a")
            table.finds(s.index(of: "b") == 1, "f")
            table.finds(s.index(of: "a") == 0, "a", "f")
            table.finds(s.index(of: "b") == -1, "b", "c", "e", "g", "h", "i")
            table.finds(s.index(of: "\u{301}") == 1, "g")
            table.finds(s.index(of: "y") == 2, "i")
            table.finds(s.index(of: "") == 0, "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(s.index(of: "x") == .null, "d")
        },
        Check(
            "FIL-096", "substring begins at a position counted from 0, in Unicode scalars",
            why: "SQL's SUBSTR counts from 1 and counts a negative start from the end.", over: .words
        ) { table in
            table.finds(s.substring(from: 0) == "abab", "f")
            table.finds(s.substring(from: 2) == "😀b", "a")
            table.finds(s.substring(from: 1, length: 2) == "\u{E9}😀", "a")
            table.finds(s.substring(from: 1, length: 1) == "\u{301}", "g")
            table.finds(s.substring(from: 1) == "\0y", "i")
            table.finds(s.substring(from: 0, length: 1) == "a", "a", "f")
            table.finds(s.substring(from: 1, length: 2) == "ba", "f")
        },
        Check("FIL-097", "substring clamps positions and lengths that are out of range", over: .words) { table in
            table.finds(s.substring(from: -5, length: 2) == "AB", "e")
            table.finds(s.substring(from: -1) == "abab", "f")
            table.finds(s.substring(from: 99) == "", "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(s.substring(from: 4) == "", "a", "c", "e", "f", "g", "h", "i")
            table.finds(s.substring(from: 1, length: 99) == "bab", "f")
            table.finds(s.substring(from: 0, length: -1) == "", "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(s.substring(from: 0, length: 0) == "", "a", "b", "c", "e", "f", "g", "h", "i")
            table.finds(
                s.substring(from: .literal(.int(.min)), length: .literal(.int(.max))) == s, "a", "b", "c", "d",
                "e", "f", "g", "h", "i")
            table.findsNothing(s.substring(from: .literal(.int(.max))) == "abab")
        },
        Check("FIL-098", "The operands of substring may be columns, and null makes it null", over: .words) { table in
            table.finds(s.substring(from: n) == "😀b", "a")
            table.finds(s.substring(from: n) == "", "c", "f", "g")
            table.finds(s.substring(from: n) == s, "b", "c", "d", "h")
            table.finds(s.substring(from: n) == .null, "d", "e")
            table.finds(s.substring(from: 0, length: n) == "x", "i")
            table.findsAll(s.substring(from: .null) == .null)
            table.findsAll(s.substring(from: 0, length: .null) == .null)
        },
        Check("FIL-099", "lower and upper change ASCII letters and no others", over: .words) { table in
            table.finds(s.lowercased == "abc\u{E9}", "e")
            table.finds(s.uppercased == "A\u{E9}😀B", "a")
            table.findsNothing(s.uppercased == "A\u{C9}😀B")
            table.finds(s.uppercased == "ABAB", "f")
            table.finds(s.uppercased == "X\0Y", "i")
            table.finds(s.uppercased == "E\u{301}", "g")
            table.finds(s.lowercased == .null, "d")
        },
        Check(
            "FIL-100", "trim removes ASCII white space from both ends, and nothing else",
            why: "SQL's TRIM removes only spaces; Swift's also removes the no-break space.", over: .words
        ) { table in
            table.finds(s.trimmed == "trim", "b")
            table.finds(s.trimmed == "\u{A0}x\u{A0}", "h")
            table.finds(s.trimmed == "", "c")
            table.finds(s.trimmed != s, "b")
            table.findsAll(RowPredicate.literal("\t\n\u{B}\u{C}\r a b \r\n").trimmed == "a b")
            table.findsAll(RowPredicate.literal(" \t").trimmed == "")
            // A space that follows a prepended mark, or that a combining mark follows, is a space too.
            table.findsAll(RowPredicate.literal("\u{600} ").trimmed == "\u{600}")
            table.findsAll(RowPredicate.literal(" \u{301}").trimmed == "\u{301}")
        },
        Check("FIL-101", "concat joins texts byte for byte and is null with null", over: .words) { table in
            table.finds(s.appending("!") == "abab!", "f")
            table.finds(s.appending(s) == "abababab", "f")
            table.finds(s.appending("!") == "!", "c")
            table.finds(s.appending("z") == "x\0yz", "i")
            table.finds(s.appending("\u{301}").length == 3, "g")
            table.finds(s.appending("!") == .null, "d")
            table.findsAll(s.appending(.null) == .null)
        },
        Check("FIL-102", "replace changes every occurrence from the left without overlaps", over: .words) { table in
            table.finds(s.replacing("ab", with: "x") == "xx", "f")
            table.finds(s.replacing("aba", with: "") == "b", "f")
            table.finds(s.replacing("b", with: "bb") == "abbabb", "f")
            table.finds(s.replacing("AB", with: "x") == "xC\u{E9}", "e")
            table.findsAll(RowPredicate.literal("aaa").replacing("aa", with: "b") == "ba")
        },
        Check(
            "FIL-103", "replace works on bytes, changes nothing for an empty search text, and is null with null",
            over: .words
        ) { table in
            table.finds(s.replacing("\u{301}", with: "") == "e", "g")
            table.finds(s.replacing("\0", with: "-") == "x-y", "i")
            table.findsAll(s.replacing("", with: "x") == s)
            table.finds(s.replacing("a", with: "%") == "%b%b", "f")
            table.finds(s.replacing("a", with: "b") == .null, "d")
            table.findsAll(s.replacing("a", with: .null) == .null)
            table.findsAll(s.replacing(.null, with: "a") == .null)
        },
        Check("FIL-104", "Functions can be nested", over: .words) { table in
            table.finds(s.trimmed.uppercased.length == 4, "a", "b", "e", "f")
            table.finds(s.trimmed.uppercased.hasPrefix("TR"), "b")
            table.finds(s.replacing("a", with: "").appending("c").index(of: "c") == 2, "f", "g")
            table.finds(s.substring(from: s.index(of: "b")) == "bab", "f")
            table.finds(s.lowercased.appending("!").equalsIgnoringCase("ABAB!"), "f")
        },
    ]
}
