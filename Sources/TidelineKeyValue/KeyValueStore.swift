public import TidelineStore

/// A complete ``LocalStore`` over an engine that maps byte strings to byte strings in key order.
///
/// This type implements tables, rows, identifiers, indexes, queries, counts, and definitions for all engines. A custom
/// engine takes about a page of code (``OrderedKeyValueEngine``):
///
/// ```swift
/// let store = try KeyValueStore(engine: MyEngine(path: "todo.my"))
/// ```
///
/// Rows are stored in the packed format and read directly from the engine's memory. The indexes that a table declares
/// are updated in the same transaction as its rows; ``explain(_:)`` returns the index that a query uses. A scan inside
/// a write body keeps the rows that it found in memory, so that the body may change the table.
public final class KeyValueStore<Engine: OrderedKeyValueEngine>: LocalStore {
    public let capabilities: StoreCapabilities
    private let engine: Engine
    private let overflowKeys: OverflowKey
    private var sharesFilesWithProcesses: Bool { capabilities.sharesFilesWithProcesses }
    let lock = ReadWriteLock()
    private let definitions: LockedValue<Definitions>
    /// The objects that maintain the indexes of the tables that were changed, whose memory the next write uses.
    private let indexEntries = LockedValue<[IndexEntries]>([])
    /// Stored, because looking up a generic type in each read would cost as much as the transaction of a short read.
    private let readMap: KeyMap<Engine.Snapshot>.Type = KeyMap<Engine.Snapshot>.self
    private let writeMap: KeyStoreMap<Engine.Transaction>.Type = KeyStoreMap<Engine.Transaction>.self

    /// Creates a store over an open engine, which it owns and closes.
    ///
    /// A store is created if the engine has no keys that begin with the four-byte numbers 0 or 1 (big-endian). Other
    /// keys are not read: check first that the engine does not contain another program's data.
    ///
    /// - Throws: ``StoreError/Code/notAStore`` if there are such keys and no store wrote them, ``StoreError/Code/io``
    ///   if there is no store and the engine is read-only, ``StoreError/Code/corrupt`` if the store is damaged,
    ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/unsupported`` if the engine's keys are too short
    ///   (``OrderedKeyValueEngine/maximumKeyLength``), ``StoreError/Code/schemaMismatch`` for a name that is not in
    ///   normalization form C, which an earlier version accepted, and the errors of the engine. The engine is then
    ///   closed.
    public convenience init(engine: Engine) throws { try self.init(engine: engine, createsIfMissing: true) }

    /// Creates a store as ``init(engine:)`` does, or throws ``StoreError/Code/io`` if there is none and the options of
    /// the engine do not allow creating one.
    package init(engine: Engine, createsIfMissing: Bool) throws {
        self.engine = engine
        capabilities = engine.storeCapabilities
        do {
            try Self.requireKeyLength(of: engine)
            overflowKeys = unsafe OverflowKey(maximum: engine.maximumKeyLength)
            let catalog = try Self.firstCatalog(of: engine, overflowKeys, createsIfMissing)
            definitions = LockedValue(Definitions(catalog: catalog))
        } catch {
            // Report the first failure only.
            try? engine.close()
            throw Self.placed(error, in: engine)
        }
    }

    /// Returns the error with the file or folder added if it has none.
    private static func placed(_ error: any Error, in engine: Engine) -> any Error {
        guard var placed = error as? StoreError, placed.path == nil else { return error }
        placed.path = engine.path
        return placed
    }

    private static func requireKeyLength(of engine: Engine) throws(StoreError) {
        guard engine.maximumKeyLength >= OverflowKey.leastMaximum else {
            throw StoreError(
                .unsupported,
                "the engine \(engine.capabilities.name) supports keys of at most \(engine.maximumKeyLength) bytes; "
                    + "a store requires \(OverflowKey.leastMaximum)")
        }
    }

    /// Returns the definitions of the store, which is created if it does not exist and may be.
    private static func firstCatalog(
        of engine: Engine, _ overflowKeys: OverflowKey, _ createsIfMissing: Bool
    ) throws -> Catalog {
        let catalog = try engine.read { snapshot -> Catalog? in
            let map = KeyMap(snapshot, overflowKeys)
            return try map.checkFormat(for: engine) ? map.catalog() : nil
        }
        if let catalog { return catalog }
        guard !engine.capabilities.isReadOnly else {
            throw StoreError(.io, "there is no store, and it cannot be created because it was opened read-only")
        }
        guard createsIfMissing else {
            throw StoreError(.io, "there is no store, and the options do not allow creating one")
        }
        return try engine.write { transaction in
            let map = KeyStoreMap(transaction, overflowKeys)
            // Another process may have created it in the meantime.
            if try map.checkFormat(for: engine) { return try map.catalog() }
            try map.writeFormat(for: engine)
            return .empty
        }
    }

    public func close() throws { try lock.close { try engine.close() } }

    /// Calls `body` with the engine for features beyond rows, such as compaction. ``close()`` waits until it returns.
    ///
    /// `body` must not change the data that the store keeps in the engine.
    public func withEngine<T>(_ body: (Engine) throws -> T) throws -> T {
        try lock.beginReading()
        defer { lock.endReading() }
        return try body(engine)
    }

    // MARK: Definitions

    public func define(_ tables: [TableSchema]) throws {
        // Usually nothing has to change, which requires no write lock.
        guard try !read({ try plan(defining: tables, over: $0.session.catalog) }).isEmpty else { return }
        try redefine { _ in tables }
    }

    public func redefine(_ body: (KeyValueStoreWriter) throws -> [TableSchema]) throws {
        var changed: Catalog?
        try transaction { session in
            definitions.withLock { $0.beginChange() }
            let tables = try body(KeyValueStoreWriter(session: session))
            let plan = try plan(defining: tables, over: session.catalog)
            changed = session.catalog
            guard !plan.isEmpty else { return }
            changed = try session.changeDefinitions().apply(plan, to: session.catalog)
        } ended: { isCommitted in
            definitions.withLock { $0.endChange(isCommitted ? changed : nil) }
        }
    }

    private func plan(defining tables: [TableSchema], over catalog: Catalog) throws(StoreError) -> SchemaPlan {
        try SchemaPlan(defining: tables, over: catalog, limit: capabilities.maximumTablesAndIndexes)
    }

    /// Rebuilds all index entries and row counts from the rows in one transaction, after a repair that may have lost
    /// some.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` if a row of a table with indexes is damaged. Nothing is then changed. The
    ///   rows of other tables are counted, and not read.
    public func rebuildIndexes() throws {
        try transaction { session in
            guard !session.catalog.all.isEmpty else { return }
            let store = try session.changeDefinitions()
            for table in session.catalog.all { try store.rebuildIndexes(of: table) }
        } ended: { _ in
            definitions.withLock { $0.forgetRowCounts() }
        }
    }

    public func tables() throws -> [TableSchema] { try read { $0.session.catalog.all.map(\.schema) } }

    public var externalCommits: ExternalCommits? {
        guard sharesFilesWithProcesses else { return nil }
        return .init(signalPath: engine.commitSignalPath) { [self] in
            try lock.beginReading()
            defer { lock.endReading() }
            guard let commit = try engine.read({ $0.commitNumber }) else {
                throw StoreError(.unsupported, "the engine shares its files and has no number of commits")
            }
            return definitions.withLock { $0.externalCommits.number(at: commit) }
        }
    }

    /// Returns the plan of a query: the index that it uses, the residual predicate, and the ordering.
    ///
    /// - Throws: The errors of ``StoreReader/scan(_:_:)`` for the query.
    public func explain(_ query: TableQuery) throws -> QueryPlan { try read { try $0.session.plan(for: query) } }

    // MARK: Transactions

    public func read<T>(_ body: (KeyValueStoreReader) throws -> T) throws -> T {
        try lock.beginReading()
        defer { lock.endReading() }
        let known = definitions.withLock { $0 }
        return try engine.read { snapshot in
            let map = keys(of: snapshot)
            let session = Session(reading: map, try catalog(in: map, snapshot.commitNumber, known))
            defer { session.end() }
            return try body(KeyValueStoreReader(session: session))
        }
    }

    /// A separate function, so that callers do not depend on the generic type of the keys, which would have to be
    /// looked up.
    @inline(never)
    private func keys(of snapshot: Engine.Snapshot) -> any KeySource { readMap.init(snapshot, overflowKeys) }

    public func write<T>(_ body: (KeyValueStoreWriter) throws -> T) throws -> T {
        try transaction { session in try body(KeyValueStoreWriter(session: session)) }
    }

    /// Runs a transaction.
    ///
    /// - Parameter ended: Called with whether the transaction was committed, before another one may begin.
    private func transaction<T>(
        _ body: (Session) throws -> T, ended: (_ isCommitted: Bool) -> Void = { _ in }
    ) throws -> T {
        try checkCancellation()
        try lock.beginWriting()
        defer { lock.endWriting() }
        // The task may have waited long for its turn.
        try checkCancellation()
        try requireWritable()
        var isCommitted = false
        defer {
            if !isCommitted { definitions.withLock { $0.externalCommits.endWriting(after: nil, at: nil) } }
            ended(isCommitted)
        }
        var outcome: TransactionOutcome?
        var (known, rowCounts) = definitions.withLock { $0.checkOutRowCounts() }
        let result = try engine.write { transaction in
            let map = writeMap.make(transaction, overflowKeys)
            let commit = transaction.commitNumber
            let catalog = try catalog(in: map, commit, known)
            if !known.isCurrent(after: commit, isShared: sharesFilesWithProcesses) { rowCounts = RowCounts() }
            let session = Session(
                writing: map, catalog, rowCounts.take(), definitions,
                precedingCommit: sharesFilesWithProcesses ? commit : nil, indexEntries.withLock { $0 })
            defer { session.end() }
            let result = try body(session)
            try session.finish()
            indexEntries.withLock { $0 = session.indexEntries }
            outcome = unsafe TransactionOutcome(
                catalog: catalog, precedingCommit: commit,
                commit: session.hasChanges ? transaction.ownCommitNumber : nil,
                rowCounts: session.rowCounts)
            return result
        }
        isCommitted = true
        if let outcome { definitions.withLock { $0.update(outcome) } }
        return result
    }

    private func requireWritable() throws(StoreError) {
        guard !capabilities.isReadOnly else {
            throw StoreError(
                .readOnly, "the store was opened read-only; open it for writing instead", path: engine.path)
        }
    }

    private func checkCancellation() throws(StoreError) {
        guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was written") }
    }

    /// Returns the definitions as of a snapshot, which are usually the cached ones.
    ///
    /// If no other process can change the definitions, it is sufficient that no change was in progress since before the
    /// snapshot was created.
    private func catalog(in keys: any KeySource, _ commit: UInt64?, _ known: Definitions) throws -> Catalog {
        if sharesFilesWithProcesses {
            if let commit, known.commit == commit { return known.catalog }
        } else if !known.isChanging, definitions.withLock({ $0.changes == known.changes }) {
            return known.catalog
        }
        let (generation, _) = try keys.generation()
        let catalog = known.catalog.generation == generation ? known.catalog : try keys.catalog()
        definitions.withLock { $0.update(catalog, at: commit) }
        return catalog
    }
}
