internal import Foundation

/// A report as JSON, which ``ConformanceReport/init(json:)`` reads back; the same report gives the same bytes.
public struct JSONReport: ReportWriter {
    /// A writer.
    public init() {}

    public func text(of report: ConformanceReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}
