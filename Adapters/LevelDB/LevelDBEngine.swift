internal import CLevelDB
internal import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An ``OrderedKeyValueEngine`` on LevelDB: a folder of sorted tables and a log.
///
/// One process has the folder open at a time, and in it one store. Readers and the writer do not wait for each other.
/// Tables that have become superfluous are merged in the background.
///
/// Every block of a table has a checksum, which is verified whenever it is read from the disk: a read that meets damage throws
/// ``StoreError/Code/corrupt``. What LevelDB itself would pass over — a missing log, a stretch of zeros, a manifest that
/// was cut off — is looked for when the folder is opened. A log that ends in the middle of a commit is what a killed
/// process leaves: the commits before are there. So they are where a loss of power left zeros in place of what was not
/// synced; with ``StoreCapabilities/Durability/full`` that is never more than the last commit, and zeros before others
/// are damage. A store that was closed has its logs on the disk: any damage to them is told.
///
/// After a write that failed, reads go on and LevelDB is closed and opened again before the next write, which waits ten
/// seconds for the reads in flight and throws ``StoreError/Code/busy`` then.
///
/// ``StoreError/engineCode`` is the operating system's error number where LevelDB's message has one in words; LevelDB
/// has no codes of its own.
public final class LevelDBEngine: OrderedKeyValueEngine {
    public let capabilities: StoreCapabilities
    public let maximumKeyLength = Int.max

    private let gate: DatabaseGate
    private let batch = Mutex(WriteBatch())
    private let known = KnownKeys()
    /// Compactions run one by one: each begins a log, and the last one must have a record in its log by then.
    private let compacting = Mutex(())

    public var path: String? { gate.path }
    /// A look-up takes more than twice the time of a change, most of it in a table's index and block.
    public var looksUpSlowly: Bool { true }

    /// Opens the database in the folder at `path`, and makes both if that is asked for.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/locked`` when another store or process has the folder open;
    ///   ``StoreError/Code/corrupt`` when it is damaged or another program's; ``StoreError/Code/readOnly`` when it cannot
    ///   be written to; ``StoreError/Code/full``; ``StoreError/Code/io`` with the reason for all else.
    public init(path: String, options: LevelDBOptions = .init()) throws {
        let folder = try DatabaseFolder(path, createsIfMissing: options.createsIfMissing)
        do throws(StoreError) {
            gate = try DatabaseGate(folder, options)
        } catch {
            folder.abandon()
            throw error
        }
        capabilities = StoreCapabilities(
            name: "leveldb", durability: options.durability == .full ? .full : .normal,
            sharesFilesWithProcesses: false, readersDoNotBlockWriters: true, detectsBitFlips: true)
    }

    deinit { release() }

    public func read<T>(_ body: (LevelDBSnapshot) throws -> T) throws -> T {
        let snapshot = LevelDBSnapshot(of: try gate.enter(), known)
        defer {
            snapshot.end()
            gate.leave()
        }
        return try body(snapshot)
    }

    public func write<T>(_ body: (OverlayTransaction<LevelDBSnapshot>) throws -> T) throws -> T {
        let database = try gate.enterForWriting()
        defer { gate.leave() }
        let transaction = OverlayTransaction(over: LevelDBSnapshot(writingTo: database, known))
        let result = try body(transaction)
        if !transaction.isEmpty { try commit(transaction, to: database) }
        return result
    }

    private func commit(_ transaction: OverlayTransaction<LevelDBSnapshot>, to database: Database) throws {
        try batch.withLock { batch in
            defer { batch.clear() }
            try transaction.forEachChangeUnordered { key, value, hash in
                guard let value else { return batch.delete(key) }
                known.note(key, hash: hash)
                try batch.put(key, value)
            }
            try write(batch, to: database)
        }
    }

    private func write(_ batch: WriteBatch, to database: Database) throws(StoreError) {
        do throws(StoreError) {
            try database.write(batch)
            gate.committed(batch.count)
        } catch {
            gate.failed()
            throw error
        }
    }

    /// Merges all tables into as few as there can be, without what was deleted or replaced.
    ///
    /// It takes room for a second copy of the rows meanwhile. Reads and writes go on; what a read in flight still needs is kept.
    /// - Throws: What went wrong; the database is whole then, as it was or compacted.
    public func compact() throws {
        let database = try gate.enterForWriting()
        defer { gate.leave() }
        try compacting.withLock { _ in
            database.compact()
            // A compaction that failed makes the next write fail: here one without a change.
            try batch.withLock { batch in try write(batch, to: database) }
        }
    }

    public func close() throws { release() }

    private func release() {
        if gate.close() { batch.withLock { $0.destroy() } }
    }
}
