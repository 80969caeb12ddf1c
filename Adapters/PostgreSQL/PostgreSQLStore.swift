public import TidelineStore

/// A ``LocalStore`` in a PostgreSQL database, for servers of several processes and machines.
///
/// Each table of the store is a database table with the same name and column names, in a schema of the database that
/// the options name. SQL tools can read it:
///
/// | type of the column | type in PostgreSQL |
/// |---|---|
/// | bool, int, double | `boolean`, `bigint`, `double precision` |
/// | timestamp | `bigint`: 100 ns ticks, `to_timestamp("updatedAt" / 10000000.0)` |
/// | string, JSON | `text COLLATE "C"`; U+0000 is stored as U+0001 U+0001, and U+0001 as U+0001 U+0002 |
/// | bytes | `bytea` |
///
/// The primary key of a table whose ids ignore ASCII case is the column `__key`, and an index of text, JSON, or bytes
/// uses a column `__prefix_…` with their first 64 characters or bytes, which stays when the index is removed. Names of
/// more than 63 bytes are stored abbreviated, with a hash. Other programs may read the tables at any time. A program
/// that writes to them must set these columns too, and increase `commits` in the table `tideline_store` first in its
/// transaction. Values written by other programs are validated when they are read.
///
/// Any number of processes can open the store. Writers wait for each other, and changes of definitions also for reads
/// of the same tables, at most for ``PostgreSQLOptions/busyTimeout``. Readers wait only while definitions change, and
/// may then throw ``StoreError/Code/busy``. The store uses tables, indexes, and statements that systems compatible with
/// PostgreSQL have, too: no triggers, sequences, or functions. NaN cannot be stored. A row must fit in a page of the
/// server apart from its long values, which leaves room for about 990 numbers or 400 long texts, and has at most
/// 500 MB.
///
/// Small upserts are sent with the next statement of their transaction, so that each does not wait for the server. If
/// the server refuses a row, that statement throws the error, or ``write(_:)``.
///
/// A connection that was lost is opened again with the next read or write. If it is lost while the server commits, the
/// write throws ``StoreError/Code/io``, and whether its changes are stored is not known: read them before repeating it.
public final class PostgreSQLStore: LocalStore {
    public let capabilities: StoreCapabilities
    private let pool: ConnectionPool
    private let format: StoreFormat
    private let options: PostgreSQLOptions
    private let place: String
    /// The definitions that were loaded last.
    private let catalog: LockedValue<Catalog>
    /// The number of commits of this store that changed something. Written by the thread that writes.
    private let ownCommits = LockedValue(0 as Int64)

    /// Opens the store in a database.
    ///
    /// Waits for writes in progress, at most ``PostgreSQLOptions/busyTimeout``, unless the store is opened for reading
    /// only: the server finishes a commit that it has received, also if the process that sent it was killed, and what
    /// that process left does not change later.
    ///
    /// - Parameters:
    ///   - connection: A connection string of libpq, such as `host=db.example.com dbname=todo user=tideline`, or a URL,
    ///     such as `postgresql://tideline@db.example.com/todo`. The settings that it does not contain come from the
    ///     environment (`PGHOST`, `PGPASSWORD`, `PGPASSFILE`, …) and the password file, as for PostgreSQL's programs.
    ///     No error contains the password.
    ///   - options: The schema, and others.
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` if the database cannot be used, with the reason, or if there is
    ///   no store and the options do not allow creating it; ``StoreError/Code/notAStore`` if the schema contains tables
    ///   of another program in the place of the store's; ``StoreError/Code/readOnly`` if there is no permission to
    ///   create the store, or to read it; ``StoreError/Code/newerFormat``; ``StoreError/Code/corrupt``;
    ///   ``StoreError/Code/schemaMismatch`` for a name that is not in normalization form C, which an earlier version
    ///   accepted.
    public init(connection: String, options: PostgreSQLOptions = .init()) throws {
        let target = try ConnectionString(connection, schema: options.schema)
        let format = try StoreFormat(checking: options.schema)
        let open: @Sendable () throws(StoreError) -> Connection = { () throws(StoreError) in
            let connection = try target.connect(responseTimeout: options.responseTimeout)
            try connection.configure(options)
            return connection
        }
        let first = try open()
        let catalog = try first.prepareStore(format, options)
        if !options.isReadOnly { first.awaitWriters(format) }
        self.capabilities = StoreCapabilities(
            name: "postgresql", durability: try first.durability(options), sharesFilesWithProcesses: true,
            storesNaN: false, isReadOnly: options.isReadOnly, limitsQueryTime: true)
        self.format = format
        self.options = options
        place = target.place
        self.catalog = LockedValue(catalog)
        pool = ConnectionPool(reader: first, maximumReaders: options.maximumReaders, open: open)
    }

    public func close() throws { try pool.close() }

    // MARK: Definitions

    public func define(_ tables: [TableSchema]) throws {
        // Usually there is nothing to change, and finding that out needs no lock.
        guard try !read({ try plan(defining: tables, over: $0.session.catalog) }).isEmpty else { return }
        try redefine { _ in tables }
    }

    public func redefine(_ body: (PostgreSQLWriter) throws -> [TableSchema]) throws {
        try transaction { session in
            let tables = try body(PostgreSQLWriter(session: session))
            if let failure = session.failure { throw failure }
            let plan = try plan(defining: tables, over: session.catalog)
            if !plan.isEmpty { try session.willDefine().apply(plan, format) }
        }
    }

    private func plan(defining tables: [TableSchema], over catalog: Catalog) throws(StoreError) -> SchemaPlan {
        try SchemaPlan(defining: tables, over: catalog, in: format.schema)
    }

    public func tables() throws -> [TableSchema] { try read { $0.session.catalog.schemas } }

    /// The commits of others. Their number waits until no other thread writes to this store.
    public var externalCommits: ExternalCommits? {
        ExternalCommits { [self] in
            let (connection, start) = try pool.beginWriting { connection throws(StoreError) in
                try connection.beginReading(format)
            }
            defer {
                connection.rollBack()
                pool.endWriting()
            }
            return externalCommits(of: start.commits)
        }
    }

    private func externalCommits(of commits: Int64) -> UInt64 {
        UInt64(bitPattern: commits &- ownCommits.withLock { $0 })
    }

    // MARK: Transactions

    public func read<T>(_ body: (PostgreSQLReader) throws -> T) throws -> T {
        let (connection, catalog) = try pool.beginReading { connection throws(StoreError) in
            let start = try connection.beginReading(format)
            return try currentCatalog(on: connection, generation: start.generation)
        }
        defer { pool.endReading(connection) }
        let session = Session(connection, catalog)
        defer { session.end() }
        return try body(PostgreSQLReader(session: session))
    }

    public func write<T>(_ body: (PostgreSQLWriter) throws -> T) throws -> T {
        try transaction { session in try body(PostgreSQLWriter(session: session)) }
    }

    private func transaction<T>(_ body: (Session) throws -> T) throws -> T {
        guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was written") }
        guard !options.isReadOnly else {
            throw StoreError(
                .readOnly, "the store was opened for reading only; open it for writing instead", path: place)
        }
        let (connection, (commits, catalog)) = try pool.beginWriting { connection throws(StoreError) in
            try beginWriting(on: connection)
        }
        defer { pool.endWriting() }
        let session = Session(connection, catalog, externalCommits: externalCommits(of: commits))
        do {
            let result = try body(session)
            session.end()
            if let failure = session.failure { throw failure }
            guard session.hasChanges else {
                connection.rollBack()
                return result
            }
            try connection.commit()
            ownCommits.withLock { $0 += 1 }
            return result
        } catch {
            session.end()
            connection.rollBack()
            throw error
        }
    }

    /// Begins a transaction that excludes all other writers. Nothing was done yet, so that it can be tried again.
    ///
    /// - Returns: The number of commits before this one, and the definitions.
    private func beginWriting(on connection: Connection) throws(StoreError) -> (Int64, Catalog) {
        try Deadline(after: options.busyTimeout).retrying(while: \.isSerializationFailure) { () throws(StoreError) in
            let start = try connection.beginWriting(format)
            do throws(StoreError) {
                return (start.commits - 1, try currentCatalog(on: connection, generation: start.generation))
            } catch {
                connection.rollBack()
                throw error
            }
        }
    }

    /// Returns the definitions of the current transaction's snapshot.
    private func currentCatalog(on connection: Connection, generation: Int64) throws(StoreError) -> Catalog {
        let known = catalog.withLock { $0 }
        if known.generation == generation { return known }
        let loaded = try connection.loadCatalog(format, generation: generation)
        catalog.withLock { $0 = loaded }
        return loaded
    }
}
