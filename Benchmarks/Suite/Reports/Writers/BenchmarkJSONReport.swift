internal import Foundation

/// A report as JSON, which ``BenchmarkReport/init(json:path:)`` reads back; the same report gives the same bytes.
public struct BenchmarkJSONReport: BenchmarkReportWriter {
    /// A writer.
    public init() {}

    public func text(of report: BenchmarkReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}
