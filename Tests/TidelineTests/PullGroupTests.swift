import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F8: the state after an interrupted pull, with one and with several pages in a transaction.
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

    @Test(
        "F8 F10 a pull writes and reports progress once per the given number of pages", arguments: StoreKind.all,
        [(1, [3, 6, 9, 12, 15, 18, 20, 20]), (3, [9, 18, 20])])
    func writesOnce(_ stores: StoreKind, _ setting: (pages: Int, rows: [Int])) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<20).map { $0 * 10_000 }))
        let told = Recorder<PullProgress>()
        let result = try await client.items.pull(settings: settings(setting.pages) { told.add($0) })
        // Seven pages and the empty page after them.
        #expect(result.requests == 8 && result.rowsPulled == 20 && result.rowsStored == 20)
        #expect(result.writes == (setting.pages == 1 ? 7 : 3))
        #expect(told.values.map(\.rowsPulled) == setting.rows)
        #expect(told.values.map(\.pages) == (setting.pages == 1 ? Array(1...8) : [3, 6, 8]))
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
        "F8 a pull whose connection fails after any page has stored the pages before it, and a new client completes it",
        arguments: StoreKind.all, 1...14)
    func connectionDies(_ stores: StoreKind, afterPage page: Int) async throws {
        var expected: Outcome?
        for pages in [1, 2, 4] {
            let (world, client) = try await World.withClient(stores)
            try plant(world)
            client.transport.inspect { _, _ in client.transport.requests.count > page ? .loseRequest : nil }
            let outcome = try await pull(client, "q", settings(pages))
            #expect(outcome.error == .network || (outcome.error == nil && client.transport.requests.count <= page))
            #expect(outcome == expected ?? outcome, "\(pages) pages")
            expected = outcome
            try expectSoundToken(world, client.store)
            let second = try await world.makeClient(store: client.store)
            #expect(try await pull(second, "q", settings(pages)).rows == world.serverVersions())
        }
    }

    /// Expects that every row of the server below a stored token is stored.
    private func expectSoundToken(
        _ world: World, _ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let stored = try store.versions()
        let missing = try world.serverStore.read { reader in
            try reader.rows(matching: TableQuery("TodoItem").filter(.column("deleted") == false)).rows
                .filter { stored[$0.idText] != $0["version"]?.string }
        }
        let first = missing.compactMap { $0["updatedAt"]?.timestamp }.min()
        guard let first, let updatedAt = try store.reach()["q"] else { return }
        #expect(updatedAt <= first, sourceLocation: sourceLocation)
    }

    @Test(
        "F8 a pull whose store fails in any transaction leaves rows and token as they were before that transaction",
        arguments: StoreKind.all, allPairs([1, 2], Array(1...6)))
    func storeFails(_ stores: StoreKind, _ failure: (pages: Int, write: Int)) async throws {
        let world = try World(stores)
        let base = try stores.makeStore()
        let store = HookedStore(base)
        let client = try await world.makeClient(over: store)
        try plant(world)
        let before = Mutex<(rows: [String: String], tokens: [String: String])>(([:], [:]))
        store.onWrite { if $0 == failure.write { throw StoreError(.full, "the disk is full") } }
        let settings = settings(failure.pages) { _ in
            before.withLock { $0 = ((try? base.versions()) ?? [:], (try? base.tokens()) ?? [:]) }
        }
        var error: SyncError?
        do { try await client.items.pull(queryID: "q", settings: settings) } catch let thrown as SyncError {
            error = thrown
        }
        // Transactions of several pages are fewer.
        #expect(error?.code == .store || (failure.pages == 2 && store.writes < failure.write))
        if let error {
            #expect((error.cause as? StoreError)?.code == .full)
            #expect(try base.versions() == before.withLock { $0.rows })
            #expect(try base.tokens() == before.withLock { $0.tokens })
            try expectSoundToken(world, base)
        }
        store.onWrite(nil)
        let second = try await world.makeClient(store: base)
        try await second.items.pull(queryID: "q", settings: settings)
        #expect(try base.versions() == world.serverVersions())
    }

    @Test(
        "F8 a row that cannot be stored is named; the pages before its page are stored, with their token",
        arguments: StoreKind.all, 0..<9)
    func unstorableRow(_ stores: StoreKind, bad: Int) async throws {
        let strict = TableSchema("TodoItem", columns: [.string("text", optional: false), .bool("complete")])
        var expected: Outcome?
        for pages in [1, 2, 3, 100] {
            let world = try World(stores)
            let client = try await world.makeClient(over: stores.makeStore(), tables: [strict])
            try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
            try world.plant([World.row("r00\(bad)", at: Int64(bad) * 10_000).merging(["text": .null])])
            let told = Mutex(PullProgress())
            await expectSyncError(.invalidAnswer, table: "TodoItem", column: "text", id: "r00\(bad)") {
                try await client.items.pull(
                    queryID: "q", settings: settings(pages) { progress in told.withLock { $0 = progress } })
            }
            let outcome = Outcome(
                rows: try client.store.versions(),
                tokens: try client.store.reach(),
                pulled: told.withLock { $0.rowsPulled }, requests: told.withLock { $0.pages })
            #expect(outcome == expected ?? outcome, "\(pages) pages")
            expected = outcome
            #expect(outcome.rows["r00\(bad)"] == nil)
            try expectSoundToken(world, client.store)
            try world.plant([World.row("r00\(bad)", at: Int64(bad) * 10_000)])
            try await client.items.pull(queryID: "q")
            #expect(try client.store.versions() == world.serverVersions())
        }
    }

    @Test("F8 a pull canceled at any page leaves complete pages and their token", arguments: StoreKind.all, 1...8)
    func cancelled(_ stores: StoreKind, at page: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        try plant(world)
        let code = await client.codeOfTask(canceledAt: page) {
            try await client.items.pull(queryID: "q", settings: settings(3))
        }
        // A connection that dies then leaves the same pages.
        let (other, cut) = try await World.withClient(stores)
        try plant(other)
        cut.transport.inspect { _, _ in cut.transport.requests.count > page ? .loseRequest : nil }
        let outcome = try await pull(cut, "q", settings(3))
        #expect((code == .cancelled) == (outcome.error == .network))
        #expect(try client.store.versions() == outcome.rows)
        #expect(try client.store.reach() == outcome.tokens)
        #expect(try await pull(client, "q", settings(3)).rows == world.serverVersions())
    }

    @Test(
        "F9 at most the pages of one transaction and one more in flight are held, however slow the store is",
        arguments: StoreKind.perEngine, [1, 4])
    func boundedMemory(_ stores: StoreKind, pages: Int) async throws {
        let world = try World(stores)
        let client = try await world.makeClient(over: HookedStore(stores.makeStore()))
        try world.plant(World.rows(at: (0..<60).map { $0 * 10_000 }))
        let worst = Mutex(0)
        client.store.onWrite { [transport = client.transport] number in
            // Gives requests that are not held back the time to be sent.
            Thread.sleep(forTimeInterval: 0.002)
            worst.withLock { $0 = max($0, transport.requests.count - (number - 1) * pages) }
        }
        try await client.items.pull(queryID: "q", settings: settings(pages))
        #expect((pages...pages + 1).contains(worst.withLock { $0 }))
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
}

extension LocalStore {
    /// Returns the `updatedAt` of each stored token, by query ID.
    fileprivate func reach() throws -> [String: Timestamp] {
        try tokens().compactMapValues { text in
            try JSONDecoder().decode(PullToken.self, from: Data(text.utf8)).updatedAt
        }
    }
}
