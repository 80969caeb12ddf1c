import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineWire

private func read(_ text: String) throws -> RowPredicate { try OData.parseFilter(text, schema: nil) }

struct FilterParsingTests {
    static let forms: [(String, RowPredicate)] = [
        ("a eq 1", .column("a") == 1),
        ("  a\teq\n1  ", .column("a") == 1),
        ("1 lt a", .literal(1) < .column("a")),
        ("a eq 12L", .column("a") == 12),
        ("a eq 12l", .column("a") == 12),
        ("a eq -5", .column("a") == -5),
        ("a eq - 5", .column("a") == -5),
        ("a eq -b", .column("a") == (.literal(0) - .column("b"))),
        ("a eq -(b)", .column("a") == (.literal(0) - .column("b"))),
        ("a eq 1.5", .column("a") == 1.5),
        ("a eq 1.5d", .column("a") == 1.5),
        ("a eq 1f", .column("a") == 1.0),
        ("a eq 1.5m", .column("a") == 1.5),
        ("a eq 1e3", .column("a") == 1000.0),
        ("a eq 1E+3", .column("a") == 1000.0),
        ("a eq 1.0", .column("a") == 1.0),
        ("a eq 9223372036854775807", .column("a") == .literal(.int(.max))),
        ("a eq -9223372036854775808", .column("a") == .literal(.int(.min))),
        ("a eq 9223372036854775808", .column("a") == 9223372036854775808.0),
        ("a eq datetime'2026-11-21'", .column("a") == Timestamp("2026-11-21")!),
        (
            "a eq datetimeoffset'2026-11-21T10:00:00.1234567+01:00'",
            .column("a") == Timestamp("2026-11-21T09:00:00.1234567Z")!
        ),
        (
            "a eq guid'01234567-89ab-CDEF-0123-456789abcdef'",
            .column("a") == "01234567-89ab-CDEF-0123-456789abcdef"
        ),
        ("a", .column("a")),
        ("true", true),
        ("not a eq b", .comparison(.equal, .not(.column("a")), .column("b"))),
        ("not not a", .not(.not(.column("a")))),
        ("not(a)", .not(.column("a"))),
        ("((a))", .column("a")),
        ("a or b and c", .or([.column("a"), .and([.column("b"), .column("c")])])),
        ("(a or b) or (c or d)", .or([.column("a"), .column("b"), .column("c"), .column("d")])),
        ("a and b and c and d", .and([.column("a"), .column("b"), .column("c"), .column("d")])),
        ("a add b mul c eq d", (.column("a") + .column("b") * .column("c")) == .column("d")),
        ("a sub b sub c eq 0", (.column("a") - .column("b")) - .column("c") == 0),
        ("a gt 1 eq true", (.column("a") > 1) == true),
        ("substringof('b',text) eq true", .column("text").contains("b") == true),
        ("contains(text,'b')", .column("text").contains("b")),
        ("substring( text , 1 )", .column("text").substring(from: 1)),
        ("length (text) gt 2", .column("text").length > 2),
        ("concat(concat(a,b),c) eq 'x'", .column("a").appending(.column("b")).appending(.column("c")) == "x"),
        ("length eq length(length)", .column("length") == .column("length").length),
    ]

    @Test(arguments: forms)
    func `reads what servers and clients write`(_ form: (String, RowPredicate)) throws {
        #expect(try read(form.0).isIdentical(to: form.1))
        #expect(try read(OData.filter(form.1, schema: nil)).isIdentical(to: form.1))
    }

    @Test(arguments: [("binary'00fF'", [0, 255]), ("X'0a'", [10]), ("X''", [])] as [(String, [UInt8])])
    func `reads bytes in hexadecimal`(_ text: String, _ bytes: [UInt8]) throws {
        #expect(try read("a eq \(text)").isIdentical(to: .column("a") == .literal(.bytes(bytes))))
    }

    /// With quadratic work, these terms would take hours.
    @Test(.timeLimit(.minutes(5)))
    func `the work of reading a list of terms grows with their number`() throws {
        let text = (0..<100_000).map { "a eq \($0)" }.joined(separator: " or ")
        guard case .or(let terms) = try read("b eq 1 and (\(text)) or c eq 1") else {
            Issue.record("not an or")
            return
        }
        #expect(terms.count == 2)
    }

    @Test(arguments: [
        ("", 0), ("   ", 3), ("a eq", 4), ("a eq 1 and", 10), ("(a", 2), ("a)", 1), ("a b", 2), ("a eq 'x", 5),
        ("a eq 1x", 6), ("a eq 1.", 6), ("a eq 1..2", 6), ("a eq 99999999999999999999L", 5), ("a eq 1e999", 5),
        ("foo(a)", 0), ("length()", 7), ("length(a,b)", 0), ("replace(a,b)", 0), ("a, b", 1), ("(a, b)", 2),
        ("a eq datetime'soon'", 5), ("a eq time'PT1S'", 5), ("a eq binary'0'", 5), ("a eq binary'0g'", 5), ("a ! b", 2),
        ("a eq guid'no-guid'", 5), ("a eq guid''", 5), ("a eq guid'0123456789abcdef0123456789abcdef'", 5),
        ("a eq guid'01234567-89ab-cdef-0123-456789abcdeg'", 5), ("a eq guid'0123456789ab-cdef-0123-456789abcdef-'", 5),
        ("a eq $b", 5), ("1 2", 2), ("not", 3), ("a eq --", 7), ("a eq 1.5L", 5), ("a -5", 2), ("a = 1", 2),
    ])
    func `an error says where and what was expected`(_ text: String, _ offset: Int) {
        expectError(.invalidFilter, offset: offset) { try read(text) }
    }

    @Test func `a column that the table lacks is named`() {
        let schema = TableSchema("Item", columns: [.string("text")])
        expectError(.invalidFilter, offset: 14, column: "txt") {
            try OData.parseFilter("id eq '1' and txt eq 'a'", schema: schema)
        }
    }

    @Test(arguments: [
        ("due eq '2026-11-21'", RowPredicate.column("due") == Timestamp("2026-11-21")!),
        ("'2026-11-21' lt due", .literal(.timestamp(Timestamp("2026-11-21")!)) < .column("due")),
        ("photo eq 'AAEC'", .column("photo") == .literal(.bytes([0, 1, 2]))),
        ("extra eq '[]'", .column("extra") == .literal(.json("[]"))),
        ("text eq '2026-11-21'", .column("text") == "2026-11-21"),
        ("createdAt eq null", .column("createdAt") == .null),
    ])
    func `a string literal takes the type of the column that it is compared with`(
        _ text: String, _ predicate: RowPredicate
    ) throws {
        let schema = TableSchema(
            "Item", columns: [.string("text"), .timestamp("due"), .bytes("photo"), .json("extra")])
        #expect(try OData.parseFilter(text, schema: schema).isIdentical(to: predicate))
    }

    @Test(arguments: [
        ("(", ")", 900), ("not (", ")", 900), ("tolower(", ")", 900), ("-(", ")", 900), ("1 add (", ")", 450),
    ])
    func `nests hundreds of levels deep`(_ opening: String, _ closing: String, _ depth: Int) throws {
        let text = String(repeating: opening, count: depth) + "a" + String(repeating: closing, count: depth)
        let predicate = try read(text)
        #expect(try read(OData.filter(predicate, schema: nil)).isIdentical(to: predicate))
    }

    @Test(arguments: ["(", "not ", "not (", "-", "- ", "tolower(", "a add (", "a and ("])
    func `hostile nesting is refused, not followed`(_ opening: String) {
        let text = String(repeating: opening, count: 200_000)
        #expect(throws: WireError.self) { try read(text) }
        #expect(throws: WireError.self) { try read(text + "a" + String(repeating: ")", count: 200_000)) }
    }

    @Test func `a long chain of arithmetic is refused, not followed`() {
        let text = "a" + String(repeating: " add a", count: 100_000)
        let error = #expect(throws: WireError.self) { try read(text) }
        #expect(error?.message.contains("levels deep") == true)
    }

    @Test func `a tree that nests too deep is not written`() {
        var predicate = RowPredicate.column("a")
        for _ in 0..<1_100 { predicate = !predicate }
        #expect(throws: WireError.self) { try OData.filter(predicate, schema: nil) }
    }

    @Test(arguments: [2_000, 100_000])
    func `many terms make one flat node`(_ count: Int) throws {
        let terms = (0..<count).map { RowPredicate.column("a") == .literal(.int(Int64($0))) }
        let text = try OData.filter(.and(terms), schema: nil)
        #expect(try read(text).isIdentical(to: .and(terms)))
        #expect(try read(OData.filter(.or(terms), schema: nil)).isIdentical(to: .or(terms)))
    }

    @Test(arguments: 0..<50)
    func `no text traps`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "a", "eq", "and", "or", "not", "(", ")", ",", "'", "''", "1", "-", "1.5", "L", "datetime'", "null", " ",
            " ",
            "add", "substring(", "length(", "\u{0}", "é", "\u{301}", "😀", "%", "2026-11-21", "e", ".", "X'",
            "99999999999",
        ]
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            do {
                let predicate = try read(text)
                #expect(try read(OData.filter(predicate, schema: nil)).isIdentical(to: predicate), "\(text)")
            } catch let error as WireError {
                #expect(error.code == .invalidFilter)
                #expect(error.offset == nil || (0...text.utf8.count).contains(error.offset!), "\(text)")
            }
            _ = try? OData.parseOrderBy(text)
        }
    }
}

struct OrderByTests {
    @Test(arguments: [
        ("", []), ("a", [OrderTerm("a")]), ("a desc,b", [OrderTerm("a", descending: true), OrderTerm("b")]),
        (" a  asc , b.c desc ", [OrderTerm("a"), OrderTerm("b.c", descending: true)]),
        ("desc desc", [OrderTerm("desc", descending: true)]), ("asc,desc", [OrderTerm("asc"), OrderTerm("desc")]),
    ])
    func `reads an order, and writes it back`(_ text: String, _ terms: [OrderTerm]) throws {
        #expect(try OData.parseOrderBy(text) == terms)
        #expect(try OData.parseOrderBy(OData.orderBy(terms)) == terms)
    }

    @Test(arguments: ["a,", ",a", "a b", "a desc desc", "a up", "length(a)", "1", "'a'", "a;b"])
    func `refuses what is no order`(_ text: String) {
        #expect(throws: WireError.self) { try OData.parseOrderBy(text) }
    }
}
