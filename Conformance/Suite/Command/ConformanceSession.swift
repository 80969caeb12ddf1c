#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// One run of the command with the selected stores and reports.
struct ConformanceSession: Sendable {
    private let options: ConformanceOptions
    private let outputs: ReportOutputs<ConformanceReport>
    private let terminal: Terminal
    private let run: ConformanceRun
    private let workers: Workers?
    private let program: ConformanceProgram
    /// The directory for the files of checks in this process. Workers have directories of their own.
    private let folder: CheckFolder?

    /// Validates all options, or throws a `ValidationError` for one that cannot be satisfied.
    init(
        _ options: ConformanceOptions, checks: [Check], stores: ConformanceStores, program: ConformanceProgram
    ) throws {
        // If the output is closed, the reports in files are still written.
        signal(SIGPIPE, SIG_IGN)
        self.options = options
        self.program = program
        outputs = try ReportOutputs(options.outputs)
        terminal = Terminal(usesStandardError: outputs.useStandardOutput)
        folder = options.inProcess ? try Self.makeFolder() : nil
        // Workers create their own directories; an unwritable location is reported before the first check.
        if !options.inProcess { try CheckFolder().remove() }
        let known = try Self.knownFailures(options.known)
        let chosen = try StoreChoice(options, stores: stores, program: program)
        workers = options.inProcess ? nil : Workers(program: program, words: chosen.words)
        var run = ConformanceRun(chosen.harnesses, settings: options.settings, knownFailures: known, jobs: options.jobs)
        run.checks = checks
        if let workers { run.executor = workers }
        self.run = run
    }

    /// Runs the checks, writes the reports, and returns the exit status.
    func run() async -> Int32 {
        let collector = ReportCollector(run)
        let progress = TerminalProgress(terminal)
        let ending = Ending()
        let interruption = Interruption {
            guard ending.begin() else { return }
            workers?.stop()
            progress.clear()
            _ = finish(collector.report())
            Foundation.exit(Interruption.status)
        }
        defer { interruption.end() }
        if !options.reports.quiet { terminal.write(heading) }
        await run.run(collector) { event in if !options.reports.quiet { progress.note(event) } }
        guard ending.begin() else { await interruption.forever() }
        progress.clear()
        return finish(collector.report())
    }

    private var heading: String {
        let names = run.stores.map { printable($0.name ?? "store") }.joined(separator: ", ")
        let count = run.checks.count
        return "\(count) check\(count == 1 ? "" : "s") of \(names); profile \(options.profile.rawValue), "
            + "seed \(options.seed), rounds \(options.rounds)\n\n"
    }

    /// Prints the summary and writes the reports.
    private func finish(_ report: ConformanceReport) -> Int32 {
        var report = report
        report.settings.options = options.repeating
        let writer = TerminalReport(
            command: program.name, style: terminal.style, isQuiet: options.reports.quiet,
            isStrict: options.strict)
        terminal.write((options.reports.quiet ? "" : "\n") + writer.text(of: report))
        folder?.remove()
        guard outputs.write(report) else { return ExitStatus.usage }
        return report.hasFailures || options.strict && report.strictFailures > 0 ? 1 : 0
    }

    /// Creates a directory for all temporary files of this process, so that an interrupted check leaves none behind.
    private static func makeFolder() throws -> CheckFolder {
        let folder = try CheckFolder()
        setenv("TMPDIR", folder.path, 1)
        return folder
    }

    private static func knownFailures(_ path: String?) throws -> KnownFailures {
        guard let path else { return KnownFailures() }
        do {
            return try KnownFailures(file: path)
        } catch let error as KnownFailures.ParsingError {
            throw ValidationError("--known: \(path), \(error).")
        } catch {
            throw ValidationError("--known: \(path) cannot be read: \(error.reason)")
        }
    }
}
#endif
