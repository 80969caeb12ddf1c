#if Tool
import ArgumentParser
import Foundation
import HTTPTypes
import Testing
import TidelineSQLite
import TidelineServer
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

@Suite("The command serve and its configuration", .timeLimit(.minutes(15)))
struct ServeConfigurationTests {
    /// Returns the command for a file, variables, and arguments.
    private func command(
        file: String = "", _ environment: [String: String] = [:], _ arguments: String...
    ) throws -> ServeCommand {
        try withFile(file) { path in
            let configuration = try ServeConfiguration(
                commandLine: arguments + ["--config", path], environment: environment)
            do {
                return try #require(
                    TidelineCommand.parseAsRoot(["serve"] + configuration.arguments) as? ServeCommand)
            } catch {
                throw configuration.located(error)
            }
        }
    }

    private func withFile<T>(_ text: String, _ body: (String) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            try text.write(toFile: "\(folder)/serve.yaml", atomically: true, encoding: .utf8)
            return try body("\(folder)/serve.yaml")
        }
    }

    private func message(
        file: String = "", _ environment: [String: String] = [:], _ argument: String = "--port=1"
    ) throws -> String {
        let error = try #require(#expect(throws: (any Error).self) { try command(file: file, environment, argument) })
        return TidelineCommand.message(for: error)
    }

    @Test("The command line has precedence over the environment, and the environment over the file")
    func precedence() throws {
        let file = "port: 1\npage-size: 10\nhost: ::1\nquirk: [hard-delete, server-ids]\ncreate-tables: false"
        let environment = [
            "TIDELINE_SERVE_PORT": "2", "TIDELINE_SERVE_PAGE_SIZE": "20", "HOME": "/", "TIDELINE_SEED": "1",
        ]
        let command = try command(file: file, environment, "--port", "3")
        #expect(command.port == 3 && command.pageSize == 20 && command.host == "::1")
        #expect(command.quirks.count == 2 && command.createTables == false)
        #expect(try self.command(file: file, environment, "--create-tables").createTables == true)
        let flags = try self.command(file: file, ["TIDELINE_SERVE_CREATE_TABLES": "true"], "--quirk", "hard-delete")
        #expect(flags.createTables == true && flags.quirks.count == 1)
        let list = try self.command(["TIDELINE_SERVE_QUIRK": "hard-delete,server-ids"], "--port=5")
        #expect(list.quirks.count == 2 && list.port == 5)
        #expect(try self.command(file: #"{"port": 7}"#).port == 7)
    }

    @Test("An unknown key or variable is an error with its place and a suggestion")
    func unknownKeys() throws {
        let key = try message(file: "host: a\nprot: 1")
        #expect(key.contains(".yaml:2: there is no option \"prot\". Did you mean \"port\"?"), "\(key)")
        let variable = try message(["TIDELINE_SERVE_PROT": "1"])
        let expected = "no option \"TIDELINE_SERVE_PROT\". Did you mean \"TIDELINE_SERVE_PORT\"?"
        #expect(variable.contains(expected), "\(variable)")
        #expect(try message(file: "check: true").contains("only be given on the command line"))
    }

    @Test("The variables that Kubernetes sets for a service are ignored, and others are not")
    func serviceLinks() throws {
        let links = [
            "TIDELINE_SERVE_PORT": "tcp://10.0.0.1:8080", "TIDELINE_SERVE_SERVICE_HOST": "10.0.0.1",
            "TIDELINE_SERVE_SERVICE_PORT": "8080", "TIDELINE_SERVE_SERVICE_PORT_HTTP": "8080",
            "TIDELINE_SERVE_PORT_8080_TCP": "tcp://10.0.0.1:8080", "TIDELINE_SERVE_PORT_8080_TCP_PROTO": "tcp",
            "TIDELINE_SERVE_PORT_53_UDP_ADDR": "10.0.0.1", "TIDELINE_SERVE_PORT_53_UDP_PORT": "53",
            // Of a service tideline-serve-metrics.
            "TIDELINE_SERVE_METRICS_PORT": "tcp://10.0.0.2:9090", "TIDELINE_SERVE_METRICS_SERVICE_HOST": "10.0.0.2",
            "TIDELINE_SERVE_METRICS_SERVICE_PORT": "9090", "TIDELINE_SERVE_METRICS_SERVICE_PORT_WEB": "9090",
            "TIDELINE_SERVE_METRICS_PORT_9090_TCP": "tcp://10.0.0.2:9090",
            "TIDELINE_SERVE_METRICS_PORT_9090_TCP_PORT": "9090",
        ]
        let command = try command(links.merging(["TIDELINE_SERVE_PAGE_SIZE": "20"]) { $1 }, "--host", "::1")
        #expect(command.port == 8080 && command.pageSize == 20)
        #expect(ServeConfiguration.serviceLinks(in: links) == links.keys.sorted())
        #expect(try self.command(["TIDELINE_SERVE_PORT": "81"], "--host=::1").port == 81)
        let others = [
            "PORT": "http://10.0.0.1", "PORT_8080": "1", "SERVICES_HOST": "a", "PORT_8080_TCP_X": "1",
            "METRICS_PORT": "9090", "METRICSPORT": "tcp://10.0.0.2:9090",
        ]
        for (name, value) in others {
            let message = try message(["TIDELINE_SERVE_\(name)": value], "--host=::1")
            #expect(message.contains("TIDELINE_SERVE_\(name)"), "\(message)")
        }
    }

    @Test(
        "An invalid file or value is an error with its place",
        arguments: [
            ("port: 65536", ".yaml:1: --port must be from 0 to 65535"), ("\nport: x", ".yaml:2: "),
            ("port: [1, 2]", "port must have one value"), ("create-tables: maybe", "must be true or false"),
            ("- port", "must map names of options to values"), ("port: {", ".yaml:"), ("port: { a: 1 }", "one value"),
        ])
    func invalidFiles(file: String, expected: String) throws {
        let message = try message(file: file, [:], "--page-size=5")
        #expect(message.contains(expected), "\(message)")
    }

    @Test("A value of the environment that is invalid, or a list without values, is an error with the variable")
    func invalidVariable() throws {
        let message = try message(["TIDELINE_SERVE_IDLE_TIMEOUT": "0"])
        #expect(message.contains("TIDELINE_SERVE_IDLE_TIMEOUT: --idle-timeout must be"), "\(message)")
        #expect(throws: (any Error).self) {
            try ServeConfiguration(commandLine: [], environment: ["TIDELINE_SERVE_CONFIG": "/nonexistent.yaml"])
        }
        // It does not remove the list of the file.
        let text = try self.message(file: "jwt-audience: [todo]", ["TIDELINE_SERVE_JWT_AUDIENCE": ""], "")
        #expect(text.contains("TIDELINE_SERVE_JWT_AUDIENCE: there is no value"), "\(text)")
    }

    @Test(
        "Clients that wait for changes leave connections for other requests",
        arguments: [
            ("port: 1", 3_072), ("max-connections: 50", 37), ("max-connections: 1", 1),
            ("max-connections: 20000", 10_000), ("max-connections: 50\nmax-waiting-clients: 10000", 10_000),
        ])
    func waitingClients(file: String, expected: Int) throws {
        var limits = ServerLimits()
        try command(file: file).operations.apply(to: &limits)
        #expect(limits.maximumWaitingClients == expected)
    }

    @Test("The effective options are printed with their sources, as a file that gives the same options again")
    func printed() throws {
        let text = try withFile("page-size: 7\nquirk: [hard-delete]") { path in
            try ServeConfiguration(
                commandLine: ["--port", "9", "--config", path, "--no-create-tables", "--schema", "a b.yaml"],
                environment: ["TIDELINE_SERVE_HOST": "::1"]
            ).description
        }
        for line in [
            "port: 9  # command line", "page-size: 7  # ", "host: '::1'  # TIDELINE_SERVE_HOST",
            "create-tables: false  # command line", "schema: 'a b.yaml'  # command line", "quirk: [hard-delete]  # ",
            "idle-timeout: 60  # default",
        ] { #expect(text.contains(line), "\(text)") }
        let again = try command(file: text)
        #expect(again.port == 9 && again.pageSize == 7 && again.host == "::1" && again.createTables == false)
        #expect(again.schema == "a b.yaml" && again.quirks.count == 1)
        let secret = ConfigurableOption(names: ["jwt-secret"], isFlag: false, isRepeating: false)
        #expect(secret.isSecret && !ConfigurableOption(names: ["port"], isFlag: false, isRepeating: false).isSecret)
    }

    // MARK: serve --check

    /// Runs `serve --check` with tables as the content of `schema.yaml`.
    private static func check(_ tables: String, in store: String, _ tool: Tool) throws -> ToolProcess.Output {
        let schema = try tool.write("tables: { \(tables) }", to: "schema.yaml")
        return try tool.run("serve", "--check", "--port", "0", "--store", store, "--schema", schema)
    }

    @Test(
        "serve --check prints the changes to an existing store, and changes nothing",
        arguments: StoreEngine.all.filter(\.keepsRows))
    func check(engine: StoreEngine) async throws {
        let tool = try Tool()
        let store = tool.location(engine, "server")
        func check(_ tables: String) throws -> ToolProcess.Output { try Self.check(tables, in: store, tool) }
        let table = "A: { columns: { a: string } }"
        try check(table).expect(
            0, "does not exist and would be created", "change: create table \"A\": a string; index on updatedAt")
        #expect(!FileManager.default.fileExists(atPath: try StoreLocation(parsing: store).path))
        let (server, _) = try tool.startServer("--schema", tool.path("schema.yaml"), engine: engine)
        server.stop()
        #expect(server.errors().contains("schema change: create table \"A\""))
        let before = try await withStore(StoreLocation(parsing: store)) { try $0.tables() }
        try check(table).expect(0, "no table would change")
        let other = "B: { columns: { c: { type: int, required: true } } }"
        try check("A: { columns: { a: string, b: int }, indexes: [[b]] }, \(other)").expect(
            0, "change: table \"A\": add column \"b\", int", "change: table \"A\": add an index on b",
            "change: create table \"B\": c int, required; index on updatedAt")
        try check("A: { columns: { a: int } }").expect(1, "has type string")
        try check("A: { columns: { a: strin } }").expect(1, "schema.yaml:1")
        try await withStore(StoreLocation(parsing: store)) { store in
            try store.write { try $0.upsert(["id": "1", "a": "x"], into: "A") }
        }
        try check("A: { columns: { b: { type: int, required: true } } }").expect(1, "the table has rows")
        #expect(try await withStore(StoreLocation(parsing: store)) { try $0.tables() } == before)
    }

    @Test(
        "serve --check fails for a store opened read-only that is missing or would change, as the start does",
        arguments: StoreEngine.all.filter { $0.settings.contains("read-only") })
    func readOnly(engine: StoreEngine) throws {
        let tool = try Tool()
        let (store, table) = (tool.location(engine, "server"), "A: { columns: { a: string } }")
        func check(_ tables: String) throws -> ToolProcess.Output {
            try Self.check(tables, in: store + ",read-only=yes", tool)
        }
        try check(table).expect(1, "it does not exist")
        try Self.check(table, in: store, tool).expect(0)
        let (server, _) = try tool.startServer("--schema", tool.path("schema.yaml"), engine: engine)
        server.stop()
        try check(table).expect(0, "the server can start")
        try check("\(table), B: { columns: { b: int } }").expect(1, "readOnly")
    }

    @Test("serve --check refuses a client's store and a missing folder, and --print-config starts nothing")
    func refusals() throws {
        let tool = try Tool()
        #expect(try tool.todo("add", "Milk").status == 0)
        try tool.run("serve", "--check", "--store", "sqlite:\(tool.path("client.db"))").expect(1, "belongs to a client")
        try tool.run("serve", "--check", "--store", "sqlite:\(tool.path("none/a.db"))").expect(1, "there is no folder")
        try tool.run("serve", "--print-config", "--store", "sqlite:\(tool.path("new.db"))")
            .expect(0, "port: 8080  # default")
        #expect(!FileManager.default.fileExists(atPath: tool.path("new.db")))
    }

    // MARK: The server

    @Test("A port that is in use is an error with the address, and no file is created")
    func portTaken() throws {
        let tool = try Tool()
        let (_, url) = try tool.startServer()
        let port = try port(of: url)
        try tool.run("serve", "--port", port, "--store", "sqlite:\(tool.path("second.db"))")
            .expect(1, "cannot listen on 127.0.0.1 port \(port): ", "in use")
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        #expect(!files.contains { $0.hasPrefix("second") }, "\(files)")
    }

    @Test("An address of another machine is an error with the address")
    func unknownHost() async throws {
        // The name is too long for DNS, so that no lookup is made: a lookup without an answer takes many seconds.
        let host = String(repeating: "a", count: 64) + ".invalid"
        let service = try TableService(store: SQLiteStore.inMemory())
        let error = try await #require(
            #expect(throws: ToolError.self) { try await makeServer(host: host).run(service) { _ in } })
        #expect(error.message.hasPrefix("cannot listen on \(host) port 0: "))
    }

    @Test(
        "With --schema, requests create tables and columns only if that is enabled",
        arguments: [([], false), (["--create-tables"], true), (["--no-create-tables"], false)] as [([String], Bool)])
    func fixedSchema(flags: [String], makesTables: Bool) async throws {
        let tool = try Tool()
        let schema = try tool.write("tables: { Fixed: { columns: { a: string } } }", to: "schema.yaml")
        let (_, url) = try tool.startServer(["--schema", schema] + flags)
        for (path, row) in [("Fixed", #"{"id":"1","b":1}"#), ("Other", #"{"id":"1"}"#)] {
            let status = try await send(.post, "/tables/\(path)", to: url, body: row).response.status
            #expect((status == .created) == makesTables, "\(path): \(status)")
        }
        let known = try await send(.post, "/tables/Fixed", to: url, body: #"{"id":"2","a":"x"}"#)
        #expect(known.response.status == .created)
    }
}
#endif
