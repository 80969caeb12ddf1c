#if PostgreSQL && Tool
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores

/// Tests names and rows beyond the limits of PostgreSQL.
@Suite(.needsPostgreSQL) struct PostgreSQLLimitTests {
    private static let beginning = String(repeating: "ä", count: 40)

    @Test func columnsMayHaveTheNamesOfPostgreSQLsOwnOnes() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(TableSchema("xmin", columns: []))
        let names = ["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"]
        try store.define([TableSchema("xmin", columns: names.map { .string($0) }, indexes: [["ctid"]])])
        var row = Row(id: "1")
        for name in names { row[name] = .string(name) }
        try store.write { try $0.upsert(row, into: "xmin") }
        try store.close()
        let reopened = try PostgreSQLStore(connection: connection, options: .patient())
        for name in names {
            let query = TableQuery("xmin").filter(.column(name) == .value(name)).order(by: name)
            #expect(try reopened.read { try $0.rows(matching: query) }.rows.map { $0[name]?.string } == [name])
        }
    }

    @Test func namesThatDifferOnlyAfter63BytesAreDistinct() throws {
        let connection = try TestServer.shared.get().makeDatabase()
        let tables = ["a", "b"].map { Self.beginning + $0 }
        let columns = ["c", "d"].map { Self.beginning + $0 }
        let schemas = tables.map {
            TableSchema($0, columns: columns.map { .string($0) }, indexes: [IndexSchema(columns)])
        }
        let store = try PostgreSQLStore(connection: connection, options: .patient())
        try store.define(schemas)
        for (number, table) in tables.enumerated() {
            try store.write { writer in
                var row = Row(id: .string("1"))
                for column in columns { row[column] = .string("\(number) \(column.suffix(1))") }
                try writer.upsert(row, into: table)
            }
        }
        try store.close()
        let reopened = try PostgreSQLStore(connection: connection, options: .patient())
        #expect(try reopened.tables().map(\.name) == tables)
        for (number, table) in tables.enumerated() {
            let query = TableQuery(table).filter(
                .comparison(.equal, .column(columns[1]), .literal(.string("\(number) d")))
            )
            .order(by: columns[0])
            let rows = try reopened.read { try $0.rows(matching: query).rows }
            #expect(rows.map { $0[columns[0]] } == [.string("\(number) c")])
        }
        // The definitions can still change, and everything can be removed.
        try reopened.define([
            TableSchema(tables[0], columns: columns.map { .string($0) } + [.int(Self.beginning + "e")])
        ])
        try reopened.close()
        try PostgreSQLStore.destroy(connection: connection, options: .patient())
        let left = try PlainConnection(connection).query("SELECT 1 FROM pg_tables WHERE schemaname = 'tideline'")
        #expect(left.isEmpty)
    }

    @Test func aNameThatAnotherOneIsAbbreviatedToIsRefused() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(
            TableSchema(Self.beginning, columns: [.int(Self.beginning)]))
        let plain = try PlainConnection(connection)
        let name = try #require(
            try plain.query("SELECT tablename FROM pg_tables WHERE schemaname = 'tideline' AND tablename LIKE 'ä%'")
                .first?.first ?? nil)
        #expect(name.utf8.count <= 63)
        let error = expectError(.schemaMismatch) { try store.define([TableSchema(name, columns: [])]) }
        #expect(error?.table == name)
        let column = try #require(
            try plain.query("SELECT column_name FROM information_schema.columns WHERE column_name LIKE 'ä%'")
                .first?.first ?? nil)
        let columnError = expectError(.schemaMismatch) {
            try store.define([TableSchema("t", columns: [.int(Self.beginning), .int(column)])])
        }
        #expect(columnError?.table == "t" && columnError?.column == column)
    }

    private static let wide = TableSchema("wide", columns: (0..<900).map { .string("c\($0)") })

    /// Returns a row of the wide table with texts in its first columns.
    private static func wideRow(_ id: RowID, _ count: Int) -> Row {
        var row = Row(id: id)
        for column in wide.columns.prefix(count) { row[column.name] = "a text of a usual length" }
        return row
    }

    @Test func aRowThatDoesNotFitInAPageIsRefusedWithTheTableAndTheReason() throws {
        let store = try TestServer.makeStore(Self.wide)
        let error = expectError(.invalidValue) {
            try store.write { try $0.upsert(Self.wideRow("full", 900), into: "wide") }
        }
        #expect(error?.table == "wide")
        #expect(error?.message.contains("too big") == true && error?.message.contains("JSON column") == true)
        try store.write { try $0.upsert(Self.wideRow("small", 100), into: "wide") }
        #expect(try store.read { try $0.count(TableQuery("wide")) } == 1)
    }

    @Test func anErrorOfAnEarlierUpsertNamesItsTableAndCannotBeIgnored() throws {
        let store = try TestServer.makeStore(Self.wide, TableSchema("other", columns: []))
        for ignores in [false, true] {
            let error = expectError(.invalidValue) {
                try store.write { writer throws in
                    try writer.upsert(["id": "1"], into: "other")
                    try writer.upsert(Self.wideRow("1", 900), into: "wide")
                    do { _ = try writer.count(TableQuery("other")) } catch  where ignores {}
                }
            }
            #expect(error?.table == "wide")
        }
        #expect(try store.read { try $0.count(TableQuery("other")) } == 0)
    }

    @Test func moreStatementsThanAConnectionKeepsRunInTheirOrder() throws {
        let columns = (0..<9).map { "c\($0)" }
        let store = try TestServer.makeStore(TableSchema("t", columns: columns.map { .int($0) }))
        var expected: Row = ["id": "1"]
        try store.write { writer throws in
            // Each set of columns is another statement.
            for number in 0..<600 {
                var row: Row = ["id": "1"]
                for (bit, column) in columns.enumerated() where number >> bit & 1 == 1 {
                    row[column] = .int(Int64(number))
                    expected[column] = row[column]
                }
                try writer.upsert(row, into: "t")
                if number % 100 == 99 { #expect(try writer.row(in: "t", id: "1")?["c0"] == expected["c0"]) }
            }
        }
        let stored = try store.read { try $0.row(in: "t", id: "1") }
        for column in columns { #expect(stored?[column] == expected[column]) }
    }
}
#endif
