internal import TidelineStore

/// Owns the open database, and reopens it after a failed write.
///
/// LevelDB cannot continue after a failed write. Part of the commit may be in the log, and later commits would follow
/// it where no reader finds them. After a failed sync, the whole commit is in the log and would reappear when the
/// folder is opened again. After a failure in the background, every write fails. Therefore, the log is truncated to the
/// acknowledged commits, and the database is closed and reopened before the next write, when no read uses it. Reads
/// continue until then; a write or compaction that has already begun fails.
///
/// If the database cannot be reopened, each later read or write tries again. The folder stays locked until then, but on
/// a file system without such locks, or for a program that does not use them, only LevelDB's own lock counts, which it
/// releases when it closes. Logs are therefore never truncated without an open database, and the store cannot be used
/// anymore if another program has opened the folder.
///
/// `@unchecked Sendable`: `database` and `manifest` change only with exclusive access to the lock. Writes and
/// compactions, which may run at the same time, count as reads of the lock, because they use the same open database.
final class DatabaseOwner: @unchecked Sendable {
    /// How long a write waits for reads in flight when the database must be reopened.
    private static let reopenTimeout = Duration.seconds(10)

    private struct Progress {
        /// The error of a failed write, until the database is reopened.
        var failure: StoreError?
        /// Whether there were commits, so that the sizes of the logs must be recorded at closing.
        var hasCommitted = false
        /// The sequence number of the last acknowledged change, as LevelDB counts changes.
        var lastSequence: UInt64
    }

    private let lock = ReadWriteLock()
    private let folder: DatabaseFolder
    /// The path of the folder, for error messages.
    var path: String { folder.path }
    private let options: LevelDBOptions
    /// `nil` if the database could not be reopened.
    private var database: Database?
    /// The name of the manifest when the database was closed in order to reopen it.
    private var manifest = ""
    private let progress: LockedValue<Progress>

    /// Opens the database in a folder, and takes ownership of both.
    init(_ folder: DatabaseFolder, _ options: LevelDBOptions) throws(StoreError) {
        self.folder = folder
        self.options = options
        if !options.ignoresRepairMarker { try RepairMarker.requireNone(in: folder.path) }
        let check = FolderCheck(folder: folder.path)
        let lastSequence = folder.isNew ? 0 : try check.lastSequence(recovering: options.durability)
        progress = LockedValue(Progress(lastSequence: lastSequence))
        database = try Database(folder.path, options, createsIfMissing: folder.isNew)
        folder.noteOpenFiles()
    }

    // MARK: Use

    /// Returns the database for reading, until ``leave()``.
    func enter() throws(StoreError) -> Database {
        while true {
            do throws(StoreError) {
                try lock.beginReading()
            } catch {
                throw StoreError(error.code, error.message, path: folder.path)
            }
            if let database { return database }
            lock.endReading()
            try reopen()
        }
    }

    /// Returns the database for a write or a compaction, until ``leave()``.
    func enterForWriting() throws(StoreError) -> Database {
        if progress.withLock({ $0.failure != nil }) { try reopen() }
        return try enter()
    }

    func leave() { lock.endReading() }

    /// Throws the error of a write that failed while the caller used the database. Nothing may follow that write in the
    /// log.
    func requireNoFailure() throws(StoreError) {
        if let failure = progress.withLock({ $0.failure }) { throw failure }
    }

    /// Throws an error if the files are not at the path anymore.
    func requireFiles() throws(StoreError) { try folder.requireFiles() }

    /// Records a successful commit with the given number of changes.
    func committed(_ changes: Int) {
        progress.withLock { progress in
            progress.lastSequence += UInt64(changes)
            progress.hasCommitted = true
        }
    }

    /// Records a failed write, and removes its data from the log.
    func failed(_ error: StoreError) {
        progress.withLock { progress in
            progress.failure = error
            // Tried again before the database is closed or reopened.
            try? LogRepair.cut(logsIn: folder.path, after: progress.lastSequence)
        }
    }

    /// Closes the database, releases the folder, and calls `release`, after reads and writes in flight.
    func close(_ release: () -> Void) throws {
        try lock.close {
            let hasOnlyCommits = cutFailedWrite()
            database?.close()
            database = nil
            if hasOnlyCommits, progress.withLock({ $0.hasCommitted }) { CleanShutdownMarker.write(in: folder.path) }
            folder.release()
            release()
        }
    }

    /// Removes the data of a failed write that is still in the log.
    ///
    /// - Returns: Whether the logs contain only acknowledged commits.
    private func cutFailedWrite() -> Bool {
        let (failure, lastSequence) = progress.withLock { ($0.failure, $0.lastSequence) }
        guard failure != nil else { return true }
        // Without an open database, the folder may belong to another process.
        guard database != nil else { return false }
        return (try? LogRepair.cut(logsIn: folder.path, after: lastSequence)) != nil
    }

    // MARK: Reopening

    private func reopen() throws(StoreError) {
        try lock.withExclusiveAccess(
            within: Self.reopenTimeout, to: "reopen its files after a failed write", path: folder.path
        ) { () throws(StoreError) in
            let (failure, lastSequence) = progress.withLock { ($0.failure, $0.lastSequence) }
            if let old = database {
                // Another thread may have reopened it.
                guard failure != nil else { return }
                // Opening turns the log into a table. Check the disk space first, so that reads can continue if there
                // is too little.
                try DiskRoom.check(in: folder.path)
                // While the lock is certain: once LevelDB is closed, another program may open the folder and commit.
                try LogRepair.cut(logsIn: folder.path, after: lastSequence)
                manifest = try FileName.current(in: folder.path)
                old.close()
                database = nil
            }
            try folder.lockAgain()
            // A program that opens the folder creates a manifest. This store does not know its commits.
            guard try FileName.current(in: folder.path) == manifest else { throw .filesMoved(path: folder.path) }
            // The failed commit has used sequence numbers. LevelDB continues after them if a compaction has recorded
            // them since.
            let found = try FolderCheck(folder: folder.path).lastSequence()
            progress.withLock { $0.lastSequence = found }
            database = try Database(folder.path, options, createsIfMissing: false)
            folder.noteOpenFiles()
            progress.withLock { $0.failure = nil }
        }
    }
}
