import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

private func literal(_ value: Value) -> RowPredicate { .literal(value) }
private func equal(_ a: Value, _ b: Value) -> RowPredicate { .comparison(.equal, .literal(a), .literal(b)) }
private func less(_ a: Value, _ b: Value) -> RowPredicate { .comparison(.less, .literal(a), .literal(b)) }
private let int = RowPredicate.column("int")
private let text = RowPredicate.column("string")
private let noText = RowPredicate.column("nostring")

@Suite("Evaluation of each node of a predicate")
struct EvaluatorTests {
    /// Conditions have two values.
    static let conditions: [(RowPredicate, Value)] = [
        (.and([]), true), (.or([]), false), (.and([.column("bool"), true]), true),
        (.and([.column("bool"), .column("nobool")]), false), (.or([.column("nobool"), .column("bool")]), true),
        (.not(.column("nobool")), true), (.not(.null), true), (.not(.column("bool")), false),
        (.not(.not(.column("nobool"))), false), (.not(noText.hasPrefix("a")), true), (.and([.null]), false),
        (.column("nobool"), .null), (.column("absent"), .null), (.column("absent").isNull, true),
    ]

    /// Equality treats null as a value; ordering does not.
    static let nulls: [(RowPredicate, Value)] = [
        (noText == .null, true), (noText != .null, false), (text == .null, false), (text != .null, true),
        (noText == text, false), (noText != text, true), (noText == .column("id"), false), (noText < text, false),
        (noText >= text, false), (noText <= noText, false), (.not(noText < text), true), (noText.isIn([.null]), true),
        (noText.isIn(["a"]), false), (noText.isIn([]), false), (int.isIn([1, 7]), true), (int.isIn([.double(7)]), true),
    ]

    @Test(
        "A predicate has its value: conditions, nulls, functions of texts, and arithmetic",
        arguments: conditions + nulls + textFunctions + arithmetic)
    func values(_ predicate: RowPredicate, _ value: Value) throws {
        #expect(try EvaluatorFixture.value(of: predicate) == value)
    }

    @Test(
        "Numbers compare by exact value, other values by their bytes, literals of different types never",
        arguments: [
            (.column("big") == .literal(.double(0x1p53)), false), (.column("big") > .literal(.double(0x1p53)), true),
            (.column("big") < .literal(.double(0x1p53 + 2)), true), (equal(.int(.max), .double(0x1p63)), false),
            (less(.int(.max), .double(0x1p63)), true), (equal(.int(.min), .double(-0x1p63)), true),
            (less(.double(-0x1p64), .int(.min)), true), (less(.int(2), .double(2.5)), true),
            (less(.double(-2.5), .int(-2)), true), (less(.int(-3), .double(-2.5)), true),
            (equal(.int(0), .double(-0.0)), true), (less(.int(0), .double(.infinity)), true),
            (less(.double(-.infinity), .int(.min)), true), (equal(.double(0), .double(-0.0)), true),
            (.column("nan") == .column("nan"), false), (.column("nan") != .column("nan"), true),
            (.column("nan") < .literal(1), false), (.column("nan") >= .literal(1), false),
            (.column("nan").isIn([.double(.nan)]), false), (.column("nan") == .literal(1), false), (int == 7.0, true),
            (int == 7.5, false), (less(false, true), true), (equal(true, 1), false), (less(1, "2"), false),
            (less("", "a"), true), (less("12", "2"), true), (less("Z", "a"), true), (equal("é", "e\u{301}"), false),
            (less("\u{FFFF}", "\u{10000}"), true), (less("a", "a\0"), true), (equal("a\0b", "a\0b"), true),
            (equal("[1]", .json("[1]")), false), (.column("json") == literal(.json("[1]")), true),
            (.column("json") == literal(.json("[ 1]")), false), (less(.bytes([]), .bytes([0])), true),
            (less(.bytes([1, 255]), .bytes([2])), true), (.column("bytes") == literal(.bytes([1, 255])), true),
            (.column("timestamp") < Timestamp(clampingTicks: 0), true),
        ] as [(RowPredicate, Value)])
    func comparisons(_ predicate: RowPredicate, _ value: Value) throws {
        #expect(try EvaluatorFixture.value(of: predicate) == value)
        guard case .comparison(let comparison, let a, let b) = predicate else { return }
        let opposites: [RowPredicate.Comparison: RowPredicate.Comparison] = [
            .less: .greater, .greater: .less, .lessOrEqual: .greaterOrEqual, .greaterOrEqual: .lessOrEqual,
        ]
        let swapped = RowPredicate.comparison(opposites[comparison] ?? comparison, b, a)
        #expect(try EvaluatorFixture.value(of: swapped) == value)
    }

    /// Text functions count Unicode scalars and compare bytes.
    static let textFunctions: [(RowPredicate, Value)] = [
        (text.length, 4), (literal("e\u{301}").length, 2), (noText.length, .null), (text.index(of: "😀"), 2),
        (text.index(of: ""), 0), (text.index(of: "x"), -1), (literal("").index(of: ""), 0),
        (literal("aab").index(of: "ab"), 1), (literal("e\u{301}").index(of: "\u{301}"), 1),
        (literal("é").index(of: "e"), -1), (text.index(of: noText), .null), (text.substring(from: 2), "😀b"),
        (text.substring(from: -3), "aé😀b"), (text.substring(from: 4), ""), (text.substring(from: 99), ""),
        (text.substring(from: 1, length: 2), "é😀"), (text.substring(from: 1, length: -1), ""),
        (text.substring(from: 1, length: 99), "é😀b"),
        (text.substring(from: literal(.int(.min)), length: literal(.int(.max))), "aé😀b"),
        (text.substring(from: literal(.int(.max)) + 1), ""), (text.substring(from: literal(.int(.min)) - 1), "aé😀b"),
        (text.substring(from: .null), .null), (text.substring(from: 0, length: .null), .null),
        (text.hasPrefix("a"), true), (text.hasPrefix(""), true), (text.hasPrefix("%"), false),
        (literal("é").hasPrefix("e"), false), (literal("e\u{301}").hasPrefix("e"), true), (text.hasSuffix("b"), true),
        (text.hasSuffix(""), true), (text.hasSuffix("aé😀bb"), false), (literal("e\u{301}").hasSuffix("\u{301}"), true),
        (text.contains("é😀"), true), (text.contains(""), true), (text.contains("_"), false),
        (text.contains(noText), .null), (literal("a\0b").contains("\0"), true), (literal("aaab").contains("aab"), true),
        (literal("AÉz").lowercased, "aÉz"), (literal("aéZ").uppercased, "AéZ"),
        (literal("\t\n\u{B}\u{C}\r a b \u{A0} ").trimmed, "a b \u{A0}"), (literal(" \t").trimmed, ""),
        (literal("\u{600} ").trimmed, "\u{600}"), (literal(" \u{301}").trimmed, "\u{301}"),
        (text.appending("!"), "aé😀b!"), (noText.appending("!"), .null), (literal("e").appending("\u{301}").length, 2),
        (literal("aaa").replacing("aa", with: "b"), "ba"), (literal("abab").replacing("b", with: ""), "aa"),
        (text.replacing("", with: "x"), "aé😀b"), (literal("e\u{301}").replacing("\u{301}", with: "x"), "ex"),
        (literal("\r\n").replacing("\n", with: "x"), "\rx"), (text.replacing(noText, with: "x"), .null),
        (literal("aBc").equalsIgnoringCase("AbC"), true), (literal("É").equalsIgnoringCase("é"), false),
        (noText.equalsIgnoringCase(.null), true), (noText.equalsIgnoringCase("a"), false),
    ]

    /// Integer arithmetic is exact; overflow gives a double, and division by zero null.
    static let arithmetic: [(RowPredicate, Value)] = [
        (int + 1, 8), (int - 10, -3), (int * -2, -14), (int / 2, 3), (literal(-7) / 2, -3), (literal(-7) % 2, -1),
        (int % -2, 1), (int / 0, .null), (int % 0, .null), (int / 0.0, .null), (int % 0.0, .null),
        (literal(1.0) / literal(.double(-0.0)), .null), (int + .null, .null), (.column("noint") * 2, .null),
        (int + 0.5, 7.5), (literal(7.5) % 2, 1.5), (literal(-7.5) % 2, -1.5), (int / 2.0, 3.5),
        (literal(.int(.max)) + 1, .double(0x1p63)), (literal(.int(.min)) - 1, .double(-0x1p63)),
        (literal(.int(.max)) * 2, .double(0x1p64)), (literal(.int(.min)) / -1, .double(0x1p63)),
        (literal(.int(.min)) % -1, 0), (literal(.double(.infinity)) - literal(.double(.infinity)), .null),
        (literal(.double(.infinity)) % 2, .null), (literal(1e308) * 10, .double(.infinity)),
        (.column("nan") + 1, .null), ((literal(.int(.max)) + 1) > literal(.int(.max)), true),
        (literal(2.5).rounded, 3.0), (literal(-2.5).rounded, -3.0), (int.rounded, 7),
        (literal(0.49999999999999994).rounded, 0.0), (literal(-2.5).floor, -3.0), (literal(-2.5).ceiling, -2.0),
        (.column("nodouble").floor, .null), (.column("nan").rounded, .null), (literal(.int(.max)).ceiling, .int(.max)),
    ]

    @Test(
        "Parts of an instant are in UTC, from year 1 to 9999",
        arguments: [
            ("0001-01-01", [1, 1, 1, 0, 0, 0]), ("1969-12-31T23:59:59.9999999Z", [1969, 12, 31, 23, 59, 59]),
            ("1970-01-01", [1970, 1, 1, 0, 0, 0]), ("2024-02-29T12:34:56.7Z", [2024, 2, 29, 12, 34, 56]),
            ("2000-03-01T00:30:00+01:00", [2000, 2, 29, 23, 30, 0]),
            ("1900-02-28T23:59:59-01:00", [1900, 3, 1, 0, 59, 59]),
            ("9999-12-31T23:59:59.9999999Z", [9999, 12, 31, 23, 59, 59]),
        ] as [(String, [Int64])])
    func dateParts(_ text: String, _ parts: [Int64]) throws {
        let instant = literal(.timestamp(try #require(Timestamp(text))))
        let functions: [RowPredicate] = [
            instant.year, instant.month, instant.day, instant.hour, instant.minute, instant.second,
        ]
        #expect(try functions.map { try EvaluatorFixture.value(of: $0) } == parts.map { .int($0) })
        #expect(try EvaluatorFixture.value(of: .column("notimestamp").year) == .null)
    }

    @Test("Ids compare without regard to ASCII case where the table says so, and only as whole operands")
    func ids() throws {
        let id = RowPredicate.column("id")
        var exact = EvaluatorFixture.schema
        exact.idMatching = .exact
        for (predicate, folded, unfolded) in [
            (id == "item-a", true, false), (literal("ITEM-A") == id, true, false), (id != "item-a", false, true),
            (id < "item-b", true, true), (id >= "item-a", true, false), (id.isIn(["x", "ITEM-A"]), true, false),
            (id.hasPrefix("item"), false, false), (id.hasPrefix("Item"), true, true),
            (id.appending("") == "item-a", false, false), (id.equalsIgnoringCase("item-a"), true, true),
            (id == .null, false, false), (text.isIn(["AÉ😀B"]), false, false),
        ] {
            #expect(try EvaluatorFixture.matches(predicate) == folded, "\(predicate)")
            #expect(try EvaluatorFixture.matches(predicate, schema: exact) == unfolded, "\(predicate)")
        }
    }

    @Test(
        "A predicate without a meaning is refused before a row is read",
        arguments: [
            int, literal("a"), .not(int), .and([int]), .or([true, text]), text.year, int.length, text + 1, text.floor,
            .column("timestamp").lowercased, literal(.json("[]")).length, text.substring(from: 1.5),
            text.substring(from: "1"), .function(.length, []), .function(.length, [text, text]), int.appending("a"),
            .function(.replace, [text, text]), true + 1, .column("bytes").length, (int + 1).lowercased, .and([int + 1]),
        ] as [RowPredicate])
    func refusals(_ predicate: RowPredicate) throws {
        for predicate in [predicate, .or([true, .not(.and([.column("bool"), predicate]))])] {
            let error = #expect(throws: StoreError.self) { try EvaluatorFixture.matches(predicate) }
            #expect(error?.code == .unsupportedQuery)
            #expect(error?.table == "Item")
        }
    }

    @Test(
        "The type of a value is known before a row is read",
        arguments: [
            (int, .value(.int)), (.null, .null), (int + 1, .number), (int + 1.0, .value(.double)), (int + .null, .null),
            ((int + 1) / 2, .number), ((int * 2).rounded, .number), (text.length, .value(.int)),
            (noText.appending("x"), .value(.string)), (text.appending(.null), .null), (int == 1, .value(.bool)),
            (text.equalsIgnoringCase(.null), .value(.bool)), (.column("id"), .value(.string)),
        ] as [(RowPredicate, OperandType)])
    func types(_ predicate: RowPredicate, _ type: OperandType) throws {
        #expect(try Evaluator(schema: EvaluatorFixture.schema).type(of: predicate) == type)
    }

    @Test("An error about an unknown column names the column")
    func unknownColumns() {
        for query in [
            TableQuery("Item").filter(.and([true, .not(.column("nope").isNull)])), TableQuery("Item").order(by: "nope"),
            TableQuery("Item").select("nope"),
        ] {
            let error = #expect(throws: StoreError.self) { try query.validate(against: EvaluatorFixture.schema) }
            #expect(error?.code == .invalidValue)
            #expect(error?.column == "nope")
            #expect(error?.table == "Item")
        }
        for query in [TableQuery("Item").skip(-1), TableQuery("Item").limit(-1)] {
            let error = #expect(throws: StoreError.self) { try query.validate(against: EvaluatorFixture.schema) }
            #expect(error?.code == .unsupportedQuery)
        }
    }

    @Test(
        "A comparison of a column with a value of another type is an error that names both",
        arguments: [
            (.column("bool") == "yes", "bool", #"column "bool" is bool; it cannot be compared with the string "yes""#),
            (int != true, "int", #"column "int" is int; it cannot be compared with the bool true"#),
            ("1" < int, "int", #"column "int" is int; it cannot be compared with the string "1""#),
            (
                text.isIn(["a", .null, 1]), "string",
                #"column "string" is string; it cannot be compared with the int 1"#
            ),
            (
                .column("json") == .column("bytes"), "json",
                #"column "json" is json; it cannot be compared with column "bytes", which is bytes"#
            ),
            (
                .column("timestamp") > int + 1, "timestamp",
                #"column "timestamp" is timestamp; it cannot be compared with a value of type number"#
            ),
            (
                .column("double") == .literal(.bytes([1, 2])), "double",
                #"column "double" is double; it cannot be compared with 2 bytes"#
            ),
            (.column("id") == 1, "id", #"column "id" is string; it cannot be compared with the int 1"#),
        ] as [(RowPredicate, String, String)])
    func otherTypes(_ predicate: RowPredicate, _ column: String, _ message: String) {
        for predicate in [predicate, .and([.column("bool"), predicate]), .or([true, .not(predicate)])] {
            let query = TableQuery("Item").filter(predicate).limit(0)
            let error = #expect(throws: StoreError.self) { try query.validate(against: EvaluatorFixture.schema) }
            #expect(error?.code == .invalidValue)
            #expect(error?.table == "Item")
            #expect(error?.column == column)
            #expect(error?.message == message)
            #expect(error?.localizedDescription == error?.description)
        }
    }

    @Test("Deep and wide trees need only a small stack")
    func deepTrees() async throws {
        let outcome = await withCheckedContinuation { continuation in
            let thread = Thread { continuation.resume(returning: Result { try Self.evaluateLargeTrees() }) }
            thread.stackSize = 512 * 1024
            thread.start()
        }
        #expect(try outcome.get() == [true, false, true, false, true])
    }

    /// With work that grows with the square of their number, these terms would take hours.
    @Test("The work of compiling a list of terms grows linearly with their number", .timeLimit(.minutes(5)))
    func longLists() throws {
        let terms = (0..<100_000).map { int == .literal(.int($0 + 1_000)) }
        #expect(try !EvaluatorFixture.matches(.or(terms)))
        #expect(try EvaluatorFixture.matches(.or(terms + [int == 7])))
    }

    private static func evaluateLargeTrees() throws -> [Bool] {
        var nots = int == 7
        for _ in 0..<500 { nots = .not(nots) }
        var deep = nots
        for _ in 0..<1_500 { deep = .not(deep) }
        var sums = RowPredicate.literal(0)
        for _ in 0..<500 { sums = sums + 1 }
        let terms = (0..<2_000).map { int == .literal(.int($0 + 1_000)) }
        return try [
            nots, .or(terms), .and(terms.map { .not($0) } + [sums == 500]), .not(.or(terms + [int == 7])),
        ].map { try EvaluatorFixture.matches($0) } + [deep.columnNames == ["int"]]
    }
}

/// One row with a value of every type, to evaluate predicates over.
struct EvaluatorFixture {
    static let schema = TableSchema(
        "Item",
        columns: ColumnType.allCases.map { ColumnSchema($0.rawValue, $0) }
            + ColumnType.allCases.map { ColumnSchema("no\($0.rawValue)", $0) }
            + [.double("nan"), .int("big"), .int("absent")])

    static let row: Row = [
        "id": "Item-A", "bool": true, "int": 7, "double": 2.5, "string": "aé😀b",
        "timestamp": .timestamp(Timestamp(clampingTicks: -1)), "bytes": .bytes([1, 255]), "json": .json("[1]"),
        "nobool": .null, "noint": .null, "nodouble": .null, "nostring": .null, "notimestamp": .null, "nobytes": .null,
        "nojson": .null, "nan": .double(.nan), "big": .int(1 << 53 + 1),
    ]

    static func value(of predicate: RowPredicate) throws -> Value {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).value(of: predicate, in: $0) }
    }

    static func matches(_ predicate: RowPredicate, schema: TableSchema = schema) throws -> Bool {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).matches(predicate, $0) }
    }
}
