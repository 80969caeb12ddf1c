internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The reports that were asked for, each with where it goes.
package struct ReportOutputs<Report>: Sendable {
    /// A kind of report, and the option that asks for it.
    package struct Kind: Sendable {
        package let option: String
        package let path: String?
        package let text: @Sendable (Report) throws -> String

        /// A kind of report.
        /// - Parameters:
        ///   - path: Where it is to go; nil when it was not asked for.
        ///   - text: What is written.
        package init(_ option: String, _ path: String?, text: @escaping @Sendable (Report) throws -> String) {
            (self.option, self.path, self.text) = (option, path, text)
        }
    }

    private let wanted: [(kind: Kind, output: Output)]

    /// Finds out whether each can be written.
    /// - Throws: `ValidationError` for one that cannot, or two that go to the same place.
    package init(_ kinds: [Kind]) throws {
        var wanted: [(kind: Kind, output: Output)] = []
        for kind in kinds {
            guard let path = kind.path else { continue }
            let output = try Output(path: path, option: kind.option)
            if let other = wanted.first(where: { $0.output.path == output.path }) {
                throw ValidationError("\(other.kind.option) and \(kind.option) go to the same place.")
            }
            wanted.append((kind, output))
        }
        self.wanted = wanted
    }

    /// Whether one goes to standard output, so that the terminal's report has to go elsewhere.
    package var useStandardOutput: Bool { wanted.contains { $0.output.path == nil } }

    /// Writes all that can be written.
    /// - Returns: What could not.
    package func write(_ report: Report) -> [String] {
        wanted.compactMap { kind, output in
            do {
                try output.write(try kind.text(report))
                return nil
            } catch {
                let place = output.path ?? "standard output"
                return "\(kind.option): \(place) cannot be written: \(error.reason)"
            }
        }
    }
}
