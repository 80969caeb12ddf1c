internal import CLMDB
internal import Foundation
internal import TidelineStore

/// An open LMDB environment: the files of one folder and their map, shared by the stores of this process in that
/// folder.
///
/// `@unchecked Sendable`: `handle` and `main` never change, and LMDB accepts calls on them from any thread. `isBroken`
/// changes only with exclusive access, and `durability` only under the write lock.
/// Everything else has its own lock.
final class Environment: @unchecked Sendable {
    /// The maximum number of key spaces: tables, indexes, and the catalog. A write transaction copies one word for each
    /// possible one, a read transaction allocates it once.
    static let maximumSpaces = 4096

    let handle: OpaquePointer
    let folder: Folder
    let isReadOnly: Bool
    /// Whether LMDB could not open its lock file because the file system is read-only, and does without. Writers of
    /// other processes then do not see the reads of this one; see ``requireSnapshot(of:path:)``.
    let isUnlocked: Bool
    /// Exclusive access is for resizing the map, because `mdb_env_set_mapsize` unmaps it. The turn of a writer includes
    /// the wait for the writers of other processes. LMDB itself makes writers wait for each other, but a thread that
    /// began a second write would deadlock without an error.
    ///
    /// Reads wait until there is an entry for them in the reader table.
    let lock: ReadWriteLock
    /// LMDB's database of databases.
    let main: MDB_dbi
    /// The known spaces, as of the last commit of this process or later.
    let spaces = LockedValue(SpaceTable())
    /// Held while handles of databases are opened: LMDB assigns them without a lock.
    let spacesLock = NSLock()
    /// Whether resizing the map failed: nothing can be read or written afterwards.
    var isBroken = false
    var durability: StoreCapabilities.Durability?
    /// Whether this process has written, so that ``CleanShutdownMarker`` counts it. Changes only under the write lock.
    var isCounted = false
    /// Whether the file was known to be intact when it was opened, and no commit has failed since. Changes only while
    /// the file is being opened and under the write lock.
    var isIntact = false
    /// Whether the data file was created by this opening. Changes only while the file is being opened.
    var isNew = false
    /// LMDB's descriptor of the data file.
    let file: Int32
    /// The path of the data file, and its identity when it was opened.
    let dataPath: String
    let identity: FileIdentity?
    /// The file with LMDB's locks, in the same way. Processes with another one would not exclude each other.
    let lockPath: String
    let lockIdentity: FileIdentity?
    /// Changes only under the write lock.
    var folderChanges: FolderChanges
    /// The size of the file, in bytes, at which dead readers are cleared. Changes only under the write lock.
    var nextReaderCheck = 0

    static let growthBetweenReaderChecks = 1 << 20

    init(handle: OpaquePointer, folder: Folder, isReadOnly: Bool, main: MDB_dbi) {
        self.handle = handle
        self.folder = folder
        self.isReadOnly = isReadOnly
        self.main = main
        dataPath = folder.dataPath
        var file: mdb_filehandle_t = -1
        mdb_env_get_fd(handle, &file)
        self.file = file
        identity = FileIdentity(of: file)
        lockPath = folder.lockPath
        lockIdentity = FileIdentity(at: lockPath)
        folderChanges = FolderChanges(folder.path)
        var information = MDB_envinfo()
        mdb_env_info(handle, &information)
        // The first read has used an entry of the reader table, if there is one.
        isUnlocked = information.me_numreaders == 0
        var maximumReaders: UInt32 = 0
        mdb_env_get_maxreaders(handle, &maximumReaders)
        var policy = ReadWriteLock.Policy()
        // A thread may write to one store inside a read of another store in the same folder.
        policy.allowsWritesInsideReads = true
        policy.maximumReaders = Int(max(1, maximumReaders))
        // Idle resources are reset read transactions.
        policy.maximumIdle = 64
        lock = ReadWriteLock(policy)
    }

    var path: String { folder.path }

    /// Closes the files. No transaction may be open.
    ///
    /// - Parameter isFolderLocked: Whether the caller holds the folder's lock, which the end of a second one would
    ///   release.
    func close(isFolderLocked: Bool = false) {
        // In a child of the process that opened the files, they belong to the parent.
        guard lock.isInOwnProcess else { return }
        endIdleReaders()
        // Under the folder's lock: the last process that closes the files may destroy LMDB's mutexes, which one that
        // opens them would use.
        let isClosed: Void? =
            isFolderLocked
            ? nil : try? folder.locked(isCancellable: false) { () throws(StoreError) in mdb_env_close(handle) }
        if isClosed == nil { mdb_env_close(handle) }
        // If the lock was not released in time, it is not waited for again: the record then claims less than it could.
        if isClosed != nil, isCounted || isIntact, !isReadOnly {
            CleanShutdownMarker.close(folder, isCounted: isCounted, isIntact: isIntact && !isBroken)
        }
    }

    func error(_ result: Int32, _ doing: String) -> StoreError { .lmdb(result, path: path, doing: doing) }

    // MARK: Readers

    /// Removes the reader entries of processes that died during a read; their snapshots would be kept forever.
    func clearDeadReaders() {
        var count: Int32 = 0
        mdb_reader_check(handle, &count)
    }

    /// Ends all idle read transactions, which frees their entries in the reader table.
    func endIdleReaders() {
        for reader in lock.removeIdle() { unsafeDowncast(reader, to: ReadTransaction.self).end() }
    }

    // MARK: Spaces

    /// Returns the number of key spaces in a transaction's snapshot.
    func spaceCount(in transaction: OpaquePointer) throws(StoreError) -> Int {
        var statistics = MDB_stat()
        let result = mdb_stat(transaction, main, &statistics)
        guard result == MDB_SUCCESS else { throw error(result, "the tables could not be counted") }
        return statistics.ms_entries
    }
}
