internal import CCommitSignal

/// Tells the processes that share the files of a store to look for commits.
///
/// It is a number in a file that all of them map. While nobody waits, sending a signal is one atomic operation.
@safe
package final class CommitSignal: Sendable {
    private nonisolated(unsafe) let word: UnsafeMutablePointer<UInt32>

    /// Opens the file at `path`, which is created if it does not exist. Returns `nil` if it cannot be made or written
    /// to.
    package init?(path: String) {
        guard let word = unsafe tideline_signal_map(path) else { return nil }
        unsafe self.word = unsafe word
    }

    deinit { unsafe tideline_signal_unmap(word) }

    /// A number that changes with each signal. It starts again after 2³¹ signals.
    package var number: UInt32 { unsafe tideline_signal_number(word) }

    /// Changes the number, and wakes the threads of all processes that wait.
    package func send() { unsafe tideline_signal_send(word) }

    /// Blocks the thread until the number is another one, or the time has passed; possibly shorter.
    ///
    /// - Returns: Whether the number is another one.
    package func wait(whileNumberIs number: UInt32, nanoseconds: UInt64) -> Bool {
        unsafe tideline_signal_wait(word, number, nanoseconds) != 0
    }
}
