import Testing
import TidelineConformance
import TidelineStore
import TidelineTestSupport

@testable import TidelineWire

private let schema = TableSchema(
    "Item",
    columns: [
        .string("text"), .int("priority"), .double("price"), .bool("complete"), .timestamp("due"), .bytes("photo"),
        .json("extra"),
    ])

private func written(_ predicate: RowPredicate) throws -> String { try OData.filter(predicate, schema: schema) }
private func read(_ text: String) throws -> RowPredicate { try OData.parseFilter(text, schema: schema) }

struct FilterWritingTests {
    static let forms: [(RowPredicate, String)] = [
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
    func `writes the protocol's text, which reads back to the same text`(_ form: (RowPredicate, String)) throws {
        let text = try written(form.0)
        #expect(text == form.1)
        #expect(try written(try read(text)) == text)
    }

    @Test(arguments: [0, 1, 12, 123, 1_230, 1_234_567, 4_000_000])
    func `a date has three or more digits, as it needs`(_ ticks: Int64) throws {
        let instant = try #require(Timestamp(ticks: 17_000_000_000_000_000 + ticks))
        let text = try written(.column("due") == instant)
        let fraction = try #require(text.split(separator: ".").last).dropLast(2)
        #expect(fraction.count >= 3 && fraction.count <= 7)
        #expect(fraction.count == 3 || fraction.last != "0")
        #expect(try read(text).isIdentical(to: .column("due") == instant))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `refuses a double that has no literal`(_ double: Double) {
        #expect(throws: WireError.self) { try written(.column("price") == .literal(.double(double))) }
    }

    @Test(arguments: ["", "a b", "a-b", "1a", ".a", "a'b", "a/b", "not", "null", "true", "a,b", "a\u{0}", "😀"])
    func `refuses a name that is no identifier, and names it`(_ name: String) {
        expectError(.invalidFilter, column: name) { try OData.filter(.column(name) == 1, schema: nil) }
    }

    @Test(arguments: ["a", "_a", "a.b", "Straße", "order", "eq", "and", "length", "数量", "a1"])
    func `takes names of letters, digits, underscores and dots`(_ name: String) throws {
        let predicate = RowPredicate.and([.column(name) == 1, .column(name).length == .column(name)])
        #expect(try OData.parseFilter(OData.filter(predicate, schema: nil), schema: nil).isIdentical(to: predicate))
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
        let predicate = RowPredicate.column("text") == .literal(.string(text))
        #expect(try read(written(predicate)).isIdentical(to: predicate))
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
            #expect(parsed.isIdentical(to: predicate.normalised(isOperand: false).untyped), "\(text)")
            #expect(try OData.filter(parsed, schema: schema) == text)
        }
    }

    @Test(arguments: 0..<20)
    func `what comes back means the same`(_ seed: UInt64) throws {
        let schema = RandomRows.everyType()
        var source = RandomRows(seed: seed)
        let rows = source.rows(30, of: schema)
        let packed = try PackedRows(rows, of: schema)
        var queries = RandomQuery(seed: seed &+ 1000, schema: schema, rows: rows)
        let evaluator = Evaluator(schema: schema)
        var compared = 0
        for _ in 0..<60 {
            let predicate = queries.nextCondition()
            guard predicate.keepsTypes, let text = try? OData.filter(predicate, schema: schema),
                let expected = try? evaluator.result(of: TableQuery("Item", predicate: predicate), over: packed)
            else { continue }
            let parsed = try OData.parseFilter(text, schema: schema)
            let found = try evaluator.result(of: TableQuery("Item", predicate: parsed), over: packed)
            #expect(found.rows.map(\.idText) == expected.rows.map(\.idText), "\(text)")
            compared += 1
        }
        #expect(compared >= 30)
    }
}

struct FilterNullTests {
    static let forms: [(RowPredicate, String)] = [
        (.column("priority") != 3, "priority ne 3 or priority eq null"),
        (!(.column("priority") == 3), "priority ne 3 or priority eq null"),
        (!(.column("priority") != 3), "priority eq 3"),
        (.column("priority") != .null, "priority ne null"),
        (!(.column("priority") == .null), "priority ne null"),
        (!(.column("priority") < 3), "not (priority lt 3) or priority eq null"),
        (.column("priority") < 3, "priority lt 3"),
        (!(.column("priority") < .null), "true"),
        (!.column("complete"), "not (complete) or complete eq null"),
        (.column("complete") != true, "complete ne true or complete eq null"),
        (!(.column("priority").isIn([1, 2])), "priority ne 1 and priority ne 2 or priority eq null"),
        (!(.column("priority").isIn([1, .null])), "priority ne 1 and priority ne null"),
        (!(.column("priority").isIn([])), "true"),
        (
            !(.column("priority") == 1 && .column("text") == "a"),
            "priority ne 1 or priority eq null or text ne 'a' or text eq null"
        ),
        (
            !(.column("priority") == 1 || .column("text") == "a"),
            "(priority ne 1 or priority eq null) and (text ne 'a' or text eq null)"
        ),
        (.column("priority") != 3 || .column("priority") == .null, "priority ne 3 or priority eq null"),
        (!(.column("text").hasPrefix("a")), "not (startswith(text,'a')) or text eq null"),
        (.column("text").hasPrefix("a") != true, "startswith(text,'a') ne true or text eq null"),
        (!(.column("text").equalsIgnoringCase("A")), "tolower(text) ne 'a' or text eq null"),
        (.column("id") != "a", "id ne 'a'"),
        (.column("required") != 3, "required ne 3"),
        (.column("deleted") != true, "deleted ne true or deleted eq null"),
        (
            .column("priority") == .column("price"),
            "priority eq price or priority eq null and price eq null"
        ),
        (
            .comparison(.equal, .column("priority") == 1, true),
            "priority eq 1 and true or (priority ne 1 or priority eq null) and false"
        ),
    ]

    private static let schema: TableSchema = {
        var schema = TidelineWireTests.schema
        schema.columns.append(.int("required", optional: false))
        schema.systemColumns = .all
        return schema
    }()

    @Test(arguments: forms)
    func `a portable filter names the rows with null that SQL would leave out`(_ form: (RowPredicate, String)) throws {
        #expect(try OData.portableFilter(form.0, schema: Self.schema) == form.1)
    }

    @Test(arguments: 0..<40)
    func `a portable filter finds the same rows by SQL's logic as by the evaluator's`(_ seed: UInt64) throws {
        let schema = RandomRows.everyType()
        var source = RandomRows(seed: seed)
        // JSON cannot represent NaN and infinity, so a server does not have them.
        let rows = source.rows(40, of: schema).map { row in
            Row(
                id: row.id,
                distinctColumns: row.values.map { column in
                    let isUnsayable = column.value.double.map { !$0.isFinite } ?? false
                    return (column.name, isUnsayable ? .double(1) : column.value)
                })
        }
        let packed = try PackedRows(rows, of: schema)
        var queries = RandomQuery(seed: seed &+ 2000, schema: schema, rows: rows)
        let evaluator = Evaluator(schema: schema)
        let sql = SQLLogic(evaluator: evaluator)
        var (compared, differing) = (0, 0)
        for _ in 0..<150 {
            let predicate = queries.nextCondition()
            guard predicate.keepsTypes, !predicate.maybeOverflows,
                let text = try? OData.portableFilter(predicate, schema: schema),
                let expected = try? evaluator.result(of: TableQuery("Item", predicate: predicate), over: packed)
            else { continue }
            let parsed = try OData.parseFilter(text, schema: schema)
            // Tideline's server, and a server over SQL.
            let own = try evaluator.result(of: TableQuery("Item", predicate: parsed), over: packed)
            #expect(own.rows.map(\.idText) == expected.rows.map(\.idText), "\(text)")
            let found = try sql.ids(of: parsed, over: packed)
            #expect(Set(found) == Set(expected.rows.map { Array($0.idText.utf8) }), "\(predicate) as \(text)")
            compared += 1
            if let plain = try? OData.parseFilter(OData.filter(predicate, schema: schema), schema: schema) {
                differing += try Set(sql.ids(of: plain, over: packed)) == Set(found) ? 0 : 1
            }
        }
        #expect(compared >= 40 && differing > 0)
    }

    @Test func `a portable filter of any depth is written or refused`() throws {
        var deep = RowPredicate.column("priority") == 1
        for _ in 0..<5_000 { deep = .not(deep) }
        #expect(throws: WireError.self) { try OData.portableFilter(deep, schema: Self.schema) }
        var wide = RowPredicate.column("priority") != 1
        for index in 0..<5_000 { wide = .and([wide, .column("priority") != .literal(.int(Int64(index)))]) }
        #expect(try OData.portableFilter(wide, schema: Self.schema).contains("priority ne 4999 or priority eq null"))
    }
}

/// Evaluates a parsed filter with SQL's three-valued logic, in which null means unknown.
private struct SQLLogic {
    let evaluator: Evaluator

    func ids(of condition: RowPredicate, over rows: borrowing PackedRows) throws -> [[UInt8]] {
        var found: [[UInt8]] = []
        for position in 0..<rows.count {
            try rows.withRow(at: position) { row in
                if try value(of: condition, in: row) == .bool(true) { found.append(Array(row.idText.utf8)) }
            }
        }
        return found
    }

    private func value(of node: RowPredicate, in row: borrowing RowView) throws -> Value {
        switch node {
        case .column, .literal: return try evaluator.value(of: node, in: row)
        case .not(let term):
            return try value(of: term, in: row).bool.map { .bool(!$0) } ?? .null
        case .and(let terms):
            let values = try values(of: terms, in: row)
            return values.contains(false) ? false : values.contains(.null) ? .null : true
        case .or(let terms):
            let values = try values(of: terms, in: row)
            return values.contains(true) ? true : values.contains(.null) ? .null : false
        case .comparison(let comparison, let a, let b):
            let isNullTest = a.isIdentical(to: .null) || b.isIdentical(to: .null)
            let (x, y) = (try value(of: a, in: row), try value(of: b, in: row))
            if x.isNull || y.isNull {
                // IS NULL and IS NOT NULL, if the filter contains a literal null.
                guard isNullTest else { return .null }
                switch comparison {
                case .equal: return .bool(x.isNull && y.isNull)
                case .notEqual: return .bool(x.isNull != y.isNull)
                default: return .null
                }
            }
            return try evaluator.value(of: .comparison(comparison, kept(a, x), kept(b, y)), in: row)
        case .function(let function, let operands):
            let values = try values(of: operands, in: row)
            return values.contains(.null)
                ? .null : try evaluator.value(of: .function(function, values.map { .literal($0) }), in: row)
        case .arithmetic(let arithmetic, let a, let b):
            let (x, y) = (try value(of: a, in: row), try value(of: b, in: row))
            return x.isNull || y.isNull
                ? .null : try evaluator.value(of: .arithmetic(arithmetic, .literal(x), .literal(y)), in: row)
        case .membership: return .null
        }
    }

    private func values(of nodes: [RowPredicate], in row: borrowing RowView) throws -> [Value] {
        var values: [Value] = []
        for node in nodes { values.append(try value(of: node, in: row)) }
        return values
    }

    /// Returns the column `id`, so that it is compared by the table's rule, and every other operand as its value.
    private func kept(_ operand: RowPredicate, _ value: Value) -> RowPredicate {
        if case .column("id") = operand { operand } else { .literal(value) }
    }
}

// MARK: - The normal form, implemented independently of the writer

extension RowPredicate {
    fileprivate var isCertain: Bool {
        switch self {
        case .comparison, .not, .membership: true
        case .and(let terms), .or(let terms): terms.count != 1 || terms[0].isCertain
        default: false
        }
    }

    fileprivate func normalised(isOperand: Bool) -> RowPredicate {
        switch self {
        case .column, .literal: return self
        case .comparison(let comparison, let a, let b):
            return .comparison(comparison, a.normalised(isOperand: true), b.normalised(isOperand: true))
        case .arithmetic(let operation, let a, let b):
            return .arithmetic(operation, a.normalised(isOperand: true), b.normalised(isOperand: true))
        case .not(let term): return .not(term.normalised(isOperand: false))
        case .membership(let member, let values):
            return RowPredicate.or(values.map { .comparison(.equal, member, .literal($0)) })
                .normalised(isOperand: isOperand)
        case .function(.equalsIgnoringCase, let operands):
            let lowered = operands.map { operand -> RowPredicate in
                if case .literal(.string(let text)) = operand { return .literal(.string(text.asciiLowercased)) }
                return operand.normalised(isOperand: true).lowercased
            }
            return .comparison(.equal, lowered[0], lowered[1])
        case .function(let function, let operands):
            return .function(function, operands.map { $0.normalised(isOperand: true) })
        case .and(let terms), .or(let terms):
            if terms.count == 1, terms[0].isCertain || !isOperand { return terms[0].normalised(isOperand: isOperand) }
            let isAnd = if case .and = self { true } else { false }
            let flat = terms.map { $0.normalised(isOperand: false) }.flatMap { term -> [RowPredicate] in
                switch term {
                case .and(let inner) where isAnd: inner
                case .or(let inner) where !isAnd: inner
                default: [term]
                }
            }
            let neutral: RowPredicate = isAnd ? true : false
            let padded = terms.count == 1 ? flat + [neutral] : flat
            if padded.isEmpty { return neutral }
            return isAnd ? .and(padded) : .or(padded)
        }
    }

    /// The predicate with JSON and bytes literals as strings, if no column determines their type.
    fileprivate var untyped: RowPredicate {
        switch self {
        case .literal(.json(let text)): .literal(.string(text))
        case .literal(.bytes(let bytes)): .literal(.string(base64(bytes)))
        case .column, .literal: self
        case .comparison(let comparison, let a, let b):
            switch (a, b) {
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

    private func any(_ isFound: (RowPredicate) -> Bool) -> Bool {
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

    /// Whether arithmetic can be null although no operand is, because a double overflows.
    fileprivate var maybeOverflows: Bool {
        any { if case .arithmetic = $0 { true } else { false } }
    }

    /// Whether every literal keeps its type on the wire. Otherwise, the column it is compared with determines the type.
    fileprivate var keepsTypes: Bool {
        switch self {
        case .comparison(_, .column(let name), .literal(let value)),
            .comparison(_, .literal(let value), .column(let name)):
            value.fits(name) || ![.string, .json, .bytes].contains(value.type)
        case .literal(let value): value.type != .json && value.type != .bytes
        case .membership(let member, let values):
            values.allSatisfy { RowPredicate.comparison(.equal, member, .literal($0)).keepsTypes }
        default: children.allSatisfy(\.keepsTypes)
        }
    }
}

extension Value {
    fileprivate func fits(_ column: String) -> Bool {
        let column = RandomRows.everyType().column(column)
        return isNull || type == column?.type
    }

    /// Returns the value as the column it is compared with reads it.
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
