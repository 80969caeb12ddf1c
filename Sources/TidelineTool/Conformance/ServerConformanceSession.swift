#if Tool
internal import ArgumentParser
internal import Foundation
internal import Synchronization
internal import TidelineConformance
internal import TidelineServerConformance
internal import TidelineSupport

/// One run of `tideline conformance --server`.
struct ServerConformanceSession: Sendable {
    private let url: String
    private let options: ConformanceOptions
    private let suites: [ServerConformance]
    private let checks: [ServerCheck]
    /// The options with which a check is repeated, besides those that a report contains.
    private let repeating: [String]
    private let outputs: ReportOutputs<ConformanceReport>
    private let terminal: Terminal

    /// Validates all options.
    /// - Throws: `ValidationError` for an option that cannot be satisfied.
    init(_ url: String, _ options: ConformanceOptions, _ server: ServerOptions) throws {
        // If the output is closed, the reports in files are still written.
        signal(SIGPIPE, SIG_IGN)
        let others: [(String, Bool)] = [
            ("--store", !options.stores.isEmpty), ("--profile", options.profile != .full),
            ("--fixtures", options.fixtures != nil), ("--jobs", options.jobs != 1), ("--known", options.known != nil),
            ("--in-process", options.inProcess),
        ]
        if let option = others.first(where: \.1)?.0 {
            throw ValidationError("\(option) is for stores and cannot be combined with --server.")
        }
        self.options = options
        checks = try Self.selected(options)
        suites = try server.suites(
            url, rows: options.rows, rounds: options.rounds, timeLimit: .seconds(options.timeLimit))
        self.url = suites[0].address
        let rows = options.rows.map { ["--rows", "\($0)"] } ?? []
        repeating = server.repeating + rows + options.repeating
        outputs = try ReportOutputs(options.outputs)
        terminal = Terminal(usesStandardError: outputs.useStandardOutput)
    }

    /// Returns the checks of `--filter`.
    static func selected(_ options: ConformanceOptions) throws -> [ServerCheck] {
        let ids = Set(try ServerCheck.all.map(\.summary).selected(by: options.filter).map(\.id))
        return ServerCheck.all.filter { ids.contains($0.id) }
    }

    /// Runs the checks, writes the reports, and returns the exit status.
    /// - Throws: ``ToolError`` if the server cannot be checked.
    func run() async throws -> Int32 {
        for suite in suites {
            do {
                try await suite.prepare()
            } catch {
                throw ToolError("\(suite.dialect): \(error)")
            }
        }
        let progress = options.reports.quiet ? nil : TerminalProgress(terminal)
        if !options.reports.quiet { terminal.write(heading) }
        let (beginning, begin) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            // Not before Ctrl-C can cancel it.
            for await _ in beginning {}
            return await checkDialects(progress)
        }
        let interruption = Interruption { work.cancel() }
        begin.finish()
        let reports = await work.value
        interruption.end()
        progress?.clear()
        let status = finish(report(of: reports, isComplete: !work.isCancelled))
        return work.isCancelled ? Interruption.status : status
    }

    private var heading: String {
        let dialects = suites.map { "\($0.dialect)" }.joined(separator: ", ")
        return "\(counted(checks.count, "check")) of \(url) in \(dialects)\n\n"
    }

    /// Returns the results for each dialect.
    private func checkDialects(_ progress: TerminalProgress?) async -> [StoreReport] {
        var reports: [StoreReport] = []
        for suite in suites {
            let start = ContinuousClock.now
            let name = "\(suite.dialect)"
            progress?.begin(name, checks: checks.count)
            var results: [CheckResult] = []
            for check in checks where !Task.isCancelled {
                progress?.begin(check.summary, of: name)
                let result = await suite.run(check)
                // A check that was cancelled has no verdict.
                guard !Task.isCancelled else { break }
                results.append(result)
                progress?.end(result, of: name)
            }
            let leftovers = await suite.finish()
            progress?.end(name)
            if let leftovers, !options.reports.quiet { terminal.write("\(leftovers)\n") }
            results += checks.dropFirst(results.count).map {
                CheckResult(id: $0.id, status: .notRun, reason: "the run ended before this check")
            }
            reports.append(
                StoreReport(
                    name: name, capabilities: nil, results: results,
                    seconds: (ContinuousClock.now - start) / .seconds(1), among: []))
        }
        return reports
    }

    private func report(of dialects: [StoreReport], isComplete: Bool) -> ConformanceReport {
        var settings = options.settings
        settings.rows = suites[0].options.rows
        var reported = ReportSettings(settings, server: url)
        reported.options = repeating
        return ConformanceReport(
            suite: SuiteSummary(version: SuiteSummary.current.version, checks: ServerCheck.all.count),
            settings: reported, isComplete: isComplete, checks: checks.map(\.summary),
            stores: dialects)
    }

    /// Prints the summary and writes the reports.
    private func finish(_ report: ConformanceReport) -> Int32 {
        let writer = TerminalReport(
            command: "tideline conformance", style: terminal.style, isQuiet: options.reports.quiet,
            isStrict: options.strict)
        terminal.write((options.reports.quiet ? "" : "\n") + writer.text(of: report))
        guard outputs.write(report) else { return ExitStatus.usage }
        return report.hasFailures || options.strict && report.strictFailures > 0 ? 1 : 0
    }
}
#endif
