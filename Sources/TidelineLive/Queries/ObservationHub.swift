internal import Dispatch
internal import Synchronization
internal import TidelineStore

/// The live queries of a store.
package final class ObservationHub: Sendable {
    private struct Table {
        var definition: ObservedDefinition
        var index = PredicateIndex()
        /// The queries, each with the condition under which it is filed.
        var queries: [ObjectIdentifier: (query: LiveRegistration, condition: IndexedCondition, readTime: Duration)] =
            [:]
        /// The time to read the results of all queries.
        private(set) var readTime = Duration.zero

        mutating func insert(_ query: LiveRegistration, _ state: LiveRegistration.State) {
            remove(query)
            let condition = state.plan.condition
            queries[ObjectIdentifier(query)] = (query, condition, state.readTime)
            readTime += state.readTime
            index.insert(query, under: condition)
        }

        mutating func remove(_ query: LiveRegistration) {
            guard let filed = queries.removeValue(forKey: ObjectIdentifier(query)) else { return }
            readTime -= filed.readTime
            index.remove(query, under: filed.condition)
        }
    }

    private struct State {
        /// The tables under observation.
        var tables: [String: Table] = [:]
        /// The tables whose queries must be read again, because the transaction that did so failed.
        var unread: Set<String> = []
        /// The number of the external commits that all results include, or `nil` if it is not known. It changes while
        /// the lock of the commits is held.
        var externalCommit: UInt64?
        /// The sequences of external commits.
        var listeners: [Int: Listener] = [:]
        var listenerCount = 0
        /// The timer that looks for external commits, while there are live queries or listeners.
        var timer: ExternalCommitTimer?
        var isClosed = false

        /// Whether nothing depends on looks for external commits.
        var isIdle: Bool { tables.isEmpty && listeners.isEmpty }

        /// Ends the timer if nothing depends on it. Release the result after the lock of the state, because it may be
        /// the last owner of a store.
        mutating func takeIdleTimer() -> ExternalCommitTimer? { isIdle ? timer.take() : nil }
    }

    /// A sequence of external commits, and the number of those that its elements stand for.
    private struct Listener {
        let continuation: AsyncStream<Void>.Continuation
        var number: UInt64?
    }

    private let maximumRecordedRows: Int
    /// The observed store.
    private let store: any LocalStore
    /// The store object, or `nil` if the store is a value.
    let object: ObjectIdentifier?
    /// Tells other processes of commits, and is sent by them, if the store's files are shared.
    private let signal: CommitSignal?
    /// The nanoseconds after which the store looks for external commits without a signal.
    private let quiet: UInt64
    private let state = LockedValue(State())
    private let isObserving = Atomic(false)
    /// Held from the end of a transaction's body until its outcome is known.
    private let commitLock = PlainLock()
    private let lastCommit = Atomic(0)
    /// The queue on which the store looks for external commits, one look at a time.
    private let lookingQueue = DispatchQueue(label: "TidelineLive")

    private init(of store: any LocalStore, maximumRecordedRows: Int, signal: CommitSignal?, quiet: UInt64) {
        self.store = store
        object = Self.object(store)
        self.maximumRecordedRows = maximumRecordedRows
        self.signal = signal
        self.quiet = quiet
    }

    private struct Entry {
        weak var hub: ObservationHub?
    }

    /// The hubs of store objects. A hub keeps its store, so the store of an entry that is not empty exists.
    private static let hubs = LockedValue<[ObjectIdentifier: Entry]>([:])

    private static func object(_ store: any LocalStore) -> ObjectIdentifier? {
        type(of: store) is AnyClass ? ObjectIdentifier(store as AnyObject) : nil
    }

    /// Returns the hub of a store, which is the same one for all that observe a store object.
    static func of(_ store: any LocalStore, maximumRecordedRows: Int, quiet: UInt64) -> ObservationHub {
        func make() -> ObservationHub {
            let signal = store.externalCommits?.signalPath.flatMap { CommitSignal(path: $0) }
            return ObservationHub(of: store, maximumRecordedRows: maximumRecordedRows, signal: signal, quiet: quiet)
        }
        guard let object = object(store) else { return make() }
        return hubs.withLock { hubs in
            if let hub = hubs[object]?.hub { return hub }
            let hub = make()
            hubs = hubs.filter { $0.value.hub != nil }
            hubs[object] = Entry(hub: hub)
            return hub
        }
    }

    /// The number of running live queries.
    package var queryCount: Int { state.withLock { $0.tables.values.reduce(0) { $0 + $1.queries.count } } }

    /// The number of tables with live queries.
    package var tableCount: Int { state.withLock { $0.tables.count } }

    /// The number of the last commit that changed a table under observation.
    package var commit: Int { lastCommit.load(ordering: .acquiring) }

    // MARK: External commits

    func setExternalCommit(_ number: UInt64?) { state.withLock { $0.externalCommit = number } }

    /// Returns whether all results include the external commits up to the given number.
    ///
    /// - Parameter number: A number of the store, or `nil` if nobody else commits.
    func includesExternalCommits(_ number: UInt64?) -> Bool {
        number == nil || state.withLock { $0.externalCommit } == number
    }

    /// Reads all live queries, because the store's own changes do not lead to their results.
    ///
    /// - Returns: The changes, or `nil` if the results include the external commits.
    func prepare(readingAgainAt number: UInt64?, in reader: some StoreReader) -> PendingCommit? {
        guard !includesExternalCommits(number) else { return nil }
        let pending = PendingCommit(self, changesRows: true)
        readAllAgain(at: number, in: reader, pending)
        return pending
    }

    private func readAllAgain(at number: UInt64?, in reader: some StoreReader, _ pending: PendingCommit) {
        pending.changesRows = true
        pending.externalCommit = number
        for table in state.withLock({ Array($0.tables.keys) }) { readAgain(table, in: reader, pending) }
    }

    /// Whether a timer looks for external commits.
    package var looksForExternalCommits: Bool { state.withLock { $0.timer != nil } }

    /// Tells other processes, and other stores over the same files, to look for commits: this store has committed, or a
    /// write has ended beside which a look was not possible.
    func signalCommit() { signal?.send() }

    /// Returns a sequence with an element after external commits that follow those with the number, or `nil` if the
    /// store is closed.
    func listen(after number: UInt64?) -> AsyncStream<Void>? {
        let (updates, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.listenerCount += 1
            state.listeners[state.listenerCount] = Listener(continuation: continuation, number: number)
            return state.listenerCount
        }
        guard let id else { return nil }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { state in
                state.listeners[id] = nil
                return state.takeIdleTimer()
            }
        }
        return updates
    }

    /// Adds an element to the sequences that have none for the external commits with this number.
    func noteExternalCommits(_ number: UInt64?) {
        let continuations = state.withLock { state in
            var continuations: [AsyncStream<Void>.Continuation] = []
            for (id, listener) in state.listeners where listener.number != number {
                state.listeners[id]?.number = number
                continuations.append(listener.continuation)
            }
            return continuations
        }
        for continuation in continuations { continuation.yield() }
    }

    /// Begins to look for external commits if anything depends on it, and until nothing does.
    ///
    /// - Parameter look: Looks for commits. Called on one thread at a time.
    func startLooking(_ look: @escaping @Sendable () -> Void) {
        let isWaiting = state.withLock { state in
            guard state.timer == nil, !state.isIdle else { return !state.listeners.isEmpty && !state.tables.isEmpty }
            let quiet = { @Sendable [weak self, quiet] in self?.tableCount == 0 ? max(quiet, Self.quietAlone) : quiet }
            state.timer = ExternalCommitTimer(on: lookingQueue, signal: signal, quiet: quiet, look: look)
            return false
        }
        // The timer may wait for as long as without live queries.
        if isWaiting { signal?.send() }
    }

    /// As ``quiet``, without live queries. Only stores that send the signal queue operations.
    private static let quietAlone: UInt64 = 10_000_000_000

    // MARK: Recording

    /// Returns a recorder for a transaction, or `nil` if nobody observes the store.
    ///
    /// Live queries start in a write transaction, so that none starts during another one.
    func makeRecorder() -> ChangeRecorder? { isObserving.load(ordering: .acquiring) ? ChangeRecorder(self) : nil }

    /// Returns whether one of the tables is under observation.
    func observes(_ tables: [String]) -> Bool {
        state.withLock { state in tables.contains { state.tables[$0] != nil } }
    }

    /// Returns an object that records the changes of a table, or `nil` if nobody observes it.
    func recordedTable(_ name: String, in reader: some StoreReader) throws -> RecordedTable? {
        let known = state.withLock { state in state.tables[name].map { ($0.definition, $0.readTime) } }
        guard let (definition, readTime) = known else { return nil }
        return RecordedTable(
            name, shape: definition.shape, foldsID: definition.schema.foldsID, maximumCount: recordedRows(readTime),
            isReadAgain: try isUnread(name) || !definition.isCurrent(in: reader))
    }

    /// Returns the number of rows up to which recording takes less time than reading the queries again, but not more
    /// than the maximum.
    private func recordedRows(_ readTime: Duration) -> Int {
        // To record a row, look it up before and after, and match it took 2.4 to 3.9 µs.
        let worthwhile = Int(min(readTime / .microseconds(3), 1e9))
        return min(max(worthwhile, 100), maximumRecordedRows)
    }

    private func isUnread(_ table: String) -> Bool { state.withLock { $0.unread.contains(table) } }

    /// Requires that the queries of tables are read again by the next transaction that changes them.
    func requireReadingAgain(_ tables: [String]) {
        guard !tables.isEmpty else { return }
        state.withLock { $0.unread.formUnion(tables) }
    }

    private func definition(of table: String) -> ObservedDefinition? {
        state.withLock { $0.tables[table]?.definition }
    }

    // MARK: Changes

    /// Acquires the lock of the commits and returns the number of the last one.
    func lockCommits() -> Int {
        commitLock.lock()
        return commit
    }

    /// Releases the lock.
    ///
    /// - Parameter number: The number of the commit, or `nil` if the transaction was rolled back.
    func unlockCommits(_ number: Int?) {
        if let number { lastCommit.store(number, ordering: .releasing) }
        commitLock.unlock()
    }

    /// Applies the changes of a transaction to the live queries, at the end of its body.
    func prepare(_ recorder: ChangeRecorder, in writer: some StoreWriter) throws -> PendingCommit? {
        var changed: [TableChanges] = []
        var readAgain: [String] = []
        for table in recorder.recorded {
            if let changes = try table.takeChanges(in: writer) {
                if !changes.rows.isEmpty { changed.append(changes) }
            } else {
                readAgain.append(table.name)
            }
        }
        guard !changed.isEmpty || !readAgain.isEmpty else { return nil }
        let externalCommit = try writer.externalCommitNumber()
        let pending = PendingCommit(self, changesRows: true)
        guard includesExternalCommits(externalCommit) else {
            // The changes are relative to rows that the results do not have yet.
            readAllAgain(at: externalCommit, in: writer, pending)
            return pending
        }
        for changes in changed {
            for (query, rows) in candidates(for: changes) {
                pending.change(query) { try query.apply(rows, of: changes, in: writer) }
            }
        }
        for table in readAgain { self.readAgain(table, in: writer, pending) }
        return pending
    }

    /// Reads the live queries of tables whose definitions may have changed.
    func prepare(redefined tables: [String], in writer: some StoreWriter) throws -> PendingCommit? {
        let externalCommit = try writer.externalCommitNumber()
        let pending = PendingCommit(self, changesRows: true)
        if includesExternalCommits(externalCommit) {
            for table in tables { readAgain(table, in: writer, pending) }
        } else {
            readAllAgain(at: externalCommit, in: writer, pending)
        }
        return pending
    }

    /// Returns the queries that changed rows may concern, each with these rows.
    private func candidates(for changes: TableChanges) -> [(LiveRegistration, [Int])] {
        state.withLock { state in
            guard let index = state.tables[changes.name]?.index else { return [] }
            var places: [ObjectIdentifier: Int] = [:]
            var found: [(query: LiveRegistration, rows: [Int])] = []
            for row in changes.rows.indices {
                func add(_ query: LiveRegistration) {
                    let place = places[ObjectIdentifier(query), default: found.count]
                    if place == found.count {
                        places[ObjectIdentifier(query)] = place
                        found.append((query, [row]))
                    } else if found[place].rows.last != row {
                        found[place].rows.append(row)
                    }
                }
                _ = changes.withBefore(row) { index.forEachCandidate(of: $0, add) }
                _ = changes.withAfter(row) { index.forEachCandidate(of: $0, add) }
            }
            return found.map { ($0.query, $0.rows) }
        }
    }

    /// Reads the whole results of all queries of a table.
    func readAgain(_ table: String, in reader: some StoreReader, _ pending: PendingCommit) {
        pending.noteReadingAgain(table)
        let queries = state.withLock { state in
            state.unread.remove(table)
            return state.tables[table]?.queries.values.map(\.query) ?? []
        }
        guard !queries.isEmpty else { return }
        let definition = Result { try ObservedDefinition(of: table, in: reader) }
        for query in queries {
            pending.change(query) {
                let definition = try definition.get()
                let delta = try query.read(definition, in: reader)
                file(query, definition, isNew: false)
                return delta
            }
        }
    }

    // MARK: Queries

    /// Reads the result of a new query and registers it.
    ///
    /// - Parameters:
    ///   - externalCommit: The number of the external commits that a read sees, or more.
    ///   - isExclusive: Whether no other commit can be made meanwhile.
    /// - Throws: ``StoreError/Code/closed`` if the store was closed; the errors of a query.
    func prepare(
        starting query: LiveRegistration, at externalCommit: UInt64?, isExclusive: Bool, in reader: some StoreReader
    ) throws -> PendingCommit {
        let table = query.query.table
        let known = definition(of: table)
        let isRedefined = try known.map { try isUnread(table) || !$0.isCurrent(in: reader) } ?? false
        let pending = PendingCommit(self, changesRows: isRedefined)
        do {
            if tableCount == 0 {
                pending.externalCommit = externalCommit
            } else if !includesExternalCommits(externalCommit) {
                if isExclusive {
                    readAllAgain(at: externalCommit, in: reader, pending)
                } else {
                    // Another read may already have seen more. The next look reads all queries again.
                    setExternalCommit(nil)
                }
            } else if isRedefined {
                readAgain(table, in: reader, pending)
            }
            let definition = try definition(of: table) ?? ObservedDefinition(of: table, in: reader)
            let delta = try query.read(definition, in: reader)
            guard file(query, definition, isNew: true) else { throw ObservationHub.closed }
            pending.start(query, delta)
            return pending
        } catch {
            pending.rollBack()
            throw error
        }
    }

    /// Files a query that was read in the index of its table.
    ///
    /// - Returns: Whether the query is registered. The consumer may have removed it, and the store may have been
    ///   closed.
    @discardableResult
    private func file(_ query: LiveRegistration, _ definition: ObservedDefinition, isNew: Bool) -> Bool {
        guard let current = query.current else { return false }
        return state.withLock { state in
            guard !state.isClosed else { return false }
            let key = query.query.table
            var table = state.tables.removeValue(forKey: key) ?? Table(definition: definition)
            if table.definition.shape !== definition.shape {
                // The positions of columns may differ. All queries of the table are filed again.
                table.index = PredicateIndex()
                table.definition = definition
            }
            let isRegistered = isNew || table.queries[ObjectIdentifier(query)] != nil
            if isRegistered { table.insert(query, current) }
            if !table.queries.isEmpty { state.tables[key] = table }
            isObserving.store(!state.tables.isEmpty, ordering: .releasing)
            return isRegistered
        }
    }

    /// Removes a query. It may not have been registered.
    package func remove(_ query: LiveRegistration) {
        _ = state.withLock { state in
            let key = query.query.table
            state.tables[key]?.remove(query)
            if state.tables[key]?.queries.isEmpty == true { state.tables[key] = nil }
            isObserving.store(!state.tables.isEmpty, ordering: .releasing)
            return state.takeIdleTimer()
        }
    }

    /// Ends all queries, and rejects new ones.
    func close() {
        state.withLock { $0.isClosed = true }
        endQueries(Self.closed)
    }

    /// Ends all queries with an error, and the sequences of external commits.
    func endQueries(_ error: any Error) {
        let (queries, listeners, timer) = state.withLock { state in
            let queries = state.tables.values.flatMap { $0.queries.values.map(\.query) }
            let listeners = Array(state.listeners.values)
            (state.tables, state.listeners) = ([:], [:])
            isObserving.store(false, ordering: .releasing)
            return (queries, listeners, state.takeIdleTimer())
        }
        for query in queries { query.mailbox.finish(error) }
        for listener in listeners { listener.continuation.finish() }
        withExtendedLifetime(timer) {}
    }

    private static var closed: StoreError { StoreError(.closed, "the store was closed, which ends its live queries") }
}
