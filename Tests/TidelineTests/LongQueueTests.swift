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
        let settings = PullSettings(pageSize: pageSize, whenPushFails: .pullOthers)
        _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: settings) }
        let pending = try await client.context.pendingOperations()
        #expect(
            pending.filter { $0.pulled?.contains("theirs") == true }.map(\.itemID).sorted()
                == ["r000", "r001", "r002", "r003", "r004"])
        #expect(try client.row("r005")?["text"] == "theirs")
        #expect(try client.row("r000")?["text"] == "r000" && client.row("r004") == nil)
    }

    @Test("F18 a page reads no more operations than it has rows", arguments: StoreKind.perEngine)
    func reads(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        for number in 0..<50 { try await client.items.insert(["id": .string("new\(number)"), "text": "mine"]) }
        try world.plant(World.rows(at: [0, 1]))
        let rows = try await client.client.remoteTable("TodoItem").read(TableQuery("TodoItem")).rows
        #expect(rows.count == 2)
        let operations = client.context.queue.operations
        var packed = PackedRows(shape: try client.store.read { try $0.shape(of: "TodoItem") })
        try packed.append(["id": "new7"])
        try packed.append(["id": "r000"])
        let found = try client.store.read {
            try operations.oldestOperations(of: packed, 0..<2, World.schema, in: $0)
        }
        #expect("new7".withUTF8Bytes { found[$0] }?.itemID == "new7")
        #expect("r000".withUTF8Bytes { found[$0] } == nil)
        #expect("new8".withUTF8Bytes { found[$0] } == nil)
    }
}
