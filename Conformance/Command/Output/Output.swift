internal import ArgumentParser
internal import Foundation
internal import TidelineConformance

/// Where a report goes: a file, or standard output.
struct Output: Sendable {
    /// Standard output.
    static let standard = Output()

    /// The path; nil for standard output.
    let path: String?

    private init() { path = nil }

    /// An output at a path, `-` for standard output.
    /// - Throws: `ValidationError` when nothing can be written there, which is found out before a long run.
    init(path: String, option: String) throws {
        guard path != "-" else {
            self.path = nil
            return
        }
        self.path = path
        let isNew = access(path, F_OK) != 0
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ValidationError("\(option): \(path.debugDescription) cannot be written: \(reason).")
        }
        close(file)
        // A run that is given up leaves no empty file.
        if isNew { unlink(path) }
    }

    /// Writes all of a text; a file gets it at once or keeps what it had.
    func write(_ text: String) throws {
        guard let path else { return FileHandle.standardOutput.write(Data(text.utf8)) }
        let isFile =
            (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) ?? .typeRegular
        try Data(text.utf8).write(
            to: URL(fileURLWithPath: path), options: isFile == .typeRegular ? .atomic : [])
    }
}

/// The reports that were asked for, each with where it goes.
struct ReportOutputs: Sendable {
    private let reports: [(option: String, output: Output, writer: any ReportWriter)]

    /// Finds out whether each can be written.
    /// - Throws: `ValidationError` for one that cannot, or two that go to the same place.
    init(_ options: ConformanceOptions) throws {
        let wanted: [(String, String?, any ReportWriter)] = [
            ("--json", options.json, JSONReport()), ("--junit", options.junit, JUnitReport()),
            ("--markdown", options.markdown, MarkdownReport()), ("--html", options.html, HTMLReport()),
            ("--badge", options.badge, BadgeReport()),
        ]
        var reports: [(String, Output, any ReportWriter)] = []
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
    func write(_ report: ConformanceReport) -> [String] {
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
