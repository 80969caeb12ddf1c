public import ArgumentParser
internal import Foundation
public import TidelineConformance

/// The conformance suite as a command: a store becomes a tool that proves it.
///
/// An author's whole executable is
///
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         await ConformanceCommand.main(stores: [StoreHarness { try MyStore(directory: $0) }])
///     }
/// }
/// ```
///
/// Its exit status is 0 when all is well, 1 after failures, 2 when the command line is not understood or a report could not
/// be written, and 130 when it was interrupted.
///
/// The checks of each store run in a process of their own, this same executable once more, so that a store that ends its
/// process fails the check it was in, and no other.
public enum ConformanceCommand {
    /// Runs the suite as the process' arguments say, and ends the process.
    ///
    /// An executable of one store is also the second process that tests beside it can name:
    /// `StoreProcess(executable: path)`.
    public static func main(stores: [StoreHarness]) async -> Never {
        if stores.count == 1, let status = ConformanceChild.run(arguments: CommandLine.arguments, harness: stores[0]) {
            Foundation.exit(status)
        }
        await main(StandaloneCommand.self, options: \.options, stores: ConformanceStores(stores), program: .current())
    }

    /// Does what the options say: runs the suite, lists checks or explains one.
    ///
    /// For a command of one's own that has ``ConformanceOptions`` as an option group.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - stores: The stores there are to choose from.
    ///   - program: How this same command is run as another process.
    /// - Returns: The exit status.
    /// - Throws: `ValidationError` for options that cannot be followed, before anything runs.
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
        if let id = options.explain { return try CheckListing.explain(id) }
        let checks = try CheckSelection(profile: options.profile, patterns: options.filter).checks
        if options.list { return try CheckListing.list(checks, markdown: options.markdown) }
        return try await ConformanceSession(options, checks: checks, stores: stores, program: program).run()
    }

    /// Ends the process after an error that ``run(_:stores:program:)`` or parsing has thrown, with status 2 for one of usage.
    public static func exit(_ command: any ParsableCommand.Type, after error: any Error) -> Never {
        guard command.exitCode(for: error) == .validationFailure else { command.exit(withError: error) }
        FileHandle.standardError.write(Data((command.fullMessage(for: error) + "\n").utf8))
        Foundation.exit(usageStatus)
    }

    /// The exit status when the command line is not understood.
    static let usageStatus: Int32 = 2

    private static func main<Command: ParsableCommand>(
        _ type: Command.Type, options: KeyPath<Command, ConformanceOptions> & Sendable, stores: ConformanceStores,
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

/// The command of an executable that does nothing else.
private struct StandaloneCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: ConformanceProgram.current().name, abstract: ConformanceOptions.abstract,
            discussion: ConformanceOptions.discussion)
    }

    @OptionGroup var options: ConformanceOptions
}
