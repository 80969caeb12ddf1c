import Testing
import Tideline
import TidelineStore
import TidelineTestStores

/// Live queries of a client's tables.
@Suite("Live queries of a client", .releasesClients, .bothDialects)
struct ClientLiveQueryTests {
    private static let byText = TableQuery("TodoItem").order(by: "text")

    @Test("Local edits, transactions, pulls, pushes, and purges each give one update", arguments: StoreKind.perEngine)
    func updates(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        var updates = client.items.observe(Self.byText).makeAsyncIterator()
        var rows: [Row] = []
        func texts() async throws -> [String] {
            let update = try #require(try await updates.next())
            update.apply(to: &rows)
            #expect(rows == Array(update.rows))
            #expect(try updates.takeUpdate() == nil)
            return rows.compactMap { $0["text"]?.string }
        }
        #expect(try await texts() == [])

        try await client.items.insert(["id": "a", "text": "one"])
        #expect(try await texts() == ["one"])
        try await client.client.transaction { transaction in
            try transaction.insert(["id": "b", "text": "two"], into: "TodoItem")
            try transaction.update(id: "a", in: "TodoItem") { $0["text"] = "uno" }
        }
        #expect(try await texts() == ["two", "uno"])

        try await client.client.push()
        // The push stores the version that the server assigned to each row.
        while rows.contains(where: { $0["version"] ?? .null == .null }) { _ = try await texts() }
        #expect(rows.count == 2)

        try world.plant(World.rows(at: [0, 10_000, 20_000]))
        world.clock.advance(by: .seconds(60))
        try await client.items.pull()
        #expect(try await texts() == ["r000", "r001", "r002", "two", "uno"])
        try await client.items.purge(TableQuery("TodoItem").filter(.column("text") == "uno"))
        #expect(try await texts() == ["r000", "r001", "r002", "two"])
    }

    @Test("The app's own writes are seen through the observed store")
    func observedStore() async throws {
        let client = try await World(.simplest).makeClient { $0.handlesSyncTableOperations = false }
        var count = client.items.observeCount().makeAsyncIterator()
        #expect(try await count.next() == 0)
        try client.client.observedStore.write { try $0.upsert(["id": "a", "text": "one"], into: "TodoItem") }
        try await client.items.insert(["id": "a", "text": "one"])
        #expect(try await count.next() == 1)
    }

    @Test("Clients of one store see each other's edits", arguments: StoreKind.perEngine, [true, false])
    func sharedStore(_ stores: StoreKind, isObserved: Bool) async throws {
        let world = try World(stores)
        let base = try stores.makeStore()
        let store = isObserved ? AnyStore(ObservedStore(base)) : AnyStore(base)
        let clients = [try await world.makeClient(over: store), try await world.makeClient(over: store)]
        var count = clients[1].items.observeCount().makeAsyncIterator()
        #expect(try await count.next() == 0)
        try await clients[0].items.insert(["id": "a"])
        #expect(try await count.next() == 1)
    }

    @Test("Clients of two stores over the same files see each other's edits", arguments: StoreKind.sharing)
    func sharedFiles(_ kind: StoreKind) async throws {
        let world = try World(.simplest)
        let files = try StoreFiles(kind)
        let clients = [
            try await world.makeClient(store: files.open()), try await world.makeClient(store: files.open()),
        ]
        var counts = clients.map { $0.items.observeCount().makeAsyncIterator() }
        var exists = clients[1].items.observeExistence().makeAsyncIterator()
        for index in 0..<2 { #expect(try await counts[index].next() == 0) }
        #expect(try await exists.next() == false)
        for number in 1...3 {
            try await clients[number % 2].items.insert(["id": .string("\(number)")])
            for index in 0..<2 { #expect(try await counts[index].next() == number) }
        }
        #expect(try await exists.next() == true)
    }

    @Test("A query that does not fit the table is an invalid argument")
    func invalidQueries() async throws {
        let client = try await World(.simplest).makeClient()
        let queries = [
            TableQuery("Other"), TableQuery("TodoItem").filter(.column("txt") == "a"),
            TableQuery("TodoItem").filter(.column("text") == 1),
        ]
        for query in queries {
            var updates = client.items.observe(query).makeAsyncIterator()
            await expectSyncError(.invalidArgument, table: "TodoItem") { _ = try await updates.next() }
            var count = client.items.observeCount(query).makeAsyncIterator()
            await #expect(throws: SyncError.self) { try await count.next() }
            var exists = client.items.observeExistence(query).makeAsyncIterator()
            await #expect(throws: SyncError.self) { try await exists.next() }
        }
    }

    @Test("A column that is dropped ends the live queries that need it")
    func droppedColumn() async throws {
        let client = try await World(.simplest).makeClient()
        var updates = client.items.observe(Self.byText).makeAsyncIterator()
        var others = client.items.observe().makeAsyncIterator()
        _ = try await (updates.next(), others.next())
        try await client.client.drop(columns: ["text"], from: "TodoItem")
        await expectSyncError(.invalidArgument, column: "text") { _ = try await updates.next() }
        try await client.items.insert(["id": "a", "priority": 3])
        var last = try await others.next()
        while last?.rows.isEmpty == true { last = try await others.next() }
        #expect(last?.rows.count == 1)
    }
}
