internal import Foundation
internal import Synchronization

/// Standard output, line by line and unbuffered, so that a program that reads it sees each line at once.
enum StandardOutput {
    /// Where the lines of the current task go in place of the output; nil for the output.
    @TaskLocal static var capture: OutputCapture?

    /// Writes a line to standard error.
    static func note(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a line. That nobody reads any more is no failure of the command.
    static func line(_ text: String) {
        if let capture { return capture.add(text) }
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}

/// The lines that one command wrote, to be passed on as a whole.
final class OutputCapture: Sendable {
    private let lines = Mutex("")

    /// The lines so far, each with its end.
    var text: String { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0 += line + "\n" } }
}
