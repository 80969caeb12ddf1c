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

    /// The server reads the first rows by an index, and all of them in the order of the table.
    @Test func eachRowIsCountedAndDeletedOnceWhateverTheOrderOfTheServer() throws {
        let plain = try TestServer.shared.get().makeDatabase()
        let settings = "-c enable_seqscan=off -c random_page_cost=2 -c cursor_tuple_fraction=1"
        let store = try PostgreSQLStore(connection: "\(plain) options='\(settings)'")
        let table = TableSchema("t", columns: [.int("n"), .string("text")], indexes: [["n"]])
        try store.define([table])
        let text = String(repeating: "x", count: 1_000)
        try store.write { writer in
            for id in 0..<20_000 {
                try writer.upsert(
                    ["id": .string("\(id)"), "n": .int(Int64(id * 7_919 % 20_000)), "text": .string(text)], into: "t")
            }
        }
        try PlainConnection(plain).query("ANALYZE tideline.t")
        let query = Query("t").filter(.column("n") < 4_000 && .column("text").lowercased == text)
        #expect(try store.read { try $0.count(query) } == 4_000)
        #expect(try store.write { try $0.delete(matching: query) } == 4_000)
        #expect(try store.read { try $0.count(Query("t")) } == 16_000)
        try store.close()
    }

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
