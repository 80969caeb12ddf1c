#if PostgreSQL && Tool
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores

/// Tests values that another program wrote, scans of many rows, and indexes of long texts.
@Suite(.needsPostgreSQL) struct PostgreSQLForeignValueTests {
    @Test(arguments: [
        ("d", "'NaN'"), ("at", "9223372036854775807"), ("s", "E'\\x01'"), ("s", "E'a\\x01b'"), ("j", "E'\\x01\\x03'"),
        ("id", "''"),
    ])
    func aValueThatTheColumnCannotHaveIsCorrupt(_ column: String, _ value: String) throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(
            TableSchema("t", columns: [.double("d"), .timestamp("at"), .string("s"), .json("j")], systemColumns: []))
        try store.write { try $0.upsert([["id": "1", "s": "x"], ["id": "2"]] as [Row], into: "t") }
        try PlainConnection(connection).query("UPDATE tideline.t SET \"\(column)\" = \(value) WHERE \"__key\" = '1'")
        let error = expectError(.corrupt) { _ = try store.read { try $0.rows(matching: TableQuery("t")) } }
        #expect(error?.column == column && error?.table == "t")
        expectError(.corrupt) { _ = try store.read { try $0.row(in: "t", id: "1") } }
        #expect(try store.read { try $0.row(in: "t", id: "2") } != nil)
    }

    /// A cursor reads the rows after the first hundred.
    @Test func aBodyMayReadAndChangeTheTableThatItScans() throws {
        let store = try TestServer.makeStore(TableSchema("t", columns: [.int("n")], indexes: [["n"]]))
        try store.write { writer throws in
            try writer.upsert((0..<5_000).map { ["id": .string("\($0)"), "n": .int(Int64($0))] as Row }, into: "t")
        }
        for predicate in [nil, RowPredicate.column("n") % 2 == 0] {
            let query = TableQuery("t", predicate: predicate).order(by: "n").skip(3).limit(4_000)
            try store.write { writer throws in
                var seen: [Int64] = []
                let expected = try writer.rows(matching: query).rows.compactMap { $0["n"]?.int }
                try writer.scan(query) { row in
                    seen.append(row["n"]?.int ?? -1)
                    guard seen.count.isMultiple(of: 100) else { return .next }
                    // Nested scans use cursors, too.
                    var count = 0
                    try writer.scan(TableQuery("t").order(by: "n", descending: true)) { _ in
                        count += 1
                        return count < 200 ? .next : .stop
                    }
                    try writer.upsert(["id": row.idText.isEmpty ? "" : .string(row.idText), "n": 1_000_000], into: "t")
                    return .next
                }
                #expect(seen == expected && seen.count > 2_000)
            }
        }
    }

    /// A text of any length can be in an index, which contains its beginning.
    @Test func indexesOfTextAreUsed() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(
            TableSchema("t", columns: [.string("s"), .bytes("b")]))
        let long = String(repeating: "x", count: 100_000)
        try store.write { writer throws in
            let rows = (0..<2_000).map {
                ["id": .string("\($0)"), "s": .string("\($0)\(long)"), "b": .bytes([1])] as Row
            }
            try writer.upsert(Array(rows.prefix(20)), into: "t")
            try writer.upsert(
                rows.dropFirst(20).map { ["id": .string($0.idText), "s": .string($0.idText)] }, into: "t")
        }
        try store.define([TableSchema("t", columns: [.string("s"), .bytes("b")], indexes: [["s", "b"]])])
        try store.write { try $0.upsert(["id": "new", "s": .string(long)], into: "t") }
        for (predicate, count) in [
            (RowPredicate.column("s") == .literal(.string("7\(long)")), 1),
            (.column("s") == .literal(.string(long)), 1),
            (.column("s") > .literal(.string("999")), 2), (.column("s") >= .literal(.string("999")), 3),
            (.column("s") < .literal(.string("0\(long)")), 0), (.column("s") <= .literal(.string("0\(long)")), 1),
        ] {
            #expect(try store.read { try $0.count(TableQuery("t", predicate: predicate)) } == count)
        }
        let plan = try PlainConnection(connection).query(
            """
            ANALYZE tideline.t;
            EXPLAIN SELECT "id" FROM tideline.t WHERE "__prefix_s" = substr('7', 1, 64) AND "s" = '7'
            """)
        #expect(plan.contains { $0[0]?.contains("tideline_index_") == true })
    }
}
#endif
