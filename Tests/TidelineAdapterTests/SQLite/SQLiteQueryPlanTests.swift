import CSQLite
import Testing
import TidelineStore

@testable import TidelineSQLite

private let rows = TableQuery("t")
private let (id, text) = (RowPredicate.column("id"), RowPredicate.column("s"))
private let (n, b) = (RowPredicate.column("n"), RowPredicate.column("b"))

/// Tests that indexes are used where possible.
@Suite struct SQLiteQueryPlanTests {
    private static let schema = TableSchema(
        "t", columns: [.string("s"), .int("n"), .bool("b"), .timestamp("due"), .double("d")],
        indexes: [["n"], ["b", "due"], ["s"]])

    private static let searches: [RowPredicate] = [
        id == "x", id.isIn(["x", "y"]), "x" == id, n == 1, n == 1.5, n.isNull, n > 1 && n <= 5, n.isIn([1, 2]),
        !(n != 1), .not(.not(n == 1)), b == false && .column("due") < .literal(.timestamp(.max)),
        text == "x" || n == 1, text >= "a" && text < "b",
    ]

    @Test(arguments: searches.map { rows.filter($0) })
    func conditionsOnIndexedColumnsSearch(_ query: TableQuery) throws {
        let plan = try plan(query)
        #expect(plan.contains("SEARCH") && !plan.contains("SCAN"), "\(plan)")
    }

    private static let ordered: [TableQuery] = [
        rows, rows.order(by: "id", descending: true), rows.order(by: "n"), rows.order(by: "b").order(by: "due"),
        rows.filter(b == false).order(by: "due"), rows.filter(n > 5).order(by: "n").limit(50).skip(50),
    ]

    @Test(arguments: ordered)
    func ordersAlongAnIndexDoNotSort(_ query: TableQuery) throws {
        let plan = try plan(query)
        #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
        #expect(plan.contains("INDEX"), "\(plan)")
    }

    @Test func valuesAreNeverText() throws {
        let predicate = RowPredicate.column("s") == "secret" && .column("s").contains("hidden")
        let compiled = try StoredTable(Self.schema).select("\"id\"", for: TableQuery("t", predicate: predicate))
        #expect(!compiled.sql.contains("secret") && !compiled.sql.contains("hidden"))
        #expect(compiled.parameters == ["secret", "hidden"])
    }

    /// SQLite searches for each numbered parameter among all others, which makes a statement with 5,000 of them 20
    /// times as slow.
    @Test func parametersHaveNoNumbers() throws {
        let predicate = RowPredicate.column("n").isIn((0..<20).map { .int($0) }) && .column("s") == "x"
        let table = StoredTable(Self.schema)
        let query = TableQuery("t", predicate: predicate, skip: 5, limit: 5)
        let texts = [
            try table.select(table.columnList, for: query).sql, try table.selectCount(query).sql,
            try table.delete(query).sql, table.upsertWholeRow, try #require(table.upsertGroup),
        ]
        for text in texts { #expect(!text.contains(/\?[0-9]/), "\(text)") }
    }

    private func plan(_ query: TableQuery) throws -> String {
        let connection = try Connection.open(nil, for: .writing, options: SQLiteOptions())
        let plan = try SchemaPlan(
            defining: [Self.schema], over: Catalog(generation: 1, tables: []), columnLimit: 2000)
        for statement in plan.statements { try connection.executeOnce(statement.sql) }
        let table = StoredTable(Self.schema)
        let compiled = try table.select(table.columnList, for: query)
        let statement = try Statement("EXPLAIN QUERY PLAN \(compiled.sql)", on: connection.handle, path: nil)
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(3) ?? "") }
        return lines.joined(separator: "; ")
    }
}
