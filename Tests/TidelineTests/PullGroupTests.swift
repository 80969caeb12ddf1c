import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F8 with several pages in one transaction: the guarantees are those of one page per transaction.
@Suite("Several pages in one transaction", .releasesClients, .bothDialects)
struct PullGroupTests {
    /// The stored state and the reported result of a pull.
    private struct Outcome: Equatable {
        var rows: [String: String]
        /// The position of each token, without the server's clock, which advances with every answer.
        var tokens: [String: Timestamp]
        var pulled = 0
        var stored = 0
        var removed = 0
        var requests = 0
        var error: SyncError.Code?
    }

    private func settings(_ pages: Int, _ onProgress: (@Sendable (PullProgress) -> Void)? = nil) -> PullSettings {
        PullSettings(pageSize: 3, pagesPerTransaction: pages, onProgress: onProgress)
    }

    /// Writes rows that share a timestamp, rows with their own, and a tombstone.
    private func plant(_ world: World) throws {
        try world.plant(World.rows(at: [0, 1, 1, 1, 1, 1, 10_000, 20_000, 20_000, 30_000, 40_000, 50_000]))
        try world.plant([World.row("dead", at: 40_000, deleted: true)])
        world.clock.advance(by: .seconds(3600))
    }

    private func pull(_ client: Client, _ queryID: String? = "q", _ settings: PullSettings) async throws -> Outcome {
        var result = PullResult()
        let error = await syncErrorCode {
            result = try await client.items.pull(queryID: queryID, settings: settings)
        }
        return Outcome(
            rows: try client.store.versions(), tokens: try client.store.reach(), pulled: result.rowsPulled,
            stored: result.rowsStored,
            removed: result.rowsRemoved, requests: result.requests, error: error)
    }

    @Test("F8 rows, token and counts equal those of one page per transaction", arguments: StoreKind.all, ["q", nil])
    func isTheSame(_ stores: StoreKind, queryID: String?) async throws {
        var expected: [Outcome] = []
        for pages in [1, 2, 3, 100] {
            let (world, client) = try await World.withClient(stores)
            try plant(world)
            var outcomes = [try await pull(client, queryID, settings(pages))]
            try world.plant([World.row("r000", at: 60_000, deleted: true), World.row("r003", at: 60_000)])
            try world.plant((0..<9).map { World.row("n\($0)", at: 70_000 + Int64($0)) })
            outcomes.append(try await pull(client, queryID, settings(pages)))
            #expect(outcomes.map(\.error) == [nil, nil])
            #expect(try outcomes[1].rows == world.serverVersions())
            if pages == 1 { expected = outcomes }
            #expect(outcomes == expected, "\(pages) pages")
        }
    }

    @Test("F8 a pull writes and reports progress once per the given number of pages", arguments: StoreKind.all)
    func writesOnce(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<20).map { $0 * 10_000 }))
        let told = Mutex<[PullProgress]>([])
        let result = try await client.items.pull(
            settings: settings(3) { progress in told.withLock { $0.append(progress) } })
        // Seven pages and the empty page after them.
        #expect(result.requests == 8 && result.writes == 3 && result.rowsPulled == 20 && result.rowsStored == 20)
        #expect(told.withLock { $0.map(\.rowsPulled) } == [9, 18, 20])
        #expect(told.withLock { $0.map(\.pages) } == [3, 6, 8])
    }

    @Test("F6 a pull of an unchanged table writes nothing, however many pages it has", arguments: StoreKind.perEngine)
    func rest(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<9).map { _ in 5 }))
        try await client.items.pull(queryID: "q", settings: settings(2))
        let again = try await client.items.pull(queryID: "q", settings: settings(2))
        #expect(again.requests > 3 && again.writes == 0)
    }

    @Test(
        "F8 a pull whose connection fails after any page has stored the pages before it", arguments: StoreKind.all,
        1...14)
    func connectionDies(_ stores: StoreKind, afterPage page: Int) async throws {
        var expected: Outcome?
        for pages in [1, 2, 4] {
            let (world, client) = try await World.withClient(stores)
            try plant(world)
            client.transport.inspect { _, _ in client.transport.requests.count > page ? .loseRequest : nil }
            let outcome = try await pull(client, "q", settings(pages))
            #expect(outcome == expected ?? outcome, "\(pages) pages")
            expected = outcome
            client.transport.inspect(nil)
            #expect(try await pull(client, "q", settings(pages)).rows == world.serverVersions())
        }
    }

    @Test(
        "F8 a pull whose store fails in any transaction leaves rows and token as they were before that transaction",
        arguments: StoreKind.all, 1...4)
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
        store.onWrite { if $0 == write { throw StoreError(.full, "the disk is full") } }
        let error = await syncErrorCode {
            _ = try await client.table("TodoItem").pull(
                queryID: "q",
                settings: settings(2) { _ in
                    before.withLock { $0 = ((try? base.versions()) ?? [:], (try? base.tokens()) ?? [:]) }
                })
        }
        #expect(error == .store || store.writes < write)
        if error != nil {
            #expect(try base.versions() == before.withLock { $0.rows })
            #expect(try base.tokens() == before.withLock { $0.tokens })
        }
        store.onWrite(nil)
        try await client.table("TodoItem").pull(queryID: "q", settings: settings(2))
        #expect(try base.versions() == world.serverVersions())
    }

    @Test(
        "F8 a row that cannot be stored is named; the pages before its page are stored, with their token",
        arguments: StoreKind.all, 0..<9)
    func unstorableRow(_ stores: StoreKind, bad: Int) async throws {
        var expected: Outcome?
        for pages in [1, 2, 3, 100] {
            let world = try World(stores)
            let client = try SyncClient(
                url: "http://server.test", store: stores.makeStore(),
                transport: FaultyTransport(service: world.service))
            try await client.define([PullInterruptionTests.strict])
            try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
            try world.plant([World.row("r00\(bad)", at: Int64(bad) * 10_000).merging("text", .null)])
            let told = Mutex(PullProgress())
            let error = await #expect(throws: SyncError.self) {
                try await client.table("TodoItem").pull(
                    queryID: "q", settings: settings(pages) { progress in told.withLock { $0 = progress } })
            }
            #expect(error?.code == .invalidAnswer && error?.id == "r00\(bad)" && error?.column == "text")
            let outcome = Outcome(
                rows: try client.store.versions(),
                tokens: try client.store.reach(),
                pulled: told.withLock { $0.rowsPulled }, requests: told.withLock { $0.pages })
            #expect(outcome == expected ?? outcome, "\(pages) pages")
            expected = outcome
        }
    }

    @Test(
        "F8 a pull that is canceled at any page leaves complete pages and their token", arguments: StoreKind.all, 1...8)
    func cancelled(_ stores: StoreKind, at page: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try plant(world)
        let pull = Mutex<Task<Void, any Error>?>(nil)
        client.transport.inspect { _, _ in
            if client.transport.requests.count == page { pull.withLock { $0?.cancel() } }
            return nil
        }
        // The task waits until the transport can cancel it.
        pull.withLock { pull in
            pull = Task { try await client.items.pull(queryID: "q", settings: settings(3)) }
        }
        let error = await syncErrorCode { try await pull.withLock { $0 }?.value }
        #expect(error == .cancelled || client.transport.requests.count <= page)
        client.transport.inspect(nil)
        #expect(try await self.pull(client, "q", settings(3)).rows == world.serverVersions())
    }

    @Test(
        "F9 at most the pages of one transaction and one more in flight are held in memory",
        arguments: StoreKind.perEngine)
    func boundedMemory(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = HookedStore(try stores.makeStore())
        let transport = FaultyTransport(service: world.service)
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport, options: .inDialect)
        try await client.define([World.schema])
        try world.plant(World.rows(at: (0..<60).map { $0 * 10_000 }))
        let worst = Mutex(0)
        store.onWrite { number in
            worst.withLock { $0 = max($0, transport.requests.count - (number - 1) * 4) }
        }
        try await client.table("TodoItem").pull(queryID: "q", settings: settings(4))
        #expect(worst.withLock { $0 } == 5 || worst.withLock { $0 } == 4)
    }

    @Test("F7 a page held during a push does not restore the values that the push replaced", arguments: StoreKind.all)
    func pushedMeanwhile(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        try await client.items.pull()
        client.transport.clear()
        client.transport.inspect { request, _ in
            // The page with the row is held when the third page is requested.
            guard request.method == .get, client.transport.requests.count == 3 else { return nil }
            try? await client.items.update(["id": "r000", "text": "edited"])
            _ = try? await client.context.push()
            return nil
        }
        try await client.items.pull(queryID: "q", settings: settings(100))
        #expect(try client.row("r000")?["text"] == "edited")
        #expect(try world.serverRow("r000")?["text"] == "edited")
        #expect(try await client.queue().isEmpty)
    }

    @Test("F2 zero pages in a transaction is refused")
    func refused() async throws {
        let client = try await World(.simplest).makeClient()
        for pages in [0, -1, .min] {
            let error = await syncErrorCode { try await client.items.pull(settings: settings(pages)) }
            #expect(error == .invalidArgument)
        }
        #expect(client.transport.requests.isEmpty)
    }
}

extension LocalStore {
    /// Returns the `updatedAt` of each stored token, by query ID.
    fileprivate func reach() throws -> [String: Timestamp] {
        try tokens().compactMapValues { text in
            try JSONDecoder().decode(PullToken.self, from: Data(text.utf8)).updatedAt
        }
    }
}
