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

    /// The seconds of the lease of the process. No test takes as long, so that a slow process does not lose it, and no
    /// renewal has locked the store when the process is suspended.
    private static let lease = 1800
    /// The time after which the lease has expired.
    private static let leaseEnd = Duration.seconds(lease + 1)

    /// Makes a client with three pending inserts and a pending update of the row `a`, and a process that pushes them.
    ///
    /// - Returns: Also the time by which the client's clock is ahead of that of the process.
    private func makeBoth(
        _ stores: StoreKind
    ) async throws -> (World, Client, PushingProcess, ahead: SharedValue<Duration>) {
        let (world, folder) = (try World(stores), try TemporaryFolder())
        let store = TestStore(try stores.open(folder.path), in: folder)
        let ahead = SharedValue(Duration.zero)
        let client = try await world.makeSyncedClient(store: store) { options in
            options.environment.sleep = { try await Task.sleep(for: $0) }
            options.environment.now = { Timestamp.now.advanced(by: ahead.value) }
        }
        try await client.items.update(["id": "a", "text": "two"])
        for id in ["b", "c", "d"] { try await client.items.insert(["id": .string(id), "text": "new"]) }
        return (world, client, try PushingProcess(stores, folder.path, lease: Self.lease), ahead)
    }

    private static let end = "[a=two, b=new, c=new, d=new]"

    @Test(
        "P9 the push of a process that is killed is finished by another one, without duplicate and conflict",
        arguments: kinds, allPairs([0, 1, 2], [true, false]))
    func kill(_ stores: StoreKind, _ way: (answered: Int, isApplied: Bool)) async throws {
        let (world, client, process, ahead) = try await makeBoth(stores)
        for _ in 0..<way.answered { try process.respond(world.service.handle(process.nextRequest())) }
        let request = try process.nextRequest()
        if way.isApplied { _ = world.service.handle(request) }
        let settings = PushSettings(whenOtherProcessPushes: .fail)
        #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .otherProcess)
        process.kill()
        ahead.value = Self.leaseEnd
        #expect(try await client.context.push().progress.sent == 4 - way.answered)
        #expect(try world.state(client) == "local \(Self.end) queue [] server \(Self.end)")
        try await client.context.push(settings: settings)
    }

    @Test("P9 a process suspended while it pushes finds out that another took over", arguments: kinds, [true, false])
    func suspend(_ stores: StoreKind, isApplied: Bool) async throws {
        let (world, client, process, ahead) = try await makeBoth(stores)
        let request = try process.nextRequest()
        let answer = isApplied ? world.service.handle(request) : nil
        process.suspend()
        ahead.value = Self.leaseEnd
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

    @Test("P9 a push of another process that is waited for leaves nothing to send", arguments: kinds)
    func waitsForOther(_ stores: StoreKind) async throws {
        let (world, client, process, _) = try await makeBoth(stores)
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
