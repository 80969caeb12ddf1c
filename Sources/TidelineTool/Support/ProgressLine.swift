#if Serve
internal import Foundation
internal import Synchronization

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
#endif
