#if Serve
internal import Foundation
internal import Synchronization

/// Standard output, unbuffered, so that a program that reads it receives each line at once.
enum StandardOutput {
    /// Collects the lines of the current task instead of writing them, or `nil` to write them to standard output.
    @TaskLocal static var capture: OutputCapture?

    /// Writes a line to standard error.
    static func note(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    }

    /// Writes a line to standard output. Ignores errors, because a command does not fail when nothing reads its output.
    static func line(_ text: String) {
        if let capture { return capture.add(text) }
        try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    }
}

/// Collects the lines that one command writes.
final class OutputCapture: Sendable {
    private let lines = Mutex("")

    /// The lines so far, each with its line break.
    var text: String { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0 += line + "\n" } }
}
#endif
