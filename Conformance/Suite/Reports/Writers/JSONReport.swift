public import Foundation
internal import TidelineSupport

/// A report as JSON, which ``ConformanceReport/init(json:)`` decodes. Equal reports produce equal bytes.
package struct JSONReport: Sendable {
    package init() {}

    package func text(of report: ConformanceReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}

extension ConformanceReport {
    /// Decodes a report.
    /// - Throws: ``ReadingError`` if the data is not a report or has another version.
    public init(json: Data) throws {
        let version: String
        do {
            version = try JSONDecoder().decode(Version.self, from: json).schema
        } catch {
            throw ReadingError("this is not a conformance report: expected JSON with a field \"schema\"")
        }
        guard version == ConformanceReport.currentSchema else {
            throw ReadingError(
                "the report is of the form \(Escape.terminal(version).debugDescription); "
                    + "this reads \(ConformanceReport.currentSchema) only")
        }
        do {
            self = try JSONDecoder().decode(ConformanceReport.self, from: json)
        } catch let error as DecodingError {
            throw ReadingError("the report cannot be decoded: \(error.account)")
        }
    }

    /// The reason why a report cannot be read.
    public struct ReadingError: Error, CustomStringConvertible {
        /// The problem with the report.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    private struct Version: Decodable {
        var schema: String
    }
}
