import Testing
import TidelineLive
import TidelineMemory
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

private let items = TableSchema("Item", columns: [.string("text"), .int("number")], systemColumns: [])

@Suite("The lifetime of live queries")
struct LiveQueryLifetimeTests {
    private let store: ObservedStore<MemoryStore>

    init() throws {
        store = ObservedStore(try MemoryStore())
        try store.define([items, TableSchema("Other", columns: [.int("number")])])
    }

    @Test("A task that is cancelled ends its sequence and releases the query")
    func cancellation() async throws {
        let task = Task {
            var count = 0
            for try await _ in store.observe(TableQuery("Item")) { count += 1 }
            return count
        }
        try await suspendUntil("the query to start") { store.liveQueryCount == 1 }
        task.cancel()
        #expect(try await task.value <= 1)
        #expect(store.liveQueryCount == 0)
    }

    @Test("Closing the store ends the sequence with an error, after the changes that were not read")
    func closing() async throws {
        var updates = try await store.follow(TableQuery("Item"))
        try store.write { try $0.upsert(["id": "a", "number": 1], into: "Item") }
        try store.close()
        #expect(try await updates.next()?.rows.count == 1)
        let error = await #expect(throws: StoreError.self) { try await updates.next() }
        #expect(error?.code == .closed)
        #expect(try await updates.next() == nil)
        #expect(store.liveQueryCount == 0)
        await #expect(throws: StoreError.self) {
            for try await _ in store.observe(TableQuery("Item")) {}
        }
    }

    @Test("A waiting consumer is woken by the end of the store")
    func closingWhileWaiting() async throws {
        let task = Task { for try await _ in store.observe(TableQuery("Item")) {} }
        try await suspendUntil("the query to start") { store.liveQueryCount == 1 }
        try store.close()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .closed)
    }

    @Test("A consumer may write in its loop", arguments: StoreKind.perEngine)
    func writesInLoop(_ kind: StoreKind) async throws {
        let store = ObservedStore(try kind.makeStore())
        try store.define([items])
        for try await update in store.observe(TableQuery("Item")) {
            let number = update.rows.count
            guard number < 20 else { break }
            try store.write {
                try $0.upsert(["id": .string("\(number)"), "number": .int(Int64(number))], into: "Item")
            }
        }
        #expect(store.liveQueryCount == 0)
        try store.close()
    }

    @Test("A query within a body of the store is busy")
    func withinBody() throws {
        let error = #expect(throws: StoreError.self) {
            try store.write { _ in
                var updates = store.observe(TableQuery("Item")).makeAsyncIterator()
                try updates.start(in: store)
            }
        }
        #expect(error?.code == .busy)
        #expect(store.liveQueryCount == 0)
    }

    @Test("10,000 live queries that are opened and closed leave nothing behind")
    func manyQueries() throws {
        let number = RowPredicate.column("number")
        var open: [LiveQuery<Row>.Iterator] = []
        for index in 0..<10_000 {
            let conditions = [
                number == .literal(.int(Int64(index))), number > .literal(.int(Int64(index))), number.isNull,
            ]
            var updates = store.observe(TableQuery("Item").filter(conditions[index % 3])).makeAsyncIterator()
            try updates.start(in: store)
            open.append(updates)
        }
        #expect(store.liveQueryCount == 10_000)
        try store.write { try $0.upsert(["id": "a", "number": 4], into: "Item") }
        open = []
        #expect(store.liveQueryCount == 0)
        #expect(store.observedTableCount == 0)
    }

    @Test("A query that the table cannot answer throws when its iteration begins")
    func invalidQuery() async throws {
        for query in [
            TableQuery("Item").filter(.column("nothing") == 1), TableQuery("Nowhere"), TableQuery("Item").limit(-1),
        ] {
            var updates = store.observe(query).makeAsyncIterator()
            await #expect(throws: StoreError.self) { try await updates.next() }
        }
        #expect(store.liveQueryCount == 0 && store.observedTableCount == 0)
    }

    @Test("A live query of a column that is dropped ends with an error, and others continue with the new columns")
    func redefinition() async throws {
        try store.write { try $0.upsert(["id": "a", "number": 1, "text": "x"], into: "Item") }
        var all = try await store.follow(TableQuery("Item"))
        var byText = try await store.follow(TableQuery("Item").filter(.column("text") == "x"))
        try store.define([TableSchema("Item", columns: [.int("number"), .int("more")], systemColumns: [])])
        #expect(try await all.next()?.rows.first == ["id": "a", "number": 1, "more": .null as Value])
        let error = await #expect(throws: StoreError.self) { try await byText.next() }
        #expect(error?.column == "text")
        #expect(store.liveQueryCount == 1)
        try store.write { try $0.upsert(["id": "b", "number": 1, "more": 2], into: "Item") }
        #expect(try await all.next()?.rows.last?["more"] == 2)
    }

    @Test("A definition that is changed around the observed store is noticed at the next commit")
    func redefinitionElsewhere() async throws {
        let base = try MemoryStore()
        let store = ObservedStore(base)
        try store.define([items])
        var all = try await store.follow(TableQuery("Item"))
        try base.define([TableSchema("Item", columns: items.columns + [.int("more")], systemColumns: [])])
        try store.write { try $0.upsert(["id": "b", "number": 1, "more": 2], into: "Item") }
        #expect(try await all.next()?.rows.first?["more"] == 2)
        #expect(try all.takeUpdate() == nil)
    }

    @Test("Observed stores around each other share their live queries")
    func wrappedTwice() async throws {
        let outer = ObservedStore(AnyStore(store))
        var updates = try await outer.follow(TableQuery("Item"))
        try store.write { try $0.upsert(["id": "a"], into: "Item") }
        #expect(try await updates.next()?.commit == 1)
        try outer.write { try $0.upsert(["id": "b"], into: "Item") }
        #expect(try await updates.next()?.commit == 2)
    }

    @Test("Writers on several threads give each consumer all rows, in the order of the commits")
    func concurrentWriters() async throws {
        let writers = 4
        let perWriter = 200
        let consumers = (0..<3).map { _ in
            Task {
                var (rows, commits): ([Row], [Int]) = ([], [])
                for try await update in store.observe(TableQuery("Item")) {
                    update.apply(to: &rows)
                    commits.append(update.commit)
                    #expect(rows == Array(update.rows))
                    if rows.count == writers * perWriter { break }
                }
                return commits
            }
        }
        try await suspendUntil("the queries to start") { store.liveQueryCount == 3 }
        await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for number in 0..<perWriter {
                        try store.write { try $0.upsert(["id": .string("\(writer)-\(number)")], into: "Item") }
                    }
                }
            }
        }
        for consumer in consumers {
            let commits = try await consumer.value
            #expect(commits == commits.sorted() && commits.last == writers * perWriter)
        }
    }
}
