#if Serve
internal import Foundation

/// A client of the demo. Each of its commands runs in its own process. If the store's rows end with the process, the
/// commands are lines of one shell.
final class DemoClient {
    private let stage: DemoStage
    private let location: String
    /// The address of its server, or `nil` for that of the first one.
    var url: String?
    private var shell: ToolProcess?

    init(stage: DemoStage, location: String) {
        self.stage = stage
        self.location = location
    }

    // The shell ignores SIGTERM, as the demo does, and its rows end with it.
    deinit { if let shell, shell.isRunning { _ = shell.killNow() } }

    /// Runs `tideline todo …` on this client's store and returns its output.
    /// - Throws: ``ToolError`` if the exit status is not `status`.
    @discardableResult
    func run(_ command: String, _ arguments: String..., status: Int32 = 0) throws -> ToolProcess.Output {
        tell(command, arguments)
        return try quietly(command, arguments, status: status)
    }

    /// Adds an item, and kills the process as soon as it acknowledges the item.
    /// - Returns: The acknowledgment and the exit status of the process.
    func addAndDie(_ text: String) throws -> (acknowledgement: String, status: Int32) {
        guard stage.engine.keepsRows else {
            let acknowledgement = try run("add", text).out
            let status = try openShell().killNow()
            shell = nil
            return (acknowledgement.trimmingCharacters(in: .newlines), status)
        }
        tell("add", ["--stdin"])
        let adding = try ToolProcess(["todo", "add", "--store", location, "--stdin"])
        try adding.write(line: text)
        let acknowledgement = adding.readLine() ?? ""
        return (acknowledgement, adding.killNow())
    }

    func items() throws -> [TodoItem] { try decode(quietly("list", ["--json"]).out) }

    /// Returns the id of the item with a text, as a command takes it.
    func id(of text: String) throws -> String {
        guard let item = try items().first(where: { $0.text == text }) else {
            throw ToolError("the demo failed: \(text.debugDescription) is not in the list")
        }
        return shortID(item.id)
    }

    func report() throws -> StatusCommand.Report { try decode(quietly("status", ["--json"]).out) }

    /// Syncs the client and returns the counts.
    func sync() throws -> SyncCommand.Report {
        tell("sync", [])
        return try decode(quietly("sync", ["--json", "--url", url ?? stage.url]).out)
    }

    /// Starts a sync that runs until SIGINT.
    func watch() throws -> ToolProcess {
        tell("sync", ["--watch"])
        return try ToolProcess(["todo", "sync", "--watch", "--store", location, "--url", url ?? stage.url])
    }

    // MARK: Running

    private func tell(_ command: String, _ arguments: [String]) {
        stage.say("$ tideline todo \(([command] + arguments).joined(separator: " "))")
    }

    private func quietly(_ command: String, _ arguments: [String], status: Int32 = 0) throws -> ToolProcess.Output {
        let output =
            stage.engine.keepsRows
            ? try ToolProcess.run(["todo", command, "--store", location] + arguments)
            : try typed([command] + arguments)
        guard output.status == status else {
            throw ToolError(
                "tideline todo \(command) exited with \(output.status), not \(status): "
                    + "\(output.out)\(output.err)"
            )
        }
        return output
    }

    /// Runs a command in the shell.
    private func typed(_ words: [String]) throws -> ToolProcess.Output {
        let shell = try openShell()
        try shell.write(line: words.map { "'\($0)'" }.joined(separator: " "))
        guard let line = shell.readLine() else { throw ToolError("the shell does not respond") }
        let reply: ShellReply = try decode(line)
        return ToolProcess.Output(status: reply.status, out: reply.out, err: reply.err)
    }

    private func openShell() throws -> ToolProcess {
        if let shell { return shell }
        let opened = try ToolProcess(["todo", "shell", "--json", "--store", location])
        shell = opened
        return opened
    }

    private func decode<T: Decodable>(_ json: String) throws -> T {
        try JSONDecoder().decode(T.self, from: Data(json.utf8))
    }
}
#endif
