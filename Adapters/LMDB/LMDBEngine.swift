internal import Synchronization
public import TidelineKeyValue
public import TidelineStore

/// An ``OrderedKeyValueEngine`` over LMDB: a folder with `data.mdb` and `lock.mdb`, mapped into memory.
///
/// Every key space is a named database, and every value is followed by a checksum of four bytes over it and its key.
/// Readers work in snapshots on the map and wait for nobody; one writer at a time, of all threads and processes.
///
/// - **The map grows by itself**, within a transaction too, up to ``LMDBOptions/maximumMapSize``; deleted rows leave pages
///   that are used again, but the file never shrinks. While a read goes on, nothing that commits after its beginning let
///   go of is used again, and the file grows with each of them, by some ten pages: let no read go on for long.
/// - **Processes** share the files. What one of them leaves behind when it is killed is cleared by the others. The folder
///   must lie on a local file system.
/// - **Stores of one process** on one folder share what is open; the last that closes closes it.
/// - **A process that forks** must not use in the child what the parent has open; open it anew, after `exec`.
/// - **Damage** is found when the file is opened, see ``LMDBOptions/Verification``. Nothing may be done to the files while
///   they are open but by LMDB: a file cut off under its map ends the process.
public final class LMDBEngine: OrderedKeyValueEngine {
    public let capabilities: StoreCapabilities
    let environment: Environment
    private let options: LMDBOptions
    private let isClosed = Atomic(false)

    /// What LMDB takes as a key, as its packages are built.
    static let keyLimit = 511

    public var maximumKeyLength: Int { Self.keyLimit }

    public var path: String? { environment.path }

    /// Opens the store in the folder at `path`, which is created where the options say so; its own folder must exist.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` when the folder or its files cannot be opened, with the reason;
    ///   ``StoreError/Code/corrupt`` when they are damaged or not a store's; ``StoreError/Code/newerFormat``;
    ///   ``StoreError/Code/readOnly`` when they cannot be written to, unless the options ask for that;
    ///   ``StoreError/Code/locked`` when this process has them open for reading only, unless that is asked for too, or
    ///   when a program with another build of LMDB has them open; ``StoreError/Code/full`` when the disk has no room.
    public init(path: String, options: LMDBOptions = .init()) throws {
        environment = try EnvironmentRegistry.shared.environment(at: path, options: options)
        self.options = options
        capabilities = StoreCapabilities(
            name: "lmdb", durability: options.durability, sharesFilesWithProcesses: true,
            isReadOnly: options.isReadOnly, detectsBitFlips: true)
    }

    deinit { release() }

    public func read<T>(_ body: (LMDBSnapshot) throws -> T) throws -> T {
        try requireOpen()
        let reader = try environment.beginReading(busyTimeout: options.busyTimeout)
        defer { environment.endReading(reader) }
        return try body(LMDBSnapshot(reader: reader))
    }

    public func write<T>(_ body: (LMDBTransaction) throws -> T) throws -> T {
        try requireOpen()
        guard !options.isReadOnly else {
            throw StoreError(.readOnly, "the store was opened for reading only", path: environment.path)
        }
        try environment.turnstile.takeWritersTurn(path: environment.path)
        defer { environment.turnstile.endWritersTurn() }
        let transaction = try LMDBTransaction(in: environment, options: options)
        defer { transaction.end() }
        let result = try body(transaction)
        try transaction.commit()
        return result
    }

    public func close() throws { release() }

    private func release() {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        EnvironmentRegistry.shared.release(environment)
    }

    private func requireOpen() throws(StoreError) {
        guard !isClosed.load(ordering: .acquiring) else {
            throw StoreError(.closed, "the store is closed", path: environment.path)
        }
    }
}
