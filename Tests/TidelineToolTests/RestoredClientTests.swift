#if Tool
import HTTPTypes
import Testing
import Tideline
import TidelineServer
import TidelineStore

@testable import TidelineTool

@Suite("Clients of a restored server", .timeLimit(.minutes(10)))
struct RestoredClientTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    @Test("After a restore, clients that synced later changes receive the restored content, and lose no pending change")
    func clients() async throws {
        let location = try StoreLocation(parsing: tool.location(.sqlite, "a"))
        let restored = try StoreLocation(parsing: tool.location(.lmdb, "b"))
        let client = try await withStore(location) { try await Self.useAndBackUp($0, tool.path("file")) }
        _ = try StoreRestoration(keepsTimestamps: false).run(from: tool.path("file"), to: restored)
        try await withStore(restored) { try await Self.check($0, client) }
    }

    /// Backs up after the first changes, and syncs a client after further ones. Its last change is pending.
    private static func useAndBackUp(_ store: some LocalStore, _ file: String) async throws -> AnyStore {
        let clientStore = AnyStore(try StoreEngine.memory.makeOpener("", StoreSettings([], of: .memory), .init())())
        let client = try await Self.client(clientStore, of: store)
        let items = client.table("Item")
        for id in ["same", "pending", "changed", "deleted", "changed and pending"] {
            _ = try await items.insert(["id": .string(id), "text": "old"])
        }
        try await client.push()
        try await client.pull(TableQuery("Item"), queryID: "all")
        _ = try BackupFile.write(store, to: file)
        try await items.update(id: "changed") { $0["text"] = "lost" }
        try await items.update(id: "changed and pending") { $0["text"] = "lost" }
        try await items.delete(id: "deleted")
        _ = try await items.insert(["id": "inserted", "text": "lost"])
        try await client.push()
        try await client.pull(TableQuery("Item"), queryID: "all")
        try await items.update(id: "pending") { $0["text"] = "mine" }
        try await items.update(id: "changed and pending") { $0["text"] = "mine" }
        return clientStore
    }

    private static func check(_ store: some LocalStore, _ clientStore: AnyStore) async throws {
        let client = try await Self.client(clientStore, of: store)
        let items = client.table("Item")
        let error = await #expect(throws: SyncError.self) { try await client.push() }
        // The change to a row that did not change after the backup is accepted, the other is reported.
        #expect(error?.operationErrors.map(\.itemID) == ["changed and pending"])
        let conflict = try #require(error?.operationErrors.first)
        #expect(conflict.code == .conflict && conflict.serverItem?["text"] == "old")
        try await conflict.cancelOperationAndDiscardItem()
        try await client.pull(TableQuery("Item"), queryID: "all")
        func texts(_ rows: [Row]) -> [String: String?] {
            Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["text"]?.string) })
        }
        let server = texts(try store.read { try $0.rows(matching: TableQuery("Item")).rows })
        #expect(
            server == [
                "same": "old", "pending": "mine", "changed": "old", "deleted": "old", "changed and pending": "old",
            ])
        var own = texts(try await items.rows().rows)
        #expect(own.removeValue(forKey: "inserted") == "lost")
        #expect(own == server)
        // A change to the row that only this client has is a conflict, and no pull removes the row.
        try await items.update(id: "inserted") { $0["text"] = "again" }
        let gone = await #expect(throws: SyncError.self) { try await client.push() }
        #expect(gone?.operationErrors.map(\.code) == [.conflict])
        try await #require(gone?.operationErrors.first).cancelOperationAndDiscardItem()
        try await items.purge()
        try await client.pull(TableQuery("Item"), queryID: "all")
        #expect(texts(try await items.rows().rows) == server)
    }

    private static let items = TableSchema("Item", columns: [.string("text")])

    /// Makes a client of a server over a store.
    private static func client(_ own: AnyStore, of store: some LocalStore) async throws -> SyncClient<AnyStore> {
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [items]))
        let client = try SyncClient(
            url: "http://server.test", store: own, transport: BackupTestTransport(service: service))
        try await client.define([items])
        return client
    }
}

/// A transport to a table service in the same process.
private struct BackupTestTransport<Store: LocalStore>: Transport {
    let service: TableService<Store>

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let answer = service.handle(request, body: body ?? [])
        return TransportResponse(response: answer.response, body: answer.body)
    }
}
#endif
