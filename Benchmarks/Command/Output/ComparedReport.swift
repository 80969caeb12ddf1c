internal import TidelineBenchmark
internal import TidelineCommandSupport

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
