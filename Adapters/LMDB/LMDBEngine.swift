internal import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An ``OrderedKeyValueEngine`` backed by LMDB: a folder with `data.mdb`, `lock.mdb`, `tideline.state`, which
/// records a clean shutdown, and `tideline.signal`, by which processes tell each other of commits. The data file is
/// mapped into memory.
///
/// Every key space is a named database, and every value is followed by a four-byte checksum over the value and its key.
/// Readers work in snapshots of the map and do not wait for a writer, except when the map has to grow
/// (``LMDBOptions/mapSize``); there is one writer at a time across all threads and processes.
///
/// - **The map grows automatically**, even within a transaction, up to ``LMDBOptions/maximumMapSize``. Pages of deleted
///   rows are reused, but the file never shrinks. During a read, pages freed by later commits are not reused, and each
///   such commit grows the file by about ten pages. Keep reads short.
/// - **Processes** share the files. A process removes the reader entries that killed processes leave behind, at the
///   latest when the file has grown by a megabyte. While a process is suspended inside a write, others cannot write:
///   they throw ``StoreError/Code/busy`` after ``LMDBOptions/busyTimeout``. The folder must be on a local file system.
/// - **On a read-only file system**, LMDB cannot use `lock.mdb`, so processes that can write do not see the reads. A
///   read during which they commit twice throws ``StoreError/Code/busy``. A store that nobody changes is always
///   readable.
/// - **Stores in one process** with the same folder share one environment, which closes with the last of them.
/// - **Tables and indexes** number at most 4,095. An index that is removed leaves room for another.
/// - **Damage** is detected when the file is opened after an unclean shutdown, or always; see
///   ``LMDBOptions/Verification``. Only LMDB may change the files while they are open: if one was removed, renamed, or
///   replaced, the next commit throws ``StoreError/Code/io``; truncating the file under its map crashes the process.
public final class LMDBEngine: OrderedKeyValueEngine {
    public let capabilities: StoreCapabilities
    let environment: Environment
    private let options: LMDBOptions
    private let isClosed = Atomic(false)

    public var maximumKeyLength: Int { FileLayout.maximumKeyLength }

    public var path: String? { environment.path }

    public var commitSignalPath: String? { options.isReadOnly ? nil : environment.folder.signalPath }

    /// Opens the store in the folder at `path`. The folder is created if the options allow it; its parent folder must
    /// exist.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` if the folder or its files cannot be opened, with the reason;
    ///   ``StoreError/Code/notAStore`` if they are not a store; ``StoreError/Code/corrupt`` if they are damaged;
    ///   ``StoreError/Code/newerFormat``;
    ///   ``StoreError/Code/readOnly`` if they cannot be written to and the options do not ask for a read-only store;
    ///   ``StoreError/Code/locked`` if this process has them open for reading only and the options ask for writing, or
    ///   if a program with an incompatible build of LMDB has them open; ``StoreError/Code/full`` if the disk is full.
    public init(path: String, options: LMDBOptions = .init()) throws {
        environment = try EnvironmentRegistry.shared.environment(at: path, options: options)
        self.options = options
        capabilities = StoreCapabilities(
            name: "lmdb", durability: options.durability, sharesFilesWithProcesses: true,
            isReadOnly: options.isReadOnly, detectsBitFlips: options.verification != .never,
            maximumTablesAndIndexes: Environment.maximumSpaces - 1)
    }

    deinit { try? close() }

    public func read<T>(_ body: (LMDBSnapshot) throws -> T) throws -> T {
        try requireOpen()
        let reader = try environment.beginReading(busyTimeout: options.busyTimeout)
        defer { environment.endReading(reader) }
        do {
            let result = try body(LMDBSnapshot(reader: reader))
            try reader.requireSnapshot()
            return result
        } catch let error as StoreError {
            // Replaced pages look like damage.
            try reader.requireSnapshot()
            throw error
        }
    }

    public func write<T>(_ body: (LMDBTransaction) throws -> T) throws -> T {
        try requireOpen()
        guard !options.isReadOnly else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: environment.path)
        }
        try environment.beginTurn()
        defer { environment.lock.endWriting() }
        let transaction = try LMDBTransaction(in: environment, options: options)
        defer { transaction.end() }
        let result = try body(transaction)
        try transaction.commit()
        return result
    }

    public func close() throws {
        guard environment.lock.isInOwnProcess, !isClosed.exchange(true, ordering: .acquiringAndReleasing) else {
            return
        }
        try EnvironmentRegistry.shared.release(environment)
    }

    private func requireOpen() throws(StoreError) {
        guard !isClosed.load(ordering: .acquiring) else {
            throw StoreError(.closed, "the store is closed", path: environment.path)
        }
    }
}
