import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores

/// Tests what other programs see of a store, and what a store does with a database that is not as expected.
@Suite(.enabled(if: TestServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)"))
struct StoreTests {
    private let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .double("price"), .int("count"), .bytes("data"), .json("tags")],
        indexes: [["text"]])

    @Test func otherProgramsReadTheTables() throws {
        let server = try TestServer.shared.get()
        let connection = try server.makeDatabase()
        let store = try PostgreSQLStore(connection: connection)
        try store.define([items])
        try store.write { writer throws in
            try writer.upsert(
                [
                    "id": "A", "text": "Milk\0\u{1}", "complete": true, "price": -0.0, "count": 5,
                    "data": .bytes([0, 1]),
                    "tags": .json("[1]"),
                    "updatedAt": .timestamp(try #require(Timestamp("2026-01-02T03:04:05.1234567Z"))),
                ], into: "TodoItem")
        }
        let rows = try PlainConnection(connection).query(
            """
            SELECT "id", "__key", "text", "__prefix_text", "complete", "price", "count", "data", "tags",
                to_timestamp("updatedAt" / 10000000.0) AT TIME ZONE 'UTC', "version"
            FROM tideline."TodoItem"
            """)
        let text = "Milk\u{1}\u{1}\u{1}\u{2}"
        #expect(
            rows == [["A", "a", text, text, "t", "-0", "5", "\\x0001", "[1]", "2026-01-02 03:04:05.123457", nil]])
        #expect(try store.read { try $0.row(in: "TodoItem", id: "a") }?["text"] == "Milk\0\u{1}")
        try store.close()
    }
}
