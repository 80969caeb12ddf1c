#if Commands
internal import ArgumentParser

/// The requested reports and their destinations.
package struct ReportOutputs<Report>: Sendable {
    /// A kind of report and the option that requests it.
    package struct Kind: Sendable {
        package let option: String
        package let path: String?
        package let text: @Sendable (Report) throws -> String

        /// Creates a kind of report.
        /// - Parameters:
        ///   - path: The destination, or `nil` if the report was not requested.
        ///   - text: Returns the text to write.
        package init(_ option: String, _ path: String?, text: @escaping @Sendable (Report) throws -> String) {
            (self.option, self.path, self.text) = (option, path, text)
        }
    }

    private let wanted: [(kind: Kind, output: Output)]

    /// Checks that each requested report can be written.
    /// - Throws: `ValidationError` if a report cannot be written, or if two reports have the same destination.
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

    /// Whether a report goes to standard output, so that the terminal report must go elsewhere.
    package var useStandardOutput: Bool { wanted.contains { $0.output.path == nil } }

    /// Writes every report that can be written, and prints the errors of others on standard error.
    ///
    /// - Returns: Whether all output could be written, that of ``Terminal`` before the call included.
    package func write(_ report: Report) -> Bool {
        var problems = Output.printingError.map { ["\($0)"] } ?? []
        for (kind, output) in wanted {
            do {
                try output.write(try kind.text(report))
            } catch {
                problems.append("\(kind.option): \((error as? OutputError)?.description ?? error.reason)")
            }
        }
        for problem in problems { Output.note(problem) }
        return problems.isEmpty
    }
}
#endif
