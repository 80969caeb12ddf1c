#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineWire

@testable import TidelineTool

@Suite(.needsPostgreSQL) struct PostgreSQLBackupTests {
    @Test("A store in a database is backed up, and restored into another schema, which must have no rows")
    func database() throws {
        let server = try TestServer.shared.get()
        let schemas = (0..<2).map { _ in "s\(UInt64.random(in: 0 ... .max))" }
        let locations = try schemas.map {
            try StoreLocation(parsing: "postgresql:host=\(server.folder),dbname=postgres,user=postgres,schema=\($0)")
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(schemas[0])").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let rows = try Self.fill(server, schemas[0])
        let source = try locations[0].open(isReadOnly: true)
        let summary = try BackupFile.write(source, to: file)
        try source.close()
        #expect(summary.rowCount == rows.count && summary.tableCount == 1)
        let copy = try StoreRestoration(keepsTimestamps: true).run(from: file, to: locations[1])
        #expect(copy.rowCount == rows.count)
        let restored = try PostgreSQLStore(
            connection: server.connection(), options: PostgreSQLOptions(schema: schemas[1]))
        #expect(try restored.read { try $0.rows(matching: TableQuery("Item")).rows } == rows)
        try restored.close()
        let again = #expect(throws: ToolError.self) {
            try StoreRestoration(keepsTimestamps: true).run(from: file, to: locations[1])
        }
        #expect(again?.message.contains("restore into a new store") == true)
    }

    /// Creates the store of a server, and returns its rows.
    private static func fill(_ server: TestServer, _ schema: String) throws -> [Row] {
        let store = try PostgreSQLStore(connection: server.connection(), options: PostgreSQLOptions(schema: schema))
        defer { try? store.close() }
        var mark = StoreRole.serverMark
        mark.columns = [.timestamp("clock"), .string("definition"), .int("revision")]
        let items = TableSchema("Item", columns: [.string("text"), .bytes("data")], systemColumns: .all)
        try store.define([items, mark])
        return try store.write { writer in
            for number in 0..<3_000 {
                let stamp = Timestamp(clampingTicks: 17_000_000_000_000_000 + Int64(number))
                try writer.upsert(
                    [
                        "id": .string("\(number)"), "text": "\u{0}ä\(number)", "data": .bytes([0, 255]),
                        "version": .string("v\(number)"), "deleted": .bool(number % 7 == 0),
                        "updatedAt": .timestamp(stamp), "createdAt": .timestamp(stamp),
                    ], into: "Item")
            }
            return try writer.rows(matching: TableQuery("Item")).rows
        }
    }
}
#endif
