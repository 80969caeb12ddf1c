internal import CSQLite
internal import TidelineStore

/// Until when a lock that another process holds is waited for.
///
/// SQLite's own busy handler waits in most places, but not where it changes to the write-ahead log, recovers that log
/// after a crash, or closes it behind the last process: there it fails at once, and the attempt is repeated here.
struct Deadline {
    // Every transaction has one and hardly any needs it: its end is not computed before.
    private let start = ContinuousClock.now
    private let timeout: Duration

    /// From now on, for so long.
    init(after timeout: Duration) { self.timeout = timeout }

    /// Repeats `attempt` while it fails with ``StoreError/Code/busy`` and there is time left.
    func retrying<T>(_ attempt: () throws(StoreError) -> T) throws(StoreError) -> T {
        while true {
            do {
                return try attempt()
            } catch {
                guard error.code == .busy, start.duration(to: .now) < timeout else { throw error }
                // Another process holds the lock and cannot tell when it lets go: SQLite itself polls so, too.
                sqlite3_sleep(2)
            }
        }
    }
}
