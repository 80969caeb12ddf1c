internal import Foundation
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineSQLite
internal import TidelineStore

/// Where the demo plays: a folder, a running server, and the commands of its clients.
final class DemoStage {
    let folder: URL
    let engine: String
    private(set) var url = ""
    private(set) var checks = 0
    private var server: ToolProcess?

    init(folder: URL, engine: String) {
        self.folder = folder
        self.engine = engine
    }

    // MARK: Telling

    func title(_ text: String) { StandardOutput.line("\n\(text)") }
    func say(_ text: String) { StandardOutput.line("   \(text)") }
    func quote(_ text: String) {
        for line in text.split(separator: "\n") { StandardOutput.line("   | \(line)") }
    }

    /// Holds a promise against what was found.
    /// - Throws: ``ToolError`` when it does not hold, which ends the demo with status 1.
    func check(_ promise: String, _ holds: Bool, found: @autoclosure () -> String = "") throws {
        checks += 1
        guard holds else {
            say("✗ \(promise)")
            let found = found()
            throw ToolError("the demo failed: \(promise)" + (found.isEmpty ? "" : "; found \(found)"))
        }
        say("✓ \(promise)")
    }

    // MARK: Server

    func startServer() throws {
        let server = try ToolProcess(["serve", "--port", "0", "--store", location("server")])
        self.server = server
        guard let line = server.readLine(), let url = line.split(separator: " ").last, url.hasPrefix("http") else {
            throw ToolError("the server did not start")
        }
        self.url = String(url)
        say("a server listens on \(url)")
    }

    func stopServer() { server?.stop() }

    /// The rows that the server has, in order of id; asked for over HTTP.
    func serverRows() async throws -> [TodoItem] {
        let store = try SQLiteStore.inMemory()
        let client = try SyncClient(url: url, store: store)
        try await client.define(TodoItem.schema)
        let table = client.remoteTable(TodoItem.schema.name)
        let rows = try await table.read(Query(TodoItem.schema.name).order(by: "id").limit(1000)).rows
        try store.close()
        return try rows.map { try $0.decode(TodoItem.self) }
    }

    // MARK: Clients

    func location(_ name: String) -> String {
        // A comma in a path is written twice.
        let path = folder.appendingPathComponent("\(name).db").path.replacingOccurrences(of: ",", with: ",,")
        return "\(engine):\(path)"
    }

    func client(_ name: String) -> DemoClient { DemoClient(stage: self, store: location(name)) }
}

/// One client of the demo: its commands are processes of their own.
struct DemoClient {
    let stage: DemoStage
    let store: String

    /// Runs `tideline todo …` on this client's store and returns what it left; a failure unless `status` is as expected.
    @discardableResult
    func run(_ command: String, _ arguments: String..., status: Int32 = 0) throws -> ToolProcess.Output {
        stage.say("$ tideline todo \(([command] + arguments).joined(separator: " "))")
        return try quietly(command, arguments, status: status)
    }

    func start(_ command: String, _ arguments: String...) throws -> ToolProcess {
        stage.say("$ tideline todo \(([command] + arguments).joined(separator: " "))")
        return try ToolProcess(["todo", command, "--store", store] + arguments)
    }

    func items() throws -> [TodoItem] { try decode(quietly("list", ["--json"]).out) }

    func report() throws -> StatusCommand.Report { try decode(quietly("status", ["--json"]).out) }

    /// Syncs and returns the counts.
    func sync() throws -> SyncCommand.Report {
        stage.say("$ tideline todo sync")
        return try decode(quietly("sync", ["--json", "--url", stage.url]).out)
    }

    private func quietly(_ command: String, _ arguments: [String], status: Int32 = 0) throws -> ToolProcess.Output {
        let output = try ToolProcess.run(["todo", command, "--store", store] + arguments)
        guard output.status == status else {
            throw ToolError(
                "tideline todo \(command) ended with status \(output.status), not \(status): \(output.out)\(output.err)"
            )
        }
        return output
    }

    private func decode<T: Decodable>(_ json: String) throws -> T {
        try JSONDecoder().decode(T.self, from: Data(json.utf8))
    }
}
