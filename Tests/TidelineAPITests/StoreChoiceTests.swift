import HTTPTypes
import Testing
import Tideline
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelineSQLite
import TidelineServer
import TidelineTestSupport

/// A transport to a server in the same process.
struct ServiceTransport: Transport {
    let service: TableService<MemoryStore>

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let answer = service.handle(request, body: body ?? [])
        return TransportResponse(response: answer.response, body: answer.body)
    }
}

@Suite("Another store is another line; the rest of the app stays as it is")
struct StoreChoiceTests {
    @Test func sqlite() async throws { try await use { try SQLiteStore(path: $0 + "/todo.db") } }

    @Test func lmdb() async throws { try await use { try LMDBStore(path: $0 + "/todo.lmdb") } }

    @Test func levelDB() async throws { try await use { try LevelDBStore(path: $0 + "/todo.leveldb") } }

    @Test func memory() async throws { try await use { _ in try MemoryStore() } }

    @Test func storeChosenAtRunTime() async throws { try await use { _ in try AnyStore(MemoryStore()) } }

    /// - Parameter makeStore: The line of the app that names a store; its argument is a folder.
    private func use<Store: LocalStore>(_ makeStore: (String) throws -> Store) async throws {
        let folder = try TemporaryFolder()
        let store = try makeStore(folder.path)
        let service = try TableService(
            store: MemoryStore(), options: TableServiceOptions(schemas: [TodoApp.schema]))
        let client = try SyncClient(
            url: "http://server.test", store: store, transport: ServiceTransport(service: service))

        let list = try await TodoApp(client)
        let milk = try await list.add("Buy milk")
        try await list.complete(list.add("Buy bread"))
        #expect(try await list.open() == ["Buy milk"])
        #expect(try await pendingChanges(client.context) == [.insert, .insert])
        let result = try await sync(client)
        #expect(result.push.progress.sent == 2)
        #expect(result.pull.rowsPulled == 2)
        #expect(try await list.remote.lookup(id: milk.idText)?["text"] == "Buy milk")
        #expect(try await pendingChanges(client.context) == [])
        try store.close()
    }
}
