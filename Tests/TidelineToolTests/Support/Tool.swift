#if Tool
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// The built command, run as a process, with a working folder. The processes that it started end, and the folder is
/// removed, with the last reference to them.
struct Tool {
    let executable: URL
    private let started = StartedProcesses()
    private let temporary: TemporaryFolder

    var folder: URL { URL(fileURLWithPath: temporary.path) }

    init() throws {
        // The command is in the same folder as the test runner.
        let runner = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let folders = [runner, URL(fileURLWithPath: CommandLine.arguments[0])].map { $0.deletingLastPathComponent() }
        executable = try #require(
            folders.map { $0.appendingPathComponent("tideline") }
                .first { FileManager.default.isExecutableFile(atPath: $0.path) },
            "the command tideline is not built beside the tests")
        temporary = try TemporaryFolder()
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func run(_ arguments: String...) throws -> ToolProcess.Output { try run(arguments) }

    func run(_ arguments: [String]) throws -> ToolProcess.Output {
        try ToolProcess.run(arguments, executable: executable)
    }

    func todo(_ command: String, _ arguments: String..., store: String = "client.db") throws -> ToolProcess.Output {
        try run(["todo", command, "--store", "sqlite:\(path(store))"] + Self.limit(of: command) + arguments)
    }

    /// A time limit of the requests of a sync that a busy machine does not reach.
    private static func limit(of command: String) -> [String] { command == "sync" ? ["--timeout", "300"] : [] }

    /// Adds an item, and returns its identifier.
    func add(_ text: String, store: String = "client.db") throws -> String {
        String(try todo("add", text, store: store).expect(0).out.split(separator: " ")[1])
    }

    /// Returns all items of a list.
    func items(store: String = "client.db") throws -> [TodoItem] {
        try todo("list", "--json", store: store).expect(0).json()
    }

    /// Returns the status of the list.
    func report() throws -> StatusCommand.Report { try todo("status", "--json").json() }

    /// Starts a command of the to-do list that does not end by itself.
    func startTodo(_ command: String, _ arguments: String..., store: String = "client.db") throws -> ToolProcess {
        try start(["todo", command, "--store", "sqlite:\(path(store))"] + Self.limit(of: command) + arguments)
    }

    func start(_ arguments: [String]) throws -> ToolProcess {
        let process = try ToolProcess(arguments, keepsErrors: true, executable: executable)
        started.append(process)
        return process
    }

    /// Makes a certificate for 127.0.0.1, `cert.pem`, and its key, `key.pem`.
    func makeCertificate(named name: String) throws {
        let output = try ToolProcess.run(
            "/usr/bin/openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(name)",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path("key.pem"), "-out", path("cert.pem"))
        try #require(output.status == 0, "\(output.err)")
    }

    /// The options of a server with the certificate that was made.
    var certificateOptions: [String] { ["--tls-certificate", path("cert.pem"), "--tls-key", path("key.pem")] }

    /// Makes a certificate for a server with HTTP/2.
    func makeIdentity() throws -> ServerIdentity {
        try makeCertificate(named: "server")
        return try ServerIdentity(certificate: path("cert.pem"), key: path("key.pem"), allowsHTTP2: true)
    }

    /// Writes a file in the working folder, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path(name), atomically: true, encoding: .utf8)
        return path(name)
    }

    /// Returns the location of a store in the working folder.
    func location(_ engine: StoreEngine, _ name: String) -> String { engine.location(named: name, in: folder) }

    /// Starts a server on a free port, and returns it with its address.
    func startServer(
        _ arguments: String..., engine: StoreEngine = .sqlite
    ) throws -> (process: ToolProcess, url: String) {
        try startServer(arguments, engine: engine)
    }

    func startServer(
        _ arguments: [String], engine: StoreEngine = .sqlite
    ) throws -> (process: ToolProcess, url: String) {
        // A busy machine may exceed the default time limits.
        let limits = ["--header-timeout", "300", "--query-timeout", "300"]
        let server = try start(
            ["serve", "--port", "\(FreePort.next())", "--store", location(engine, "server")] + limits + arguments)
        let line = try #require(server.readLine())
        return (server, String(try #require(line.split(separator: " ").last)))
    }
}

/// `@unchecked Sendable`: the list is only used while the lock is held, and its processes only when nothing else refers
/// to the list.
private final class StartedProcesses: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [ToolProcess] = []

    deinit { for process in all { process.stop() } }

    func append(_ process: ToolProcess) {
        lock.withLock { all = all.filter(\.isRunning) + [process] }
    }
}

/// Returns the number in an environment variable.
func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

/// Returns the content of a file of the package.
func packageFile(_ path: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).pathComponents.dropLast(4).joined(separator: "/")
    return try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
}

/// Returns the port in the address of a server.
func port(of url: String) throws -> String { String(try #require(url.split(separator: ":").last)) }

extension ToolProcess {
    /// Runs another program until it ends.
    static func run(_ program: String, _ arguments: String...) throws -> Output {
        try run(arguments, executable: URL(fileURLWithPath: program))
    }
}

extension ToolProcess.Output {
    /// Expects a status, and texts in the standard output or, after a failure, in the standard error.
    @discardableResult
    func expect(_ status: Int32, _ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) -> Self {
        #expect(self.status == status, "expected \(status) \(texts): \(self)", sourceLocation: sourceLocation)
        for text in texts {
            #expect(
                (status == 0 ? out : err).contains(text), "expected \(status) \(texts): \(self)",
                sourceLocation: sourceLocation)
        }
        return self
    }

    /// Decodes the standard output.
    func json<T: Decodable>(_ type: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(type, from: Data(out.utf8))
    }
}

extension StoreEngine: CustomTestStringConvertible {
    public var testDescription: String { name }
}
#endif
