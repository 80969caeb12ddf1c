import Synchronization
import Testing
import Tideline
import TidelineStore
import TidelineTestStores

/// A store that fails at a chosen write call after it is armed: an upsert, a delete, or the commit of a transaction.
final class FailingStore: StoreLayer {
    typealias Reader = AnyStore.Reader

    let base: TestStore
    private let state = Mutex(State())

    private let transactions = Atomic(0)

    private struct State {
        var calls = 0
        var failing: Int?
        var staysDown = false
    }

    init(_ kind: StoreKind) throws { base = try kind.makeStore() }

    /// The number of write transactions that were begun.
    var writes: Int { transactions.load(ordering: .relaxed) }

    /// Makes the write call with this number, from 1, fail; and all later ones if `staysDown` is true.
    func fail(at call: Int, staysDown: Bool = false) {
        state.withLock { $0 = State(calls: 0, failing: call, staysDown: staysDown) }
    }

    /// Stops failing.
    /// - Returns: Whether a call has failed.
    @discardableResult
    func heal() -> Bool {
        state.withLock { state in
            defer { state.failing = nil }
            return state.failing.map { state.calls >= $0 } ?? false
        }
    }

    fileprivate func count() throws {
        try state.withLock { state in
            guard let failing = state.failing else { return }
            state.calls += 1
            guard state.calls == failing || (state.staysDown && state.calls > failing) else { return }
            throw StoreError(.full, "the disk is full")
        }
    }

    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        try base.redefine { try body(Writer(base: $0, store: self)) }
    }

    func write<T>(_ body: (Writer) throws -> T) throws -> T {
        transactions.add(1, ordering: .relaxed)
        return try base.write { writer in
            let result = try body(Writer(base: writer, store: self))
            try count()
            return result
        }
    }

    struct Writer: WriterLayer {
        let base: AnyStore.Writer
        let store: FailingStore

        func upsert(_ rows: borrowing PackedRows, into table: String) throws {
            try store.count()
            try base.upsert(rows, into: table)
        }
        @discardableResult
        func delete(ids: [RowID], from table: String) throws -> Int {
            try store.count()
            return try base.delete(ids: ids, from: table)
        }
        @discardableResult
        func delete(matching query: TableQuery) throws -> Int {
            try store.count()
            return try base.delete(matching: query)
        }
    }
}

extension World {
    /// Makes a world with a client of a store that can fail. Store and server contain the row `a` with the text `one`.
    static func withFailingClient(_ stores: StoreKind) async throws -> (World, WorldClient<FailingStore>) {
        let world = try World(stores)
        // On a slow machine, the lease of a push would become due, and its renewal would be one more write.
        let now = Timestamp.now
        let client = try await world.makeClient(over: FailingStore(stores)) { $0.environment.now = { now } }
        try await client.items.insert(["id": "a", "text": "one", "priority": 1])
        try await client.context.push()
        client.transport.clear()
        return (world, client)
    }
}

extension WorldClient<FailingStore> {
    /// Makes each store call of a local change fail in turn, until the change succeeds. A failure must change nothing.
    func expectWholeChange(failures minimum: Int, _ change: () async throws -> Void) async throws {
        let before = try store.base.dump()
        var failures = 0
        while true {
            store.fail(at: failures + 1)
            let code = await syncErrorCode(change)
            guard store.heal() else {
                #expect(code == nil)
                break
            }
            failures += 1
            #expect(code == .store, "call \(failures)")
            #expect(try store.base.dump() == before, "call \(failures)")
        }
        #expect(failures >= minimum)
        #expect(transport.requests.isEmpty)
    }
}

extension TestStore {
    /// Returns every row of the app's table and of the queue's tables, except the operation counter.
    func dump() throws -> String {
        let tables = SystemTables()
        return try read { reader in
            try ["TodoItem", tables.operations, tables.errors].map { table in
                let rows = try reader.rows(matching: TableQuery(table).order(by: "id")).rows
                return "\(table): \(rows.map(\.description).joined(separator: "; "))"
            }.joined(separator: "\n")
        }
    }
}
