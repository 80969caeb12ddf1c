import Testing
import TidelineConformance
import TidelineStore

@testable import TidelineWire

private let schema = TableSchema(
    "Item",
    columns: [
        .string("text"), .int("priority"), .double("price"), .bool("complete"), .timestamp("due"), .bytes("photo"),
        .json("extra"),
    ])

private func written(_ predicate: Predicate) throws -> String { try OData.filter(predicate, schema: schema) }
private func read(_ text: String) throws -> Predicate { try OData.parseFilter(text, schema: schema) }

struct FilterWritingTests {
    static let forms: [(Predicate, String)] = [
        (.column("text") == "it's", "text eq 'it''s'"),
        (.column("priority") != 3, "priority ne 3"),
        (.column("priority") < 2_147_483_648, "priority lt 2147483648L"),
        (.column("priority") >= .literal(.int(.min)), "priority ge -9223372036854775808L"),
        (.column("price") <= 1.0, "price le 1.0"),
        (.column("price") > 1e300, "price gt 1e300"),
        (.column("price") == -0.0, "price eq -0.0"),
        (.column("complete") == false && .column("due") == .null, "complete eq false and due eq null"),
        (
            (.column("priority") == 1 || .column("priority") == 2) && !(.column("complete") == true),
            "(priority eq 1 or priority eq 2) and not (complete eq true)"
        ),
        (.column("text").contains("b"), "substringof('b',text)"),
        (.column("text").hasPrefix("B") == true, "startswith(text,'B') eq true"),
        (.column("text").equalsIgnoringCase("ÀBC"), "tolower(text) eq 'Àbc'"),
        (.column("text").equalsIgnoringCase(.column("id")), "tolower(text) eq tolower(id)"),
        (.column("priority").isIn([1, 2]), "priority eq 1 or priority eq 2"),
        (.column("priority").isIn([]), "false"),
        (.and([]), "true"),
        ((.column("priority") + 1) * 2 == 4, "(priority add 1) mul 2 eq 4"),
        (.column("priority") - (.column("priority") - 1) == 1, "priority sub (priority sub 1) eq 1"),
        (.column("due").year == 2026, "year(due) eq 2026"),
        (.column("text").substring(from: 1, length: 2) == "ab", "substring(text,1,2) eq 'ab'"),
        (.comparison(.equal, .column("priority") == 1, true), "(priority eq 1) eq true"),
        (.comparison(.equal, .and([.column("complete")]), .null), "(complete and true) eq null"),
        (.column("photo") == .literal(.bytes([0, 1, 2])), "photo eq 'AAEC'"),
        (.column("extra") == .literal(.json("{}")), "extra eq '{}'"),
        (.column("due") == "2026-11-21", "due eq datetimeoffset'2026-11-21T00:00:00.000Z'"),
    ]

    @Test(arguments: forms)
    func `writes the protocol's text, which reads back to the same text`(_ form: (Predicate, String)) throws {
        let text = try written(form.0)
        #expect(text == form.1)
        #expect(try written(try read(text)) == text)
    }

    @Test(arguments: [0, 1, 12, 123, 1_230, 1_234_567])
    func `a date has as many digits as it needs, at least three`(_ ticks: Int64) throws {
        let instant = try #require(Timestamp(ticks: 17_000_000_000_000_000 + ticks))
        let text = try written(.column("due") == instant)
        let fraction = try #require(text.split(separator: ".").last).dropLast(2)
        #expect(fraction.count >= 3 && fraction.count <= 7)
        #expect(fraction.count == 3 || fraction.last != "0")
        #expect(try read(text) == (.column("due") == instant))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `refuses a double that has no literal`(_ double: Double) {
        #expect(throws: WireError.self) { try written(.column("price") == .literal(.double(double))) }
    }

    @Test(arguments: ["", "a b", "a-b", "1a", ".a", "a'b", "a/b", "not", "null", "true", "a,b", "a\u{0}", "😀"])
    func `refuses a name that is no identifier, and names it`(_ name: String) {
        let error = #expect(throws: WireError.self) { try OData.filter(.column(name) == 1, schema: nil) }
        #expect(error?.code == .invalidFilter)
        #expect(error?.column == name)
    }

    @Test(arguments: ["a", "_a", "a.b", "Straße", "order", "eq", "and", "length", "数量", "a1"])
    func `takes names of letters, digits, underscores and dots`(_ name: String) throws {
        let predicate = Predicate.and([.column(name) == 1, .column(name).length == .column(name)])
        #expect(try OData.parseFilter(try OData.filter(predicate, schema: nil), schema: nil) == predicate)
    }

    @Test func `refuses a function with the wrong number of operands`() {
        #expect(throws: WireError.self) { try written(.function(.replace, [.column("text")])) }
    }

    @Test func `refuses a text that is no date where one is compared with a timestamp, and names the column`() {
        let error = #expect(throws: WireError.self) { try written(.column("due") == "soon") }
        #expect(error?.column == "due")
    }

    @Test(arguments: ["\u{0}", "'", "''", "'\u{301}", "a\nb", "😀", "%20+&#", String(repeating: "x'", count: 500_000)])
    func `text of any kind comes back byte for byte`(_ text: String) throws {
        let predicate = Predicate.column("text") == .literal(.string(text))
        #expect(try read(try written(predicate)) == predicate)
    }
}

struct FilterRoundTripTests {
    @Test(arguments: 0..<40)
    func `reading what was written gives the normal form, and writing that the same text`(_ seed: UInt64) throws {
        var rows = RandomRows(seed: seed)
        var queries = RandomQuery(
            seed: seed, schema: RandomRows.everyType(), rows: rows.rows(5, of: RandomRows.everyType()))
        let schema = RandomRows.everyType()
        for _ in 0..<100 {
            let predicate = queries.nextCondition()
            guard let text = try? OData.filter(predicate, schema: schema) else {
                #expect(predicate.hasUnsayableLiteral, "refused: \(predicate)")
                continue
            }
            let parsed = try OData.parseFilter(text, schema: schema)
            #expect(parsed == predicate.normalised(isOperand: false).untyped, "\(text)")
            #expect(try OData.filter(parsed, schema: schema) == text)
        }
    }

    @Test(arguments: 0..<20)
    func `what comes back means the same`(_ seed: UInt64) throws {
        let schema = RandomRows.everyType()
        var source = RandomRows(seed: seed)
        let rows = source.rows(30, of: schema)
        var packed = PackedRows(shape: schema.makeShape())
        for row in rows { try packed.append(row) }
        var queries = RandomQuery(seed: seed &+ 1000, schema: schema, rows: rows)
        let evaluator = Evaluator(schema: schema)
        var compared = 0
        for _ in 0..<60 {
            let predicate = queries.nextCondition()
            guard predicate.keepsTypes, let text = try? OData.filter(predicate, schema: schema),
                let expected = try? evaluator.result(of: Query("Item", predicate: predicate), over: packed)
            else { continue }
            let parsed = try OData.parseFilter(text, schema: schema)
            let found = try evaluator.result(of: Query("Item", predicate: parsed), over: packed)
            #expect(found.rows.map(\.id) == expected.rows.map(\.id), "\(text)")
            compared += 1
        }
        #expect(compared >= 30)
    }
}

// MARK: - The normal form, said a second time and independently of the writer

extension Predicate {
    fileprivate var isCertain: Bool {
        switch self {
        case .comparison, .not, .membership: true
        case .and(let terms), .or(let terms): terms.count != 1 || terms[0].isCertain
        default: false
        }
    }

    fileprivate func normalised(isOperand: Bool) -> Predicate {
        switch self {
        case .column, .literal: return self
        case .comparison(let comparison, let a, let b):
            return .comparison(comparison, a.normalised(isOperand: true), b.normalised(isOperand: true))
        case .arithmetic(let operation, let a, let b):
            return .arithmetic(operation, a.normalised(isOperand: true), b.normalised(isOperand: true))
        case .not(let term): return .not(term.normalised(isOperand: false))
        case .membership(let member, let values):
            return Predicate.or(values.map { .comparison(.equal, member, .literal($0)) })
                .normalised(isOperand: isOperand)
        case .function(.equalsIgnoringCase, let operands):
            let lowered = operands.map { operand -> Predicate in
                if case .literal(.string(let text)) = operand { return .literal(.string(text.asciiLowercased)) }
                return operand.normalised(isOperand: true).lowercased
            }
            return .comparison(.equal, lowered[0], lowered[1])
        case .function(let function, let operands):
            return .function(function, operands.map { $0.normalised(isOperand: true) })
        case .and(let terms):
            let flat = terms.map { $0.normalised(isOperand: false) }.flatMap { term -> [Predicate] in
                if case .and(let inner) = term { inner } else { [term] }
            }
            if terms.count == 1 {
                if terms[0].isCertain || !isOperand { return terms[0].normalised(isOperand: isOperand) }
                return .and(flat + [true])
            }
            return flat.isEmpty ? true : .and(flat)
        case .or(let terms):
            let flat = terms.map { $0.normalised(isOperand: false) }.flatMap { term -> [Predicate] in
                if case .or(let inner) = term { inner } else { [term] }
            }
            if terms.count == 1 {
                if terms[0].isCertain || !isOperand { return terms[0].normalised(isOperand: isOperand) }
                return .or(flat + [false])
            }
            return flat.isEmpty ? false : .or(flat)
        }
    }

    /// With JSON and bytes as strings where no column types them.
    fileprivate var untyped: Predicate {
        switch self {
        case .literal(.json(let text)): .literal(.string(text))
        case .literal(.bytes(let bytes)): .literal(.string(base64(bytes)))
        case .column, .literal: self
        case .comparison(let comparison, let a, let b):
            switch (a, b) {
            case (.column(let name), .literal(let value)) where value.fits(name): self
            case (.literal(let value), .column(let name)) where value.fits(name): self
            case (.column(let name), .literal(let value)): .comparison(comparison, a, .literal(value.typed(as: name)))
            case (.literal(let value), .column(let name)): .comparison(comparison, .literal(value.typed(as: name)), b)
            default: .comparison(comparison, a.untyped, b.untyped)
            }
        case .arithmetic(let operation, let a, let b): .arithmetic(operation, a.untyped, b.untyped)
        case .not(let term): .not(term.untyped)
        case .and(let terms): .and(terms.map(\.untyped))
        case .or(let terms): .or(terms.map(\.untyped))
        case .membership(let term, let values): .membership(term.untyped, values)
        case .function(let function, let operands): .function(function, operands.map(\.untyped))
        }
    }

    private func any(_ isFound: (Predicate) -> Bool) -> Bool {
        isFound(self) || children.contains { $0.any(isFound) }
    }

    /// Whether a literal is NaN or infinite, or a string that does not fit the column it is compared with.
    fileprivate var hasUnsayableLiteral: Bool {
        any {
            switch $0 {
            case .literal(.double(let double)): !double.isFinite
            case .membership(_, let values): values.contains { $0.double.map { !$0.isFinite } ?? false }
            case .comparison(_, .column(let name), .literal(let value)),
                .comparison(_, .literal(let value), .column(let name)):
                !value.fits(name)
            default: false
            }
        }
    }

    /// Whether every literal keeps its type on the wire; if not, the column that it is compared with gives it another.
    fileprivate var keepsTypes: Bool {
        switch self {
        case .comparison(_, .column(let name), .literal(let value)),
            .comparison(_, .literal(let value), .column(let name)):
            value.fits(name) || ![.string, .json, .bytes].contains(value.type)
        case .literal(let value): value.type != .json && value.type != .bytes
        case .membership(let member, let values):
            values.allSatisfy { Predicate.comparison(.equal, member, .literal($0)).keepsTypes }
        default: children.allSatisfy(\.keepsTypes)
        }
    }
}

extension Value {
    fileprivate func fits(_ column: String) -> Bool {
        let column = RandomRows.everyType().column(column)
        return isNull || type == column?.type
    }

    /// As the column that it is compared with reads it.
    fileprivate func typed(as column: String) -> Value {
        guard case .string(let text) = self else { return self }
        switch RandomRows.everyType().column(column)?.type {
        case .json: return .json(text)
        case .timestamp: return Timestamp(text).map { .timestamp($0) } ?? self
        case .bytes:
            var bytes: [UInt8] = []
            return Array(text.utf8).withUnsafeBytes { Base64.decode($0, into: &bytes) } ? .bytes(bytes) : self
        default: return self
        }
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
    return String(decoding: text, as: UTF8.self)
}
