#if Serve
internal import Foundation
internal import Synchronization
internal import TidelineSupport

/// Standard output, unbuffered, so that a program that reads it receives each line at once.
enum StandardOutput {
    /// Collects the lines of the current task instead of writing them, or `nil` to write them to standard output.
    @TaskLocal static var capture: OutputCapture?

    /// Writes a line to standard output. If that fails, the command continues, and then ends with status 1; see
    /// ``confirm()``.
    static func line(_ text: String) {
        if let capture { return capture.add(text) }
        Output.print(text + "\n")
    }

    /// Throws the first error of standard output, for a command that has done its work.
    static func confirm() throws {
        if let error = Output.printingError { throw ToolError("the command was performed, but \(error)") }
    }
}

/// Collects the lines that one command writes.
final class OutputCapture: Sendable {
    private let lines = Mutex("")

    /// The lines so far, each with its line break.
    var text: String { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0 += line + "\n" } }
}

/// A line on a terminal that shows progress by being overwritten. Prints nothing if standard error is not a terminal.
final class ProgressLine: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let isShown = Mutex(false)

    func show(_ text: String) {
        guard isTerminal else { return }
        isShown.withLock { shown in
            shown = true
            write("\r\u{1B}[K\(text)")
        }
    }

    /// Removes the line.
    func clear() {
        isShown.withLock { shown in
            guard shown else { return }
            shown = false
            write("\r\u{1B}[K")
        }
    }

    private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}

/// Values as JSON.
enum JSONOutput {
    static func print(_ value: some Encodable) throws { StandardOutput.line(try text(value)) }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
#endif
