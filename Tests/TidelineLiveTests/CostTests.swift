import Testing
import TidelineLive
import TidelineMemory
import TidelineStore

@Suite("The reads of an observed store")
struct CostTests {
    private static let schemas = [TableSchema("Item", columns: [.int("number")]), TableSchema("Other", columns: [])]

    @Test("A write of a table that nobody observes reads no row, and one of an observed table reads each row twice")
    func readsOfWrites() throws {
        let base = CountingStore(try MemoryStore())
        let store = ObservedStore(base)
        try store.define(Self.schemas)
        let rows = (0..<10).map { ["id": .string("\($0)"), "number": .int(Int64($0))] as Row }
        try store.write { try $0.upsert(rows, into: "Item") }
        #expect(base.reads == 0)
        var updates = store.observe(TableQuery("Item")).makeAsyncIterator()
        try updates.start(in: store)
        let before = base.reads
        try store.write { try $0.upsert(rows.map { Row(id: $0.id) }, into: "Other") }
        #expect(base.reads == before)
        try store.write { try $0.upsert(rows.map { $0.merging(["number": 100]) }, into: "Item") }
        #expect(base.reads == before + 20)
        updates = store.observe(TableQuery("Item")).makeAsyncIterator()
        let after = base.reads
        try store.write { _ = try $0.delete(matching: TableQuery("Item")) }
        #expect(base.reads == after)
    }

    @Test("A transaction of large rows is not kept in memory: the queries are read again")
    func largeRows() async throws {
        let base = CountingStore(try MemoryStore())
        let store = ObservedStore(base)
        try store.define([TableSchema("Item", columns: [.bytes("photo"), .int("number")])])
        var updates = try await store.follow(TableQuery("Item", selection: ["number"]))
        let photo = Value.bytes(Array(repeating: 1, count: 1 << 20))
        // The first transaction has large rows after it, the second one before it.
        for number in 1...2 {
            let photo = number == 1 ? photo : .null
            let rows = (0..<40).map {
                ["id": .string("\($0)"), "photo": photo, "number": .int(Int64(number))] as Row
            }
            let before = base.reads
            try store.write { try $0.upsert(rows, into: "Item") }
            #expect(base.reads - before < 60, "each of the 40 rows was read before and after the transaction")
            let update = try #require(try updates.takeUpdate())
            #expect(update.rows.map { $0["number"] } == Array(repeating: .int(Int64(number)), count: 40))
        }
    }
}

/// A store that counts the lookups and scans within writes.
private final class CountingStore: StoreLayer {
    typealias Reader = MemoryStore.Reader
    typealias Writer = CountingWriter

    let base: MemoryStore
    private let count = LockedValue(0)

    init(_ base: MemoryStore) { self.base = base }

    var reads: Int { count.withLock { $0 } }
    func redefine(_ body: (CountingWriter) throws -> [TableSchema]) throws {
        try base.redefine { try body(counting($0)) }
    }
    func write<T>(_ body: (CountingWriter) throws -> T) throws -> T { try base.write { try body(counting($0)) } }

    private func counting(_ writer: MemoryStore.Writer) -> CountingWriter {
        CountingWriter(base: writer) { self.count.withLock { $0 += 1 } }
    }
}

private struct CountingWriter: WriterLayer {
    let base: MemoryStore.Writer
    let noteRead: () -> Void

    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        noteRead()
        return try base.withRow(in: table, id: id, body)
    }
    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        noteRead()
        return try base.scan(query, body)
    }
}
