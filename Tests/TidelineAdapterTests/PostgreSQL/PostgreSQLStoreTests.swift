#if PostgreSQL && Tool
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores

/// Tests what other programs see of a store, and what a store does with a database that is not as expected.
@Suite(.needsPostgreSQL) struct PostgreSQLStoreTests {
    private let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .double("price"), .int("count"), .bytes("data"), .json("tags")],
        indexes: [["text"]])

    /// The server reads the first rows by an index, and all of them in the order of the table.
    @Test func eachRowIsCountedAndDeletedOnceWhateverTheOrderOfTheServer() throws {
        let plain = try TestServer.shared.get().makeDatabase()
        let settings = "-c enable_seqscan=off -c random_page_cost=2 -c cursor_tuple_fraction=1"
        let store = try PostgreSQLStore(connection: "\(plain) options='\(settings)'", options: .patient())
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
        let query = TableQuery("t").filter(.column("n") < 4_000 && .column("text").lowercased == text)
        #expect(try store.read { try $0.count(query) } == 4_000)
        #expect(try store.write { try $0.delete(matching: query) } == 4_000)
        #expect(try store.read { try $0.count(TableQuery("t")) } == 16_000)
    }

    /// Memory is bounded by the size of the rows that are read at a time.
    @Test func largeRowsAreReadAFewAtATime() throws {
        let server = try TestServer(settings: ["fsync=off", "log_statement=all"])
        defer { server.end() }
        try server.query("CREATE DATABASE sizes")
        let store = try PostgreSQLStore(connection: server.connection(to: "sizes"), options: .patient())
        try store.define([TableSchema("t", columns: [.int("n"), .string("text")], indexes: [["n"]])])
        let (short, long) = ("x", String(repeating: "x", count: 200_000))
        try store.write { writer in
            for n in 0..<900 {
                let text = n < 600 ? short : long
                try writer.upsert(["id": .string("\(n)"), "n": .int(Int64(n)), "text": .string(text)], into: "t")
            }
        }
        func fetches(in query: TableQuery) throws -> [Int] {
            let before = server.log.count
            var found: [Int64] = []
            _ = try store.read { reader in
                try reader.scan(query) { row in
                    found.append(row["n"]?.int ?? -1)
                    return .next
                }
            }
            #expect(found.sorted() == (0..<900).map(Int64.init))
            return server.log.dropFirst(before).matches(of: /FETCH FORWARD (\d+)/).compactMap { Int($0.output.1) }
        }
        let query = TableQuery("t").order(by: "n")
        // The size of rows is not known yet, so the first read is small, and the others grow by a factor of 10.
        #expect(try fetches(in: query).prefix(2) == [90, 900])
        for query in [query, TableQuery("t"), query.filter(.column("text").lowercased != "y")] {
            let counts = try fetches(in: query)
            #expect(counts.count > 15 && counts.allSatisfy { $0 <= 100 }, "\(counts)")
        }
    }

    /// It is no failure of the database, and a server writes the other rows of its transaction.
    @Test(arguments: [
        #"ALTER TABLE tideline.t ADD CHECK ("n" <> 2)"#, #"ALTER TABLE tideline.t ADD UNIQUE ("text")"#,
        #"ALTER TABLE tideline.t ADD UNIQUE ("text") DEFERRABLE INITIALLY DEFERRED"#,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW."n" = 2 THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON tideline.t FOR EACH ROW EXECUTE FUNCTION refuse()
        """,
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW."n" = 2 THEN RAISE EXCEPTION 'no' USING ERRCODE = 'AP001'; END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON tideline.t DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse()
        """,
    ])
    func aRowThatTheDatabaseRefusesIsAnInvalidValue(_ sql: String) throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(
            TableSchema("t", columns: [.int("n"), .string("text")]))
        try PlainConnection(connection).query(sql)
        try store.write { try $0.upsert(["id": "1", "n": 1, "text": "a"], into: "t") }
        expectError(.invalidValue) {
            try store.write { try $0.upsert(["id": "2", "n": 2, "text": "a"], into: "t") }
        }
        try store.write { try $0.upsert(["id": "3", "n": 3, "text": "b"], into: "t") }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 2)
    }

    @Test func otherProgramsReadTheTables() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(items)
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
    }
}
#endif
