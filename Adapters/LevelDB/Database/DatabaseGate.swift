internal import Foundation
internal import TidelineStore

/// Gives reads and writes access to the open database, and reopens it after a failed write.
///
/// LevelDB cannot continue after a failed write. Part of the commit may be in the log, and later commits would follow
/// it where no reader finds them. After a failed sync, the whole commit is in the log and would reappear when the
/// folder is opened again. After a failure in the background, every write fails. Therefore, the log is truncated to the
/// acknowledged commits, and the database is closed and reopened before the next write, when no read uses it. Reads
/// continue until then.
///
/// `@unchecked Sendable`: every mutable property is accessed only under the lock of `condition`.
final class DatabaseGate: @unchecked Sendable {
    /// How long a write waits for reads in flight when the database must be reopened, in seconds.
    private static let reopenTimeout: TimeInterval = 10

    private let condition = NSCondition()
    private let folder: DatabaseFolder
    /// The path of the folder, for error messages.
    var path: String { folder.path }
    private let options: LevelDBOptions
    /// `nil` if the database could not be reopened.
    private var database: Database?
    private var users = 0
    private var hasFailed = false
    private var isClosed = false
    /// Whether there were commits, so that the sizes of the logs must be recorded at closing.
    private var hasCommitted = false
    /// The sequence number of the last acknowledged change, as LevelDB counts changes.
    private var lastSequence: UInt64

    /// Opens the database in a folder, of which the gate takes ownership.
    init(_ folder: DatabaseFolder, _ options: LevelDBOptions) throws(StoreError) {
        self.folder = folder
        self.options = options
        let check = FolderCheck(folder: folder.path)
        lastSequence = folder.isNew ? 0 : try check.lastSequence(recovering: options.durability)
        database = try Database(folder.path, options, createsIfMissing: folder.isNew)
    }

    // MARK: Use

    /// Returns the database for reading, until ``leave()``.
    func enter() throws(StoreError) -> Database {
        condition.lock()
        defer { condition.unlock() }
        return try lend()
    }

    /// Returns the database for a write or a compaction, until ``leave()``.
    func enterForWriting() throws(StoreError) -> Database {
        condition.lock()
        defer { condition.unlock() }
        if hasFailed { try reopenAfterFailure() }
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

    /// Records a successful commit with the given number of changes.
    func committed(_ changes: Int) {
        condition.lock()
        lastSequence += UInt64(changes)
        hasCommitted = true
        condition.unlock()
    }

    /// Records a failed write, and removes its data from the log.
    func failed() {
        condition.lock()
        hasFailed = true
        // Tried again before the database is reopened.
        try? LogRepair.cut(logsIn: folder.path, after: lastSequence)
        condition.unlock()
    }

    /// Closes the database and releases the folder.
    ///
    /// - Returns: Whether it was open.
    func close() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return false }
        isClosed = true
        database?.close()
        database = nil
        if hasCommitted { CleanShutdownMarker.write(in: folder.path) }
        folder.release()
        return true
    }

    // MARK: Reopening

    private func reopenAfterFailure() throws(StoreError) {
        let deadline = Date(timeIntervalSinceNow: Self.reopenTimeout)
        while users > 0 {
            guard condition.wait(until: deadline) else {
                throw StoreError(
                    .busy, "an earlier write failed; end the reads in flight so that the store can be reopened",
                    path: folder.path)
            }
        }
        guard let old = database else { return }
        // Opening turns the log into a table. Check the disk space first, so that reads can continue if there is too
        // little.
        try DiskRoom.check(in: folder.path)
        old.close()
        database = nil
        _ = try openAnew()
    }

    /// Reopens the database, with the lock held.
    private func openAnew() throws(StoreError) -> Database {
        try folder.lockAgain()
        try LogRepair.cut(logsIn: folder.path, after: lastSequence)
        // The failed commit has used sequence numbers. LevelDB continues after them if a compaction has recorded them
        // since.
        lastSequence = try FolderCheck(folder: folder.path).lastSequence()
        let opened = try Database(folder.path, options, createsIfMissing: false)
        database = opened
        hasFailed = false
        return opened
    }
}
