import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Section 7: the tables with the state of the core.
@Suite("System tables", .releasesClients)
struct SystemTableTests {
    @Test(
        "S7 the tables have the original's names and columns, and are not in the app's list",
        arguments: StoreKind.perEngine)
    func columns(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let tables = Dictionary(uniqueKeysWithValues: try client.store.tables().map { ($0.name, $0) })
        #expect(tables["MS_TableOperations"]?.idType == .int)
        let expected = [
            "MS_TableOperations": ["itemId", "table", "tableKind", "properties"],
            "MS_TableOperationErrors": ["operationId", "tableKind", "properties"],
            "MS_TableConfig": ["key", "keyType", "table", "value"],
            "MS_TableDecisions": ["table", "itemId", "rule", "base", "local", "server", "result"],
        ]
        for (name, columns) in expected {
            #expect(tables[name]?.isSystem == true)
            #expect(Set(columns).isSubset(of: tables[name]?.columns.map(\.name) ?? []), "\(name)")
        }
        #expect(try client.store.appTables().map(\.name) == ["TodoItem"])
    }

    @Test("S7 ordinary queries read queue, errors and tokens", arguments: StoreKind.perEngine)
    func readable(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.items.insert(["id": "a", "text": "one"])
        client.transport.inspect { _, _ in .answer(.answer(400, "no")) }
        _ = await syncErrorCode { try await client.context.push() }
        client.transport.inspect(nil)
        _ = await syncErrorCode { try await client.items.delete(id: "b") }
        try client.store.read { reader in
            let queue = try reader.rows(matching: TableQuery("MS_TableOperations").order(by: "id")).rows
            #expect(queue.map { $0["itemId"] } == ["a", "b"])
            #expect(queue.map { $0["tableKind"] } == [0, 2])
            let error = try reader.rows(
                matching: TableQuery("MS_TableOperationErrors").filter(.column("operationId") == 1))
            #expect(error.rows.count == 1 && error.rows[0]["properties"]?.json?.contains("400") == true)
        }
    }

    @Test("S7 the names are configurable per store; the app can use the original ones", arguments: StoreKind.perEngine)
    func names(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let names = SystemTables(operations: "Queue", errors: "Queue errors", config: "State'\"")
        let store = try stores.makeStore()
        let tables = [World.schema, TableSchema("MS_TableConfig", columns: [.string("mine")])]
        let client = try await world.makeClient(over: store, tables: tables) { $0.systemTables = names }
        try await client.items.insert(["id": "a", "text": "one"])
        #expect(try store.read { try $0.count(TableQuery("Queue")) } == 1)
        try await client.context.push()
        try await client.items.pull(queryID: "q")
        #expect(try store.read { try $0.count(TableQuery("State'\"").filter(.column("key") == "q")) } == 1)
        #expect(try store.appTables().map(\.name).sorted() == ["MS_TableConfig", "TodoItem"])
        #expect(try await client.items.purge() == 1)
        #expect(try store.read { try $0.count(TableQuery("State'\"").filter(.column("key") == "q")) } == 0)
    }

    @Test("S7 clients with different names on one store do not see each other's queue", arguments: StoreKind.perEngine)
    func separate(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let first = try await world.makeClient()
        let second = try await world.makeClient(store: first.store) {
            $0.systemTables = SystemTables(operations: "Q2", errors: "E2", config: "C2")
        }
        try await first.items.insert(["id": "a", "text": "one"])
        #expect(try await second.queue().isEmpty)
        #expect(try await first.queue() == ["insert a"])
    }

    @Test("S7 a table that cannot be synchronized is refused by name", arguments: StoreKind.perEngine)
    func unfit(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        for schema in [
            TableSchema("T", columns: [], idType: .int), TableSchema("T", columns: [], systemColumns: []),
            TableSchema("T", columns: [], systemColumns: .all), TableSchema("T", columns: [], systemColumns: .version),
        ] {
            await expectSyncError(.invalidArgument, table: "T") { try await client.client.define([schema]) }
        }
        let twice = TableSchema("T", columns: [.string("a"), .int("a")])
        #expect(await syncErrorCode { try await client.client.define([twice]) } == .store)
    }
}
