#if Commands
public import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The benchmark as a command.
///
/// The executable of a store's author needs only this:
///
/// ```swift
/// @main struct Tool {
///     static func main() async {
///         await BenchCommand.main(stores: [BenchmarkStore { try MyStore(directory: $0) }])
///     }
/// }
/// ```
///
/// The exit status is 0 for success, 1 after a wrong answer, a failure, or a regression with `--fail-on-regression`, 2
/// for an invalid command line or a report that cannot be written, and 130 after an interruption.
public enum BenchCommand {
    /// Runs the benchmark with the arguments of the process, then ends the process.
    public static func main(stores: [BenchmarkStore]) async -> Never {
        do {
            let command = try StandaloneBench.parse()
            Foundation.exit(try await run(command.options, stores: try BenchStores(stores)))
        } catch {
            exit(StandaloneBench.self, after: error)
        }
    }

    /// Runs the benchmark, or lists the workloads, for a command with ``BenchOptions`` as an option group.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - stores: The available stores.
    /// - Returns: The exit status.
    /// - Throws: `ValidationError` for invalid options, before anything runs.
    public static func run(_ options: BenchOptions, stores: BenchStores) async throws -> Int32 {
        let settings = options.settings
        let workloads = Workload.all(settings, rows: settings.rows.first ?? 0)
        let selection = try WorkloadSelection(
            patterns: options.filter, isQuick: options.quick, among: workloads)
        if options.reports.list {
            let listing = WorkloadListing(workloads: selection.chosen(workloads))
            try options.reports.writeList(listing.text, markdown: listing.markdown)
            return 0
        }
        return try await BenchSession(options, selection: selection, stores: stores).run()
    }

    /// Ends the process after an error of ``run(_:stores:)`` or of parsing, with status 2 for invalid arguments.
    public static func exit(_ command: any ParsableCommand.Type, after error: any Error) -> Never {
        ExitStatus.exit(command, after: error)
    }
}

/// The command of an executable with no other function.
private struct StandaloneBench: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: URL(fileURLWithPath: CommandLine.arguments[0]).lastPathComponent,
            abstract: BenchOptions.abstract, discussion: BenchOptions.discussion)
    }

    @OptionGroup var options: BenchOptions
}
#endif
