internal import ArgumentParser
internal import Foundation
internal import TidelineBenchmark
internal import TidelineCommandSupport
internal import TidelineSupport

/// The run of `--compare`.
struct EarlierRun: Sendable {
    private let report: BenchmarkReport

    /// Reads it.
    /// - Throws: `ValidationError` for a file that is no report of this form, or of a run that measured something else.
    init(path: String, settings: BenchmarkSettings) throws {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
            throw ValidationError("--compare: \(path) cannot be read: \(error.reason)")
        }
        do {
            report = try BenchmarkReport(json: data, path: path)
            // Of what measured something else, one wants to hear before a long run.
            var new = report
            new.settings = settings
            _ = try BenchmarkComparison(old: report, new: new)
        } catch {
            throw ValidationError("--compare: \(error)")
        }
    }

    /// A new run held against it.
    func comparison(with new: BenchmarkReport) -> BenchmarkComparison? {
        // That they can be compared was found out before.
        try? BenchmarkComparison(old: report, new: new)
    }
}

/// A run, and how it compares with an earlier one, if it does.
struct ComparedReport: Sendable {
    let report: BenchmarkReport
    let comparison: BenchmarkComparison?

    /// Markdown of both.
    var markdown: String {
        BenchmarkMarkdownReport().text(of: report) + (comparison.map { "\n" + $0.markdownText() } ?? "")
    }

    /// A page of both.
    var html: String { BenchmarkHTMLReport().text(of: report, beside: comparison) }
}

extension BenchOptions {
    /// The reports that can be asked for.
    var reports: [ReportOutputs<ComparedReport>.Kind] {
        [
            .init("--json", json) { try BenchmarkJSONReport().text(of: $0.report) },
            .init("--csv", csv) { BenchmarkCSVReport().text(of: $0.report) },
            .init("--markdown", markdown) { $0.markdown }, .init("--html", html) { $0.html },
        ]
    }
}
