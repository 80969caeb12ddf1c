import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules F8 and F9: a pull that continues after an interruption, and the overlap of network and store.
@Suite("Interrupted pull", .releasesClients, .bothDialects)
struct PullInterruptionTests {
    static let settings = PullSettings(pageSize: 3)

    @Test("F8 a killed pull resumes where it stopped", arguments: StoreKind.perEngine)
    func resumes(_ stores: StoreKind) async throws {
        try await Script(
            "F8", "empty; plant 30@0+10000; clock 60; on >8 lose request; pull q page=3 fails network",
            "pull q page=3; result stored=13; whole"
        ).play(stores)
    }

    @Test(
        "F8 a millisecond that was read by ID in part is continued at that ID, and its late rows are found",
        arguments: StoreKind.perEngine, [false, true])
    func resumesMillisecond(_ stores: StoreKind, hasLateRow: Bool) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: Array(repeating: 0, count: 30)))
        world.clock.advance(by: .seconds(hasLateRow ? 1 : 60))
        for attempt in 1...4 {
            client.transport.clear()
            client.transport.inspect { _, _ in client.transport.requests.count > 6 ? .loseRequest : nil }
            _ = await syncErrorCode { try await client.items.pull(queryID: "q", settings: Self.settings) }
            if hasLateRow, attempt == 1 {
                try world.plant([World.row("r000a", at: 0)])
                world.clock.advance(by: .seconds(60))
            }
        }
        #expect(try client.store.versions().count >= 30)
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: Self.settings)
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
            await expectSyncError(.invalidAnswer, id: id) { try await client.items.pull(queryID: queryID) }
            #expect(try client.store.versions().isEmpty)
            #expect(try client.store.tokens().isEmpty)
        }
    }

    @Test("F9 the next page is requested before the previous is stored", arguments: StoreKind.perEngine, ["q", nil])
    func overlaps(_ stores: StoreKind, queryID: String?) async throws {
        let world = try World(stores)
        let client = try await world.makeClient(over: HookedStore(stores.makeStore()))
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        // The commit of the first page waits for the second request. If there is none, the test fails.
        let sent = DispatchSemaphore(value: 0)
        client.transport.inspect { [transport = client.transport] _, _ in
            if transport.requests.count == 2 { sent.signal() }
            return nil
        }
        let isInTime = Mutex(false)
        client.store.onWrite { number in
            guard number == 1 else { return }
            isInTime.withLock { $0 = sent.wait(timeout: .now() + WaitLimit.seconds) == .success }
        }
        try await client.items.pull(queryID: queryID, settings: Self.settings)
        #expect(isInTime.withLock { $0 })
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test(
        "L8 F8 an edit waits for a few rows of a page, whose rest and token follow, or the page comes again",
        arguments: StoreKind.perEngine, [false, true])
    func givesWay(_ stores: StoreKind, isInterrupted: Bool) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        let client = try await world.makeClient(over: store) { $0.rowsPerStep = 2 }
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        let (table, transport) = (client.items, client.transport)
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
            // A token without a watermark, with which the next pull begins with the first row.
            #expect(try await table.pullToken(queryID: "q").map(\.updatedAt) == .some(nil))
            try await table.pull(queryID: "q")
        } else {
            #expect(result?.rowsPulled == 9 && result?.rowsStored == 9 && result?.skippedRows.isEmpty == true)
            #expect(try await client.context.pendingOperationsCount == 1)
            try await client.context.push()
        }
        #expect(try store.versions() == world.serverVersions())
        #expect(try world.serverVersions().count == 10)
    }

    @Test(
        "U1 F16 a purge by another client between the first rows of a first pull and the others is noticed",
        arguments: StoreKind.perEngine)
    func purgedAtFirst(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        let client = try await world.makeClient(over: store) { $0.rowsPerStep = 2 }
        let other = try await world.makeClient(over: store)
        try world.plant(World.rows(at: (0..<9).map { $0 * 10_000 }))
        let table = client.items
        let hasPage = Mutex(false)
        let isPurged = SharedValue(false)
        let writes = Mutex(0)
        client.transport.inspect { _, _ in
            hasPage.withLock { $0 = true }
            return nil
        }
        store.observe {
            guard hasPage.withLock({ $0 }) else { return }
            let number = writes.withLock { count in
                count += 1
                return count
            }
            switch number {
            case 1:
                // The first rows; the transaction then gives way.
                Task { try await table.insert(["id": "mine"]) }
                while !client.context.database.hasWaitingWrites { Thread.sleep(forTimeInterval: 0.001) }
            case 3:
                // The other rows.
                Task {
                    defer { isPurged.value = true }
                    try await other.items.forcePurge()
                }
                while !isPurged.value { Thread.sleep(forTimeInterval: 0.001) }
            default: break
            }
        }
        #expect(await syncErrorCode { try await table.pull(queryID: "q") } == .pullInterrupted)
        store.observe(nil)
        try await client.items.pull(queryID: "q")
        #expect(try store.versions() == world.serverVersions())
    }
}
