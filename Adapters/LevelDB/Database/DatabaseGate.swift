internal import Foundation
internal import TidelineStore

/// Lends the open database to reads and writes, and opens it anew after a write that failed.
///
/// After a failed write LevelDB cannot go on: part of the commit may lie in the log, with later commits to come behind
/// it where no reader looks for them; or, after a failed sync, all of it does and would be there again when the folder
/// is next opened; and after a failure in the background every write fails. So the log is cut back to the commits that
/// were acknowledged, and the database is closed and opened again before the next write, when no read uses it. Until
/// then reads go on.
///
/// `@unchecked Sendable`: every property that changes is used under `condition`'s lock only.
final class DatabaseGate: @unchecked Sendable {
    /// How long a write waits for the reads in flight when the database must be opened anew.
    private static let patience: TimeInterval = 10

    private let condition = NSCondition()
    private let folder: DatabaseFolder
    /// The folder, for messages.
    var path: String { folder.path }
    private let options: LevelDBOptions
    /// Nil when it could not be opened anew.
    private var database: Database?
    private var users = 0
    private var hasFailed = false
    private var isClosed = false
    /// Whether the log has anything to seal.
    private var hasCommitted = false
    /// The number of the last change that was acknowledged, as LevelDB counts them.
    private var lastSequence: UInt64

    /// Opens the database in a folder; the folder is the gate's from then on.
    init(_ folder: DatabaseFolder, _ options: LevelDBOptions) throws(StoreError) {
        self.folder = folder
        self.options = options
        let check = FolderCheck(folder: folder.path)
        lastSequence = folder.isNew ? 0 : try check.lastSequence(recovering: options.durability)
        database = try Database(folder.path, options, createsIfMissing: folder.isNew)
    }

    // MARK: Use

    /// Lends the database for reading, until ``leave()``.
    func enter() throws(StoreError) -> Database {
        condition.lock()
        defer { condition.unlock() }
        return try lend()
    }

    /// Lends the database for a write or a compaction, until ``leave()``.
    func enterForWriting() throws(StoreError) -> Database {
        condition.lock()
        defer { condition.unlock() }
        if hasFailed { try mend() }
        return try lend()
    }

    private func lend() throws(StoreError) -> Database {
        guard !isClosed else { throw StoreError(.closed, "the store is closed", path: folder.path) }
        let lent: Database
        if let database { lent = database } else { lent = try openAnew() }
        users += 1
        return lent
    }

    func leave() {
        condition.lock()
        users -= 1
        if users == 0, hasFailed { condition.broadcast() }
        condition.unlock()
    }

    /// Notes that a commit of so many changes succeeded.
    func committed(_ changes: Int) {
        condition.lock()
        lastSequence += UInt64(changes)
        hasCommitted = true
        condition.unlock()
    }

    /// Notes that a write failed, and takes out of the log what it left there.
    func failed() {
        condition.lock()
        hasFailed = true
        // Tried again before the database is opened anew.
        try? LogRepair.cut(logsIn: folder.path, after: lastSequence)
        condition.unlock()
    }

    /// Closes the database and gives the folder back.
    /// - Returns: Whether it was open.
    func close() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        isClosed = true
        database?.close()
        database = nil
        if hasCommitted { LogSeal.write(in: folder.path) }
        folder.release()
        return true
    }

    // MARK: Opening anew

    private func mend() throws(StoreError) {
        let deadline = Date(timeIntervalSinceNow: Self.patience)
        while users > 0 {
            guard condition.wait(until: deadline) else {
                throw StoreError(
                    .busy, "a write failed before; another can begin when the reads in flight have ended",
                    path: folder.path)
            }
        }
        guard let old = database else { return }
        // Opening makes a table of the log, and must not fail for want of room when reads could go on.
        try DiskRoom.check(in: folder.path)
        old.close()
        database = nil
        _ = try openAnew()
    }

    /// Opens the database again, with the lock held.
    private func openAnew() throws(StoreError) -> Database {
        try folder.lockAgain()
        try LogRepair.cut(logsIn: folder.path, after: lastSequence)
        // A commit that failed has used up numbers; LevelDB goes on behind them if a compaction wrote them down since.
        lastSequence = try FolderCheck(folder: folder.path).lastSequence()
        let opened = try Database(folder.path, options, createsIfMissing: false)
        database = opened
        hasFailed = false
        return opened
    }
}
