#if Tool
import ArgumentParser
import Foundation
import Testing

@testable import TidelineTool

@Suite("The command line")
struct CommandLineTests {
    @Test("serve has defaults for all options and listens on the loopback address")
    func serveDefaults() throws {
        let command = try #require(TidelineCommand.parseAsRoot(["serve"]) as? ServeCommand)
        #expect(command.host == "127.0.0.1" && command.port == 8080)
        #expect(command.store == nil && command.createTables == nil)
        #expect(command.pageSize == nil && command.dialect == .zumo2)
        #expect(throws: Never.self) { try StoreLocation(parsing: ServeCommand.defaultStore) }
    }

    @Test("serve accepts its options")
    func serveOptions() throws {
        let arguments = [
            "serve", "--host", "::1", "--port", "0", "--store", "sqlite:a.db", "--schema", "s.yaml",
            "--no-create-tables", "--page-size", "1000", "--dialect", "datasync3", "--log-level", "debug",
            "--max-body-size", "1000", "--max-bodies-size", "5000", "--idle-timeout", "1", "--header-timeout", "2",
            "--body-timeout", "3", "--query-timeout", "4",
        ]
        let command = try #require(TidelineCommand.parseAsRoot(arguments) as? ServeCommand)
        #expect(command.host == "::1" && command.port == 0)
        #expect(command.store?.path == "a.db" && command.schema == "s.yaml" && command.createTables == false)
        #expect(command.maxBodiesSize == 5_000)
        let times = [command.idleTimeout, command.headerTimeout, command.bodyTimeout, command.queryTimeout]
        #expect(times == [1, 2, 3, 4])
        #expect(command.pageSize == 1000 && command.dialect == .datasync3 && command.logLevel == .debug)
    }

    @Test(
        "An invalid command line exits with status 64",
        arguments: [
            ["serv"], ["serve", "--port", "65536"], ["serve", "--port", "-1"], ["serve", "--port", "http"],
            ["serve", "--page-size", "0"], ["serve", "--page-size", "1001"], ["serve", "--max-body-size", "0"],
            ["serve", "--max-page-bytes", "0"],
            ["serve", "--max-body-size", "1000", "--max-bodies-size", "999"], ["serve", "--idle-timeout", "0"],
            ["serve", "--header-timeout", "-1"], ["serve", "--body-timeout", "86401"],
            ["serve", "--query-timeout", "x"], ["serve", "--public-url", "example.com"],
            ["serve", "--public-url", "https://example.com/?a=b"], ["serve", "--public-url", "https:///x"],
            ["serve", "--store", "nothing"], ["serve", "--log-level", "loud"], ["serve", "extra"], ["--nonsense"],
            ["serve", "--dialect", "zumo3"], ["simulate", "--dialect", ""], ["todo", "sync", "--dialect", "datasync"],
            ["todo", "add"], ["todo", "add", "a", "--stdin"], ["todo", "sync", "--page-size", "0"],
            ["todo", "sync", "--timeout", "0"], ["todo", "sync", "--watch", "--json"],
            ["todo", "sync", "--watch", "--interval", "0"], ["todo", "list", "--store", "nosuch:x"],
            ["todo", "resolve", "--server", "--mine"], ["demo", "--store", "nosuch"], ["nonsense"],
        ])
    func usageErrors(arguments: [String]) throws {
        let error = try #require(#expect(throws: (any Error).self) { try TidelineCommand.parseAsRoot(arguments) })
        #expect(TidelineCommand.exitCode(for: error) == ExitCode.validationFailure)
        #expect(ExitCode.validationFailure.rawValue == 64)
    }

    @Test(
        "An unknown dialect is an error that lists the known ones",
        arguments: [["serve"], ["simulate"], ["todo", "sync"]])
    func unknownDialect(command: [String]) throws {
        let error = try #require(
            #expect(throws: (any Error).self) { try TidelineCommand.parseAsRoot(command + ["--dialect", "zumo3"]) })
        let message = TidelineCommand.message(for: error)
        #expect(message.contains("there is no dialect \"zumo3\"; use one of zumo2, datasync3."), "\(message)")
    }

    @Test(
        "Output that cannot be written ends a command with a failure and the reason, unless nothing reads it",
        arguments: [
            ("todo list --json --store memory", 1), ("todo status --store memory", 1),
            ("simulate --seeds 1 --json", 1), ("simulate --seeds 1", 1), ("serve --print-config", 1),
            ("conformance --list", 1), ("conformance --explain UPS-001", 1),
            ("conformance --store memory --filter UPS-001", 2),
            ("conformance --store memory --filter UPS-001 --quiet --json -", 2),
        ])
    func unwritableOutput(_ words: String, status: Int32) throws {
        let tool = try Tool()
        let command = "'\(tool.executable.path)' \(words)"
        try ToolProcess.run("/bin/sh", "-c", "\(command) > /dev/full")
            .expect(status, "standard output cannot be written: No space left on device")
        try ToolProcess.run("/bin/sh", "-c", "\(command) >&-").expect(0)
    }

    @Test(
        "The help of --store names its default",
        arguments: [ServeCommand.self as any ParsableCommand.Type, BackupCommand.self, RestoreCommand.self])
    func defaultStore(command: any ParsableCommand.Type) {
        let help = TidelineCommand.helpMessage(for: command, columns: 200)
        #expect(help.contains("The default is \(ServeCommand.defaultStore)."), "\(help)")
    }

    /// Returns a command, its subcommands, and theirs.
    private static func commands(from command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        [command] + command.configuration.subcommands.flatMap { commands(from: $0) }
    }

    @Test("Every option of every command has help", arguments: Self.commands(from: TidelineCommand.self))
    func helpForEveryOption(command: any ParsableCommand.Type) {
        // An option without help has its default in the place of the help.
        let help = TidelineCommand.helpMessage(for: command, columns: 200)
            .replacing(#/\((?:default|values): [^)]*\)/#, with: "")
        let lines = help.split(separator: "\n")
        let options = lines.indices.filter { lines[$0].hasPrefix("  -") }
        for index in options {
            let label = lines[index].prefixMatch(of: #/ {2}(-\w, )?--[\w/-]+( <[^>]+>)?/#)
            let text = lines[index].dropFirst(label?.output.0.count ?? 0)
            // The help for a long name is on the next line, indented further.
            let next = index + 1 < lines.endIndex ? lines[index + 1] : ""
            let below = next.hasPrefix("      ") && next.contains { $0 != " " }
            #expect(text.contains { $0 != " " } || below, "no help: \(lines[index])")
        }
        #expect(!options.isEmpty)
    }
}
#endif
