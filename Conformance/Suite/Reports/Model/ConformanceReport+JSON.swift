public import Foundation
internal import TidelineSupport

extension ConformanceReport {
    /// Reads a report back.
    /// - Throws: ``ReadingError`` for what is no report, or one of another version.
    public init(json: Data) throws {
        let version: String
        do {
            version = try JSONDecoder().decode(Version.self, from: json).schema
        } catch {
            throw ReadingError("this is no conformance report: JSON with a field \"schema\" is expected")
        }
        guard version == ConformanceReport.currentSchema else {
            throw ReadingError(
                "the report is of the form \(Escape.terminal(version).debugDescription); "
                    + "this reads \(ConformanceReport.currentSchema) only")
        }
        do {
            self = try JSONDecoder().decode(ConformanceReport.self, from: json)
        } catch let error as DecodingError {
            throw ReadingError("the report cannot be understood: \(error.account)")
        }
    }

    /// Why a report cannot be read.
    public struct ReadingError: Error, CustomStringConvertible {
        /// What is wrong with it.
        public let description: String

        init(_ description: String) { self.description = description }
    }

    private struct Version: Decodable {
        var schema: String
    }
}
