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
            ("--json", options.json, BenchmarkJSONReport())
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
    /// - Returns: What could not.
    func write(_ report: BenchmarkReport) -> [String] {
        reports.compactMap { option, output, writer in
            do {
                try output.write(try writer.text(of: report))
                return nil
            } catch {
                return "\(option): \(output.path ?? "standard output") cannot be written: \(error.localizedDescription)"
            }
        }
    }
}
