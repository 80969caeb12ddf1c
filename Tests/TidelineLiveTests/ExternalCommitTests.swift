import Testing
import TidelineLive
import TidelineMemory
import TidelineStore
import TidelineTestSupport

/// The nanoseconds until a look without a signal.
private let never: UInt64 = 3_600_000_000_000
private let items = TableSchema("Item", columns: [.int("number")], systemColumns: [])
private let busy = StoreError(.busy, "another process has a lock")

@Suite("Looking for the commits of others", .timeLimit(.minutes(15)))
struct ExternalCommitTests {
    private let base: SharedStore
    private let store: ObservedStore<SharedStore>

    init() throws {
        base = SharedStore(try MemoryStore())
        store = ObservedStore(base)
        try store.define([items])
    }

    @Test("An error of a look ends the live queries, and the looks")
    func failure() async throws {
        var updates = try await store.follow(TableQuery("Item"))
        var count = store.observeCount(TableQuery("Item")).makeAsyncIterator()
        #expect(try await count.next() == 0)
        base.fail(StoreError(.corrupt, "the file is damaged"))
        #expect(await #expect(throws: StoreError.self) { try await updates.next() }?.code == .corrupt)
        #expect(await #expect(throws: StoreError.self) { try await count.next() }?.code == .corrupt)
        #expect(!store.looksForExternalCommits && store.liveQueryCount == 0)
        // The store can be observed again.
        base.fail(nil)
        updates = store.observe(TableQuery("Item")).makeAsyncIterator()
        #expect(try await updates.next()?.rows.isEmpty == true)
    }

    @Test("A store that is busy is tried again")
    func busyStore() async throws {
        var updates = try await store.follow(TableQuery("Item"))
        base.fail(busy)
        try base.writeElsewhere(["id": "a", "number": 1])
        let failures = base.failures
        try waitUntil("two looks that fail") { base.failures >= failures + 2 }
        #expect(try updates.takeUpdate() == nil)
        base.fail(nil)
        #expect(try await updates.next()?.rows.count == 1)
    }

    @Test("A store that is closed elsewhere ends the live queries")
    func closed() async throws {
        var updates = try await store.follow(TableQuery("Item"))
        try base.close()
        base.fail(StoreError(.closed, "the store is closed"))
        #expect(await #expect(throws: StoreError.self) { try await updates.next() }?.code == .closed)
        #expect(!store.looksForExternalCommits)
    }

    @Test("Commits of others are announced without a live query, until the store is closed")
    func updates() async throws {
        var updates = try #require(store.externalCommitUpdates()).makeAsyncIterator()
        var others = try #require(store.externalCommitUpdates()).makeAsyncIterator()
        try store.write { try $0.upsert(["id": "b", "number": 2], into: "Item") }
        try base.writeElsewhere(["id": "a", "number": 1])
        var hasElement = await updates.next() != nil
        #expect(hasElement)
        hasElement = await others.next() != nil
        #expect(hasElement)
        #expect(store.looksForExternalCommits && store.liveQueryCount == 0)
        try store.close()
        hasElement = await updates.next() != nil
        #expect(!hasElement)
        #expect(!store.looksForExternalCommits)
    }

    @Test("Own commits are not announced as those of others")
    func ownCommits() async throws {
        // With a live query, the store looks more often.
        let live = try await store.follow(TableQuery("Item"))
        let updates = try #require(store.externalCommitUpdates())
        try store.write { try $0.upsert(["id": "b", "number": 2], into: "Item") }
        let found = Task { await updates.first { _ in true } != nil }
        // More than two looks.
        try await Task.sleep(for: .milliseconds(600))
        found.cancel()
        let isAnnounced = await found.value
        #expect(!isAnnounced)
        withExtendedLifetime(live) {}
    }

    @Test("The looks end with the last sequence of the commits of others")
    func endOfUpdates() throws {
        do {
            let updates = store.externalCommitUpdates()
            #expect(store.looksForExternalCommits)
            withExtendedLifetime(updates) {}
        }
        #expect(!store.looksForExternalCommits)
    }

    @Test("An own commit delivers the commits of others before it, as one update")
    func ownCommit() async throws {
        try store.write { try $0.upsert(["id": "b", "number": 2], into: "Item") }
        var updates = try await store.follow(TableQuery("Item"))
        var others = try await store.follow(TableQuery("Item").filter(.column("number") == 1))
        // No look can succeed, so that the own commit is the first to notice.
        base.failLooks(busy)
        try base.writeElsewhere(["id": "a", "number": 1])
        try store.write { try $0.upsert(["id": "b", "number": 3], into: "Item") }
        let update = try #require(try updates.takeUpdate())
        #expect(update.changes == LiveChanges(inserted: [0], updated: [1]))
        #expect(try others.takeUpdate()?.commit == update.commit)
        // The next own commit is incremental again.
        let scans = base.scans
        try store.write { try $0.upsert(["id": "b", "number": 4], into: "Item") }
        #expect(try updates.takeUpdate()?.changes == LiveChanges(updated: [1]))
        #expect(base.scans == scans)
    }

    @Test("A new live query brings the others to the same commit")
    func start() async throws {
        var first = try await store.follow(TableQuery("Item"))
        base.failLooks(busy)
        try base.writeElsewhere(["id": "a", "number": 1])
        var second = store.observe(TableQuery("Item")).makeAsyncIterator()
        let update = try #require(try await second.next())
        #expect(update.rows.count == 1)
        #expect(try first.takeUpdate()?.commit == update.commit)
    }

    @Test("A live query that starts while the store is busy waits for it, until its task is cancelled")
    func startWhileBusy() async throws {
        base.failCommits(busy)
        let first = Task {
            var updates = store.observe(TableQuery("Item")).makeAsyncIterator()
            return try await updates.next()?.rows.count
        }
        try await suspendUntil("two starts that fail") { base.failures >= 2 }
        base.failCommits(nil)
        #expect(try await first.value == 0)
        base.failCommits(busy)
        let failures = base.failures
        let second = Task {
            var count = store.observeCount(TableQuery("Item")).makeAsyncIterator()
            return try await count.next()
        }
        try await suspendUntil("a start that fails") { base.failures > failures }
        second.cancel()
        #expect(try await second.value == nil)
        #expect(store.liveQueryCount == 0)
    }

    @Test("A write that is rolled back leaves the commits of others to the next look")
    func rollback() async throws {
        var updates = try await store.follow(TableQuery("Item"))
        base.failLooks(busy)
        try base.writeElsewhere(["id": "a", "number": 1])
        base.failCommits(StoreError(.full, "the disk is full"))
        #expect(throws: StoreError.self) { try store.write { try $0.upsert(["id": "b"], into: "Item") } }
        #expect(try updates.takeUpdate() == nil)
        base.failCommits(nil)
        base.failLooks(nil)
        #expect(try await updates.next()?.rows.map(\.idText) == ["a"])
    }

    /// Makes a store that is looked at only after a signal.
    private func makeSignaled() throws -> (SharedStore, ObservedStore<SharedStore>) {
        let base = SharedStore(try MemoryStore(), folder: try TemporaryFolder())
        let store = ObservedStore(base, quiet: never)
        try store.define([items])
        return (base, store)
    }

    @Test("A signal leads to a look, and each write of an observed store sends one")
    func signal() async throws {
        let (base, store) = try makeSignaled()
        let other = ObservedStore(base)
        var updates = try await store.follow(TableQuery("Item"))
        for number in 1...5 {
            try base.writeElsewhere(["id": "\(number)", "number": .int(Int64(number))])
            try base.sendSignal()
            #expect(try await updates.next()?.rows.count == number)
        }
        try base.writeElsewhere(["id": "6", "number": 6])
        try other.write { _ in }
        #expect(try await updates.next()?.rows.count == 6)
        // A definition is a commit, too.
        try base.writeElsewhere(["id": "7", "number": 7])
        try other.define([TableSchema("Other", columns: [.int("number")])])
        #expect(try await updates.next()?.rows.count == 7)
    }

    @Test("A commit while a live query starts is seen, although its signal came before anything waited")
    func commitAtStart() async throws {
        let (base, store) = try makeSignaled()
        base.afterNextWrite { try base.writeElsewhere(["id": "1", "number": 1]) }
        var updates = store.observe(TableQuery("Item")).makeAsyncIterator()
        while try await updates.next()?.rows.count != 1 {}
    }

    @Test("The thread that waits for a signal ends with the last live query")
    func end() async throws {
        let (base, store) = try makeSignaled()
        for number in 1...4 {
            var updates = try await store.follow(TableQuery("Item"))
            // One thread waits at a time, so that this one has begun when it sees the row.
            try base.writeElsewhere(["id": "\(number)", "number": 1])
            try base.sendSignal()
            #expect(try await updates.next()?.rows.count == number)
        }
        try await suspendUntil("the end of the looks") { !store.looksForExternalCommits }
    }
}

/// A store in memory whose external commits and errors a test determines.
private final class SharedStore: StoreLayer {
    typealias Reader = MemoryStore.Reader

    private struct State {
        var number: UInt64 = 0
        var failure: StoreError?
        var lookFailure: StoreError?
        var commitFailure: StoreError?
        var failures = 0
        var scans = 0
        var afterWrite: (@Sendable () throws -> Void)?
    }

    /// The folder of the signal's file.
    private let folder: TemporaryFolder?
    let base: MemoryStore
    private let state = LockedValue(State())

    init(_ base: MemoryStore, folder: TemporaryFolder? = nil) { (self.base, self.folder) = (base, folder) }

    private var signalPath: String? { folder.map { "\($0.path)/signal" } }
    func sendSignal() throws { try #require(signalPath.flatMap { CommitSignal(path: $0) }).send() }

    /// The number of looks and writes that have failed.
    var failures: Int { state.withLock { $0.failures } }
    /// The number of scans within writes.
    var scans: Int { state.withLock { $0.scans } }

    /// Makes the number fail, also in writes.
    func fail(_ error: StoreError?) { state.withLock { ($0.failure, $0.lookFailure) = (error, error) } }
    /// Makes the number fail except in writes.
    func failLooks(_ error: StoreError?) { state.withLock { $0.lookFailure = error } }
    /// Makes writes fail at their end.
    func failCommits(_ error: StoreError?) { state.withLock { $0.commitFailure = error } }

    /// Runs `body` when the next write is committed, before it returns.
    func afterNextWrite(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.afterWrite = body } }

    /// Commits a row as another process does.
    func writeElsewhere(_ row: Row) throws {
        try base.write { try $0.upsert(row, into: "Item") }
        state.withLock { $0.number += 1 }
    }

    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.sharesFilesWithProcesses = true
        return capabilities
    }
    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        try base.redefine { try body(Writer(base: $0, store: self)) }
    }

    func write<T>(_ body: (Writer) throws -> T) throws -> T {
        let result = try base.write { writer in
            let result = try body(Writer(base: writer, store: self))
            try state.withLock { state in
                guard let failure = state.commitFailure else { return }
                state.failures += 1
                throw failure
            }
            return result
        }
        try state.withLock { $0.afterWrite.take() }?()
        return result
    }

    var externalCommits: ExternalCommits? {
        ExternalCommits(signalPath: signalPath) { [self] in
            try state.withLock { state in
                guard let failure = state.lookFailure else { return state.number }
                state.failures += 1
                throw failure
            }
        }
    }

    struct Writer: WriterLayer {
        let base: MemoryStore.Writer
        let store: SharedStore

        func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
            store.state.withLock { $0.scans += 1 }
            return try base.scan(query, body)
        }
        func externalCommitNumber() throws -> UInt64? {
            try store.state.withLock { state in
                if let failure = state.failure { throw failure }
                return state.number
            }
        }
    }
}
