internal import CLevelDB
internal import Dispatch
internal import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An ``OrderedKeyValueEngine`` backed by LevelDB: a folder of sorted tables and a log.
///
/// Only one process at a time can have the folder open, with one store. Readers and the writer do not wait for each
/// other. Tables are merged in the background, also those of a key space after 20,000 deletions from it, because scans
/// read deleted keys until then.
///
/// Every block of a table has a checksum, which is verified whenever the block is read from disk: reading a damaged
/// block throws ``StoreError/Code/corrupt``. Opening the folder checks for damage that LevelDB itself ignores: a
/// missing log, a run of zeros, a truncated manifest. A log that ends in the middle of a commit is normal after a
/// process was killed; all earlier commits are intact. The same holds if a power loss left zeros in place of unsynced
/// data: with ``StoreCapabilities/Durability/full``, that can affect only the last commit, and zeros before other
/// commits are reported as damage. Closing a store syncs its logs, so any later damage to them is reported.
///
/// After a failed write, reads continue, and LevelDB is closed and reopened before the next write. That write waits up
/// to ten seconds for reads in flight, then throws ``StoreError/Code/busy``; reads that begin meanwhile wait for it.
/// If reopening fails, each later read or write tries again; the folder stays locked.
///
/// Only LevelDB may change the files while they are open: if the log or another file was removed, renamed, or replaced,
/// the next commit throws ``StoreError/Code/io``. Tables are not checked, a copy of `CURRENT` in its place is accepted,
/// and the replacement of a log that LevelDB has just begun is not noticed. Truncating a table, which LevelDB maps,
/// crashes the process.
///
/// ``StoreError/engineCode`` is the operating system's error number if LevelDB's message contains its description;
/// LevelDB has no error codes of its own.
public final class LevelDBEngine: OrderedKeyValueEngine {
    public let capabilities: StoreCapabilities
    public let maximumKeyLength = Int.max

    private let owner: DatabaseOwner
    private let batch = Mutex(WriteBatch())
    private let cache = LookupCache()
    /// Includes the keys of failed commits, whose range is at most compacted too early.
    private let deletedKeys = Mutex(DeletedKeys())
    /// Serializes compactions: each starts a new log, and the last one needs a record in its log.
    private let compacting = Mutex(())
    private let backgroundCompactions = DispatchQueue(label: "TidelineLevelDB.compaction", qos: .utility)

    public var path: String? { owner.path }

    /// Opens the database in the folder at `path`, and creates both if the options allow it.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` if another store or process has the folder open;
    ///   ``StoreError/Code/notAStore`` if it contains other files and no LevelDB database, or one with another key
    ///   order (``LevelDBStore`` also throws it for another program's database, which this initializer opens);
    ///   ``StoreError/Code/corrupt`` if it is damaged, or a repair of it was interrupted; ``StoreError/Code/readOnly``
    ///   if it cannot be written to; ``StoreError/Code/full``; otherwise ``StoreError/Code/io``, with the reason.
    public init(path: String, options: LevelDBOptions = .init()) throws {
        let folder = try DatabaseFolder(path, createsIfMissing: options.createsIfMissing)
        do throws(StoreError) {
            owner = try DatabaseOwner(folder, options)
        } catch {
            folder.abandon()
            throw error
        }
        capabilities = StoreCapabilities(
            name: "leveldb", durability: options.durability == .full ? .full : .normal,
            sharesFilesWithProcesses: false, readersDoNotBlockWriters: true, detectsBitFlips: true)
    }

    deinit { try? close() }

    public func read<T>(_ body: (LevelDBSnapshot) throws -> T) throws -> T {
        let snapshot = LevelDBSnapshot(of: try owner.enter(), cache)
        defer {
            snapshot.end()
            owner.leave()
        }
        return try body(snapshot)
    }

    public func write<T>(_ body: (LevelDBTransaction) throws -> T) throws -> T {
        let database = try owner.enterForWriting()
        defer { owner.leave() }
        let transaction = LevelDBTransaction(over: LevelDBSnapshot(writingTo: database, cache), cache)
        do {
            let result = try body(transaction)
            if !transaction.changes.isEmpty { try commit(transaction.changes, to: database) }
            return result
        } catch {
            cache.removeAll()
            throw error
        }
    }

    private func commit(_ transaction: OverlayTransaction<LevelDBSnapshot>, to database: Database) throws {
        try batch.withLock { batch in
            defer { batch.clear() }
            try deletedKeys.withLock { deleted in
                try transaction.forEachChangeUnordered { key, value, hash in
                    guard let value else {
                        deleted.add(key)
                        return batch.delete(key)
                    }
                    cache.noteStored(key, hash: hash)
                    try batch.put(key, value)
                }
            }
            try write(batch, to: database)
        }
        let full = deletedKeys.withLock { $0.takeFullRanges() }
        if !full.isEmpty { compactInBackground(full) }
    }

    /// Removes deleted keys from the tables, which takes as long as reading and writing what is between them.
    private func compactInBackground(_ ranges: [DeletedRange]) {
        // One at a time, so that only one has entered, for which a close or a reopening waits.
        backgroundCompactions.async { [self] in
            for range in ranges {
                // A store that was closed needs no compaction, and its closing waits only for one range; later
                // deletions cause another one. Entered first, as in `compact()`: in the other order, the two and a
                // reopening would wait for each other.
                guard let database = try? owner.enter() else { return }
                defer { owner.leave() }
                compacting.withLock { _ in
                    guard (try? owner.requireNoFailure()) != nil else { return }
                    database.compact(from: range.first, through: range.last)
                }
            }
        }
    }

    private func write(_ batch: WriteBatch, to database: Database) throws(StoreError) {
        try owner.requireNoFailure()
        try owner.requireFiles()
        do throws(StoreError) {
            try database.write(batch)
            owner.committed(batch.count)
        } catch {
            owner.failed(error)
            throw error
        }
    }

    /// Merges all tables into as few as possible, and drops deleted and replaced data.
    ///
    /// Compaction temporarily needs disk space for a second copy of the rows. Reads and writes continue, and data that
    /// a read in flight still needs is kept.
    ///
    /// - Throws: The error of a failed compaction, or of a write that failed beside it; the database is intact in this
    ///   case, compacted or not.
    public func compact() throws {
        let database = try owner.enterForWriting()
        defer { owner.leave() }
        try compacting.withLock { _ in
            // A write may have failed while this compaction waited for another one.
            try owner.requireNoFailure()
            database.compact()
            // LevelDB reports a failed compaction at the next write, so write an empty batch.
            try batch.withLock { batch in try write(batch, to: database) }
        }
    }

    public func close() throws { try owner.close { batch.withLock { $0.destroy() } } }
}

/// The keys that were deleted since the last compaction. A scan reads those of its key space until then.
struct DeletedKeys {
    /// The number of deleted keys of a space after which their range is compacted.
    static let limit = 20_000

    private var ranges: [UInt32: DeletedRange] = [:]
    /// The spaces whose ranges are to be compacted.
    private var full: [UInt32] = []

    mutating func add(_ key: UnsafeRawBufferPointer) {
        let space = key.count < 4 ? 0 : key.loadUnaligned(as: UInt32.self)
        if ranges[space, default: DeletedRange()].add(key) == Self.limit { full.append(space) }
    }

    /// Returns the ranges that are to be compacted, and begins new ones.
    mutating func takeFullRanges() -> [DeletedRange] {
        let spaces = full
        full = []
        return spaces.compactMap { ranges.removeValue(forKey: $0) }
    }
}

/// The range of the deleted keys of a key space.
struct DeletedRange {
    private var count = 0
    private(set) var first: [UInt8] = []
    private(set) var last: [UInt8] = []

    /// Adds a key, and returns the number of keys.
    fileprivate mutating func add(_ key: UnsafeRawBufferPointer) -> Int {
        if count == 0 || key.compare(first) < 0 { first = Array(key) }
        if count == 0 || key.compare(last) > 0 { last = Array(key) }
        count += 1
        return count
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func compare(_ other: [UInt8]) -> Int { other.withUnsafeBytes { compare($0) } }
}
