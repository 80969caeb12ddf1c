#if PostgreSQL && Tool
import Testing
import TidelineTestSupport

/// Tests `--store postgresql:…` in the tool.
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
            ["bench", "--store", "postgresql", "--filter", "get-one-row", "--rows", "100", "--quick"],
            environment: environment
        )
        #expect(measured.status == 0, "\(measured)")
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
}
#endif
