internal import Foundation

/// A report as JSON, which ``ConformanceReport/init(json:)`` decodes. Equal reports produce equal bytes.
package struct JSONReport: ReportWriter {
    /// Creates a writer.
    package init() {}

    package func text(of report: ConformanceReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}
