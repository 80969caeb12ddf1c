import CSQLite
import Testing
import TidelineStore

@testable import TidelineSQLite

/// Tests that indexes are used where possible.
@Suite struct SQLiteQueryPlanTests {
    private static let schema = TableSchema(
        "t", columns: [.string("s"), .int("n"), .bool("b"), .timestamp("due"), .double("d")],
        indexes: [["n"], ["b", "due"], ["s"]])

    private static let searches: [TableQuery] = [
        TableQuery("t", predicate: .column("id") == "x"), TableQuery("t", predicate: .column("id").isIn(["x", "y"])),
        TableQuery("t", predicate: "x" == .column("id")), TableQuery("t", predicate: .column("n") == 1),
        TableQuery("t", predicate: .column("n") == 1.5), TableQuery("t", predicate: .column("n").isNull),
        TableQuery("t", predicate: .column("n") > 1 && .column("n") <= 5),
        TableQuery("t", predicate: .column("n").isIn([1, 2])),
        TableQuery("t", predicate: !(.column("n") != 1)), TableQuery("t", predicate: .not(.not(.column("n") == 1))),
        TableQuery("t", predicate: .column("b") == false && .column("due") < .literal(.timestamp(.max))),
        TableQuery("t", predicate: .column("s") == "x" || .column("n") == 1),
        TableQuery("t", predicate: .column("s") >= "a" && .column("s") < "b"),
    ]

    @Test(arguments: searches)
    func conditionsOnIndexedColumnsSearch(_ query: TableQuery) throws {
        let plan = try plan(query)
        #expect(plan.contains("SEARCH") && !plan.contains("SCAN"), "\(plan)")
    }

    private static let ordered: [TableQuery] = [
        TableQuery("t"), TableQuery("t").order(by: "id", descending: true), TableQuery("t").order(by: "n"),
        TableQuery("t").order(by: "b").order(by: "due"),
        TableQuery("t", predicate: .column("b") == false).order(by: "due"),
        TableQuery("t", predicate: .column("n") > 5).order(by: "n").limit(50).skip(50),
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
