internal import ArgumentParser
internal import Foundation
internal import TidelineStore

/// `tideline todo shell`: many commands on a store that is opened once.
struct ShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Run commands on one open store, a line each.",
        discussion: """
            Reads commands from standard input, written as behind \"tideline todo\", until it ends or says exit. A store \
            in memory lives as long as the shell; a LevelDB store, which one process holds at a time, is opened once. A \
            command that fails is told, and the shell goes on.
            """
    )

    @OptionGroup var options: TodoOptions

    @Flag(
        help:
            "For programs: answer each line with one line of JSON, which has the command's status, output and errors.")
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
        if prompting { try? FileHandle.standardOutput.write(contentsOf: Data("todo> ".utf8)) }
        return readLine()
    }

    private static func run(_ words: [String], on store: some LocalStore) async throws {
        try requireKnownCommand(words[...], of: TodoCommand.self)
        var command = try TodoCommand.parseAsRoot(words)
        if let command = command as? any TodoSubcommand {
            guard command.options.store == nil else { throw ToolError("the shell's store is open; leave out --store") }
            guard !command.readsStandardInput else { throw ToolError("in the shell, standard input has the commands") }
            try await command.run(on: store)
        } else if command is ShellCommand {
            throw ToolError("this is the shell")
        } else {
            try command.run()
        }
    }
}

/// What came of one command of the shell.
struct ShellReply: Codable, Sendable {
    /// The exit status that the command would have had.
    var status: Int32 = 0
    /// What it wrote to standard output.
    var out = ""
    /// What it would have written to standard error.
    var err = ""

    /// Runs a command.
    /// - Parameter captures: Whether its output is kept for the reply; else it is written at once.
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
        try? FileHandle.standardOutput.write(contentsOf: Data(out.utf8))
        try? FileHandle.standardError.write(contentsOf: Data(err.utf8))
    }

    fileprivate func printJSON() throws {
        StandardOutput.line(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
    }
}
