import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

/// A predicate with its expected value for the row of ``EvaluatorFixture``.
struct Expected: Sendable, CustomTestStringConvertible {
    let predicate: RowPredicate
    let value: Value
    init(_ predicate: RowPredicate, _ value: Value) {
        self.predicate = predicate
        self.value = value
    }
    var testDescription: String { "\(predicate) is \(value)" }
}

private func literal(_ value: Value) -> RowPredicate { .literal(value) }
private func equal(_ a: Value, _ b: Value) -> RowPredicate { .comparison(.equal, .literal(a), .literal(b)) }
private func less(_ a: Value, _ b: Value) -> RowPredicate { .comparison(.less, .literal(a), .literal(b)) }
private let int = RowPredicate.column("int")
private let text = RowPredicate.column("string")
private let noText = RowPredicate.column("nostring")

@Suite("Evaluation of each node of a predicate")
struct EvaluatorTests {
    /// Conditions have two values.
    static let conditions = [
        Expected(.and([]), true), Expected(.or([]), false), Expected(.and([.column("bool"), true]), true),
        Expected(.and([.column("bool"), .column("nobool")]), false),
        Expected(.or([.column("nobool"), .column("bool")]), true), Expected(.not(.column("nobool")), true),
        Expected(.not(.null), true), Expected(.not(.column("bool")), false),
        Expected(.not(.not(.column("nobool"))), false), Expected(.not(noText.hasPrefix("a")), true),
        Expected(.and([.null]), false), Expected(.column("nobool"), .null),
        Expected(.column("absent"), .null), Expected(.column("absent").isNull, true),
    ]

    /// Equality treats null as a value; ordering does not.
    static let nulls = [
        Expected(noText == .null, true), Expected(noText != .null, false), Expected(text == .null, false),
        Expected(text != .null, true), Expected(noText == text, false), Expected(noText != text, true),
        Expected(noText == .column("id"), false), Expected(noText < text, false), Expected(noText >= text, false),
        Expected(noText <= noText, false), Expected(.not(noText < text), true),
        Expected(noText.isIn([.null]), true), Expected(noText.isIn(["a"]), false), Expected(noText.isIn([]), false),
        Expected(int.isIn([1, 7]), true), Expected(int.isIn([.double(7)]), true),
    ]

    @Test(
        "A predicate has its value: conditions, nulls, functions of texts, and arithmetic",
        arguments: conditions + nulls + textFunctions + arithmetic)
    func values(_ expected: Expected) throws {
        #expect(try EvaluatorFixture.value(of: expected.predicate) == expected.value)
    }

    @Test(
        "Numbers compare by exact value, other values by their bytes, literals of different types never",
        arguments: [
            Expected(.column("big") == .literal(.double(0x1p53)), false),
            Expected(.column("big") > .literal(.double(0x1p53)), true),
            Expected(.column("big") < .literal(.double(0x1p53 + 2)), true),
            Expected(equal(.int(.max), .double(0x1p63)), false), Expected(less(.int(.max), .double(0x1p63)), true),
            Expected(equal(.int(.min), .double(-0x1p63)), true), Expected(less(.double(-0x1p64), .int(.min)), true),
            Expected(less(.int(2), .double(2.5)), true), Expected(less(.double(-2.5), .int(-2)), true),
            Expected(less(.int(-3), .double(-2.5)), true), Expected(equal(.int(0), .double(-0.0)), true),
            Expected(less(.int(0), .double(.infinity)), true), Expected(less(.double(-.infinity), .int(.min)), true),
            Expected(equal(.double(0), .double(-0.0)), true), Expected(.column("nan") == .column("nan"), false),
            Expected(.column("nan") != .column("nan"), true), Expected(.column("nan") < .literal(1), false),
            Expected(.column("nan") >= .literal(1), false), Expected(.column("nan").isIn([.double(.nan)]), false),
            Expected(.column("nan") == .literal(1), false), Expected(int == 7.0, true), Expected(int == 7.5, false),
            Expected(less(false, true), true), Expected(equal(true, 1), false), Expected(less(1, "2"), false),
            Expected(less("", "a"), true), Expected(less("12", "2"), true), Expected(less("Z", "a"), true),
            Expected(equal("é", "e\u{301}"), false), Expected(less("\u{FFFF}", "\u{10000}"), true),
            Expected(less("a", "a\0"), true), Expected(equal("a\0b", "a\0b"), true),
            Expected(equal("[1]", .json("[1]")), false), Expected(.column("json") == literal(.json("[1]")), true),
            Expected(.column("json") == literal(.json("[ 1]")), false),
            Expected(less(.bytes([]), .bytes([0])), true), Expected(less(.bytes([1, 255]), .bytes([2])), true),
            Expected(.column("bytes") == literal(.bytes([1, 255])), true),
            Expected(.column("timestamp") < Timestamp(clampingTicks: 0), true),
        ])
    func comparisons(_ expected: Expected) throws {
        #expect(try EvaluatorFixture.value(of: expected.predicate) == expected.value)
        guard case .comparison(let comparison, let a, let b) = expected.predicate else { return }
        let opposites: [RowPredicate.Comparison: RowPredicate.Comparison] = [
            .less: .greater, .greater: .less, .lessOrEqual: .greaterOrEqual, .greaterOrEqual: .lessOrEqual,
        ]
        let swapped = RowPredicate.comparison(opposites[comparison] ?? comparison, b, a)
        #expect(try EvaluatorFixture.value(of: swapped) == expected.value)
    }

    /// Text functions count Unicode scalars and compare bytes.
    static let textFunctions = [
        Expected(text.length, 4), Expected(literal("e\u{301}").length, 2), Expected(noText.length, .null),
        Expected(text.index(of: "😀"), 2), Expected(text.index(of: ""), 0), Expected(text.index(of: "x"), -1),
        Expected(literal("").index(of: ""), 0), Expected(literal("aab").index(of: "ab"), 1),
        Expected(literal("e\u{301}").index(of: "\u{301}"), 1), Expected(literal("é").index(of: "e"), -1),
        Expected(text.index(of: noText), .null),
        Expected(text.substring(from: 2), "😀b"), Expected(text.substring(from: -3), "aé😀b"),
        Expected(text.substring(from: 4), ""), Expected(text.substring(from: 99), ""),
        Expected(text.substring(from: 1, length: 2), "é😀"), Expected(text.substring(from: 1, length: -1), ""),
        Expected(text.substring(from: 1, length: 99), "é😀b"),
        Expected(text.substring(from: literal(.int(.min)), length: literal(.int(.max))), "aé😀b"),
        Expected(text.substring(from: literal(.int(.max)) + 1), ""),
        Expected(text.substring(from: literal(.int(.min)) - 1), "aé😀b"),
        Expected(text.substring(from: .null), .null), Expected(text.substring(from: 0, length: .null), .null),
        Expected(text.hasPrefix("a"), true), Expected(text.hasPrefix(""), true),
        Expected(text.hasPrefix("%"), false),
        Expected(literal("é").hasPrefix("e"), false), Expected(literal("e\u{301}").hasPrefix("e"), true),
        Expected(text.hasSuffix("b"), true), Expected(text.hasSuffix(""), true),
        Expected(text.hasSuffix("aé😀bb"), false),
        Expected(literal("e\u{301}").hasSuffix("\u{301}"), true), Expected(text.contains("é😀"), true),
        Expected(text.contains(""), true), Expected(text.contains("_"), false),
        Expected(text.contains(noText), .null),
        Expected(literal("a\0b").contains("\0"), true), Expected(literal("aaab").contains("aab"), true),
        Expected(literal("AÉz").lowercased, "aÉz"), Expected(literal("aéZ").uppercased, "AéZ"),
        Expected(literal("\t\n\u{B}\u{C}\r a b \u{A0} ").trimmed, "a b \u{A0}"),
        Expected(literal(" \t").trimmed, ""),
        Expected(literal("\u{600} ").trimmed, "\u{600}"),
        Expected(literal(" \u{301}").trimmed, "\u{301}"),
        Expected(text.appending("!"), "aé😀b!"), Expected(noText.appending("!"), .null),
        Expected(literal("e").appending("\u{301}").length, 2),
        Expected(literal("aaa").replacing("aa", with: "b"), "ba"),
        Expected(literal("abab").replacing("b", with: ""), "aa"), Expected(text.replacing("", with: "x"), "aé😀b"),
        Expected(literal("e\u{301}").replacing("\u{301}", with: "x"), "ex"),
        Expected(literal("\r\n").replacing("\n", with: "x"), "\rx"),
        Expected(text.replacing(noText, with: "x"), .null),
        Expected(literal("aBc").equalsIgnoringCase("AbC"), true),
        Expected(literal("É").equalsIgnoringCase("é"), false),
        Expected(noText.equalsIgnoringCase(.null), true), Expected(noText.equalsIgnoringCase("a"), false),
    ]

    /// Integer arithmetic is exact; overflow gives a double, and division by zero null.
    static let arithmetic = [
        Expected(int + 1, 8), Expected(int - 10, -3), Expected(int * -2, -14), Expected(int / 2, 3),
        Expected(literal(-7) / 2, -3), Expected(literal(-7) % 2, -1), Expected(int % -2, 1),
        Expected(int / 0, .null), Expected(int % 0, .null), Expected(int / 0.0, .null), Expected(int % 0.0, .null),
        Expected(literal(1.0) / literal(.double(-0.0)), .null), Expected(int + .null, .null),
        Expected(.column("noint") * 2, .null), Expected(int + 0.5, 7.5), Expected(literal(7.5) % 2, 1.5),
        Expected(literal(-7.5) % 2, -1.5), Expected(int / 2.0, 3.5),
        Expected(literal(.int(.max)) + 1, .double(0x1p63)), Expected(literal(.int(.min)) - 1, .double(-0x1p63)),
        Expected(literal(.int(.max)) * 2, .double(0x1p64)), Expected(literal(.int(.min)) / -1, .double(0x1p63)),
        Expected(literal(.int(.min)) % -1, 0),
        Expected(literal(.double(.infinity)) - literal(.double(.infinity)), .null),
        Expected(literal(.double(.infinity)) % 2, .null), Expected(literal(1e308) * 10, .double(.infinity)),
        Expected(.column("nan") + 1, .null), Expected((literal(.int(.max)) + 1) > literal(.int(.max)), true),
        Expected(literal(2.5).rounded, 3.0), Expected(literal(-2.5).rounded, -3.0), Expected(int.rounded, 7),
        Expected(literal(0.49999999999999994).rounded, 0.0), Expected(literal(-2.5).floor, -3.0),
        Expected(literal(-2.5).ceiling, -2.0), Expected(.column("nodouble").floor, .null),
        Expected(.column("nan").rounded, .null), Expected(literal(.int(.max)).ceiling, .int(.max)),
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

    static func value(
        of predicate: RowPredicate, in row: Row = row, schema: TableSchema = schema
    ) throws -> Value {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).value(of: predicate, in: $0) }
    }

    static func matches(_ predicate: RowPredicate, schema: TableSchema = schema) throws -> Bool {
        try PackedRows([row], of: schema).withRow(at: 0) { try Evaluator(schema: schema).matches(predicate, $0) }
    }
}
