public import TidelineStore

/// A whole ``LocalStore`` over an engine that keeps byte strings in order.
///
/// Tables, rows, ids, indexes, queries, counts and definitions are seen to here, once for all engines; an engine of
/// one's own costs a page of code (``OrderedKeyValueEngine``):
///
/// ```swift
/// let store = try KeyValueStore(engine: MyEngine(path: "todo.my"))
/// ```
///
/// Rows are stored in the packed format and read where the engine has them. Each index that a table declares is kept in
/// the transaction of the row; ``explain(_:)`` tells which one a query uses. A scan inside a write body holds the rows
/// that it found in memory, so that the body may change the table meanwhile.
public final class KeyValueStore<Engine: OrderedKeyValueEngine>: LocalStore {
    public let capabilities: StoreCapabilities
    private let engine: Engine
    private let longKeys: LongKey
    private let sharesFilesWithProcesses: Bool
    let gate = WorkGate()
    private let definitions: LockedValue<Definitions>
    /// Nil where looking for a row costs no more than remembering it, or where others may remove it meanwhile.
    private let knownRows: KnownRows?
    /// Kept, as to look a generic type up in each read would cost as much as a short read's transaction.
    private let readMap: KeyMap<Engine.Snapshot>.Type = KeyMap<Engine.Snapshot>.self
    private let writeMap: KeyStoreMap<Engine.Transaction>.Type = KeyStoreMap<Engine.Transaction>.self

    /// A store over an engine that was opened for it, and that it closes.
    ///
    /// - Throws: ``StoreError``: ``StoreError/Code/corrupt`` when the engine's content is no store or damaged,
    ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/unsupported`` when its keys are too short
    ///   (``OrderedKeyValueEngine/maximumKeyLength``), what the engine throws. The engine is closed then.
    public init(engine: Engine) throws {
        self.engine = engine
        capabilities = engine.storeCapabilities
        sharesFilesWithProcesses = engine.capabilities.sharesFilesWithProcesses
        knownRows = engine.looksUpSlowly && !sharesFilesWithProcesses ? KnownRows() : nil
        do {
            try Self.requireKeyLength(of: engine)
            longKeys = LongKey(maximum: engine.maximumKeyLength)
            definitions = LockedValue(Definitions(catalog: try Self.firstCatalog(of: engine, longKeys)))
        } catch {
            // The first failure is the one to tell.
            try? engine.close()
            throw Self.placed(error, in: engine)
        }
    }

    /// The error with the file or folder, where it does not say it.
    private static func placed(_ error: any Error, in engine: Engine) -> any Error {
        guard var placed = error as? StoreError, placed.path == nil else { return error }
        placed.path = engine.path
        return placed
    }

    private static func requireKeyLength(of engine: Engine) throws(StoreError) {
        guard engine.maximumKeyLength >= LongKey.leastMaximum else {
            throw StoreError(
                .unsupported,
                "the engine \(engine.capabilities.name) takes keys of \(engine.maximumKeyLength) bytes at most; a store "
                    + "needs \(LongKey.leastMaximum)")
        }
    }

    /// The definitions of a store, which is made when there is none.
    private static func firstCatalog(of engine: Engine, _ longKeys: LongKey) throws -> Catalog {
        let catalog = try engine.read { snapshot -> Catalog? in
            let map = KeyMap(snapshot, longKeys)
            return try map.checkFormat(for: engine) ? map.catalog() : nil
        }
        if let catalog { return catalog }
        guard !engine.capabilities.isReadOnly else {
            throw StoreError(.io, "there is no store, and none can be made as it was opened for reading only")
        }
        return try engine.write { transaction in
            let map = KeyStoreMap(transaction, longKeys)
            // Another may have made it meanwhile.
            if try map.checkFormat(for: engine) { return try map.catalog() }
            try map.writeFormat(for: engine)
            return .empty
        }
    }

    public func close() throws { try gate.close { try engine.close() } }

    /// Calls `body` with the engine, for what it offers beyond rows, such as compaction; ``close()`` waits for it.
    ///
    /// What the store keeps in the engine is the store's: `body` changes none of it.
    public func withEngine<T>(_ body: (Engine) throws -> T) throws -> T {
        try gate.beginRead()
        defer { gate.endRead() }
        return try body(engine)
    }

    // MARK: Definitions

    public func define(_ tables: [TableSchema]) throws {
        // Most often there is nothing to do, and that needs no lock.
        guard try !read({ try SchemaPlan(defining: tables, over: $0.session.catalog) }).isEmpty else { return }
        var changed: Catalog?
        try transaction { session in
            definitions.withLock { $0.beginChange() }
            let plan = try SchemaPlan(defining: tables, over: session.catalog)
            // It may remove spaces, and let a new table have them later.
            knownRows?.forget()
            changed = try plan.isEmpty ? session.catalog : session.store().apply(plan, to: session.catalog)
        } ended: { isCommitted in
            definitions.withLock { $0.endChange(isCommitted ? changed : nil) }
        }
    }

    /// Makes all index entries and row counts anew from the rows, as one transaction: after a repair that may have lost
    /// some of either.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` for a row that is damaged; nothing is changed then.
    public func rebuildIndexes() throws {
        try transaction { session in
            let store = try session.store()
            for table in session.catalog.all { try store.rebuildIndexes(of: table) }
        } ended: { _ in
            definitions.withLock { $0.forgetRowCounts() }
        }
    }

    public func tables() throws -> [TableSchema] { try read { $0.session.catalog.all.map(\.schema) } }

    /// How the store answers a query: which index it uses, what it filters, how it orders.
    ///
    /// - Throws: What ``StoreReader/scan(_:_:)`` throws for the query.
    public func explain(_ query: Query) throws -> QueryPlan { try read { try $0.session.plan(for: query) } }

    // MARK: Transactions

    public func read<T>(_ body: (KeyValueStoreReader) throws -> T) throws -> T {
        try gate.beginRead()
        defer { gate.endRead() }
        let known = definitions.withLock { $0 }
        return try engine.read { snapshot in
            let map = keys(of: snapshot)
            let session = Session(reading: map, try catalog(in: map, snapshot.commitNumber, known))
            defer { session.end() }
            return try body(KeyValueStoreReader(session: session))
        }
    }

    /// A function of its own, so that whoever gets the keys knows nothing of their type, which would be looked up.
    @inline(never)
    private func keys(of snapshot: Engine.Snapshot) -> any KeySource { readMap.init(snapshot, longKeys) }

    public func write<T>(_ body: (KeyValueStoreWriter) throws -> T) throws -> T {
        try transaction { session in
            try body(KeyValueStoreWriter(session: session))
        } ended: { isCommitted in
            if !isCommitted { definitions.withLock { $0.forgetRowCounts() } }
        }
    }

    /// Runs a transaction.
    ///
    /// - Parameter ended: Called before another transaction may begin, with whether it was committed.
    private func transaction<T>(
        _ body: (Session) throws -> T, ended: (_ isCommitted: Bool) -> Void
    ) throws -> T {
        try checkCancellation()
        try gate.beginWrite()
        defer { gate.endWrite() }
        // Its turn may have been long in coming.
        try checkCancellation()
        guard !capabilities.isReadOnly else {
            throw StoreError(
                .readOnly, "the store was opened for reading only; open it without that to write", path: engine.path)
        }
        var isCommitted = false
        defer {
            if !isCommitted { knownRows?.forget() }
            ended(isCommitted)
        }
        var outcome: TransactionOutcome?
        var (known, rowCounts) = definitions.withLock { $0.lendRowCounts() }
        let result = try engine.write { transaction in
            let map = writeMap.make(transaction, longKeys)
            let commit = transaction.commitNumber
            let catalog = try catalog(in: map, commit, known)
            if !known.isCurrent(after: commit, isShared: sharesFilesWithProcesses) { rowCounts = RowCounts() }
            let session = Session(writing: map, catalog, rowCounts.take(), knownRows)
            defer { session.end() }
            let result = try body(session)
            try session.finish()
            outcome = TransactionOutcome(
                catalog: catalog, commit: session.hasChanges ? transaction.ownCommitNumber : nil,
                rowCounts: session.rowCounts)
            return result
        }
        isCommitted = true
        if let outcome { definitions.withLock { $0.learn(outcome) } }
        return result
    }

    private func checkCancellation() throws(StoreError) {
        guard !Task.isCancelled else { throw StoreError(.cancelled, "the task was cancelled; nothing was written") }
    }

    /// The definitions as of a snapshot, which are most often those that are known.
    ///
    /// Where no other process changes them, it is enough that no change was under way since before the snapshot was
    /// taken.
    private func catalog(in keys: any KeySource, _ commit: UInt64?, _ known: Definitions) throws -> Catalog {
        if sharesFilesWithProcesses {
            if let commit, known.commit == commit { return known.catalog }
        } else if !known.isChanging, definitions.withLock({ $0.changes == known.changes }) {
            return known.catalog
        }
        let (generation, _) = try keys.generation()
        let catalog = known.catalog.generation == generation ? known.catalog : try keys.catalog()
        definitions.withLock { $0.learn(catalog, at: commit) }
        return catalog
    }
}
