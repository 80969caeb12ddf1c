#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The earlier run of `--compare`.
struct PreviousRun: Sendable {
    private let report: BenchmarkReport

    /// Reads the report.
    ///
    /// - Parameter isTested: Whether the report needs enough repetitions for a test.
    /// - Throws: `ValidationError` if the file is not a report, its settings differ, or it has too few repetitions.
    init(path: String, settings: BenchmarkSettings, isTested: Bool) throws {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw ValidationError("--compare: \(path) cannot be read: \(error.reason)")
        }
        do {
            report = try BenchmarkReport(json: data, path: path)
            // Find different settings before a long run.
            var new = report
            new.settings = settings
            _ = try BenchmarkComparison(old: report, new: new)
        } catch {
            throw ValidationError("--compare: \(error)")
        }
        let (count, fewest) = (report.settings.repetitions, BenchmarkComparison.fewestRepetitions)
        guard count >= fewest || !isTested else {
            throw ValidationError(
                "--fail-on-regression needs at least \(fewest) repetitions, but \(path) has \(count); with fewer, no "
                    + "difference is significant.")
        }
    }

    /// Compares a new run with this one.
    func comparison(with new: BenchmarkReport) -> BenchmarkComparison? {
        // The initializer has checked the settings.
        try? BenchmarkComparison(old: report, new: new)
    }
}

/// A report, and its comparison with an earlier run if there is one.
struct ComparedReport: Sendable {
    let report: BenchmarkReport
    let comparison: BenchmarkComparison?

    /// The Markdown of the report and the comparison.
    var markdown: String {
        BenchmarkMarkdownReport().text(of: report) + (comparison.map { "\n" + $0.markdownText() } ?? "")
    }

    /// The HTML page of the report and the comparison.
    var html: String { BenchmarkHTMLReport().text(of: report, beside: comparison) }
}

extension BenchOptions {
    /// The reports that the options select.
    var outputs: [ReportOutputs<ComparedReport>.Kind] {
        [
            .init("--json", reports.json) { try BenchmarkJSONReport().text(of: $0.report) },
            .init("--csv", csv) { BenchmarkCSVReport().text(of: $0.report) },
            .init("--markdown", reports.markdown) { $0.markdown }, .init("--html", reports.html) { $0.html },
        ]
    }
}
#endif
