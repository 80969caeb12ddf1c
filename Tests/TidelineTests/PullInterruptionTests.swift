import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules F8 and F9: the state after an interrupted pull, and the overlap of network and store.
@Suite("Interrupted pull", .releasesClients, .bothDialects)
struct PullInterruptionTests {
    static let settings = PullSettings(pageSize: 3)

    /// Writes rows that share a timestamp, rows with their own, and a tombstone.
    private func plant(_ world: World) throws {
        try world.plant(World.rows(at: [0, 1, 1, 1, 1, 1, 10_000, 20_000, 20_000, 30_000, 40_000]))
        try world.plant([World.row("dead", at: 40_000, deleted: true)])
        world.clock.advance(by: .seconds(3600))
    }

    /// Expects that every row of the server below a stored token is stored.
    private func expectSoundToken(_ world: World, _ store: TestStore, _ place: SourceLocation) throws {
        let stored = try store.versions()
        let missing = try world.serverStore.read { reader in
            try reader.rows(matching: TableQuery("TodoItem").filter(.column("deleted") == false)).rows
                .filter { stored[$0.idText] != $0["version"]?.string }
        }
        let first = missing.compactMap { $0["updatedAt"]?.timestamp }.min()
        let token = try store.read {
            try TokenStore(tables: SystemTables(), makeID: { "" }).token(table: "TodoItem", queryID: "q", in: $0)
        }
        guard let first, let updatedAt = token?.updatedAt else { return }
        #expect(updatedAt <= first, sourceLocation: place)
    }

    @Test(
        "F8 a pull whose connection fails after any page is completed by the next pull, of a new client",
        arguments: StoreKind.perEngine, 1...14)
    func connectionDies(_ stores: StoreKind, afterPage page: Int) async throws {
        let world = try World(stores)
        let first = try await world.makeClient()
        try plant(world)
        first.transport.inspect { _, _ in first.transport.requests.count > page ? .loseRequest : nil }
        let error = await syncErrorCode { try await first.items.pull(queryID: "q", settings: Self.settings) }
        #expect(error == .network || (error == nil && first.transport.requests.count <= page))
        try expectSoundToken(world, first.store, #_sourceLocation)
        let second = try await world.makeClient(store: first.store)
        try await second.items.pull(queryID: "q", settings: Self.settings)
        #expect(try second.store.versions() == world.serverVersions())
    }

    @Test(
        "F8 a pull whose store fails at any page leaves rows and token as they were before that page",
        arguments: StoreKind.perEngine, 1...6)
    func storeFails(_ stores: StoreKind, at write: Int) async throws {
        let world = try World(stores)
        let base = try stores.makeStore()
        let store = HookedStore(base)
        let client = try SyncClient(
            url: "http://server.test", store: store, transport: FaultyTransport(service: world.service),
            options: .inDialect)
        try await client.define([World.schema])
        try plant(world)
        let before = Mutex<(rows: [String: String], tokens: [String: String])>(([:], [:]))
        store.onWrite { number in
            if number == write { throw StoreError(.full, "the disk is full") }
        }
        let settings = PullSettings(pageSize: 3) { _ in
            before.withLock { $0 = ((try? base.versions()) ?? [:], (try? base.tokens()) ?? [:]) }
        }
        let error = await #expect(throws: SyncError.self) {
            try await client.table("TodoItem").pull(queryID: "q", settings: settings)
        }
        #expect(error?.code == .store && (error?.cause as? StoreError)?.code == .full)
        #expect(try base.versions() == before.withLock { $0.rows })
        #expect(try base.tokens() == before.withLock { $0.tokens })
        try expectSoundToken(world, base, #_sourceLocation)
        let second = try await world.makeClient(store: base)
        try await second.items.pull(queryID: "q", settings: Self.settings)
        #expect(try base.versions() == world.serverVersions())
    }

    @Test("F8 a killed pull resumes where it stopped", arguments: StoreKind.perEngine)
    func resumes(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<30).map { $0 * 10_000 }))
        world.clock.advance(by: .seconds(60))
        client.transport.inspect { _, _ in client.transport.requests.count > 8 ? .loseRequest : nil }
        _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: Self.settings) }
        #expect(try client.store.versions().count == 17)
        client.transport.inspect(nil)
        let result = try await client.items.pull(queryID: "q", settings: Self.settings)
        #expect(result.rowsStored == 13)
    }

    static let strict = TableSchema("TodoItem", columns: [.string("text", optional: false), .bool("complete")])

    @Test(
        "F8 a row that cannot be stored stops the pull and is named, and the token stays below it",
        arguments: StoreKind.perEngine)
    func unstorableRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try SyncClient(
            url: "http://server.test", store: stores.makeStore(),
            transport: FaultyTransport(service: world.service))
        try await client.define([Self.strict])
        try world.plant(World.rows(at: (0..<7).map { $0 * 10_000 }))
        try world.plant([World.row("r004", at: 40_000).merging("text", .null)])
        let items = client.table("TodoItem")
        let error = await #expect(throws: SyncError.self) {
            try await items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        }
        #expect(error?.code == .invalidAnswer && error?.table == "TodoItem")
        #expect(error?.id == "r004" && error?.column == "text")
        #expect(try client.store.versions()["r004"] == nil)
        try expectSoundToken(world, client.store, #_sourceLocation)
        try world.plant([World.row("r004", at: 40_000)])
        try await items.pull(queryID: "q")
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test(
        "F8 an ID that the store does not accept stops the pull and is named, whatever the form of the pull",
        arguments: StoreKind.perEngine)
    func longID(_ stores: StoreKind) async throws {
        let id = String(repeating: "x", count: 256)
        for queryID in ["q", nil] {
            let (world, client) = try await World.withClient(stores)
            try world.plant([World.row("a", at: 0), World.row("b", at: 0)])
            client.transport.inspect { _, _ in .change { $0.replacing(#""id":"b""#, with: #""id":"\#(id)""#) } }
            let error = await #expect(throws: SyncError.self) { try await client.items.pull(queryID: queryID) }
            #expect(error?.code == .invalidAnswer && error?.id == id)
            #expect(try client.store.versions().isEmpty)
            #expect(try client.store.tokens().isEmpty)
        }
    }

    @Test(
        "F9 the next page is requested before the previous one is stored", arguments: StoreKind.perEngine, ["q", nil])
    func overlaps(_ stores: StoreKind, queryID: String?) async throws {
        let world = try World(stores)
        let store = HookedStore(try stores.makeStore())
        let transport = FaultyTransport(service: world.service)
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport, options: .inDialect)
        try await client.define([World.schema])
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        // The commit of the first page waits for the second request. If there is none, the test fails.
        let sent = DispatchSemaphore(value: 0)
        transport.inspect { _, _ in
            if transport.requests.count == 2 { sent.signal() }
            return nil
        }
        let isInTime = Mutex(false)
        store.onWrite { number in
            if number == 1 { isInTime.withLock { $0 = sent.wait(timeout: .now() + 20) == .success } }
        }
        try await client.table("TodoItem").pull(queryID: queryID, settings: Self.settings)
        #expect(isInTime.withLock { $0 })
        #expect(try store.versions() == world.serverVersions())
    }

    @Test(
        "F9 at most one page is requested ahead of the store, however slow the store is", arguments: StoreKind.perEngine
    )
    func boundedMemory(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = HookedStore(try stores.makeStore())
        let transport = FaultyTransport(service: world.service)
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport, options: .inDialect)
        try await client.define([World.schema])
        try world.plant(World.rows(at: (0..<60).map { $0 * 10_000 }))
        let worst = Mutex(0)
        store.onWrite { number in
            // Gives requests that are not held back the time to be sent.
            Thread.sleep(forTimeInterval: 0.002)
            worst.withLock { $0 = max($0, transport.requests.count - number) }
        }
        try await client.table("TodoItem").pull(queryID: "q", settings: Self.settings)
        #expect(worst.withLock { $0 } <= 1)
    }

    @Test(
        "L8 F8 an edit waits for a few rows of a page, whose rest and token follow, or the page comes again",
        arguments: StoreKind.perEngine, [false, true])
    func givesWay(_ stores: StoreKind, isInterrupted: Bool) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        let transport = FaultyTransport(service: world.service)
        var options = SyncOptions.inDialect
        options.rowsPerStep = 2
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport, options: options)
        try await client.define([World.schema])
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        let table = client.table("TodoItem")
        let hasPage = Mutex(false)
        let edit = Mutex<Task<Row, any Error>?>(nil)
        transport.inspect { _, _ in
            hasPage.withLock { $0 = true }
            return nil
        }
        // The numbers of rows before the transactions from the first one with rows of the page on. As that one begins,
        // the app inserts a row.
        let counts = Mutex<[Int]>([])
        store.observe {
            // The next page is requested meanwhile.
            let isFirst = hasPage.withLock { $0 } && counts.withLock { $0.isEmpty }
            counts.withLock { if isFirst || !$0.isEmpty { $0.append((try? store.base.versions().count) ?? -1) } }
            guard isFirst else { return }
            transport.inspect(nil)
            edit.withLock { $0 = Task { try await table.insert(["id": "mine"]) } }
            while !client.context.database.hasWaitingWrites { Thread.sleep(forTimeInterval: 0.001) }
            store.onWrite { if isInterrupted, $0 == 3 { throw StoreError(.io, "the disk fails") } }
        }
        let result = try? await table.pull(queryID: "q")
        _ = try await edit.withLock { $0 }?.value
        #expect(counts.withLock { $0.prefix(3) } == [0, 2, 3])
        store.observe(nil)
        store.onWrite(nil)
        if isInterrupted {
            #expect(result == nil)
            #expect(try store.tokens().isEmpty)
            try await table.pull(queryID: "q")
        } else {
            #expect(result?.rowsPulled == 9 && result?.rowsStored == 9 && result?.skippedRows.isEmpty == true)
            #expect(try await client.context.pendingOperationsCount == 1)
            try await client.push()
        }
        #expect(try store.versions() == world.serverVersions())
        #expect(try world.serverVersions().count == 10)
    }

    @Test("F10 progress is reported after each page", arguments: StoreKind.perEngine)
    func progress(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<6).map { $0 * 10_000 }))
        let told = Mutex<[PullProgress]>([])
        let settings = PullSettings(pageSize: 4) { progress in told.withLock { $0.append(progress) } }
        let result = try await client.items.pull(settings: settings)
        let progress = told.withLock { $0 }
        #expect(progress.map(\.rowsPulled) == [4, 6, 6])
        #expect(progress.map(\.pages) == [1, 2, 3] && result.requests == 3)
    }
}
