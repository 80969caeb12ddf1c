#if Commands
public import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The conformance suite as a command.
///
/// A complete executable for a store:
///
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         await ConformanceCommand.main(stores: [StoreHarness { try MyStore(directory: $0) }])
///     }
/// }
/// ```
///
/// The exit status is 0 on success, 1 after failures, 2 if the command line is invalid or a report cannot be written,
/// and 130 if the command was interrupted.
///
/// The checks of each store run in a separate process, another instance of the same executable, so that a store that
/// terminates its process fails only the current check.
public enum ConformanceCommand {
    /// Runs the suite according to the process's arguments and exits.
    ///
    /// The executable of a single store can also serve as the second process of its tests: `StoreProcess(executable:
    /// path)`.
    public static func main(stores: [StoreHarness]) async -> Never {
        if stores.count == 1, let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: stores[0]) {
            Foundation.exit(status)
        }
        await main(StandaloneCommand.self, options: \.options, stores: ConformanceStores(stores), program: .current())
    }

    /// Runs the suite, lists checks, or explains a check, as requested by the options.
    ///
    /// Use this method in your own command that has ``ConformanceOptions`` as an option group.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - stores: The available stores.
    ///   - program: How to run this command as another process.
    /// - Returns: The exit status.
    /// - Throws: `ValidationError` for invalid options, before anything runs.
    public static func run(
        _ options: ConformanceOptions, stores: ConformanceStores, program: ConformanceProgram
    ) async throws -> Int32 {
        try options.confirmNothingIsLeft()
        var (stores, program) = (stores, program)
        if let folder = options.fixtures {
            stores.fixtures = folder
            program.arguments += ["--fixtures", folder]
        }
        if let status = try await HiddenProcess(options: options, stores: stores, program: program).run() {
            return status
        }
        if let id = options.explain { return try CheckListing.explain(id, among: Check.all.map(\.summary)) }
        let checks = try CheckSelection(profile: options.profile, patterns: options.filter).checks
        if options.reports.list {
            let list = checks.map(\.summary)
            try options.reports.writeList(CheckListing.text(of: list), markdown: MarkdownCheckList().text(of: list))
            return 0
        }
        return try await ConformanceSession(options, checks: checks, stores: stores, program: program).run()
    }

    /// Exits after an error thrown by ``run(_:stores:program:)`` or by parsing, with status 2 for a usage error.
    public static func exit(_ command: any ParsableCommand.Type, after error: any Error) -> Never {
        ExitStatus.exit(command, after: error)
    }

    private static func main<Command: ParsableCommand>(
        _ type: Command.Type, options: any KeyPath<Command, ConformanceOptions> & Sendable, stores: ConformanceStores,
        program: ConformanceProgram
    ) async -> Never {
        do {
            let command = try Command.parse()
            Foundation.exit(try await run(command[keyPath: options], stores: stores, program: program))
        } catch {
            exit(type, after: error)
        }
    }
}

/// The command of an executable that has no other commands.
private struct StandaloneCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: ConformanceProgram.current().name, abstract: ConformanceOptions.abstract,
            discussion: ConformanceOptions.discussion)
    }

    @OptionGroup var options: ConformanceOptions
}

/// Describes how the command is run, by a user and as another process.
public struct ConformanceProgram: Sendable {
    /// The command as typed by a user, without options, such as `tideline conformance`.
    public var name: String
    /// The path of the executable.
    public var executable: String
    /// The arguments that precede the options.
    public var arguments: [String]

    /// Creates a program description.
    public init(name: String, executable: String, arguments: [String] = []) {
        self.name = name
        self.executable = executable
        self.arguments = arguments
    }

    /// Returns a description of this executable with the given arguments before the options.
    public static func current(_ arguments: String...) -> ConformanceProgram {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let name = URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent
        return ConformanceProgram(
            name: ([name] + arguments).joined(separator: " "), executable: path, arguments: arguments)
    }
}
#endif
