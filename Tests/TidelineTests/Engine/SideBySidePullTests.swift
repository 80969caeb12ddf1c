import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F10: pulls of several tables side by side.
@Suite("Pulls side by side", .timeLimit(.minutes(15)), .releasesClients)
struct SideBySidePullTests {
    static let tables = (0..<6).map { TableSchema("T\($0)", columns: [.string("text")]) }
    static let subscriptions = tables.map { SyncSubscription($0.name) }

    /// Makes a server whose tables have ten rows each.
    private func makeWorld(_ stores: StoreKind) throws -> VirtualWorld {
        let virtual = try VirtualWorld(stores, schemas: Self.tables + [World.schema])
        for table in Self.tables {
            let all = (0..<10).map { number -> Row in
                [
                    "id": .string("\(table.name)-\(number)"), "text": "x", "version": .string("v\(number)"),
                    "updatedAt": .timestamp(World.instant(Int64(number) * 10_000)), "deleted": false,
                ]
            }
            try virtual.world.serverStore.write { try $0.upsert(all, into: table.name) }
        }
        return virtual
    }

    /// Runs a scenario of one client to its end.
    private func run(
        _ stores: StoreKind, configure: @escaping @Sendable (inout SyncOptions) -> Void = { _ in },
        _ scenario: @escaping @Sendable (VirtualWorld, Client) async throws -> Void
    ) throws {
        let virtual = try makeWorld(stores)
        try virtual.run {
            let client = try await virtual.makeClient(configure: configure)
            try await client.client.define(Self.tables)
            try await scenario(virtual, client)
        }
    }

    /// Returns the numbers of local rows of the tables.
    private func counts(_ client: Client) throws -> [Int] {
        try client.store.read { reader in try Self.tables.map { try reader.count(TableQuery($0.name)) } }
    }

    @Test("F10 as many tables as allowed are pulled at once", arguments: StoreKind.perEngine, [1, 4, 9])
    func window(_ stores: StoreKind, maxInFlight: Int) throws {
        try run(stores) { virtual, client in
            let waiting = virtual.delay(client, by: .milliseconds(10))
            let results = try await client.client.pull(
                Self.subscriptions, settings: PullSettings(pageSize: 4, maxInFlight: maxInFlight))
            #expect(waiting.maximum == min(maxInFlight, 6))
            #expect(results.map(\.rowsStored) == Array(repeating: 10, count: 6))
            #expect(try counts(client) == [10, 10, 10, 10, 10, 10])
        }
    }

    @Test("F10 one sequence shows the progress of all pulls, with the server's total", arguments: StoreKind.perEngine)
    func progress(_ stores: StoreKind) throws {
        try run(stores) { virtual, client in
            let (steps, progress) = AsyncStream.makeStream(of: PullProgress.self)
            async let results = client.client.pull(
                Self.subscriptions, settings: PullSettings(pageSize: 4, countsRows: true), progress: progress)
            var all: [PullProgress] = []
            for await step in steps { all.append(step) }
            let count = try await results.count
            #expect(count == 6)
            #expect(all.map(\.rowsPulled) == all.map(\.rowsPulled).sorted())
            #expect(all.last?.rowsPulled == 60 && all.last?.total == 60)
            #expect(Set(all.map(\.table)) == Set(Self.tables.map(\.name)))
            #expect(all.allSatisfy { $0.total.map { $0 <= 60 } ?? false })
        }
    }

    @Test("F10 an error of one table leaves the others unaffected", arguments: StoreKind.perEngine)
    func oneFails(_ stores: StoreKind) throws {
        try run(stores) { virtual, client in
            client.transport.inspect { request, _ in request.target.contains("/T2") ? .answer(.answer(403)) : nil }
            await expectSyncError(.rejected, table: "T2") { try await client.client.pull(Self.subscriptions) }
            let found = try counts(client)
            #expect(found == [10, 10, found[2], 10, 10, 10])
        }
    }

    @Test(
        "F10 a failure of the network cancels the others, and the next pull completes them",
        arguments: StoreKind.perEngine, [1, 3, 7])
    func networkFails(_ stores: StoreKind, after count: Int) throws {
        try run(stores) { virtual, client in
            client.transport.inspect { _, _ in client.transport.requests.count > count ? .loseRequest : nil }
            let settings = PullSettings(pageSize: 4)
            let code = await syncErrorCode { try await client.client.pull(Self.subscriptions, settings: settings) }
            #expect(code == .network)
            client.transport.inspect(nil)
            try await client.client.pull(Self.subscriptions, settings: settings)
            #expect(try counts(client) == [10, 10, 10, 10, 10, 10])
        }
    }

    @Test("S3 once the network is lost, no other table is asked for, also after one that succeeded before")
    func losesNetwork() throws {
        try run(.simplest) { virtual, client in
            client.transport.inspect { request, _ in
                guard !request.target.contains("/T0") else { return nil }
                try? await virtual.sleep(.seconds(60))
                return .fail(TransportError(.timeout, "60 s passed"))
            }
            let settings = PullSettings(maxInFlight: 2)
            let code = await syncErrorCode { try await client.client.pull(Self.subscriptions, settings: settings) }
            #expect(code == .network)
            let asked = Self.tables.map(\.name).filter { name in
                client.transport.requests.contains { $0.contains("/\(name)") }
            }
            #expect(asked == ["T0", "T1", "T2"])
            client.transport.inspect(nil)
            try await client.client.pull(Self.subscriptions, settings: settings)
            #expect(try counts(client) == [10, 10, 10, 10, 10, 10])
        }
    }

    @Test(
        "P13 a pull that the server delays ends the round of a sync that runs itself, also beside one that succeeds",
        arguments: [408, 429])
    func delayedPull(_ status: Int) throws {
        try run(.simplest, configure: VirtualWorld.withoutRetries) { virtual, client in
            let record = virtual.record(client)
            client.transport.inspect { request, _ in
                guard request.target.contains("/T1") else { return nil }
                // The other pull ends first.
                try? await virtual.sleep(.milliseconds(100))
                return .answer(.answer(status, headers: [.retryAfter: "100"]))
            }
            try await client.client.start([
                SyncSubscription("T0"), SyncSubscription("T1"), SyncSubscription("T2", priority: -1),
            ])
            try await virtual.sleep(.milliseconds(500))
            #expect(client.statusKind == "offline" && "\(client.client.status)".contains("HTTP \(status)"))
            #expect(try counts(client).prefix(3) == [10, 0, 0])
            // No table is asked for before the delay.
            let count = client.transport.requests.count { $0.contains("/T") }
            try await virtual.sleep(.seconds(99))
            #expect(client.transport.requests.count { $0.contains("/T") } == count)
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(2))
            #expect(try counts(client).prefix(3) == [10, 10, 10])
            #expect(!record.kinds.contains("failing"))
            await client.client.stop()
        }
    }

    @Test(
        "S5 a table that is not available holds back no other table and no local change",
        arguments: allPairs(["503", "302", "520", "timeout"], [1, 0]))
    func unavailableTable(_ fault: (kind: String, priority: Int)) throws {
        try run(.simplest, configure: VirtualWorld.withoutRetries) { virtual, client in
            client.transport.inspect { request, _ in
                guard request.target.contains("/T1") else { return nil }
                guard let status = Int(fault.kind) else { return .fail(TransportError(.timeout, "60 s passed")) }
                return .answer(status == 503 ? .answer(503) : Impostor(status: status, body: Impostor.page).answer)
            }
            try await client.client.start([
                SyncSubscription("T1", priority: fault.priority), SyncSubscription("T0"),
                SyncSubscription("T2", priority: -1),
            ])
            try await virtual.sleep(.seconds(10))
            #expect(client.statusKind == "failing")
            #expect(try counts(client).prefix(3) == [10, 0, 10])
            try await virtual.sleep(.seconds(600))
            try await client.client.table("T0").insert(["id": "mine"])
            try await virtual.sleep(.seconds(1))
            #expect(try await client.queue().isEmpty)
            client.transport.inspect(nil)
            try await virtual.sleep(.seconds(600))
            #expect(try counts(client).prefix(3) == [11, 10, 10])
            #expect(client.statusKind == "idle")
            await client.client.stop()
        }
    }

    @Test("F1 pulls side by side push once before", arguments: StoreKind.perEngine)
    func pushesOnce(_ stores: StoreKind) throws {
        try run(stores) { virtual, client in
            for table in Self.tables { try await client.client.table(table.name).insert(["id": "mine"]) }
            client.transport.inspect { request, _ in
                request.method == .post && request.target.contains("/T2") ? .answer(.answer(403)) : nil
            }
            #expect(await syncErrorCode { try await client.client.pull(Self.subscriptions) } == .completedWithErrors)
            #expect(client.transport.requests.count == 6)
            let settings = PullSettings(whenPushFails: .pullOthers)
            let error = await #expect(throws: SyncError.self) {
                try await client.client.pull(Self.subscriptions, settings: settings)
            }
            #expect(error?.operationErrors.map(\.table) == ["T2"])
            #expect(try counts(client) == [11, 11, 11, 11, 11, 11])
        }
    }

    @Test("F10 arguments are checked before anything is sent")
    func arguments() throws {
        try run(.simplest) { _, client in
            let code = await syncErrorCode {
                try await client.client.pull([Self.subscriptions[0], SyncSubscription("Nowhere")])
            }
            #expect(code != nil && client.transport.requests.isEmpty)
            let results = try await client.client.pull([])
            #expect(results.isEmpty)
        }
    }
}
