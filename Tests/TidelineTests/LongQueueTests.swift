import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule F18: pages and the queue.
@Suite("Pages beside a long queue", .releasesClients, .bothDialects)
struct LongQueueTests {
    @Test(
        "F18 a page finds the operations of its rows in a short and in a long queue",
        arguments: StoreKind.perEngine, [1, 2, 1000])
    func found(_ stores: StoreKind, pageSize: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<6).map { $0 * 10_000 }))
        try await client.items.pull(queryID: "q")
        for number in 0..<4 { try await client.items.update(["id": "R00\(number)", "priority": 1]) }
        try await client.items.delete(id: "r004")
        for number in 0..<20 { try await client.items.insert(["id": .string("new\(number)"), "text": "mine"]) }
        try world.plant((0..<6).map { World.row("r00\($0)", at: 1_000_000 + Int64($0) * 10_000, text: "theirs") })
        client.transport.inspect { request, _ in request.method == .get ? nil : .answer(.answer(403)) }
        try await client.pullOthers("q", pageSize: pageSize)
        let pending = try await client.context.pendingOperations()
        #expect(
            pending.filter { $0.pulled?.contains("theirs") == true }.map(\.itemID).sorted()
                == ["r000", "r001", "r002", "r003", "r004"])
        #expect(try client.row("r005")?["text"] == "theirs")
        #expect(try client.row("r000")?["text"] == "r000" && client.row("r004") == nil)
    }

    @Test("F18 a page finds operations that any client adds meanwhile", arguments: StoreKind.perEngine, [false, true])
    func addedDuringPull(_ stores: StoreKind, byOther: Bool) async throws {
        let (world, client) = try await World.withClient(stores)
        try await pull(to: client, world, beside: byOther ? world.makeClient(store: client.store) : client)
    }

    @Test("F18 a page finds an operation that another process adds during the pull", arguments: StoreKind.sharing)
    func addedByProcess(_ stores: StoreKind) async throws {
        let (world, file) = (try World(stores), try StoreFiles(stores))
        let client = try await world.makeClient(store: try file.open())
        try await pull(to: client, world, beside: world.makeClient(store: try file.open()))
    }

    /// Pulls until the client knows the rows in its queue. During the next pull, edits two rows of its last pages.
    private func pull(to client: Client, _ world: World, beside editor: Client) async throws {
        try world.plant(World.rows(at: (0..<180).map { $0 * 10_000 }))
        try await client.context.transaction { transaction in
            for number in 0..<150 {
                try transaction.insert(["id": .string("new\(number)"), "text": "mine"], into: "TodoItem")
            }
        }
        client.transport.inspect { request, _ in request.method == .get ? nil : .answer(.answer(403)) }
        try await client.pullOthers("q", pageSize: 60)
        try world.plant((0...9).map { World.row("r00\($0)", at: 9_000_000 + Int64($0) * 10_000, text: "theirs") })
        let once = Once()
        client.transport.inspect { request, _ in
            guard request.method == .get else { return .answer(.answer(403)) }
            guard (try? client.row("r002"))?["text"] == "theirs", once.first() else { return nil }
            await #expect(throws: Never.self) {
                try await client.items.update(["id": "r008", "priority": 1])
                try await editor.items.update(["id": "R009", "priority": 1])
            }
            return nil
        }
        try await client.pullOthers("q", pageSize: 2)
        let pending = try await client.context.pendingOperations()
        #expect(pending.filter { $0.pulled?.contains("theirs") == true }.map(\.itemID).sorted() == ["r008", "r009"])
        #expect(try client.row("r009")?["text"] == "r009" && client.row("r007")?["text"] == "theirs")
    }

    @Test("F18 a page reads no more operations than it has rows", arguments: StoreKind.perEngine)
    func reads(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        for number in 0..<50 { try await client.items.insert(["id": .string("new\(number)"), "text": "mine"]) }
        try world.plant(World.rows(at: [0, 1]))
        #expect(try await client.client.remoteTable("TodoItem").read(TableQuery("TodoItem")).rows.count == 2)
        let operations = client.context.queue.operations
        var packed = PackedRows(shape: try client.store.read { try $0.shape(of: "TodoItem") })
        try packed.append(["id": "new7"])
        try packed.append(["id": "r000"])
        let found = try client.store.read {
            try operations.oldestOperations(of: packed, 0..<2, World.schema, at: nil, in: $0)
        }
        #expect("new7".withUTF8Bytes { found[$0] }?.itemID == "new7")
        #expect("r000".withUTF8Bytes { found[$0] } == nil)
        #expect("new8".withUTF8Bytes { found[$0] } == nil)
    }
}
