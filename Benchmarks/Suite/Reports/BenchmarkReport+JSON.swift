#if Commands
package import Foundation
internal import TidelineSupport

/// A format of the report.
protocol BenchmarkReportWriter: Sendable {
    /// Returns the report as text that ends with a line break.
    func text(of report: BenchmarkReport) throws -> String
}

extension BenchmarkReport {
    /// Decodes a report.
    /// - Parameter path: The path of the file, for error messages.
    /// - Throws: ``BenchmarkError`` if the data is not a report of this version.
    package init(json: Data, path: String) throws {
        let path = Escape.line(path).debugDescription
        let version: String
        do {
            version = try JSONDecoder().decode(Version.self, from: json).schema
        } catch {
            throw BenchmarkError("\(path) is not a benchmark report: expected JSON with a field \"schema\".")
        }
        guard version == Self.currentSchema else {
            throw BenchmarkError(
                "\(path) has the format \(Escape.line(version).debugDescription), but this version reads "
                    + "\(Self.currentSchema.debugDescription). Run the benchmark again to write a new report.")
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: json)
        } catch let error as DecodingError {
            throw BenchmarkError("\(path) cannot be decoded: \(Escape.line(error.account)).")
        }
    }

    private struct Version: Decodable {
        var schema: String
    }
}

/// The report as JSON, for ``BenchmarkReport/init(json:path:)``. Equal reports have equal text.
struct BenchmarkJSONReport: BenchmarkReportWriter {
    func text(of report: BenchmarkReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    }
}
#endif
