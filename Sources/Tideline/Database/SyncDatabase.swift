internal import Synchronization
internal import TidelineLive
internal import TidelineStore

/// The local store of a client: its transactions, the locks of its tables, and what other clients commit.
final class SyncDatabase<Store: LocalStore>: Sendable {
    typealias Writer = ObservedStore<Store>.Writer

    /// The store through which the client writes, so that live queries see each change.
    let observed: ObservedStore<Store>
    let tables: SystemTables
    let environment: SyncEnvironment
    let clients: StoreClients
    private let runner: StoreRunner
    private let sharesFiles: Bool
    /// Whether the store is an object, whose clients are known. A store that is a value may have others.
    private let isObject: Bool
    private let leaseDuration: Duration?
    /// The name of this client in the lease of its pushes. Nothing depends on its value.
    private let leaseHolder = String(UInt64.random(in: .min ... .max), radix: 16)
    /// The number of write transactions of this client, which are among those of ``clients``.
    private let ownWrites = Atomic<UInt64>(0)
    /// The number of write transactions of pushes, which are among those of this client.
    private let pushWrites = Atomic<UInt64>(0)
    /// Whether a write transaction has begun and is not known to be committed.
    private let isUncommitted = Atomic(false)
    /// The number of the transactions that were followed by another one while ``isUncommitted`` was set.
    private let uncommittedWrites = Atomic<UInt64>(0)
    /// The locks by the table's name.
    private let tableLocks = Mutex<[String: AsyncLock]>([:])

    init(store: Store, options: SyncOptions) {
        observed = ObservedStore(store)
        tables = options.systemTables
        environment = options.environment
        clients = .sharing(observed.object)
        isObject = observed.object != nil
        runner = StoreRunner(options.environment.storeExecutor ?? SyncEnvironment.StoreExecutor())
        sharesFiles = store.capabilities.sharesFilesWithProcesses
        leaseDuration = sharesFiles ? options.pushLeaseDuration : nil
    }

    // MARK: Transactions

    nonisolated(nonsending) func reading<T: Sendable>(
        _ body: @escaping @Sendable (Store.Reader) throws -> T
    ) async throws -> T {
        try await runner.read { [observed] in try observed.read(body) }
    }

    /// Runs a write transaction of the app, unless the task is cancelled before it begins.
    nonisolated(nonsending) func changing<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        let result = try await runner.perform { try write(body) }
        clients.syncs.notify(of: .edit)
        return result
    }

    /// Runs a write transaction, even if the task is cancelled.
    nonisolated(nonsending) func writing<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        try await runner.performEvenIfCancelled { [self] in try write(body) }
    }

    /// Whether a write of this client waits until another one ends.
    var hasWaitingWrites: Bool { runner.hasWaitingWrites }

    /// Runs another blocking call on the store, exclusive of this client's writes, unless the task is cancelled before
    /// it begins.
    nonisolated(nonsending) func performing<T: Sendable>(
        _ body: @escaping @Sendable (ObservedStore<Store>) throws -> T
    ) async throws -> T {
        try await runner.perform { try body(observed) }
    }

    /// Runs a transaction and counts it. The caller excludes other writes of this client.
    private func write<T>(_ body: (Writer) throws -> T) throws -> T {
        let result = try observed.write { writer in
            clients.noteWrite()
            ownWrites.add(1, ordering: .relaxed)
            if isUncommitted.exchange(true, ordering: .relaxed) { uncommittedWrites.add(1, ordering: .relaxed) }
            return try body(writer)
        }
        isUncommitted.store(false, ordering: .relaxed)
        return result
    }

    /// Returns a number that changes with each commit of others: of other processes, and of other clients of the store
    /// object.
    ///
    /// Another client is counted when its transaction begins; it has received by then all that it stores.
    func commitsOfOthers(_ external: UInt64?) -> UInt64 {
        (external ?? 0) &+ clients.writes &- ownWrites.load(ordering: .relaxed)
    }

    /// Returns a number, within a write transaction, that stays the same as long as only this client commits and none
    /// of its transactions is rolled back. What one has read then holds for the next one, except what this client has
    /// written since. `nil` if others may commit unseen: the store is a value, or shares its files with processes whose
    /// commits it does not count.
    func commitEpoch(_ external: UInt64?) -> UInt64? {
        guard isObject, external != nil || !sharesFiles else { return nil }
        return commitsOfOthers(external) &+ uncommittedWrites.load(ordering: .relaxed)
    }

    /// Counts a write transaction of a push, within it. Returns a number that stays the same as long as only pushes of
    /// this client write. What a push has stored of an operation then holds in its next transaction, too. `nil` if
    /// others may commit unseen, as for ``commitEpoch(_:)``.
    func beginPushWrite(_ external: UInt64?) -> UInt64? {
        pushWrites.add(1, ordering: .relaxed)
        guard isObject, external != nil || !sharesFiles else { return nil }
        return (external ?? 0) &+ clients.writes &- pushWrites.load(ordering: .relaxed)
    }

    // MARK: Locks

    /// The lock of the pulls and purges of a table.
    func lock(of table: String) -> AsyncLock {
        tableLocks.withLock { locks in
            let lock = locks[table] ?? AsyncLock()
            locks[table] = lock
            return lock
        }
    }

    /// Runs `body` while no push of this store object and no pull or purge of these tables is running.
    nonisolated(nonsending) func withExclusiveAccess<T>(
        to tables: [String], _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        guard !CallScope.isWithin(clients) else {
            throw SyncError(
                .invalidArgument, "a delegate cannot do this while it performs an operation; wait until the push ends")
        }
        return try await SyncError.wrappingErrors {
            try await clients.pushLock.withLock { try await withLocks(of: tables[...], body) }
        }
    }

    private nonisolated(nonsending) func withLocks<T>(
        of tables: ArraySlice<String>, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        guard let first = tables.first else { return try await body() }
        return try await lock(of: first).withLock { try await withLocks(of: tables.dropFirst(), body) }
    }

    // MARK: Pushes of other processes

    /// Makes the lease of a push, or returns `nil` if no other process can share the store.
    ///
    /// - Parameter suffix: Distinguishes the holder from the pushes of this client, which then exclude it.
    func makePushLease(suffix: String = "") -> PushLease? {
        leaseDuration.map {
            PushLease(tables: tables, environment: environment, holder: leaseHolder + suffix, duration: $0)
        }
    }

    /// Waits until no other process pushes, or until it has not renewed its lease for so long that it must have ended.
    func waitForOthers(_ lease: PushLease) async throws {
        var wait = LeaseWait()
        while let other = try await reading({ try lease.other(in: $0) }) {
            if wait.note(other) { return lease.abandon(other) }
            do {
                try Task.checkCancellation()
                try await environment.sleep(LeaseWait.interval)
            } catch {
                throw SyncError(
                    .cancelled, "the task was cancelled while it waited for the push of another process", cause: error)
            }
        }
    }

    /// Runs a write transaction while no other process pushes. Waits for the push of another process.
    ///
    /// - Parameter excludesOwn: Whether it waits for a push of this client, too. Otherwise, the caller excludes pushes.
    func writingBetweenPushes<T: Sendable>(
        excludesOwn: Bool = false, _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        guard let lease = makePushLease(suffix: excludesOwn ? "-" : "") else { return try await writing(body) }
        while true {
            let result: T? = try await writing { writer in
                guard try lease.take(in: writer) else { return nil }
                let result = try body(writer)
                try lease.release(in: writer)
                return result
            }
            if let result { return result }
            try await waitForOthers(lease)
        }
    }

    /// Runs a call that changes nothing while an operation is in flight. After the push of another process, it runs
    /// again; that push may be the one of a process that was killed.
    nonisolated(nonsending) func retryingAfterPushes<T>(
        _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        while true {
            do {
                return try await body()
            } catch let error as SyncError where error.isInFlightElsewhere && !CallScope.isWithinPush {
                // Taking the lease and removing it again ends that of a process that is gone, whatever the clock shows.
                try await writingBetweenPushes(excludesOwn: true) { _ in }
            }
        }
    }
}
