internal import ArgumentParser
internal import Foundation
internal import TidelineBenchmark
internal import TidelineCommandSupport

/// The reports that were asked for, each with where it goes.
struct BenchOutputs: Sendable {
    private let reports: [(option: String, output: Output, writer: any BenchmarkReportWriter)]

    /// Finds out whether each can be written.
    /// - Throws: `ValidationError` for one that cannot, or two that go to the same place.
    init(_ options: BenchOptions) throws {
        let wanted: [(String, String?, any BenchmarkReportWriter)] = [
            ("--json", options.json, BenchmarkJSONReport()), ("--csv", options.csv, BenchmarkCSVReport()),
            ("--markdown", options.markdown, BenchmarkMarkdownReport()),
            ("--html", options.html, BenchmarkHTMLReport()),
        ]
        var reports: [(String, Output, any BenchmarkReportWriter)] = []
        for case (let option, let path?, let writer) in wanted {
            let output = try Output(path: path, option: option)
            if let other = reports.first(where: { $0.1.path == output.path }) {
                throw ValidationError("\(other.0) and \(option) go to the same place.")
            }
            reports.append((option, output, writer))
        }
        self.reports = reports
    }

    /// Whether one goes to standard output, so that the terminal's report has to go elsewhere.
    var useStandardOutput: Bool { reports.contains { $0.output.path == nil } }

    /// Writes all that can be written.
    /// - Parameter comparison: With an earlier run; Markdown and HTML tell of it, too.
    /// - Returns: What could not.
    func write(_ report: BenchmarkReport, beside comparison: BenchmarkComparison?) -> [String] {
        reports.compactMap { option, output, writer in
            do {
                try output.write(try Self.text(of: report, comparison, writer))
                return nil
            } catch {
                return "\(option): \(output.path ?? "standard output") cannot be written: \(error.localizedDescription)"
            }
        }
    }

    private static func text(
        of report: BenchmarkReport, _ comparison: BenchmarkComparison?, _ writer: any BenchmarkReportWriter
    ) throws -> String {
        switch writer {
        case let writer as BenchmarkHTMLReport: writer.text(of: report, beside: comparison)
        case let writer as BenchmarkMarkdownReport:
            writer.text(of: report) + (comparison.map { "\n" + $0.markdownText() } ?? "")
        default: try writer.text(of: report)
        }
    }
}
