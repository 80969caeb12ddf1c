import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A store belongs to a client or to a server, and each refuses the other's.
@Suite("Role of a store", .timeLimit(.minutes(15)))
struct StoreRoleTests {
    private func makeClient(_ store: TestStore, tables: SystemTables = SystemTables()) throws -> SyncClient<TestStore> {
        var options = SyncOptions()
        options.systemTables = tables
        let service = try TableService(store: StoreKind.simplest.makeStore())
        return try SyncClient(
            url: "http://server.test", store: store, transport: FaultyTransport(service: service), options: options)
    }

    @Test("a client refuses a server's store and leaves it unchanged", arguments: StoreKind.perEngine, [true, false])
    func serversStore(_ stores: StoreKind, isMarked: Bool) throws {
        let store = try stores.makeStore()
        if isMarked {
            _ = try TableService(store: store)
        } else {
            // The state left by a server of an earlier version.
            try store.define([TableSchema("TodoItem", columns: [.string("text")], systemColumns: .all)])
        }
        let before = try store.tables()
        let error = expectError(.schemaMismatch) { _ = try makeClient(store) }
        #expect(error?.message.contains("belongs to a server") == true)
        #expect(try store.tables() == before)
    }

    @Test("a server refuses a client's store and leaves it unchanged", arguments: StoreKind.perEngine)
    func clientsStore(_ stores: StoreKind) async throws {
        for tables in [SystemTables(), SystemTables(operations: "Q", errors: "E", config: "C")] {
            let store = try stores.makeStore()
            try await makeClient(store, tables: tables).define([World.schema])
            let before = try store.tables()
            let error = expectError(.schemaMismatch) {
                _ = try TableService(store: store, options: TableServiceOptions(schemas: [World.schema]))
            }
            #expect(error?.message.contains("belongs to a client") == true)
            #expect(try store.tables() == before)
        }
    }

    @Test("each opens its own store again, also one with tables of an earlier client", arguments: StoreKind.perEngine)
    func own(_ stores: StoreKind) async throws {
        let served = try stores.makeStore()
        try served.define(SystemTables().schemas + [TableSchema("TodoItem", columns: [], systemColumns: .all)])
        for _ in 1...2 { _ = try TableService(store: served, options: TableServiceOptions(schemas: [World.schema])) }
        expectError(.schemaMismatch) { _ = try makeClient(served) }
        let local = try stores.makeStore()
        for _ in 1...2 { try await makeClient(local).define([World.schema]) }
    }
}
