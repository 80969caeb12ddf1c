import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Fixed answers, beside the random ones that are compared with the evaluator's.
@Suite struct QueryTests {
    private static let schema = TableSchema(
        "t", columns: [.string("s"), .int("n"), .double("d"), .bool("b"), .timestamp("at")],
        indexes: [["n"], ["s", "n"]])

    private static let rows: [Row] = [
        ["id": "a", "s": "100%", "n": 1, "d": 1.5, "b": true, "at": .timestamp(Timestamp(clampingTicks: -1))],
        ["id": "b", "s": "a_b", "n": 2, "d": -0.0, "b": false, "at": .timestamp(.min)],
        ["id": "c", "s": "[x]*?\\'", "n": 9_007_199_254_740_993, "d": 2.5, "b": .null, "at": .timestamp(.max)],
        ["id": "d", "s": "", "n": .int(.min), "d": .double(.infinity)],
        ["id": "e", "s": "Ab\0c", "n": .null, "d": .null],
        ["id": "f", "s": "cafe\u{301}", "n": .int(.max), "d": 9_007_199_254_740_992.0],
    ]

    private func expect(
        _ subject: StoreKind, _ cases: [(Predicate, [String])], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try subject.withStore(Self.schema) { store throws in
            try store.write { try $0.upsert(Self.rows, into: "t") }
            for (predicate, ids) in cases {
                let found = try store.read { try $0.ids(Query("t", predicate: predicate)) }
                #expect(found == ids, "\(predicate)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func nullIsEqualToNullOnly(_ subject: StoreKind) throws {
        try expect(
            subject,
            [
                (.column("n") == .null, ["e"]), (.column("n") != .null, ["a", "b", "c", "d", "f"]),
                (.column("n") != 1, ["b", "c", "d", "e", "f"]), (!(.column("n") == 1), ["b", "c", "d", "e", "f"]),
                (.column("n") > 1, ["b", "c", "f"]), (!(.column("n") > 1), ["a", "d", "e"]),
                (.column("b"), ["a"]), (!.column("b"), ["b", "c", "d", "e", "f"]),
                (.column("n").isIn([.null, 1]), ["a", "e"]), (!.column("n").isIn([1]), ["b", "c", "d", "e", "f"]),
                (.column("n").isIn([]), []), (.and([]), ["a", "b", "c", "d", "e", "f"]), (.or([]), []),
                (.literal(.null), []), (.null == .null, ["a", "b", "c", "d", "e", "f"]),
                (.column("b") == .column("at"), ["d", "e", "f"]), (.column("b") != .column("at"), ["a", "b", "c"]),
            ])
    }

    @Test(arguments: StoreKind.all)
    func numbersCompareExactlyAcrossTypes(_ subject: StoreKind) throws {
        try expect(
            subject,
            [
                (.column("n") == 1.0, ["a"]), (.column("n") > 1.5, ["b", "c", "f"]), (.column("n") == 11.1, []),
                (.column("n") == .literal(.double(9_007_199_254_740_992)), []),
                (.column("n") > .literal(.double(9_007_199_254_740_992)), ["c", "f"]),
                (.column("n") < .literal(.double(0x1p63)), ["a", "b", "c", "d", "f"]),
                (.column("d") == 0, ["b"]), (.column("d") > .literal(.int(.max)), ["d"]),
                (.column("n").isIn([1.0, 11.1, .double(-0x1p63)]), ["a", "d"]),
                (.column("d") == .literal(.double(.nan)), []),
                (.column("d") != .literal(.double(.nan)), ["a", "b", "c", "d", "e", "f"]),
                (.column("d") < .literal(.double(.nan)), []),
            ])
    }

    @Test(arguments: StoreKind.all)
    func wildcardsAreCharacters(_ subject: StoreKind) throws {
        try expect(
            subject,
            [
                (.column("s").contains("%"), ["a"]), (.column("s").contains("_"), ["b"]),
                (.column("s").hasPrefix("[x]*"), ["c"]), (.column("s").hasSuffix("?\\'"), ["c"]),
                (.column("s").hasPrefix(""), ["a", "b", "c", "d", "e", "f"]), (.column("s").contains("\0"), ["e"]),
                (.column("s").hasPrefix("ab"), []), (.column("s").length == 4, ["a", "e"]),
                (.column("s").index(of: "c") == 3, ["e"]), (.column("s").hasSuffix("é"), []),
                (.column("s").substring(from: -5, length: 2) == "10", ["a"]),
                (.column("s").lowercased == "ab\0c", ["e"]),
                (.column("s").replacing("\0", with: "-") == "Ab-c", ["e"]),
                (.column("s").equalsIgnoringCase("aB\0C"), ["e"]), (.column("s").equalsIgnoringCase("aB"), []),
                (.column("s") == "caf\u{e9}", []), (.column("s") < "1", ["d"]),
            ])
    }

    @Test(arguments: StoreKind.all)
    func arithmeticAndDates(_ subject: StoreKind) throws {
        try expect(
            subject,
            [
                (.column("n") + 1 > .literal(.int(.max)), ["f"]),
                (.column("n") / 0 == .null, ["a", "b", "c", "d", "e", "f"]),
                (.column("n") % 2 == 1, ["a", "c", "f"]), (.column("d") % 2 == 0.5, ["c"]),
                (.column("d").rounded == 3, ["c"]), (.column("d").floor == 1, ["a"]),
                (.column("at").year == 1969, ["a"]), (.column("at").year == 1, ["b"]),
                (.column("at").second == 59, ["a", "c"]), (.column("at").month == 12, ["a", "c"]),
                (.column("n") / -1 == .literal(.double(0x1p63)), ["d"]),
            ])
    }

    /// 500 levels of every kind that nests conditions, 2,000 terms.
    @Test(arguments: StoreKind.all)
    func deepAndWidePredicates(_ subject: StoreKind) throws {
        var nots = Predicate.column("n") == 1
        var groups = Predicate.column("n") == 1
        var mixed = Predicate.column("n") == 1
        var doubled = Predicate.column("n") == 1
        var compared = Predicate.column("n") == 1
        for level in 0..<500 {
            nots = .not(nots)
            let leaf = Predicate.column("n") == .literal(.int(Int64(level % 3)))
            groups = level % 2 == 0 ? .and([groups, .column("n") != .null]) : .or([.column("n") == 2, groups])
            mixed = level % 2 == 0 ? .not(.and([leaf || .column("b"), mixed])) : .or([mixed, leaf, .column("b")])
            if level < 400 { compared = compared == true }
            if level < 5 { doubled = .or([.and([doubled, doubled]), .and([.column("b"), doubled])]) }
        }
        let terms = (0..<2000).map { Predicate.column("n") == .literal(.int(Int64($0))) }
        try subject.withStore(Self.schema) { store throws in
            try store.write { try $0.upsert(Self.rows, into: "t") }
            var packed = PackedRows(shape: Self.schema.makeShape())
            for row in Self.rows { try packed.append(row) }
            let predicates = [
                nots, groups, mixed, doubled, compared, .or(terms), .and(terms.map { !$0 }), .not(.or(terms)),
            ]
            for (index, predicate) in predicates.enumerated() {
                let query = Query("t", predicate: predicate)
                let expected = try Evaluator(schema: Self.schema).result(of: query, over: packed).rows.map(\.id)
                #expect(try store.read { try $0.ids(query) } == expected, "predicate \(index)")
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func whatIsTooDeepIsRefusedOrRight(_ subject: StoreKind) throws {
        var text = Predicate.column("s")
        var sum = Predicate.column("n")
        var rightSum = Predicate.column("n")
        for _ in 0..<3000 {
            text = text.lowercased
            sum = sum + 0
            rightSum = 0 + rightSum
        }
        var manyNots = Predicate.column("b")
        for _ in 0..<20_000 { manyNots = .not(manyNots) }
        try subject.withStore(Self.schema) { store throws in
            try store.write { try $0.upsert(Self.rows, into: "t") }
            let cases: [(Predicate, [String])] = [
                (text == "100%", ["a"]), (sum == 1, ["a"]), (rightSum == 1, ["a"]), (manyNots, ["a"]),
            ]
            for (predicate, expected) in cases {
                do {
                    let found = try store.read { try $0.ids(Query("t", predicate: predicate)) }
                    #expect(found == expected)
                } catch let error as StoreError {
                    #expect(error.code == .unsupportedQuery)
                }
            }
            #expect(try store.read { try $0.count(Query("t")) } == 6)
        }
    }

    @Test(arguments: StoreKind.all)
    func pagesPutTogetherAreTheWhole(_ subject: StoreKind) throws {
        try subject.withStore(Self.schema) { store throws in
            let rows: [Row] = (0..<97).map { ["id": .string("\($0)"), "n": .int($0 % 4), "s": .string("\($0 % 3)")] }
            try store.write { try $0.upsert(rows, into: "t") }
            for terms in [[], ["n"], ["s", "n"], ["d", "s"], ["id", "n"]] {
                var query = Query("t", includesTotalCount: true)
                for term in terms { query = query.order(by: term, descending: term == "n") }
                let whole = try store.read { try $0.ids(query) }
                var pages: [String] = []
                for page in 0..<11 {
                    let result = try store.read { try $0.rows(matching: query.skip(page * 10).limit(10)) }
                    #expect(result.totalCount == 97)
                    pages += result.rows.map(\.id)
                }
                #expect(pages == whole && Set(whole).count == 97)
            }
            #expect(try store.read { try $0.rows(matching: Query("t").limit(3)).totalCount } == nil)
            #expect(try store.read { try $0.ids(Query("t").skip(96)) }.count == 1)
            #expect(try store.read { try $0.ids(Query("t").skip(.max)) } == [])
            #expect(try store.read { try $0.ids(Query("t").limit(.max)) }.count == 97)
            #expect(try store.read { try $0.count(Query("t").skip(5).limit(1)) } == 97)
        }
    }

    @Test(arguments: StoreKind.all)
    func nullsComeFirstAndTiesByID(_ subject: StoreKind) throws {
        try subject.withStore(Self.schema) { store throws in
            try store.write { try $0.upsert(Self.rows, into: "t") }
            try store.read { reader throws in
                #expect(try reader.ids(Query("t").order(by: "n")) == ["e", "d", "a", "b", "c", "f"])
                #expect(try reader.ids(Query("t").order(by: "n", descending: true)) == ["f", "c", "b", "a", "d", "e"])
                #expect(try reader.ids(Query("t").order(by: "b")) == ["c", "d", "e", "f", "b", "a"])
                #expect(try reader.ids(Query("t").order(by: "b", descending: true)) == ["a", "b", "c", "d", "e", "f"])
                #expect(try reader.ids(Query("t").order(by: "s")) == ["d", "a", "e", "c", "b", "f"])
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func aSelectionNamesItsColumnsAndTheVersion(_ subject: StoreKind) throws {
        try subject.withStore(Self.schema) { store throws in
            try store.write { try $0.upsert(Self.rows, into: "t") }
            let query = Query("t", predicate: .column("n") == 1, selection: ["s", "s", "id"])
            let row = try #require(try store.read { try $0.rows(matching: query).rows.first })
            #expect(Set(row.columnNames) == ["s", "version"])
            #expect(row["s"] == "100%" && row["version"] == .null && row["n"] == nil)
        }
    }

    @Test(arguments: StoreKind.all)
    func badQueriesAreTypedErrors(_ subject: StoreKind) throws {
        let queries: [(Query, StoreError.Code)] = [
            (Query("t").skip(-1), .unsupportedQuery), (Query("t").limit(-1), .unsupportedQuery),
            (Query("t").order(by: "x"), .invalidValue), (Query("t").select("x"), .invalidValue),
            (Query("t", predicate: .column("x") == 1), .invalidValue), (Query("t", predicate: 1), .unsupportedQuery),
            (Query("t", predicate: .function(.length, [])), .unsupportedQuery),
            (Query("t", predicate: .column("n").lowercased == "a"), .unsupportedQuery),
        ]
        try subject.withStore(Self.schema) { store throws in
            for (query, code) in queries {
                expectError(code) { try store.read { _ = try $0.rows(matching: query) } }
                expectError(code) { try store.read { _ = try $0.count(query) } }
                expectError(code) { try store.write { _ = try $0.delete(matching: query) } }
            }
        }
    }
}
