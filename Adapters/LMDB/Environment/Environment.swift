internal import CLMDB
internal import Foundation
internal import TidelineStore

/// An open environment of LMDB: one folder's files and their map, shared by the stores of this process on that folder.
///
/// `@unchecked Sendable`: `handle` and `main` never change, LMDB's calls on them come from any thread; `isBroken` changes
/// only inside ``Turnstile/withoutOthers(within:path:_:)``, `durability` within the writer's turn; all else has a lock of
/// its own.
final class Environment: @unchecked Sendable {
    /// How many tables and indexes a store may have. A write transaction copies a word for each that might be, a read
    /// one makes room for it once.
    static let maximumSpaces = 4096

    let handle: OpaquePointer
    let folder: Folder
    let isReadOnly: Bool
    let turnstile = Turnstile()
    /// LMDB's database of databases.
    let main: MDB_dbi
    /// The spaces known, as of the last commit of this process or later.
    let spaces = LockedValue(SpaceTable())
    /// Held while handles of databases come to be known: LMDB gives them out without a lock.
    let spacesLock = NSLock()
    /// Set when the map was lost: nothing can be read or written then.
    var isBroken = false
    var durability: StoreCapabilities.Durability?

    init(handle: OpaquePointer, folder: Folder, isReadOnly: Bool, main: MDB_dbi) {
        self.handle = handle
        self.folder = folder
        self.isReadOnly = isReadOnly
        self.main = main
    }

    var path: String { folder.path }

    /// Lets go of the files. No transaction may be left.
    func close() {
        turnstile.dropIdle()
        mdb_env_close(handle)
    }

    func error(_ result: Int32, _ doing: String) -> StoreError { .lmdb(result, path: path, doing: doing) }

    // MARK: Readers

    /// Clears the places of processes that died while they read; their snapshots would be kept for ever.
    func clearDeadReaders() {
        var count: Int32 = 0
        mdb_reader_check(handle, &count)
    }

    // MARK: Spaces

    /// How many key spaces there are in a transaction's snapshot.
    func spaceCount(in transaction: OpaquePointer) throws(StoreError) -> Int {
        var statistics = MDB_stat()
        let result = mdb_stat(transaction, main, &statistics)
        guard result == MDB_SUCCESS else { throw error(result, "the tables could not be counted") }
        return statistics.ms_entries
    }
}
