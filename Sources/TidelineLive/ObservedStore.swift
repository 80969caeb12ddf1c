public import TidelineStore

/// A store whose queries can be observed.
///
/// ```swift
/// let store = ObservedStore(try SQLiteStore(path: path))
/// for try await update in store.observe(TableQuery("TodoItem").filter(.column("complete") == false)) {
///     print(update.rows.count, update.changes)
/// }
/// ```
/// It is a ``StoreLayer``. Changes are seen if they are made through an `ObservedStore` around the same store object
/// (or, if the store is a value, through a copy of this one), not if they are made through the wrapped store. While
/// nobody observes a table, its writes cost nothing more.
///
/// Changes by other processes, and by other stores over the same files, are seen if the wrapped store has
/// ``LocalStore/externalCommits``. When their number has changed, all live queries are read again at one commit. While
/// there are live queries, the number is read when another observed store signals a commit
/// (``ExternalCommits/signalPath``), at most about 20 times a second, and otherwise 4 times a second; without a signal,
/// it is read about 20 times a second. A commit through this store that comes first does the same. If the store is
/// busy, the number is read again later; another error ends the live queries.
public struct ObservedStore<Base: LocalStore>: StoreLayer {
    public typealias Reader = Base.Reader
    public typealias Writer = ObservedWriter<Base.Writer>

    /// The wrapped store.
    public let base: Base
    let hub: ObservationHub
    /// Whether this store records the changes, rather than a store that it wraps.
    private let records: Bool

    private init(_ base: Base, _ hub: ObservationHub) {
        self.base = base
        self.hub = hub
        records = false
    }

    /// Wraps a store. Around another `ObservedStore`, and around a store object that another one wraps, all live
    /// queries are those of the first one, with its settings.
    ///
    /// - Parameters:
    ///   - base: The store.
    ///   - maximumRecordedRows: The number of rows of a table up to which the changes of a transaction are recorded.
    ///     After a larger transaction, or one of more than 16 MiB, the queries of the table are read again, so that
    ///     memory stays bounded. Queries that take little time to read are read again after fewer rows, but at least
    ///     100.
    public init(_ base: Base, maximumRecordedRows: Int = 10_000) {
        self.init(base, maximumRecordedRows: maximumRecordedRows, quiet: 250_000_000)
    }

    /// - Parameter quiet: The nanoseconds after which the store looks for the commits of others without a signal.
    package init(_ base: Base, maximumRecordedRows: Int = 10_000, quiet: UInt64) {
        self.base = base
        let store = AnyStore(base).base
        let inner = (store as? any ObservedStoring)?.hub
        hub = inner ?? ObservationHub.of(store, maximumRecordedRows: maximumRecordedRows, quiet: quiet)
        records = inner == nil
    }

    /// The wrapped store object, or `nil` if the store is a value.
    package var object: ObjectIdentifier? { hub.object }

    /// Creates tables and indexes, and migrates existing ones. The live queries of these tables are read again.
    public func define(_ tables: [TableSchema]) throws {
        do { try base.define(tables) } catch {
            if records { hub.signalCommit() }
            throw error
        }
        readAgain(redefined: tables)
    }

    /// Creates and migrates tables as the closure decides. The live queries of these tables are read again, and those
    /// of other tables receive the rows that the closure writes.
    public func redefine(_ body: (ObservedWriter<Base.Writer>) throws -> [TableSchema]) throws {
        var tables: [TableSchema] = []
        var pending: PendingCommit?
        do {
            try base.redefine { writer in
                pending?.rollBack()
                pending = nil
                tables = try hub.recording(body, in: writer, &pending, records: records)
                return tables
            }
        } catch {
            pending?.rollBack()
            if records { hub.signalCommit() }
            throw error
        }
        pending?.commit()
        readAgain(redefined: tables)
    }

    private func readAgain(redefined tables: [TableSchema]) {
        guard records else { return }
        hub.signalCommit()
        guard hub.observes(tables.map(\.name)) else { return }
        // The definition is stored, whatever comes of the live queries. If they cannot be read now, the next commit
        // detects that the definition changed.
        try? committing { writer, pending in pending = try hub.prepare(redefined: tables.map(\.name), in: writer) }
    }

    public func write<T>(_ body: (ObservedWriter<Base.Writer>) throws -> T) throws -> T {
        guard records else { return try base.write { try body(ObservedWriter(base: $0, recorder: nil)) } }
        // Also after a failure: a look at the commits of others may have left them to the next one meanwhile.
        defer { hub.signalCommit() }
        return try committing { [hub] writer, pending in try hub.recording(body, in: writer, &pending) }
    }

    /// Closes the store and ends its live queries with the error ``StoreError/Code/closed``.
    public func close() throws {
        try base.close()
        hub.close()
    }

    /// Starts a live query on the calling thread, in a transaction that changes nothing.
    ///
    /// - Throws: The errors of a query; ``StoreError/Code/busy`` within a body of this store.
    package func start(_ registration: LiveRegistration) throws {
        do {
            let externalCommit: UInt64?
            if capabilities.isReadOnly {
                externalCommit = try base.externalCommits?.number()
                try reading { reader in
                    try hub.prepare(starting: registration, at: externalCommit, isExclusive: false, in: reader)
                }
            } else {
                externalCommit = try committing { writer, pending in
                    let externalCommit = try writer.externalCommitNumber()
                    pending = try hub.prepare(
                        starting: registration, at: externalCommit, isExclusive: true, in: writer)
                    return externalCommit
                }
            }
            if externalCommit != nil { startLooking() }
        } catch {
            hub.remove(registration)
            throw error
        }
    }

    /// Starts a live query, or returns `false` if the store is busy. Try again after ``LiveRegistration/busyPause``.
    package func startUnlessBusy(_ registration: LiveRegistration) throws -> Bool {
        do {
            try start(registration)
            return true
        } catch let error as StoreError where error.code == .busy {
            return false
        }
    }

    /// Returns a sequence with an element after commits of others, or `nil` if there are none. Several commits may have
    /// one element. It ends when the store is closed, and when their number cannot be read.
    package func externalCommitUpdates() -> AsyncStream<Void>? {
        guard let commits = base.externalCommits, let updates = hub.listen(after: try? commits.number()) else {
            return nil
        }
        startLooking()
        return updates
    }

    /// Looks for the commits of others at intervals, while anything depends on it.
    private func startLooking() {
        hub.startLooking { [base, weak hub] in
            if let hub { ObservedStore(base, hub).readAgainAfterExternalCommits() }
        }
    }

    /// Reads the live queries again if others have committed since they were read.
    ///
    /// A store that is busy is tried again at the next look. Any other error ends the live queries, as it does when
    /// they are read.
    private func readAgainAfterExternalCommits() {
        do {
            let number = try base.externalCommits?.number()
            hub.noteExternalCommits(number)
            guard hub.tableCount > 0, !hub.includesExternalCommits(number) else { return }
            if capabilities.isReadOnly {
                try reading { hub.prepare(readingAgainAt: number, in: $0) }
            } else {
                try committing { writer, pending in
                    pending = hub.prepare(readingAgainAt: try writer.externalCommitNumber() ?? number, in: writer)
                }
            }
        } catch let error as StoreError where error.code == .busy {
        } catch {
            hub.endQueries(error)
        }
    }

    /// Runs a read and delivers the changes that its body returns. A read may fail after its body: the file may have
    /// changed.
    private func reading(_ body: (Base.Reader) throws -> PendingCommit?) throws {
        var pending: PendingCommit?
        do {
            try base.read { reader in
                // A store that runs the body again has discarded the results of the first run.
                pending?.rollBack()
                pending = nil
                pending = try body(reader)
            }
        } catch {
            pending?.rollBack()
            throw error
        }
        pending?.commit()
    }

    /// Runs a transaction and delivers its changes when it is committed.
    ///
    /// - Parameter body: The body of the transaction, which sets the changes at its end.
    private func committing<T>(_ body: (Base.Writer, inout PendingCommit?) throws -> T) throws -> T {
        var pending: PendingCommit?
        do {
            let result = try base.write { writer in
                // A store that runs the body again has discarded the changes of the first run.
                pending?.rollBack()
                pending = nil
                return try body(writer, &pending)
            }
            pending?.commit()
            return result
        } catch {
            pending?.rollBack()
            throw error
        }
    }
}

extension ObservationHub {
    /// Runs the body of a transaction, and applies the rows that it writes to the live queries.
    fileprivate func recording<T, Writer: StoreWriter>(
        _ body: (ObservedWriter<Writer>) throws -> T, in writer: Writer, _ pending: inout PendingCommit?,
        records: Bool = true
    ) throws -> T {
        let recorder = records ? makeRecorder() : nil
        let result = try body(ObservedWriter(base: writer, recorder: recorder))
        if let recorder { pending = try prepare(recorder, in: writer) }
        return result
    }
}

/// An ``ObservedStore``, without the type of the store that it wraps.
private protocol ObservedStoring {
    var hub: ObservationHub { get }
}

extension ObservedStore: ObservedStoring {}
