#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestSupport
import TidelineWire

@testable import TidelineTool

/// Tests `--store postgresql:…` in the tool, and backups of stores in a database.
@Suite(.needsPostgreSQL) struct PostgreSQLToolTests {
    @Test func aLocationOpensAStoreInADatabase() throws {
        let server = try TestServer.shared.get()
        let tool = try ProbeProcess("tideline")
        let schema = "s\(UInt64.random(in: 0 ... .max))"
        for location in [
            "postgresql:host=\(server.folder),dbname=postgres,user=postgres,schema=\(schema)",
            "postgresql:\(server.connection()),schema=\(schema)",
            "postgresql:postgresql://postgres@/postgres?host=\(server.folder),schema=\(schema)",
        ] {
            let added = try tool.run("todo", "add", "--store", location, "Buy milk")
            #expect(added.status == 0, "\(added)")
        }
        let rows = try server.query("SELECT \"text\" FROM \"\(schema)\".\"TodoItem\"")
        #expect(rows == [["Buy milk"], ["Buy milk"], ["Buy milk"]])
        let environment = ["PGHOST": server.folder, "PGUSER": "postgres", "PGDATABASE": "postgres"]
        let listed = try tool.run(
            ["todo", "list", "--store", "postgresql:schema=\(schema)"], environment: environment)
        #expect(listed.status == 0 && listed.out.contains("Buy milk"), "\(listed)")
        let missing = try tool.run("todo", "list", "--store", "postgresql:host=/nonexistent,dbname=x")
        #expect(missing.status != 0 && missing.err.contains("check that the server runs"), "\(missing)")
    }

    @Test func aCheckOfAServerWithoutAStoreListsTheChangesAndMakesNone() throws {
        let server = try TestServer.shared.get()
        let connection = try server.makeDatabase()
        let tool = try ProbeProcess("tideline")
        let check = ["serve", "--check", "--port", "0", "--store", "postgresql:\(connection)"]
        let missing = try tool.run(check)
        #expect(missing.status == 0 && missing.out.contains("does not exist and would be created"), "\(missing)")
        #expect(missing.out.contains("change: create table \"TodoItem\""), "\(missing)")
        #expect(try tool.run("todo", "list", "--store", "postgresql:\(connection),read-only=yes").status != 0)
        #expect(try tool.run("todo", "add", "--store", "postgresql:\(connection)", "Buy milk").status == 0)
        let client = try tool.run(check)
        #expect(client.status == 1 && client.err.contains("belongs to a client"), "\(client)")
    }

    @Test func theSuiteAndTheBenchmarkRunInADatabaseAndLeaveNothing() throws {
        let server = try TestServer.shared.get()
        let connection = try server.makeDatabase()
        let database = try #require(connection.split(separator: " ").first { $0.hasPrefix("dbname=") })
        let tool = try ProbeProcess("tideline")
        let store = "postgresql,host=\(server.folder),\(database),user=postgres"
        let checked = try tool.run(
            "conformance", "--store", store, "--filter", "UPS-001", "--filter", "LIF-001", "--filter", "DUR-001")
        #expect(checked.status == 0, "\(checked)")
        let environment = ["PGHOST": server.folder, "PGUSER": "postgres", "PGDATABASE": String(database.dropFirst(7))]
        let measured = try tool.run(
            ["bench", "--store", "postgresql", "--filter", "get-one-row", "--rows", "100", "--quick", "--json", "-"],
            environment: environment
        )
        #expect(measured.status == 0, "\(measured)")
        struct Report: Decodable {
            struct Subject: Decodable {
                var durability: StoreCapabilities.Durability
                var settings: [String]
            }
            var subjects: [Subject]
        }
        let report = try JSONDecoder().decode(Report.self, from: Data(measured.out.utf8))
        #expect(report.subjects.map(\.durability) == [.normal])
        #expect(report.subjects.map(\.settings) == [["durability=normal"]])
        let left = try PlainConnection(connection).query(
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tideline%'")
        #expect(left.isEmpty)
    }

    @Test(arguments: ["conformance", "bench"])
    func aDatabaseThatIsNotNamedIsAnErrorThatSaysHowToNameIt(_ command: String) throws {
        let tool = try ProbeProcess("tideline")
        let environment = ["PGHOST": "/nonexistent", "PGPASSWORD": "S3cret"]
        let output = try tool.run([command, "--store", "postgresql"], environment: environment)
        #expect(output.status == 2)
        #expect(output.err.contains("postgresql,host=localhost,dbname=test,user=tester"), "\(output)")
        #expect(!output.err.contains("S3cret") && !output.out.contains("S3cret"))
        let located = try tool.run(command, "--store", "postgresql:host=/nonexistent")
        #expect(located.err.contains("write postgresql,host=/nonexistent"), "\(located)")
        let secret = try tool.run(command, "--store", "postgresql,password=S3cret")
        #expect(secret.status == 2 && secret.err.contains("no setting \"password\""), "\(secret)")
    }

    @Test func theDemoRunsWithTwoServersOverADatabaseThatIsKilled() throws {
        let tool = try ProbeProcess("tideline")
        let output = try tool.run("demo", "--store", "postgresql")
        #expect(output.status == 0 && output.out.contains("nothing is lost"), "\(output)")
    }

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
            connection: server.connection(), options: .patient(schema: schemas[1]))
        #expect(try restored.read { try $0.rows(matching: TableQuery("Item")).rows } == rows)
        try restored.close()
        let again = #expect(throws: ToolError.self) {
            try StoreRestoration(keepsTimestamps: true).run(from: file, to: locations[1])
        }
        #expect(again?.message.contains("restore into a new store") == true)
    }

    /// Creates the store of a server, and returns its rows.
    private static func fill(_ server: TestServer, _ schema: String) throws -> [Row] {
        let store = try PostgreSQLStore(connection: server.connection(), options: .patient(schema: schema))
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
