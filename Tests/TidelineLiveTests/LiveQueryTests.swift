import Testing
import TidelineLive
import TidelineMemory
import TidelineStore
import TidelineTestStores

private let items = TableSchema(
    "Item", columns: [.string("text"), .int("number"), .bool("done")], systemColumns: [], indexes: [["number"]])
private let byNumber = TableQuery("Item").order(by: "number")

private func item(_ id: String, _ number: Int, text: String = "x", done: Bool = false) -> Row {
    ["id": .string(id), "number": .int(Int64(number)), "text": .string(text), "done": .bool(done)]
}

private func makeStore(_ rows: [Row] = []) throws -> ObservedStore<MemoryStore> {
    let store = ObservedStore(try MemoryStore())
    try store.define([items])
    try store.write { try $0.upsert(rows, into: "Item") }
    return store
}

extension ObservedStore {
    /// Starts a live query, and reads its first update.
    func follow(_ query: TableQuery) async throws -> LiveQuery<Row>.Iterator {
        var updates = observe(query).makeAsyncIterator()
        _ = try await updates.next()
        return updates
    }
}

extension LiveUpdate<Row> {
    fileprivate var ids: [String] { rows.map(\.idText) }
}

@Suite("Live queries")
struct LiveQueryTests {
    @Test("The first update inserts all rows, and each commit gives one update with the positions that changed")
    func updates() async throws {
        let store = try makeStore([item("a", 1), item("b", 2), item("c", 3)])
        var updates = store.observe(byNumber).makeAsyncIterator()
        var update = try #require(try await updates.next())
        #expect(update.ids == ["a", "b", "c"])
        #expect(update.changes == LiveChanges(removed: [], inserted: [0, 1, 2]))

        try store.write { writer in
            try writer.delete(id: "a", from: "Item")
            try writer.upsert([item("d", 4), item("e", 0)], into: "Item")
        }
        update = try #require(try await updates.next())
        #expect(update.ids == ["e", "b", "c", "d"])
        #expect(update.changes == LiveChanges(removed: [0], inserted: [0, 3]))

        try store.write { try $0.upsert(item("b", 9), into: "Item") }
        update = try #require(try await updates.next())
        #expect(update.ids == ["e", "c", "d", "b"])
        #expect(update.changes == LiveChanges(moved: [.init(from: 1, to: 3)]))

        try store.write { try $0.upsert(item("c", 3, text: "new"), into: "Item") }
        update = try #require(try await updates.next())
        #expect(update.changes == LiveChanges(updated: [1]))
        #expect(update.rows[1]["text"] == "new")
        #expect(update.commit == 3)
    }

    @Test("A query and a write that contain names in another normalization form concern the same table and column")
    func normalizationForms() async throws {
        let store = ObservedStore(try MemoryStore())
        try store.define([TableSchema("caf\u{E9}", columns: [.int("\u{E9}")], systemColumns: [])])
        let query = TableQuery("cafe\u{301}").filter(.column("e\u{301}") > 1).order(by: "e\u{301}")
        var updates = try await store.follow(query)
        try store.write { try $0.upsert(["id": "a", "\u{E9}": 2], into: "caf\u{E9}") }
        #expect(try await updates.next()?.ids == ["a"])
        try store.write { try $0.upsert(["id": "b", "e\u{301}": 3], into: "cafe\u{301}") }
        let update = try await updates.next()
        #expect(update?.ids == ["a", "b"] && update?.rows[1].columnNames.first?.utf8.count == 2)
    }

    @Test("A row that changes its number but not its place is updated, not moved")
    func keepsItsPlace() async throws {
        let store = try makeStore([item("a", 10), item("b", 20), item("c", 30)])
        var updates = try await store.follow(byNumber)
        try store.write { try $0.upsert(item("b", 25), into: "Item") }
        #expect(try await updates.next()?.changes == LiveChanges(updated: [1]))
    }

    @Test("A write that is rolled back, changes nothing, or concerns no row of the result gives no update")
    func silence() async throws {
        let store = try makeStore([item("a", 1)])
        var updates = try await store.follow(byNumber.filter(.column("number") < 5))
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try store.write { writer in
                try writer.upsert(item("b", 2), into: "Item")
                throw Refused()
            }
        }
        try store.write { try $0.upsert(item("a", 1), into: "Item") }
        try store.write { try $0.upsert(item("c", 7), into: "Item") }
        #expect(try updates.takeUpdate() == nil)
        try store.write { try $0.upsert(item("d", 3), into: "Item") }
        #expect(try await updates.next()?.ids == ["a", "d"])
    }

    @Test("A consumer that is slow receives the newest rows, with the changes of several commits merged")
    func slowConsumer() async throws {
        let store = try makeStore([item("a", 1)])
        var updates = store.observe(byNumber).makeAsyncIterator()
        var rows: [Row] = []
        try await updates.next()?.apply(to: &rows)
        for number in 0..<1_000 { try store.write { try $0.upsert(item("n\(number % 10)", number), into: "Item") } }
        try store.write { _ = try $0.delete(ids: (0..<8).map { .string("n\($0)") }, from: "Item") }
        let update = try #require(try await updates.next())
        update.apply(to: &rows)
        #expect(update.ids == ["a", "n8", "n9"])
        #expect(rows == Array(update.rows))
        #expect(update.changes == LiveChanges(removed: [], inserted: [1, 2]))
        #expect(try updates.takeUpdate() == nil)
    }

    @Test("All live queries that a commit changes receive its number")
    func commitNumbers() async throws {
        let store = try makeStore()
        var all = try await store.follow(byNumber)
        var open = try await store.follow(byNumber.filter(.column("done") == false))
        try store.write { try $0.upsert(item("a", 1, done: true), into: "Item") }
        try store.write { try $0.upsert([item("b", 1), item("c", 1)], into: "Item") }
        let (first, second) = try await (all.next(), open.next())
        #expect(first?.commit == 2 && second?.commit == 2 && store.commit == 2)
        #expect(second?.ids == ["b", "c"])
    }

    @Test("A limit keeps the first rows, refills them, and counts all")
    func limit() async throws {
        let store = try makeStore((0..<200).map { item("\(1_000 + $0)", $0) })
        let query = byNumber.skip(2).limit(3).includingTotalCount()
        var updates = store.observe(query).makeAsyncIterator()
        #expect(try await updates.next()?.ids == ["1002", "1003", "1004"])
        for number in 0..<150 {
            try store.write { _ = try $0.delete(id: "\(1_000 + number)", from: "Item") }
            let update = try #require(try await updates.next())
            #expect(update.ids == (3...5).map { "\(1_000 + number + $0)" })
            #expect(update.totalCount == 199 - number)
            #expect(update.changes == LiveChanges(removed: [0], inserted: [2]))
        }
    }

    @Test("The number of matching rows, and whether there are any, are values that change")
    func counts() async throws {
        let store = try makeStore([item("a", 1), item("b", 9)])
        let query = TableQuery("Item").filter(.column("number") > 5)
        var count = store.observeCount(query).makeAsyncIterator()
        var exists = store.observeExistence(query).makeAsyncIterator()
        #expect(try await count.next() == 1)
        #expect(try await exists.next() == true)
        try store.write { try $0.upsert([item("a", 7), item("c", 8)], into: "Item") }
        #expect(try await count.next() == 3)
        try store.write { _ = try $0.delete(matching: query) }
        #expect(try await count.next() == 0)
        #expect(try await exists.next() == false)
    }

    @Test("A row that cannot be decoded is reported with its names, and the sequence continues")
    func undecodableRow() async throws {
        struct Item: Decodable, Sendable {
            let id: String
            let number: UInt8
        }
        let store = try makeStore([item("a", 1), item("b", 256)])
        var updates = store.observe(byNumber).map { try $0.decode(Item.self) }.makeAsyncIterator()
        let first = try #require(try await updates.next())
        #expect(first.rows.map(\.id) == ["a"])
        let failure = try #require(first.failures.first)
        #expect(failure.table == "Item" && failure.id == "b" && failure.column == "number")
        #expect(failure.message.contains("UInt8"))
        try store.write { try $0.upsert(item("b", 2), into: "Item") }
        let second = try #require(try await updates.next())
        #expect(second.rows.map(\.id) == ["a", "b"] && second.failures.isEmpty)
        #expect(second.changes == LiveChanges(inserted: [1]))
        try store.write { try $0.upsert(item("a", -1), into: "Item") }
        #expect(try await updates.next()?.changes == LiveChanges(removed: [0]))
    }

    @Test("A row that cannot be decoded is reported again only after it changes, although all rows are read again")
    func unchangedFailure() async throws {
        struct Failure: Error {}
        let store = try makeStore([item("a", 1), item("b", -1)])
        var updates = store.observe(byNumber).map { row in
            guard let number = row["number"]?.int, number >= 0 else { throw Failure() }
            return number
        }.makeAsyncIterator()
        func failures() async throws -> [String?] { try #require(try await updates.next()).failures.map(\.id) }
        #expect(try await failures() == ["b"])
        // A definition leads to a reading of all rows.
        try store.define([items])
        try store.write { try $0.upsert(item("c", 2), into: "Item") }
        #expect(try await failures() == [])
        try store.define([items])
        #expect(try updates.takeUpdate() == nil)
        try store.write { try $0.upsert(item("b", -2), into: "Item") }
        #expect(try await failures() == ["b"])
        // A row that comes back is a change.
        try store.write { _ = try $0.delete(id: "b", from: "Item") }
        #expect(try updates.takeUpdate() == nil)
        try store.write { try $0.upsert(item("b", -2), into: "Item") }
        try store.define([items])
        #expect(try await failures() == ["b"])
    }

    @Test("A table without a column of the record ends the query with an error, at its beginning or later")
    func missingColumn() async throws {
        struct Item: TableRecord {
            let text: String
            var id: ID<Item>
            struct Columns: Sendable { let text = Column<String>("text") }
            static let columns = Columns()
            static let tableName = "Item"
            static let schema = TableSchema(tableName, columns: [.column(columns.text)])
            init(from row: inout RecordReader) throws {
                id = row.id()
                text = try row.read(Self.columns.text)
            }
            func write(to row: inout RecordWriter) throws {}
        }
        let store = try makeStore([item("a", 1), item("b", 2)])
        var updates = store.observe(byNumber).map { try $0.record(Item.self) }.makeAsyncIterator()
        #expect(try await updates.next()?.rows.map(\.text) == ["x", "x"])
        try store.define([TableSchema("Item", columns: [.int("number")], systemColumns: [])])
        for _ in 0..<2 {
            let error = await #expect(throws: StoreError.self) { try await updates.next() }
            #expect(error?.code == .schemaMismatch && error?.column == "text")
            #expect(try await updates.next() == nil)
            updates = store.observe(byNumber).map { try $0.record(Item.self) }.makeAsyncIterator()
        }
    }

    @Test("A transaction of more rows than are recorded gives the same updates", arguments: [0, 3, 1_000])
    func largeTransaction(maximum: Int) async throws {
        let store = ObservedStore(try MemoryStore(), maximumRecordedRows: maximum)
        try store.define([items])
        var updates = try await store.follow(byNumber.limit(3))
        var count = store.observeCount(TableQuery("Item")).makeAsyncIterator()
        #expect(try await count.next() == 0)
        try store.write { try $0.upsert((0..<10).map { item("\($0)", $0) }, into: "Item") }
        #expect(try await updates.next()?.changes == LiveChanges(inserted: [0, 1, 2]))
        #expect(try await count.next() == 10)
        try store.write { _ = try $0.delete(matching: TableQuery("Item").filter(.column("number") < 5)) }
        let update = try #require(try await updates.next())
        #expect(update.ids == ["5", "6", "7"])
        #expect(update.changes == LiveChanges(removed: [0, 1, 2], inserted: [0, 1, 2]))
        #expect(try await count.next() == 5)
    }
}
