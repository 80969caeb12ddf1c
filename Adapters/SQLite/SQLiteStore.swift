internal import CSQLite
internal import CSQLiteChecksums
public import TidelineStore

/// A ``LocalStore`` backed by an SQLite database, in a file or in memory.
///
/// Each table of the store is a database table with the same name and column names, so SQLite's own tools can read the
/// file. A timestamp is an integer of 100 ns ticks: `datetime("updatedAt" / 10000000, 'unixepoch')`. Values written by
/// other tools are validated when they are read.
///
/// The file uses a write-ahead log, so readers and the writer do not wait for each other. Other processes can open the
/// file too; the store waits for their locks for up to ``SQLiteOptions/busyTimeout``. NaN cannot be stored.
///
/// Versions 3.7.0 to 3.51.2 of SQLite, except 3.44.6 and 3.50.7 and later versions of the same series, can lose commits
/// or damage the file if two connections write or run a checkpoint at the same time, in one process or several. It is
/// very rare. Use a later version of SQLite if you can; with one of these, opening the first store writes a warning to
/// SQLite's error log (`SQLITE_CONFIG_LOG`). See [The WAL-Reset Bug](https://sqlite.org/wal.html#walresetbug).
///
/// While a store is open, only the store may remove, rename, or replace its files: if another program does, the next
/// commit throws ``StoreError/Code/io``.
///
/// Damage to the file is reported as ``StoreError/Code/corrupt`` when the damaged page is read. A flipped bit within a
/// value is detected only in a file with checksums; see ``SQLiteOptions/checksums``. ``verify()`` reads the whole
/// store.
public final class SQLiteStore: LocalStore {
    public let capabilities: StoreCapabilities
    private let signalPath: String?
    private let pool: ConnectionPool
    private let busyTimeout: Duration
    private let catalog: LockedValue<Catalog>

    /// Opens the store in the file at `path`, a file system path. Next to it are the write-ahead log, and a file by
    /// which processes tell each other of commits.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` if the file cannot be opened, with the reason;
    ///   ``StoreError/Code/notAStore`` if it is not a store; ``StoreError/Code/corrupt`` if it is damaged;
    ///   ``StoreError/Code/newerFormat``; ``StoreError/Code/schemaMismatch`` for a name that is not in normalization
    ///   form C, which an earlier version accepted; ``StoreError/Code/readOnly`` if it cannot be written to and the
    ///   options do not ask for a read-only store; ``StoreError/Code/busy`` if another process held a lock for too
    ///   long.
    public convenience init(path: String, options: SQLiteOptions = .init()) throws {
        let absolute = try path.absolutePath()
        if options.isReadOnly {
            try self.init(reading: absolute, options)
        } else {
            try self.init(writing: absolute, options)
        }
    }

    /// Creates an empty store in memory; closing it discards its content.
    ///
    /// Reads and writes exclude each other; a read inside a write body throws ``StoreError/Code/busy``. The options
    /// that concern a file, ``SQLiteOptions/isReadOnly``, and ``SQLiteOptions/maximumReaders`` are ignored.
    public static func inMemory(options: SQLiteOptions = .init()) throws -> SQLiteStore {
        let deadline = Deadline(after: options.busyTimeout)
        let connection = try Connection.open(nil, for: .writing, options: options)
        try connection.prepareStore(options, deadline)
        let capabilities = StoreCapabilities(
            name: "sqlite", isPersistent: false, durability: .none, readersDoNotBlockWriters: false, storesNaN: false,
            limitsQueryTime: true)
        let pool = ConnectionPool(writer: connection, readers: [], maximumReaders: 1, open: nil)
        return SQLiteStore(capabilities, try connection.firstCatalog(deadline), pool, options)
    }

    private init(
        _ capabilities: StoreCapabilities, _ catalog: Catalog, _ pool: ConnectionPool, _ options: SQLiteOptions,
        signalingAt signalPath: String? = nil
    ) {
        self.capabilities = capabilities
        self.signalPath = signalPath
        self.catalog = LockedValue(catalog)
        self.pool = pool
        busyTimeout = options.busyTimeout
    }

    private convenience init(writing path: String, _ options: SQLiteOptions) throws(StoreError) {
        let deadline = Deadline(after: options.busyTimeout)
        try SQLiteStore.finishDestroying(path)
        try DatabaseFile.requireFileOfLog(path)
        let isNew = !DatabaseFile.exists(path)
        let writer = try Connection.open(path, for: .writing, options: options)
        let capabilities: StoreCapabilities
        let catalog: Catalog
        do throws(StoreError) {
            try writer.requireWholeFile()
            tideline_accept_missing_checksums(writer.handle)
            try writer.prepareStore(options, deadline)
            try writer.completeChecksums(deadline)
            capabilities = StoreCapabilities(
                name: "sqlite", durability: options.durability == .full ? .full : .normal,
                sharesFilesWithProcesses: true, storesNaN: false, detectsBitFlips: try writer.hasChecksums(),
                limitsQueryTime: true)
            catalog = try writer.firstCatalog(deadline)
            writer.noteLogFiles()
        } catch {
            if isNew { writer.abandonCreation() } else { writer.leaveLog() }
            throw error
        }
        let pool = ConnectionPool(writer: writer, readers: [], maximumReaders: options.maximumReaders) {
            () throws(StoreError) in try Connection.open(path, for: .reading, options: options)
        }
        self.init(capabilities, catalog, pool, options, signalingAt: DatabaseFile.signal(path))
    }

    private convenience init(reading path: String, _ options: SQLiteOptions) throws {
        let deadline = Deadline(after: options.busyTimeout)
        try DatabaseFile.requireNoFolder(path)
        try DatabaseFile.requireFileOfLog(path)
        let reader = try Connection.openForReading(path, options)
        let (hasChecksums, catalog) = try reader.requiringSameFile {
            try reader.requireWholeFile()
            try reader.prepareStore(options, deadline)
            return (try reader.hasChecksums(), try reader.firstCatalog(deadline))
        }
        let capabilities = StoreCapabilities(
            name: "sqlite", durability: options.durability == .full ? .full : .normal, sharesFilesWithProcesses: true,
            storesNaN: false, isReadOnly: true, detectsBitFlips: hasChecksums, limitsQueryTime: true)
        let pool = ConnectionPool(writer: nil, readers: [reader], maximumReaders: options.maximumReaders) {
            () throws(StoreError) in try Connection.openForReading(path, options)
        }
        self.init(capabilities, catalog, pool, options)
    }

    public func close() throws { try pool.close() }

    /// Reads the whole store, and throws an error if any part of it is damaged.
    ///
    /// Compares the checksum of each page that is in use, if the store has checksums (``SQLiteOptions/checksums``),
    /// each index with the rows of its table, and each value with the type of its column. Reads can run at the same
    /// time, and so can writes, except in an in-memory store. The time grows with the size of the file.
    ///
    /// - Throws: ``StoreError/Code/corrupt``, with the first damage found.
    public func verify() throws {
        let lease = try pool.takeReader()
        defer { pool.release(lease) }
        // A connection does not read pages again that it has in its cache, so verification uses a new one.
        let connection = try pool.openConnection() ?? lease.connection
        try connection.requiringSameFile {
            let catalog = try beginReading(on: connection)
            defer { connection.endReading() }
            try connection.checkIntegrity()
            try run(
                { reader in
                    for table in catalog.schemas { try reader.scan(TableQuery(table.name)) { _ in .next } }
                }, on: connection, catalog)
        }
    }

    // MARK: Definitions

    public func define(_ tables: [TableSchema]) throws {
        // Usually there is nothing to change, and finding that out needs no lock.
        guard try !read({ try plan(defining: tables, in: $0.session) }).isEmpty else { return }
        try redefine { _ in tables }
    }

    public func redefine(_ body: (SQLiteWriter) throws -> [TableSchema]) throws {
        try transaction { session in
            let tables = try body(SQLiteWriter(session: session))
            if let failure = session.failure { throw failure }
            let plan = try plan(defining: tables, in: session)
            if !plan.isEmpty { try session.connection().apply(plan) }
        }
    }

    private func plan(defining tables: [TableSchema], in session: Session) throws(StoreError) -> SchemaPlan {
        let columnLimit = sqlite3_limit(try session.connection().handle, SQLITE_LIMIT_COLUMN, -1)
        return try SchemaPlan(defining: tables, over: session.catalog, columnLimit: Int(columnLimit))
    }

    public func tables() throws -> [TableSchema] { try read { $0.session.catalog.schemas } }

    /// The commits of others. Their number waits until no other thread writes to this store.
    public var externalCommits: ExternalCommits? {
        guard capabilities.sharesFilesWithProcesses else { return nil }
        return ExternalCommits(signalPath: signalPath) { [pool] in try pool.externalCommitNumber() }
    }

    // MARK: Transactions

    public func read<T>(_ body: (SQLiteReader) throws -> T) throws -> T {
        let lease = try pool.takeReader()
        defer { pool.release(lease) }
        let connection = lease.connection
        guard !lease.isNested else { return try run(body, on: connection, try currentCatalog(on: connection)) }
        return try connection.requiringSameFile {
            let catalog = try beginReading(on: connection)
            defer { connection.endReading() }
            return try run(body, on: connection, catalog)
        }
    }

    private func run<T>(
        _ body: (SQLiteReader) throws -> T, on connection: Connection, _ catalog: Catalog
    ) throws -> T {
        let session = Session(connection, catalog, isWriting: false)
        defer { session.end() }
        return try body(SQLiteReader(session: session))
    }

    public func write<T>(_ body: (SQLiteWriter) throws -> T) throws -> T {
        try transaction { session in try body(SQLiteWriter(session: session)) }
    }

    private func transaction<T>(_ body: (Session) throws -> T) throws -> T {
        guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was written") }
        let connection = try pool.takeWriter()
        defer { pool.releaseWriter() }
        let session = Session(connection, try beginWriting(on: connection), isWriting: true)
        do {
            let result = try body(session)
            session.end()
            if let failure = session.failure { throw failure }
            try connection.requireFiles()
            try connection.perform(.commit)
            connection.keepCatalog()
            return result
        } catch {
            session.end()
            connection.rollBack()
            throw error
        }
    }

    /// Begins a read of one snapshot.
    private func beginReading(on connection: Connection) throws(StoreError) -> Catalog {
        try Deadline(after: busyTimeout).retrying { () throws(StoreError) in
            do throws(StoreError) {
                try connection.beginReading()
                return try self.currentCatalog(on: connection)
            } catch {
                connection.endReading()
                throw error
            }
        }
    }

    /// Begins a transaction that excludes all other writers.
    private func beginWriting(on connection: Connection) throws(StoreError) -> Catalog {
        try Deadline(after: busyTimeout).retrying { () throws(StoreError) in
            try connection.perform(.beginWriting)
            do throws(StoreError) {
                return try self.currentCatalog(on: connection)
            } catch {
                connection.rollBack()
                throw error
            }
        }
    }

    private func currentCatalog(on connection: Connection) throws(StoreError) -> Catalog {
        try connection.catalog { () throws(StoreError) in try self.changedCatalog(on: connection) }
    }

    /// Returns the definitions after the database changed.
    private func changedCatalog(on connection: Connection) throws(StoreError) -> Catalog {
        let generation = try connection.generation()
        let known = catalog.withLock { $0 }
        if known.generation == generation { return known }
        let loaded = try connection.loadCatalog(generation: generation)
        catalog.withLock { if $0.generation < generation { $0 = loaded } }
        return loaded
    }
}

extension Connection {
    /// Returns the catalog of a store that was just opened; reading it detects damage early.
    fileprivate func firstCatalog(_ deadline: Deadline) throws(StoreError) -> Catalog {
        try deadline.retrying { () throws(StoreError) in
            try self.inSnapshot { () throws(StoreError) in try self.loadCatalog(generation: try self.generation()) }
        }
    }
}
