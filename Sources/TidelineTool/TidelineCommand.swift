internal import ArgumentParser
internal import Tideline
internal import TidelineBenchmarkCommand
internal import TidelineConformanceCommand

/// The command `tideline`.
@main
struct TidelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tideline",
        abstract: "Offline sync with a local store you choose.",
        discussion: """
            Exit status: 0 when all went well, 1 when something failed (the reason is on standard error), 64 when the \
            command line is not understood; conformance and bench have their own, which their help names.
            """,
        version: TidelineVersion.current,
        subcommands: [
            ServeCommand.self, TodoCommand.self, DemoCommand.self, ConformanceToolCommand.self, BenchToolCommand.self,
        ]
    )

    /// Runs the command that the arguments name, and ends with its status.
    static func main() async {
        do {
            try requireKnownCommand(CommandLine.arguments.dropFirst(), of: Self.self)
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let name = CommandLine.arguments.dropFirst().first
            if name == ConformanceToolCommand.configuration.commandName { ConformanceCommand.exit(self, after: error) }
            if name == BenchToolCommand.configuration.commandName { BenchCommand.exit(self, after: error) }
            exit(withError: error)
        }
    }
}
