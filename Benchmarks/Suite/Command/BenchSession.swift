#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// A run of the command with its subjects, workloads and reports.
struct BenchSession: Sendable {
    private let options: BenchOptions
    private let outputs: ReportOutputs<ComparedReport>
    private let terminal: Terminal
    private let run: BenchmarkRun
    private let earlier: PreviousRun?
    /// All directories of the run.
    private let folders: [BenchmarkFolder]

    /// Prepares the run and checks its options.
    /// - Throws: `ValidationError` for invalid options.
    init(_ options: BenchOptions, selection: WorkloadSelection, stores: BenchStores) throws {
        // Reports in files are written even if standard output is closed.
        signal(SIGPIPE, SIG_IGN)
        self.options = options
        outputs = try ReportOutputs(options.outputs)
        terminal = Terminal(usesStandardError: outputs.useStandardOutput)
        let chosen = try SubjectSelection(options, stores: stores)
        let settings = options.settings
        earlier = try options.compare.map {
            try PreviousRun(path: $0, settings: settings, isTested: options.failOnRegression)
        }
        do {
            let (main, others) = try Self.makeFolders(options, chosen)
            folders = [main] + others.values
            var run = BenchmarkRun(settings, subjects: chosen.subjects, folder: main)
            run.folders = chosen.directories.compactMapValues { others[$0] }
            run.workloads = { rows in selection.chosen(Workload.all(settings, rows: rows)) }
            run.removeIdleSubjects()
            self.run = run
            do { try run.confirmRoom() } catch {
                for folder in folders { folder.end() }
                throw error
            }
        } catch let error as BenchmarkError {
            throw ValidationError(error.description)
        }
    }

    /// Performs the run, writes the reports, and returns the exit status.
    func run() async -> Int32 {
        let environment = BenchmarkEnvironment.current(directory: run.folder.path)
        // Also before the run, because a debug build takes long.
        if environment.host.build != "release" {
            Output.note("DEBUG BUILD: ITS FIGURES ARE MEANINGLESS. Build with -c release.")
        }
        let collector = BenchmarkCollector(run, environment: environment)
        let progress = BenchProgress(terminal, repetitions: run.settings.repetitions)
        let ending = Ending()
        let interruption = Interruption {
            guard ending.begin() else { return }
            progress.clear()
            collector.interrupt()
            _ = finish(collector.report())
            // Skip exit handlers of libraries, because the engines are still running.
            fflush(nil)
            _exit(Interruption.status)
        }
        defer { interruption.end() }
        if !options.reports.quiet { terminal.write(heading) }
        await measure(collector, progress, ending)
        guard ending.begin() else { await interruption.forever() }
        progress.clear()
        return finish(collector.report())
    }

    /// Runs on a thread of its own, because databases block.
    private func measure(_ collector: BenchmarkCollector, _ progress: BenchProgress, _ ending: Ending) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                run.run(collector, isCancelled: { ending.hasBegun }) { event in
                    if !options.reports.quiet, !ending.hasBegun { progress.note(event) }
                }
                continuation.resume()
            }
            thread.stackSize = 8 << 20
            thread.name = "benchmark"
            thread.start()
        }
    }

    private var heading: String {
        let names = run.subjects.map { Escape.line($0.name) }.joined(separator: ", ")
        let rows = run.settings.rows.map(String.init).joined(separator: ", ")
        return
            "\(names)\n\(rows) rows, \(counted(run.settings.repetitions, "repetition")), seed \(run.settings.seed)\n\n"
    }

    /// Prints the results and writes the reports.
    private func finish(_ report: BenchmarkReport) -> Int32 {
        // Remove the databases first, because they may fill the disk of a report.
        for folder in folders { folder.end() }
        let comparison = earlier?.comparison(with: report)
        terminal.write((options.reports.quiet ? "" : "\n") + text(of: report, comparison))
        guard outputs.write(ComparedReport(report: report, comparison: comparison)) else { return ExitStatus.usage }
        return report.hasFailures || options.failOnRegression && isRefused(comparison) ? 1 : 0
    }

    /// Returns whether a comparison has a regression, or, after a message, whether it cannot find any.
    private func isRefused(_ comparison: BenchmarkComparison?) -> Bool {
        guard let comparison, comparison.findsRegressions else {
            Output.note("--fail-on-regression: no result could be tested against those of --compare.")
            return true
        }
        return comparison.hasRegression
    }

    /// The report for the terminal.
    private func text(of report: BenchmarkReport, _ comparison: BenchmarkComparison?) -> String {
        let writer = BenchmarkTerminalReport(
            width: terminal.columns, style: terminal.style, isQuiet: options.reports.quiet)
        var text = writer.text(of: report)
        if let comparison { text += "\n" + comparison.terminalText(width: terminal.columns, style: terminal.style) }
        if options.keep { text += "\nThe databases are in \(folders.map(\.path).joined(separator: ", ")).\n" }
        return text
    }

    /// Creates the directory of the run and those of single stores, by path.
    private static func makeFolders(
        _ options: BenchOptions, _ selection: SubjectSelection
    ) throws -> (main: BenchmarkFolder, others: [String: BenchmarkFolder]) {
        func make(_ path: String?) throws -> BenchmarkFolder {
            try BenchmarkFolder(path: path, replacesEarlier: options.force, keepsFiles: options.keep)
        }
        let main = try make(options.directory)
        var others: [String: BenchmarkFolder] = [:]
        do {
            for path in Set(selection.directories.values) { others[path] = try make(path) }
        } catch {
            for folder in [main] + others.values { folder.end() }
            throw error
        }
        return (main, others)
    }
}
#endif
