public import ArgumentParser
internal import Foundation
public import TidelineBenchmark

/// The benchmark as a command: a store becomes a tool that measures it.
///
/// An author's whole executable is
///
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         await BenchCommand.main(stores: [BenchmarkStore { try MyStore(directory: $0) }])
///     }
/// }
/// ```
///
/// Its exit status is 0 when all is well, 1 after wrong answers and failures and after a regression that was to be found, 2
/// when the command line is not understood or a report could not be written, and 130 when it was interrupted.
public enum BenchCommand {
    /// Measures as the process' arguments say, and ends the process.
    public static func main(stores: [BenchmarkStore]) async -> Never {
        do {
            let command = try StandaloneBench.parse()
            Foundation.exit(try await run(command.options, stores: try BenchStores(stores)))
        } catch {
            exit(StandaloneBench.self, after: error)
        }
    }

    /// Does what the options say: measures, or lists workloads.
    ///
    /// For a command of one's own that has ``BenchOptions`` as an option group.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - stores: The stores there are to choose from.
    /// - Returns: The exit status.
    /// - Throws: `ValidationError` for options that cannot be followed, before anything runs.
    public static func run(_ options: BenchOptions, stores: BenchStores) async throws -> Int32 {
        let settings = options.settings
        let workloads = Workload.all(settings, rows: settings.rows.first ?? 0)
        let selection = try WorkloadSelection(
            patterns: options.filter, isQuick: options.quick, among: workloads)
        if options.list {
            try WorkloadListing.list(selection.chosen(workloads), markdown: options.markdown)
            return 0
        }
        return try await BenchSession(options, selection: selection, stores: stores).run()
    }

    /// Ends the process after an error that ``run(_:stores:)`` or parsing has thrown, with status 2 for one of usage.
    public static func exit(_ command: any ParsableCommand.Type, after error: any Error) -> Never {
        guard command.exitCode(for: error) == .validationFailure else { command.exit(withError: error) }
        FileHandle.standardError.write(Data((command.fullMessage(for: error) + "\n").utf8))
        Foundation.exit(usageStatus)
    }

    /// The exit status when the command line is not understood.
    static let usageStatus: Int32 = 2
}

/// The command of an executable that does nothing else.
private struct StandaloneBench: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent,
            abstract: BenchOptions.abstract, discussion: BenchOptions.discussion)
    }

    @OptionGroup var options: BenchOptions
}
