public import Foundation
internal import TidelineSupport

/// A form of the benchmark's report.
public protocol BenchmarkReportWriter: Sendable {
    /// The report as text, which ends with a line's end.
    func text(of report: BenchmarkReport) throws -> String
}

extension BenchmarkReport {
    /// Reads a report back.
    /// - Parameter path: Where it was read from, for the error.
    /// - Throws: ``ReadingError`` for what is no report, or one of another version.
    public init(json: Data, path: String) throws {
        let version: String
        do {
            version = try JSONDecoder().decode(Version.self, from: json).schema
        } catch {
            throw ReadingError(path, "is no results file of the benchmark: JSON with a field \"schema\" is expected.")
        }
        guard version == Self.currentSchema else {
            throw ReadingError(
                path,
                "is of the form \(Escape.line(version).debugDescription); "
                    + "expected is \(Self.currentSchema.debugDescription). Write it anew with this version.")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch let error as DecodingError {
            throw ReadingError(path, "cannot be understood: \(Escape.line(error.account)).")
        }
    }

    /// Why a report cannot be read.
    public struct ReadingError: Error, CustomStringConvertible {
        /// The file, and what is wrong with it.
        public let description: String

        init(_ path: String, _ problem: String) { description = "\(Escape.line(path).debugDescription) \(problem)" }
    }

    private struct Version: Decodable {
        var schema: String
    }
}

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
