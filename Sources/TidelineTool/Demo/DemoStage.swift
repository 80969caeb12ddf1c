#if Serve
internal import Foundation
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineSQLite
internal import TidelineStore

/// The environment of the demo: a folder, a running server, and the commands of its clients.
final class DemoStage {
    let folder: URL
    let engine: StoreEngine
    private(set) var url = ""
    private(set) var checks = 0
    /// The store of the server, or `nil` for one of the same engine.
    private let serverLocation: String?
    private var server: ToolProcess?
    private var otherServer: ToolProcess?

    init(folder: URL, engine: StoreEngine, serverLocation: String? = nil) {
        self.folder = folder
        self.engine = engine
        self.serverLocation = serverLocation
    }

    // MARK: Output

    func title(_ text: String) { StandardOutput.line("\n\(text)") }
    func say(_ text: String) { StandardOutput.line("   \(text)") }
    func quote(_ text: String) {
        for line in text.split(separator: "\n") { StandardOutput.line("   | \(line)") }
    }

    /// Checks a promise and prints the result.
    /// - Throws: ``ToolError`` if the promise does not hold, which ends the demo with status 1.
    func check(_ promise: String, _ holds: Bool, found: @autoclosure () -> String = "") throws {
        checks += 1
        guard holds else {
            say("✗ \(promise)")
            let found = found()
            throw ToolError("the demo failed: \(promise)" + (found.isEmpty ? "" : "; found \(found)"))
        }
        say("✓ \(promise)")
    }

    /// Waits for a state that stays once it is reached, and checks it.
    func wait(_ promise: String, _ holds: () async throws -> Bool) async throws {
        let start = ContinuousClock.now
        while try await !holds(), ContinuousClock.now - start < .seconds(300) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let seconds = Double((ContinuousClock.now - start) / .milliseconds(1)) / 1000
        try check("\(promise) (after \(String(format: "%.2f", seconds)) s)", try await holds())
    }

    // MARK: Server

    /// Starts the server again at the same address.
    func restartServer() throws { try startServer(port: port) }

    private var port: String { String(url[url.index(after: url.lastIndex(of: ":") ?? url.startIndex)...]) }

    /// Starts a sign-in page at the address of the server, which must have stopped.
    func openPortal() async throws -> HotelPortal {
        let portal = try await HotelPortal(port: Int(port) ?? 0)
        say("a sign-in page answers on \(url)")
        return portal
    }

    /// The table of the server, which rejects items without a text. The table of the clients does not.
    private static let schema = """
        tables:
          TodoItem:
            columns:
              text: { type: string, required: true }
              complete: bool
            indexes:
              - [complete, text]
        """

    /// Starts the server, by default at a free port.
    func startServer(port: String? = nil) throws {
        let server = try serve(port: port ?? "\(FreePort.next())")
        self.server = server.process
        url = server.url
        say("a server listens on \(url)")
    }

    /// Starts another server over the same store, and returns its address.
    func startAnotherServer() throws -> String {
        let server = try serve(port: "0")
        otherServer = server.process
        say("another server listens on \(server.url)")
        return server.url
    }

    private func serve(port: String) throws -> (process: ToolProcess, url: String) {
        let schema = folder.appendingPathComponent("server.yaml")
        try Self.schema.write(to: schema, atomically: true, encoding: .utf8)
        let store = serverLocation ?? location("server")
        let server = try ToolProcess(["serve", "--port", port, "--store", store, "--schema", schema.path])
        guard let line = server.readLine(), let url = line.split(separator: " ").last, url.hasPrefix("http") else {
            server.stop()
            throw ToolError("the server did not start")
        }
        return (server, String(url))
    }

    func stopServer() { server?.stop() }

    func stopServers() {
        server?.stop()
        otherServer?.stop()
    }

    /// Returns the server's rows in order of id, read over HTTP.
    func serverRows() async throws -> [TodoItem] {
        let store = try SQLiteStore.inMemory()
        let client = try SyncClient(url: url, store: store)
        try await client.define([TodoItem.schema])
        let table = client.remoteTable(TodoItem.schema.name)
        let rows = try await table.read(TableQuery(TodoItem.schema.name).order(by: "id").limit(1000)).rows
        try store.close()
        return try rows.map { try $0.decode(TodoItem.self) }
    }

    // MARK: Clients

    func location(_ name: String) -> String { engine.location(named: name, in: folder) }

    func client(_ name: String) -> DemoClient { DemoClient(stage: self, location: location(name)) }
}
#endif
