#if Serve
internal import ArgumentParser
internal import Foundation
internal import Tideline
internal import TidelineSupport

#if Benchmark
internal import TidelineBenchmark
#endif
#if Tool
internal import TidelineConformance
#endif

/// The command `tideline`.
@main
struct TidelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tideline",
        abstract: "Offline sync with a local store you choose.",
        discussion: """
            Exit status: 0 on success, 1 if a command fails (with the reason on standard error), 64 for an invalid \
            command line. The commands conformance, simulate and bench exit with 2 in place of 64. Some \
            commands have further exit statuses, which their help lists.
            """,
        version: TidelineVersion.current,
        subcommands: [
            ServeCommand.self, BackupCommand.self, RestoreCommand.self, TodoCommand.self, DemoCommand.self,
        ] + furtherCommands
    )

    #if Benchmark
    private static let furtherCommands: [any ParsableCommand.Type] = [
        ConformanceToolCommand.self, SimulateCommand.self, BenchToolCommand.self,
    ]
    #elseif Tool
    private static let furtherCommands: [any ParsableCommand.Type] = [
        ConformanceToolCommand.self, SimulateCommand.self,
    ]
    #else
    private static let furtherCommands: [any ParsableCommand.Type] = []
    #endif

    /// Returns the command for arguments, to which the configuration of `serve` is added. Returns `nil` if the
    /// arguments only ask for the configuration, which is then printed.
    private static func parse(_ arguments: [String]) throws -> (any ParsableCommand)? {
        guard arguments.first == ServeCommand.configuration.commandName else { return try parseAsRoot(arguments) }
        let configuration = try ServeConfiguration(
            commandLine: Array(arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        do {
            let command = try parseAsRoot(arguments.prefix(1) + configuration.arguments)
            guard (command as? ServeCommand)?.configuration.printConfig == true else { return command }
            StandardOutput.line(configuration.description)
            return nil
        } catch {
            throw configuration.located(error)
        }
    }

    /// Runs the command that the arguments name, and exits with its status.
    static func main() async {
        if let trait = missingTrait { exitForMissingTrait(trait) }
        do {
            try requireKnownCommand(CommandLine.arguments.dropFirst(), of: Self.self)
            var command = try parse(Array(CommandLine.arguments.dropFirst()))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command?.run()
            }
            try StandardOutput.confirm()
        } catch {
            let name = CommandLine.arguments.dropFirst().first
            #if Tool
            if name == ConformanceToolCommand.configuration.commandName { ConformanceCommand.exit(self, after: error) }
            if name == SimulateCommand.configuration.commandName { ExitStatus.exit(self, after: error) }
            #endif
            #if Benchmark
            if name == BenchToolCommand.configuration.commandName { BenchCommand.exit(self, after: error) }
            #endif
            exit(withError: error)
        }
    }
}

/// A failure that the user can correct. Ends the command with status 1.
struct ToolError: Error, CustomStringConvertible {
    /// The problem and how to correct it.
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}
#else
internal import TidelineSupport

/// Prints the command that builds the tool with the packages that it needs.
@main
enum TidelineCommand {
    static func main() { exitForMissingTrait(missingTrait ?? "Tool") }
}
#endif

/// The trait that the command on the command line needs, if the build does not have it.
private var missingTrait: String? {
    switch CommandLine.arguments.dropFirst().first {
    #if !Benchmark
    case "bench": "Benchmark"
    #endif
    #if !Tool
    case "conformance", "simulate": "Tool"
    #endif
    default: nil
    }
}
