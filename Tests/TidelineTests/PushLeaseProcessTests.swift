#if os(macOS) || os(Linux)
import Testing
import TidelineStore
import TidelineTestSupport

@testable import Tideline
@testable import TidelineTestStores

/// Rule P9 with two real processes: one is killed or suspended while it holds the lease.
@Suite("Push lease, two processes", .timeLimit(.minutes(15)), .releasesClients)
struct PushLeaseProcessTests {
    /// The kinds that the probe opens.
    static let kinds = StoreKind.sharing.filter { ["sqlite", "lmdb"].contains($0.engine) }

    /// A short lease, because the other process waits for its end in real time.
    private static let lease = 2

    /// Makes a client with three pending inserts and a pending update of the row `a`, and a process that pushes them.
    private func makeBoth(
        _ stores: StoreKind, lease: Int = Self.lease
    ) async throws -> (World, Client, PushingProcess) {
        let (world, folder) = (try World(stores), try TemporaryFolder())
        let store = TestStore(try stores.open(folder.path), in: folder)
        let client = try await world.makeSyncedClient(store: store) { options in
            options.environment.sleep = { try await Task.sleep(for: $0) }
            options.pushLeaseDuration = .seconds(Self.lease)
        }
        try await client.items.update(["id": "a", "text": "two"])
        for id in ["b", "c", "d"] { try await client.items.insert(["id": .string(id), "text": "new"]) }
        return (world, client, try PushingProcess(stores, folder.path, lease: lease))
    }

    private static let end = "[a=two, b=new, c=new, d=new]"

    @Test(
        "P9 the push of a process that is killed is finished by another one, without duplicate and conflict",
        arguments: kinds, allPairs([0, 1, 2], [true, false]))
    func kill(_ stores: StoreKind, _ way: (answered: Int, isApplied: Bool)) async throws {
        let (world, client, process) = try await makeBoth(stores)
        for _ in 0..<way.answered { try process.respond(world.service.handle(process.nextRequest())) }
        let request = try process.nextRequest()
        if way.isApplied { _ = world.service.handle(request) }
        let settings = PushSettings(whenOtherProcessPushes: .fail)
        #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .otherProcess)
        process.kill()
        #expect(try await client.context.push().progress.sent == 4 - way.answered)
        #expect(try world.state(client) == "local \(Self.end) queue [] server \(Self.end)")
        try await client.context.push(settings: settings)
    }

    @Test("P9 a process suspended while it pushes finds out that another took over", arguments: kinds, [true, false])
    func suspend(_ stores: StoreKind, isApplied: Bool) async throws {
        let (world, client, process) = try await makeBoth(stores)
        let request = try process.nextRequest()
        let answer = isApplied ? world.service.handle(request) : nil
        process.suspend()
        #expect(try await client.context.push().progress.sent == 4)
        let versions = try world.serverVersions()
        try await client.items.update(["id": "a", "text": "three"])
        // The request of the suspended process arrives late, or its response does.
        try process.respond(answer ?? world.service.handle(request))
        process.resume()
        #expect(try process.finish() == "failed otherProcess")
        #expect(try world.serverVersions() == versions)
        #expect(try await client.queue() == ["update a"])
        try await client.context.push(settings: PushSettings(whenOtherProcessPushes: .fail))
        let end = Self.end.replacing("two", with: "three")
        #expect(try world.state(client) == "local \(end) queue [] server \(end)")
    }

    @Test("P9 a slow server keeps the other process waiting, because the lease is renewed", arguments: kinds)
    func slowServer(_ stores: StoreKind) async throws {
        // A machine under load may not renew a short lease in time.
        let (world, client, process) = try await makeBoth(stores, lease: 15)
        let first = try process.nextRequest()
        let push = Task { try await client.context.push() }
        try process.respond(world.service.handle(first))
        for _ in 1...3 { try process.respond(world.service.handle(process.nextRequest())) }
        #expect(try process.finish() == "sent 4")
        #expect(try await push.value.progress.sent == 0)
        #expect(client.transport.requests.isEmpty)
        #expect(try world.state(client) == "local \(Self.end) queue [] server \(Self.end)")
    }
}
#endif
