#if Serve
internal import ArgumentParser
internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// `tideline todo shell`: runs several commands on a store that is opened once.
struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run commands on one open store, one per line.",
        discussion: """
            Reads commands from standard input, in the form that follows \"tideline todo\", until the end of the input \
            or the command exit. A store in memory lasts as long as the shell. A LevelDB store, which only one process \
            can open at a time, is opened once. If a command fails, the shell prints the error and continues.
            """
    )

    /// Whether the current task performs a command of the shell.
    @TaskLocal static var isRunning = false

    @OptionGroup var options: TodoOptions

    @Flag(
        help:
            "Answer each line with one line of JSON, which contains the command's status, output and errors.")
    var json = false

    func run() async throws {
        try await withStore(options.location()) { try await serve($0) }
    }

    private func serve(_ store: some LocalStore) async throws {
        let prompts = !json && isatty(STDIN_FILENO) == 1
        while let line = Self.nextLine(prompting: prompts) {
            let words: Result<[String], any Error> = Result { try CommandWords.split(line) }
            if case .success(let words) = words, words == ["exit"] { return }
            let reply = await ShellReply(captures: json) {
                let words = try words.get()
                if !words.isEmpty { try await Self.run(words, on: store) }
            }
            try json ? reply.printJSON() : reply.print()
        }
    }

    private static func nextLine(prompting: Bool) -> String? {
        if prompting { Output.print("todo> ") }
        return readLine()
    }

    private static func run(_ words: [String], on store: some LocalStore) async throws {
        try requireKnownCommand(words[...], of: TodoCommand.self)
        var command = try TodoCommand.parseAsRoot(words)
        if let command = command as? any TodoSubcommand {
            guard command.options.store == nil else {
                throw ToolError("--store is not available in the shell, whose store is already open")
            }
            guard (command as? AddCommand)?.stdin != true else {
                throw ToolError("--stdin is not available in the shell, which reads commands from standard input")
            }
            guard (command as? SyncCommand)?.watch != true else {
                throw ToolError("--watch is not available in the shell, which would wait for it")
            }
            try await $isRunning.withValue(true) { try await command.run(on: store) }
        } else if command is ShellCommand {
            throw ToolError("the shell is already running")
        } else {
            try command.run()
        }
    }
}

/// The result of one command of the shell.
struct ShellReply: Codable, Sendable {
    /// The exit status of the command.
    var status: Int32 = 0
    /// The text for standard output.
    var out = ""
    /// The text for standard error.
    var err = ""

    /// Runs a command and records its result.
    /// - Parameter captures: Whether to collect the output for the reply. If `false`, it is written at once.
    init(captures: Bool, _ command: () async throws -> Void) async {
        let capture = captures ? OutputCapture() : nil
        do {
            try await StandardOutput.$capture.withValue(capture) { try await command() }
            out = capture?.text ?? ""
        } catch {
            status = TodoCommand.exitCode(for: error).rawValue
            let message = TodoCommand.fullMessage(for: error) + "\n"
            out = (capture?.text ?? "") + (status == 0 ? message : "")
            err = status == 0 ? "" : message
        }
    }

    fileprivate func print() {
        Output.print(out)
        try? FileHandle.standardError.write(contentsOf: Data(err.utf8))
    }

    fileprivate func printJSON() throws {
        StandardOutput.line(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}
#endif
