import Testing
import TidelineTestSupport

/// Tests `--store postgresql:…` in the tool.
@Suite(.enabled(if: TestServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)"))
struct ToolTests {
    @Test func aLocationOpensAStoreInADatabase() throws {
        let server = try TestServer.shared.get()
        let tool = try ProbeProcess("tideline")
        defer { tool.remove() }
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
}
