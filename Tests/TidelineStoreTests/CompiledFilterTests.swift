import Testing
import TidelineConformance
import TidelineSupport
import TidelineTestSupport

@testable import TidelineStore

/// Tests that a filter over the bytes of a row gives the evaluator's results, for rows of any shape.
@Suite struct CompiledFilterTests {
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func randomConditionsAnswerAsTheEvaluator(_ seed: UInt64) throws {
        var source = RandomRows(seed: seed, values: RandomValues(includesNaN: true))
        let schema = seed % 3 == 0 ? RandomRows.everyType() : source.schema()
        let rows = source.rows(60, of: schema)
        let table = Evaluator(schema: schema)
        let packed = try PackedRows(rows, of: schema)
        var random = SplitMix64(seed: seed)
        let columns = schema.allColumns.shuffled(using: &random)
        var others = PackedRows(
            shape: RowShape(idType: schema.idType, columns: Array(columns.prefix((columns.count + 1) / 2))))
        for row in rows { try others.append(row.filteringColumns { others.shape.index(of: $0) != nil }) }
        var queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
        for _ in 0..<100 {
            let predicate = queries.nextCondition()
            try expectEqualAnswers(predicate, table, packed, "seed \(seed)")
            try expectEqualAnswers(predicate, table, others, "seed \(seed), columns \(others.shape.columns)")
        }
    }

    /// The columns of the rows, compared with those that the filter was compiled for.
    @Test(
        arguments: [
            ([.int("a"), .int("b")], true), ([.int("b"), .int("a")], false), ([.int("a")], false),
            ([.int("a"), .string("b")], false), ([.int("a"), .int("b"), .int("c")], false),
        ] as [([ColumnSchema], Bool)])
    func aRowOfAnotherShapeIsRefused(_ columns: [ColumnSchema], _ isAccepted: Bool) throws {
        let table = Evaluator(schema: TableSchema("t", columns: [.int("a"), .int("b")], systemColumns: []))
        var rows = PackedRows(shape: RowShape(columns: columns))
        try rows.append(["id": "x", "a": 1])
        for predicate in [.column("a") == 1, .column("a") + 1 == 2] as [RowPredicate] {
            let filter = try makeFilter(predicate, of: table, for: table.definition)
            var limit = EvaluationLimit(time: .seconds(600), bytes: 1_000)
            rows.withRow(at: 0) { row in
                for match in [
                    Result { try filter.matches(row) }, Result { try filter.matches(row, within: &limit) },
                ] {
                    #expect((try? match.get()) == (isAccepted ? true : nil))
                    if case .failure(let error) = match {
                        #expect((error as? StoreError)?.code == .schemaMismatch)
                    }
                }
            }
        }
    }

    @Test(arguments: [.column("s").contains("x"), .column("s").replacing("x", with: "y") == "y"] as [RowPredicate])
    func aLimitEndsTheEvaluation(_ predicate: RowPredicate) async throws {
        let schema = TableSchema("t", columns: [.string("s")])
        let filter = try makeFilter(predicate, of: Evaluator(schema: schema), for: schema.makeShape())
        @Sendable func error(in time: Duration) throws -> StoreError.Code? {
            let rows = try PackedRows([["id": "x", "s": "a text"]], of: schema)
            var limit = EvaluationLimit(time: time, bytes: 1_000)
            do {
                for _ in 0..<10_000 { _ = try rows.withRow(at: 0) { try filter.matches($0, within: &limit) } }
                return nil
            } catch let error as StoreError {
                return error.code
            }
        }
        #expect(try error(in: .seconds(600)) == nil)
        #expect(try error(in: .zero) == .timeLimit)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try error(in: .seconds(600))
        }
        #expect(try await cancelled.value == .cancelled)
    }

    /// Every comparison, with the column on either side, of every column with all that it can be compared with.
    @Test(arguments: [TableSchema.IDType.string, .int], [TableSchema.IDMatching.exact, .asciiCaseInsensitive])
    func everyPairingAnswersAsTheEvaluator(_ idType: TableSchema.IDType, _ matching: TableSchema.IDMatching) throws {
        var schema = RandomRows.everyType()
        schema.idType = idType
        schema.idMatching = matching
        var source = RandomRows(seed: 7, values: RandomValues(includesNaN: true))
        let rows = source.rows(24, of: schema)
        let table = Evaluator(schema: schema)
        let packed = try PackedRows(rows, of: schema)
        let columns = ["id"] + schema.allColumns.map(\.name)
        for column in columns {
            let type = try table.type(of: .column(column))
            let literals = try Self.literals.filter {
                try table.type(of: .literal($0)).isComparable(with: type)
            }
            let others = try columns.map(RowPredicate.column).filter {
                try table.type(of: $0).isComparable(with: type)
            }
            for operand in others + literals.map(RowPredicate.literal) {
                for comparison in RowPredicate.Comparison.allCases {
                    try expectEqualAnswers(.comparison(comparison, .column(column), operand), table, packed)
                    try expectEqualAnswers(.comparison(comparison, operand, .column(column)), table, packed)
                }
            }
            try expectEqualAnswers(.membership(.column(column), literals), table, packed)
            try expectEqualAnswers(!.membership(.column(column), literals.shuffled()), table, packed)
            try expectEqualAnswers(.membership(.column(column), []), table, packed)
        }
    }

    private static let literals: [Value] = others + ints.map(Value.int) + doubles.map(Value.double)
    private static let others: [Value] = [
        .null, .bool(false), .bool(true), "a", "A", "", "a\0", "😀", .json("{}"), .json("[1,2]"), .bytes([]),
        .bytes([0]), .bytes([255]), .timestamp(.min), .timestamp(.max), .timestamp(Timestamp(clampingTicks: 0)),
    ]
    private static let ints: [Int64] = [
        .min, .min + 1, -1, 0, 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, .max - 1, .max,
    ]
    private static let doubles: [Double] = [
        -.infinity, -0x1p64, -0x1p63, -0x1p53, -2.5, -0.5, -0.0, 0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
        0.5, 1, 11.1, 0x1p53, 0x1p53 + 2, 0x1p63, 0x1p63.nextDown, 0x1p64, .infinity, .nan,
    ]

    @Test(arguments: [TableSchema.IDMatching.exact, .asciiCaseInsensitive])
    func listsOfIdentifiersAnswerAsTheEvaluator(_ matching: TableSchema.IDMatching) throws {
        var schema = TableSchema("t", columns: [.int("n")])
        schema.idMatching = matching
        let table = Evaluator(schema: schema)
        let packed = try PackedRows(["Row-A", "row-b", "ROW-C", "x"].map { ["id": .string($0)] }, of: schema)
        for list in [["ROW-A"], ["row-c", "Row-B"], ["a", "X", "ROW-C", "row-a"], ["Row-A", "row-A", "y"]] {
            try expectEqualAnswers(.column("id").isIn(list), table, packed)
            try expectEqualAnswers(!.column("id").isIn(list), table, packed)
        }
    }

    @Test func textsAreSearchedByteByByte() throws {
        let schema = TableSchema("t", columns: [.string("s"), .string("u")])
        let texts = RandomValues.texts
        let rows = texts.enumerated().map { ["id": .string("Row\($0)"), "s": .string($1), "u": .null] as Row }
        let table = Evaluator(schema: schema)
        let packed = try PackedRows(rows, of: schema)
        for text in texts + ["row1", "Row1", "ow"] {
            for function in [RowPredicate.Function.startsWith, .endsWith, .contains, .equalsIgnoringCase] {
                for column in ["s", "u", "id"] {
                    let operands: [RowPredicate] = [.column(column), .literal(.string(text))]
                    try expectEqualAnswers(.function(function, operands), table, packed)
                    try expectEqualAnswers(.function(function, operands.reversed()), table, packed)
                    try expectEqualAnswers(.function(function, [.column(column), .null]), table, packed)
                }
            }
        }
    }

    @Test func treesOfAnyDepthAndWidthAnswer() throws {
        let schema = TableSchema("t", columns: [.int("n"), .bool("b")])
        let rows = (0..<10 as Range<Int64>).map {
            ["id": .string("\($0)"), "n": .int($0), "b": .bool($0 % 2 == 0)] as Row
        }
        let table = Evaluator(schema: schema)
        let packed = try PackedRows(rows, of: schema)
        var deep: RowPredicate = .column("n") > 3
        for level in 0..<500 {
            deep =
                switch level % 3 {
                case 0: .not(deep)
                case 1: .and([.column("n") < 9, deep])
                default: .or([deep, .column("n") == .value(Int64(level % 10))])
                }
        }
        try expectEqualAnswers(deep, table, packed)
        let terms = (0..<2_000).map { RowPredicate.column("n") == .value(Int64($0 + 5)) }
        try expectEqualAnswers(.or(terms), table, packed)
        try expectEqualAnswers(.and(terms.map { !$0 }), table, packed)
        try expectEqualAnswers(.and([]), table, packed)
        try expectEqualAnswers(.or([]), table, packed)
        try expectEqualAnswers(.not(.and([.or([]), .and([])])), table, packed)
    }

    /// A condition with a filter step of its own is not passed to the evaluator, which is slow.
    @Test(
        arguments: [
            .column("n") == 1, 1.5 < .column("n"), .column("d") >= 3, .column("s") < "x", .column("b"),
            !.column("b") || .column("n").isNull, .column("id") == "x", .column("n").isIn([1, 2.0, .null]),
            .column("s").hasPrefix("a") && .column("s").hasSuffix("b"), .column("s").contains("x"),
            "a" == .column("s") || RowPredicate.literal("A").equalsIgnoringCase(.column("s")),
            .column("id").contains("x"),
            .column("n") == .column("n"), .column("s") > .column("id"), .column("t") <= .literal(.timestamp(.max)),
        ] as [RowPredicate])
    func plainConditionsHaveTestsOfTheirOwn(_ predicate: RowPredicate) throws {
        let schema = TableSchema(
            "t", columns: [.int("n"), .double("d"), .string("s"), .bool("b"), .timestamp("t")])
        let filter = try makeFilter(predicate, of: Evaluator(schema: schema), for: schema.makeShape())
        #expect(filter.constants.predicates.isEmpty)
        #expect(!filter.steps.isEmpty)
    }

    @Test(arguments: [(64, true), (65, false)])
    func aLongTextIsSearchedByTheEvaluator(_ length: Int, _ hasTest: Bool) throws {
        let schema = TableSchema("t", columns: [.string("s")])
        let predicate = RowPredicate.column("s").contains(.literal(.string(String(repeating: "a", count: length))))
        let filter = try makeFilter(predicate, of: Evaluator(schema: schema), for: schema.makeShape())
        #expect(filter.constants.predicates.isEmpty == hasTest)
    }

    /// Conditions for which the pre-filter alone decides, for most rows, whatever the other conditions are.
    @Test func theFirstTestDecidesWithoutTheOthers() throws {
        let schema = TableSchema("t", columns: [.int("n"), .double("d"), .string("s"), .bool("b"), .int("none")])
        let table = Evaluator(schema: schema)
        let rows = try PackedRows([["id": "a", "n": 1, "d": 2.5, "s": "x", "b": true, "none": .null]], of: schema)
        let decided: [(RowPredicate, PreFilter.Verdict)] = [
            (.column("n") == 1, .matches), (.column("n") != 1, .doesNotMatch), (.column("d") > 2, .matches),
            (.column("s") == "x", .matches), (.column("s") == "y", .doesNotMatch), (.column("s") >= "a", .matches),
            (.column("b"), .matches), (!.column("b"), .doesNotMatch), (.column("none") == 1, .doesNotMatch),
            (.column("none").isNull, .matches), (.column("n").isNull, .doesNotMatch),
            (.column("n") == 2 && .column("s").contains("x"), .doesNotMatch),
            (.column("n") == 1 && .column("s").contains("x"), .unknown),
            (.column("n") == 1 || .column("s").contains("x"), .matches),
            (.column("s").contains("x"), .unknown), (.column("id") == "a", .unknown),
        ]
        for (predicate, expected) in decided {
            let filter = try makeFilter(predicate, of: table, for: table.definition)
            let answer = rows.withRow(at: 0) { $0.withPackedBytes { filter.first?.answer(to: $0) ?? .unknown } }
            #expect(answer == expected, "\(predicate)")
        }
    }

    /// For a damaged row, the pre-filter agrees with the filter, or leaves the decision and the report to it.
    @Test(arguments: ["n", "d", "s", "b", "t"])
    func theFirstTestPassesOverNoDamageThatTheFilterTells(_ column: String) throws {
        let schema = TableSchema("t", columns: [.int("n"), .double("d"), .string("s"), .bool("b"), .timestamp("t")])
        let table = Evaluator(schema: schema)
        let values: [String: Value] = [
            "n": 1, "d": 2.5, "s": "text", "b": .bool(true), "t": .timestamp(Timestamp(clampingTicks: 5)),
        ]
        var row = Row(id: "a")
        for (name, value) in values { row[name] = value }
        let bytes = try PackedRows([row], of: schema).withRow(at: 0) { $0.withPackedBytes { Array($0) } }
        let literal = try #require(values[column])
        var told = 0
        for predicate in [.column(column) == .literal(literal), .column(column) >= .literal(literal)] as [RowPredicate]
        {
            let filter = try makeFilter(predicate, of: table, for: table.definition)
            for position in bytes.indices {
                for bit in 0..<8 {
                    var flipped = bytes
                    flipped[position] ^= 1 << UInt8(bit)
                    for length in Set([bytes.count, position]) {
                        flipped.prefix(length).withUnsafeBytes { damaged in
                            let first = filter.first?.answer(to: damaged) ?? .unknown
                            guard first != .unknown else {
                                told += 1
                                return
                            }
                            let whole = RowBytes(columnsOf: damaged).flatMap { try? filter.matches($0) }
                            #expect(whole == (first == .matches), "\(predicate), bit \(bit) of \(position), \(length)")
                        }
                    }
                }
            }
        }
        #expect(told > 100)
    }

    @Test func unknownColumnsAreRefused() {
        let table = Evaluator(schema: TableSchema("t", columns: [.int("n")]))
        #expect(throws: StoreError.self) { try makeFilter(.column("m") == 1, of: table, for: table.definition) }
    }
}

/// Returns the filter for rows that are packed with the columns of a shape.
private func makeFilter(_ predicate: RowPredicate, of table: Evaluator, for shape: RowShape) throws -> CompiledFilter {
    try CompiledFilter(predicate, of: table, for: shape, wholeRows: RowLayout(of: shape, layout: 0))
}

/// Checks that a filter accepts the rows that the evaluator accepts.
private func expectEqualAnswers(
    _ predicate: RowPredicate, _ table: Evaluator, _ rows: borrowing PackedRows, _ note: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let filter = try makeFilter(predicate, of: table, for: rows.shape)
    let compiled = try table.compile(predicate, for: rows.shape)
    var limit = EvaluationLimit(time: .seconds(600), bytes: .max)
    try rows.forEachRow { row in
        let (answer, expected) = (try filter.matches(row), compiled.matches(row))
        if try answer != expected || filter.matches(row, within: &limit) != expected {
            Issue.record("\(note): \(answer) of \(row.owned())\n\(predicate)", sourceLocation: sourceLocation)
        }
        let first = row.withPackedBytes { filter.first?.answer(to: $0) ?? .unknown }
        if first != .unknown, (first == .matches) != expected {
            Issue.record("\(note): first \(first) of \(row.owned())\n\(predicate)", sourceLocation: sourceLocation)
        }
    }
}
