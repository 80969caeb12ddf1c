import Observation
import Testing
import TidelineLive
import TidelineMemory
import TidelineStore
import TidelineTestSupport

private let items = TableSchema("Item", columns: [.int("number")], systemColumns: [])

@Suite("The rows of a live query as an observable object")
struct LiveRowsTests {
    private let store: ObservedStore<MemoryStore>

    init() throws {
        store = ObservedStore(try MemoryStore())
        try store.define([items])
    }

    @Test("The rows follow the commits, and observers of the rows are notified")
    @MainActor func rows() async throws {
        let list = LiveRows(store.observe(TableQuery("Item").order(by: "number")).map { $0["number"]?.int ?? 0 })
        #expect(list.rows.isEmpty && list.update == nil)
        try await suspendUntil("the first update") { @MainActor in list.update != nil }
        let notified = LockedValue(false)
        withObservationTracking {
            _ = list.rows
        } onChange: {
            notified.withLock { $0 = true }
        }
        try store.write { try $0.upsert([["id": "a", "number": 2], ["id": "b", "number": 1]], into: "Item") }
        try await suspendUntil("the rows") { @MainActor in Array(list.rows) == [1, 2] }
        #expect(notified.withLock { $0 })
        #expect(list.update?.changes == LiveChanges(inserted: [0, 1]) && list.error == nil)
    }

    @Test("An error ends the query and keeps the rows")
    @MainActor func failure() async throws {
        try store.write { try $0.upsert(["id": "a", "number": 2], into: "Item") }
        let list = LiveRows(store.observe(TableQuery("Item")))
        try await suspendUntil("the rows") { @MainActor in list.rows.count == 1 }
        try store.close()
        try await suspendUntil("the error") { @MainActor in list.error != nil }
        #expect((list.error as? StoreError)?.code == .closed)
        #expect(list.rows.count == 1)
    }

    @Test("The query runs until the object is released")
    @MainActor func release() async throws {
        var list: LiveRows<Row>? = LiveRows(store.observe(TableQuery("Item")))
        try await suspendUntil("the query to start") { @Sendable in store.liveQueryCount == 1 }
        #expect(list?.error == nil)
        list = nil
        try await suspendUntil("the query to end") { @Sendable in store.liveQueryCount == 0 }
    }
}
