internal import CSQLite
internal import TidelineStore

/// The time limit for waiting for a lock held by another process.
///
/// SQLite's own busy handler waits in most cases, but not when SQLite switches to the write-ahead log, recovers that
/// log after a crash, or closes it after the last process. In those cases SQLite fails at once, and the attempt is
/// repeated here.
struct Deadline {
    // Stores the start instead of the end: every transaction has a deadline, and few need it.
    private let start = ContinuousClock.now
    private let timeout: Duration

    /// Creates a deadline that starts now.
    init(after timeout: Duration) { self.timeout = timeout }

    /// Repeats `attempt` as long as it fails with ``StoreError/Code/busy`` and there is time left.
    func retrying<T>(_ attempt: () throws(StoreError) -> T) throws(StoreError) -> T {
        while true {
            do {
                return try attempt()
            } catch {
                guard error.code != .busy || !Task.isCancelled else {
                    throw StoreError(.cancelled, "the task was cancelled; nothing was written")
                }
                guard error.code == .busy, start.duration(to: .now) < timeout else { throw error }
                // The other process cannot signal when it releases the lock, so poll, as SQLite itself does.
                sqlite3_sleep(2)
            }
        }
    }
}
