import Testing
import TidelineStore

@testable import Tideline

/// Rule C3: the three-way merge of a row and each rule for a column.
@Suite("Merge rules")
struct MergeRuleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var rule: MergeRule
        var base: Value?
        var local: Value
        var server: Value
        /// `nil` if the conflict is left to the app.
        var merged: Value?

        init(_ rule: MergeRule, _ base: Value?, _ local: Value, _ server: Value, _ merged: Value?) {
            (self.rule, self.base, self.local, self.server, self.merged) = (rule, base, local, server, merged)
        }

        var testDescription: String { "\(rule.name) of \(base ?? "unknown"), \(local), \(server)" }
    }

    static let numbers: [Case] = [
        Case(.server, 1, 2, 3, 3), Case(.client, 1, 2, 3, 2), Case(.client, 1, .null, 3, .null),
        Case(.greatest, 1, 2, 3, 3), Case(.greatest, 1, 4, 3, 4), Case(.greatest, 1, .null, 3, 3),
        Case(.greatest, 1, 2, .null, 2), Case(.greatest, nil, -1, -2, -1),
        Case(.greatest, .double(1), .double(.nan), .double(-.infinity), .double(-.infinity)),
        Case(.greatest, "a", "b", "a\u{E9}", "b"), Case(.greatest, .null, false, true, true),
        Case(
            .greatest, .null, .timestamp(.init(clampingTicks: 5)), .timestamp(.min), .timestamp(.init(clampingTicks: 5))
        ),
        Case(.least, 1, 2, 3, 2), Case(.least, 1, .null, 3, 3), Case(.least, "m", "b", "B", "B"),
        Case(.sum, 10, 11, 13, 14), Case(.sum, 10, 4, 13, 7), Case(.sum, .null, 3, 5, 8), Case(.sum, 10, .null, 12, 12),
        Case(.sum, 10, 12, .null, 12), Case(.sum, nil, 3, 5, nil),
        Case(.sum, 0, .int(.max), 1, .int(.max)), Case(.sum, 0, .int(.min), -1, .int(.min)),
        Case(.sum, .int(.max), 0, .int(.min), .int(.min)),
        Case(.sum, .int(.min), .int(.min + 1), .int(.min + 2), .int(.min + 3)),
        Case(.sum, .double(1), .double(1.5), .double(3), .double(3.5)),
        Case(
            .sum, .double(0), .double(.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude),
            .double(.greatestFiniteMagnitude)),
        Case(
            .sum, .double(0), .double(-.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude),
            .double(-.greatestFiniteMagnitude)),
        Case(
            .sum, .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude),
            .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude)),
        Case(.custom { .int(($0.local.int ?? 0) * ($0.server.int ?? 0)) }, 1, 2, 3, 6),
    ]

    @Test("C3 a rule for single values merges two changes", arguments: numbers)
    func values(_ test: Case) throws { try check(test) }

    private func check(_ test: Case) throws {
        let conflict = ColumnConflict(
            table: "T", id: "a", column: "c", base: test.base, local: test.local, server: test.server)
        #expect(try test.rule.merge(conflict) == test.merged)
    }

    @Test("C3 sum leaves a column to the app that a request with an unknown outcome may have written")
    func uncertainSum() throws {
        let conflict = ColumnConflict(table: "T", id: "a", column: "c", base: 1, local: 2, server: 3)
        #expect(try MergeRule.sum.merge(conflict, isUncertain: true) == nil)
        #expect(try MergeRule.greatest.merge(conflict, isUncertain: true) == 3)
    }

    static let arrays: [Case] = [
        Case(.union, .json("[1]"), .json("[1,2]"), .json("[1, 3]"), .json("[1,3,2]")),
        Case(.union, .json("[1,2]"), .json("[2]"), .json("[1,2,3]"), .json("[2,3]")),
        Case(.union, .json("[1,2]"), .json("[1]"), .json("[2]"), .json("[]")),
        Case(.union, .null, .json(#"["a"]"#), .json(#"["b","a"]"#), .json(#"["b","a"]"#)),
        Case(.union, .json("[1]"), .null, .json("[1,2]"), .json("[2]")),
        Case(
            .union, nil, .json(#"[{"a":1,"b":[2,"]"]}]"#), .json(#"[ {"b":[2,"]"], "a":1} ]"#),
            .json(#"[{"b":[2,"]"], "a":1}]"#)),
        Case(.union, .json("[]"), .json(#"["\"],[","\\"]"#), .json("[ ]"), .json(#"["\"],[","\\"]"#)),
        Case(.union, .json("[]"), .json("[true,1,null]"), .json("[\"1\"]"), .json(#"["1",true,1,null]"#)),
        Case(
            .union, .json("[]"), .json("[9007199254740993]"), .json("[9007199254740992]"),
            .json("[9007199254740992,9007199254740993]")),
        // Values that are not arrays.
        Case(.union, .null, .json("{}"), .json("[1]"), nil), Case(.union, .null, .null, .json(#"{"a":1}"#), nil),
        Case(.union, .json("{}"), .json(#"{"a":1}"#), .json(#"{"a":2}"#), nil),
    ]

    @Test(
        "C3 union keeps what either side added, removes what either removed, and leaves other values to the app",
        arguments: arrays)
    func union(_ test: Case) throws { try check(test) }

    static let texts: [Case] = [
        Case(.text, "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        Case(.text, "a\nb\n", "a\nb\nmine\n", "theirs\na\nb\n", "theirs\na\nb\nmine\n"),
        Case(.text, "a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        Case(
            .text, "Buy milk today", "Buy milk and bread today", "Please buy milk today",
            "Please buy milk and bread today"),
        Case(.text, "red car", "blue car", "green car", "greenblue car"),
        Case(.text, "one", "one two", "one three", "one three two"),
        Case(.text, "", "milk", "bread", "bread\nmilk"), Case(.text, .null, "a\nb\n", "a\nc\n", "a\nc\nb\n"),
        Case(.text, nil, "a\nb", "a\nb\nc", "a\nb\nc"), Case(.text, "x", .null, "y", "y"),
        Case(.text, "x", "y", "", "y"),
        Case(.text, "\u{E9}t\u{E9} 1", "\u{E9}t\u{E9} 2", "e\u{301}t\u{E9} 1", "e\u{301}t\u{E9} 2"),
        Case(.text, "a 👨‍👩‍👧 b", "a 👨‍👩‍👧 c", "d 👨‍👩‍👧 b", "d 👨‍👩‍👧 c"),
        Case(.text, "a\r\nb\r\n", "a\r\nB\r\n", "A\r\nb\r\n", "A\r\nB\r\n"),
    ]

    @Test("C3 text merges by line, then by word", arguments: texts)
    func text(_ test: Case) throws { try check(test) }

    @Test("C3 text of one side only, and the same text of both, are kept unchanged, for random texts")
    func randomTexts() {
        var random = SystemRandomNumberGenerator()
        func text() -> String {
            String((0..<Int.random(in: 0..<12, using: &random)).map { _ in "ab \n".randomElement(using: &random)! })
        }
        for _ in 0..<2_000 {
            let (base, other) = (text(), text())
            #expect(TextMerge.merge(base: base, local: other, server: base) == other)
            #expect(TextMerge.merge(base: base, local: base, server: other) == other)
            #expect(TextMerge.merge(base: base, local: other, server: other) == other)
        }
    }

    @Test("C3 the merge of long texts without a common line ends")
    func longTexts() {
        let long = { (name: String) in (0..<20_000).map { "\(name) \($0)\n" }.joined() }
        let merged = TextMerge.merge(base: "", local: long("a"), server: long("b"))
        #expect(merged == long("b") + long("a"))
    }

    @Test("C3 the merge of a long text that was rewritten finds a line that was kept")
    func rewrittenText() {
        let lines = { (name: String) in (0..<3_000).map { "\(name) \($0)\n" }.joined() }
        let merged = TextMerge.merge(
            base: lines("old") + "kept\n", local: lines("new") + "kept\n" + lines("more"),
            server: lines("old") + "kept\nadded\n")
        #expect(merged == lines("new") + "kept\nadded\n" + lines("more"))
    }

    @Test("C3 texts whose comparison would take too much memory are not compared")
    func tooLongText() {
        let long = (0..<5_000).map { "w\($0)" }.joined(separator: " ")
        #expect(TextMerge.merge(base: "a b", local: long, server: "a c") == "a c" + long)
    }

    // MARK: Rows

    private static let codec = RowCodec(
        schema: TableSchema("T", columns: [.string("a"), .int("b"), .timestamp("c"), .json("d")]))

    private func merge(_ base: Row?, _ local: Row, _ server: Row, _ rules: [String: MergeRule] = [:]) throws -> Row? {
        let conflict = RowConflict(table: "T", id: "r", base: base, local: local, server: server)
        guard
            case .row(let row) = try ConflictPolicy.merge(rules, others: .client).decide(conflict, Self.codec).decision
        else { return nil }
        return row
    }

    @Test("C3 a column that one side changed takes its value; one that both changed alike takes it; others have a rule")
    func columns() throws {
        let base: Row = ["id": "r", "a": "x", "b": 1, "c": .null, "d": .json("[1]")]
        #expect(
            try merge(base, base.merging(["a": "mine"]), base.merging(["b": 2]))
                == base.merging(["a": "mine", "b": 2]))
        #expect(try merge(base, base.merging(["b": 3]), base.merging(["b": 3])) == base.merging(["b": 3]))
        #expect(try merge(base, base.merging(["b": 3]), base.merging(["b": 4]), ["b": .sum])?["b"] == 6)
        #expect(try merge(base, base.merging(["b": 3]), base.merging(["b": 4]))?["b"] == 3)
        #expect(try merge(base, base.merging(["b": .null]), base.merging(["a": "y"]))?["b"] == .null)
        // The server keeps milliseconds and writes JSON differently.
        let exact = Value.timestamp(.init(clampingTicks: 17_900_000_000_000_001))
        let rounded = Value.timestamp(.init(clampingTicks: 17_900_000_000_000_000))
        #expect(
            try merge(
                base.merging(["c": exact]), base.merging(["c": exact, "a": "mine"]),
                base.merging(["c": rounded, "d": .json("[ 1 ]"), "b": 2]), ["b": .server])
                == base.merging(["c": rounded, "d": .json("[ 1 ]"), "a": "mine", "b": 2]))
    }

    @Test("C3 without a base, every column in which the rows differ counts as changed by both")
    func noBase() throws {
        let (local, server): (Row, Row) = (["id": "r", "a": "mine", "b": 1], ["id": "r", "a": "theirs", "b": 1])
        #expect(try merge(nil, local, server)?["a"] == "mine")
        #expect(try merge(nil, local, server, ["a": .server])?["a"] == "theirs")
        #expect(try merge(nil, local.merging(["b": 2]), server, ["b": .sum]) == nil)
    }

    @Test("C3 a record's rules decide about their columns, and a policy about the others and about deleted rows")
    func recordRules() throws {
        let base: Row = ["id": "r", "a": "x", "b": 1, "c": .null, "d": .json("[1]")]
        let (mine, theirs) = (base.merging(["a": "mine", "b": 3]), base.merging(["a": "theirs", "b": 4]))
        func decide(_ others: ConflictPolicy, local: Row?) throws -> PolicyDecision {
            try ConflictPolicy(kind: .record(rules: ["b": .sum], others: others))
                .decide(RowConflict(table: "T", id: "r", base: base, local: local, server: theirs), Self.codec)
        }
        let latest = try decide(.lastWriterWins(by: "b"), local: mine)
        #expect(latest.decision == .row(base.merging(["a": "theirs", "b": 6])))
        #expect(latest.rule == "merge (a: lastWriterWins(by: b), b: sum)")
        #expect(try decide(.manual, local: mine).decision == .manual)
        #expect(try decide(.custom { _ in .delete }, local: mine).decision == .delete)
        #expect(try decide(.manual, local: nil).decision == .manual)
        #expect(try decide(.clientWins, local: nil).decision == .delete)
        // The policy is not asked about what the rules decide.
        let failing = ConflictPolicy.custom { _ in throw CancellationError() }
        #expect(try decide(failing, local: mine.merging(["a": "x"])).decision == .row(theirs.merging(["b": 6])))
    }
}
