import Testing
import TidelineStore

@testable import TidelinePostgreSQL

/// Tests which conditions the server evaluates. The conformance suite tests that the results are the same.
@Suite struct PostgreSQLQueryPlanTests {
    private static let table = StoredTable(
        StoredDefinition(
            schema: TableSchema(
                "t",
                columns: [.string("s"), .int("n"), .double("d"), .bool("b"), .timestamp("at"), .bytes("x"), .json("j")]),
            retired: [], prefixed: ["s"]),
        in: "\"tideline\"")

    private static let (s, n, d, b) = (
        RowPredicate.column("s"), RowPredicate.column("n"), RowPredicate.column("d"), RowPredicate.column("b")
    )

    static let compiled: [RowPredicate] = [
        s == "a", s != "a", s > "a", "a" <= s, s.isNull, s.isNotNull, n == 5, n < 5, n == 5.0, n >= 5.0, n == 5.5,
        n != 5.5, d < 1, d == .literal(.double(.infinity)), b, !b, b && n > 1, b || !(n > 1 && s == "b"),
        s.isIn(["a", "b"]),
        n.isIn([.null, .int(1), .double(1.5)]), n.isIn([] as [Value]), .column("id") == "ABC",
        .column("id").isIn(["A"]), s.hasPrefix("a%"), s.contains("_"), s.hasSuffix("\\"), s.equalsIgnoringCase("A"),
        .column("at") > .literal(.timestamp(.min)), .column("x") == .literal(.bytes([0])), n == .null, n < .null,
        .column("updatedAt") == .column("createdAt"), .and([]), .or([]), .literal(true), .null,
    ]

    @Test(arguments: compiled.indices) func theServerEvaluates(_ index: Int) throws {
        let plan = try QueryPlan(TableQuery("t", predicate: Self.compiled[index]), Self.table)
        #expect(plan.residual == nil, "\(Self.compiled[index])")
    }

    static let evaluated: [RowPredicate] = [
        n + 1 == 2, s.length == 1, n > 5.5, n < .column("d"), d == .column("n"), s.contains("\u{1}"),
        s.hasSuffix("\u{2}"),
        s.hasPrefix("\0"), d < .literal(.double(.nan)), .column("id") == .column("s"), .column("at").year == 2026,
        d < .literal(.int(1 << 53 + 1)),
    ]

    @Test(arguments: evaluated.indices) func theEvaluatorEvaluatesWhatIsLeft(_ index: Int) throws {
        let predicate = Self.evaluated[index]
        let plan = try QueryPlan(TableQuery("t", predicate: Self.n == 7 && predicate).limit(5), Self.table)
        #expect(plan.residual != nil && plan.window.limit == nil, "\(predicate)")
        let statement = plan.select([], isOrdered: false, plan.window)
        #expect(statement.sql == #"SELECT "id" FROM "tideline"."t" WHERE ("n" = $1)"#)
        #expect(statement.parameters.count == 1)
        #expect(try QueryPlan(TableQuery("t", predicate: .or([Self.b, predicate])), Self.table).residual != nil)
    }

    @Test func aDeepOrLongPredicateIsLeftToTheEvaluator() throws {
        let deep = (0..<500).reduce(Self.b) { predicate, _ in .not(predicate) }
        #expect(try QueryPlan(TableQuery("t", predicate: deep), Self.table).residual != nil)
        let long = RowPredicate.or((0..<30_000).map { Self.n == .literal(.int(Int64($0))) })
        #expect(try QueryPlan(TableQuery("t", predicate: long), Self.table).residual != nil)
    }
}
