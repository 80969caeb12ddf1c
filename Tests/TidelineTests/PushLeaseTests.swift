import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline
@testable import TidelineSimulation

/// Rule P9: of several processes, here clients of one file on a virtual clock, one pushes.
@Suite("Push lease", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PushLeaseTests {
    /// Two processes of one device.
    struct Device: Sendable {
        let world: VirtualWorld
        let files: StoreFiles

        init(_ stores: StoreKind) throws {
            world = try VirtualWorld(stores)
            files = try StoreFiles(stores)
        }

        /// Runs a scenario of two processes to its end. The timers of the first one may not run while it waits.
        static func run(
            _ stores: StoreKind, suspendsFirst: Bool = false,
            _ scenario: @escaping @Sendable (Device, Client, Client) async throws -> Void
        ) throws {
            let device = try Device(stores)
            try device.world.run {
                let first = try await suspendsFirst ? device.makeSuspended() : device.makeProcess()
                try await scenario(device, first, device.makeProcess())
            }
        }

        func makeProcess(_ configure: @escaping (inout SyncOptions) -> Void = { _ in }) async throws -> Client {
            try await world.makeClient(store: try files.open(), configure: configure)
        }

        /// Makes a process whose timers do not run while it waits for a response, as if it were suspended.
        func makeSuspended(_ configure: @escaping (inout SyncOptions) -> Void = { _ in }) async throws -> Client {
            try await makeProcess { [world] options in
                options.environment.sleep = { _ in try await world.sleep(.seconds(10_000)) }
                configure(&options)
            }
        }

        /// Returns options in which a process that is suspended before its request waits for its authorization.
        func delays(_ point: Suspension, by seconds: Int) -> (inout SyncOptions) -> Void {
            { [world] options in
                guard point == .beforeRequest else { return }
                options.authorization = { _ in
                    if world.executor.now >= .seconds(1) { try await world.sleep(.seconds(seconds)) }
                    return nil
                }
            }
        }

        /// Delays the requests of a process, or the answers to them.
        func delay(_ client: Client, _ point: Suspension, by seconds: Int) {
            client.transport.inspect { [world] _, _ in
                if point == .answer { return .delay { try await world.sleep(.seconds(seconds)) } }
                if point == .request { try? await world.sleep(.seconds(seconds)) }
                return nil
            }
        }

        func start<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) -> Task<T, any Error> {
            Task(executorPreference: world.executor) { try await body() }
        }

        /// Starts a push, and waits for a second.
        func startPush(_ client: Client) async throws -> Task<PushResult, any Error> {
            let push = start { try await client.context.push() }
            try await world.sleep(.seconds(1))
            return push
        }

        /// Returns whether a lease is stored.
        func hasLease(_ client: Client) throws -> Bool {
            try client.store.read { try $0.row(in: "MS_TableConfig", id: "pushLease")?["value"]?.string } != nil
        }

        /// Stores the lease of a process that does not exist any more.
        func plant(_ text: String, _ client: Client) throws {
            let row: Row = ["id": "pushLease", "table": "", "key": "pushLease", "keyType": 6, "value": .string(text)]
            try client.store.write { try $0.upsert(row, into: "MS_TableConfig") }
        }

        func plantLease(_ client: Client) throws {
            let now = client.context.options.environment.now()
            try plant(StoredLease(holder: "gone", renewed: now, expires: now.advanced(by: .seconds(15))).text, client)
        }
    }

    static func insert(_ ids: [String], _ client: Client) async throws {
        for id in ids { try await client.items.insert(["id": .string(id), "text": "new"]) }
    }

    static let fails = PushSettings(whenOtherProcessPushes: .fail)

    // MARK: Waiting

    @Test("P9 a push waits for another process, then finds less to do", arguments: StoreKind.sharing, [false, true])
    func waits(_ stores: StoreKind, pulls: Bool) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["a", "b", "c", "d", "e"], first)
            device.delay(first, .answer, by: 2)
            let push = try await device.startPush(first)
            try await Self.insert(["z"], second)
            if pulls {
                try await second.items.pull()
            } else {
                #expect(try await second.context.push().progress == PushProgress(sent: 1, total: 1))
            }
            #expect(device.world.executor.now < .seconds(5))
            #expect(try await push.value.progress.sent == 5)
            #expect(first.transport.requests.count == 5)
            #expect(second.transport.requests.count { $0.hasPrefix("POST") } == 1)
            #expect(try await second.queue().isEmpty)
            #expect(try !device.hasLease(first))
        }
    }

    @Test("P9 a push that must not wait fails, sends nothing, and later succeeds", arguments: StoreKind.sharing)
    func fails(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, first, second in
            // Without an operation to send, there is nothing to wait for.
            try device.plantLease(first)
            try await second.context.push(settings: Self.fails)
            try device.plant("", first)
            try await Self.insert(["a"], first)
            device.delay(first, .answer, by: 2)
            let push = try await device.startPush(first)
            #expect(await syncErrorCode { try await second.context.push(settings: Self.fails) } == .otherProcess)
            let settings = PullSettings(push: Self.fails)
            #expect(await syncErrorCode { try await second.items.pull(settings: settings) } == .otherProcess)
            #expect(second.transport.requests.isEmpty)
            #expect(try await push.value.progress.sent == 1)
            try await Self.insert(["b"], second)
            #expect(try await second.context.push(settings: Self.fails).progress.sent == 1)
        }
    }

    @Test("P9 a push that is canceled while it waits ends, and disturbs no one", arguments: StoreKind.sharing)
    func cancellation(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["a"], first)
            device.delay(first, .answer, by: 9)
            let push = try await device.startPush(first)
            let waiting = device.start { await syncErrorCode { try await second.context.push() } }
            try await device.world.sleep(.seconds(2))
            waiting.cancel()
            #expect(try await waiting.value == .cancelled)
            #expect(device.world.executor.now < .seconds(4))
            #expect(try device.hasLease(first))
            #expect(try await push.value.progress.sent == 1)
            #expect(second.transport.requests.isEmpty)
        }
    }

    @Test("P9 the lease is renewed while requests take long or many are sent", arguments: StoreKind.sharing, [1, 12])
    func renewal(_ stores: StoreKind, count: Int) async throws {
        // Of several requests, each response renews the lease, even if nothing else does.
        try Device.run(stores, suspendsFirst: count > 1) { device, first, second in
            try await Self.insert((1...count).map { "r\($0)" }, first)
            device.delay(first, .answer, by: 60 / count)
            let push = device.start { try await first.context.push(settings: PushSettings(maxInFlight: 1)) }
            try await device.world.sleep(.seconds(1))
            #expect(try await second.context.push().progress.total == 0)
            #expect(device.world.executor.now >= .seconds(60))
            #expect(try await push.value.progress.sent == count)
            #expect(second.transport.requests.isEmpty)
        }
    }

    @Test(
        "P9 a push that ends with an error or is canceled leaves no lease", arguments: StoreKind.sharing,
        [SyncError.Code.network, .cancelled, .completedWithErrors])
    func leavesNone(_ stores: StoreKind, code: SyncError.Code) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["a", "b", "c"], first)
            first.transport.inspect { _, _ in
                switch code {
                case .network: .loseRequest
                case .cancelled: .delay { try await device.world.sleep(.seconds(5)) }
                default: .answer(.answer(400))
                }
            }
            let push = try await device.startPush(first)
            push.cancel()
            #expect(await syncErrorCode { _ = try await push.value } == code)
            #expect(try !device.hasLease(first))
            try await second.context.push(settings: Self.fails)
            #expect(try await second.queue().isEmpty)
        }
    }

    @Test("P9 a push whose store fails once, at any transaction, leaves no lease", arguments: StoreKind.sharing)
    func storeFailure(_ stores: StoreKind) async throws {
        let world = try World(stores)
        for number in 1...4 {
            let files = try StoreFiles(stores)
            let second = try await world.makeClient(store: try files.open())
            try await Self.insert(["a\(number)", "b\(number)", "c\(number)"], second)
            let store = HookedStore(try files.open())
            // On a slow machine, the lease would become due, and the failure of its renewal alone ends no push.
            let now = Timestamp.now
            let client = try await world.makeClient(over: store) { $0.environment.now = { now } }.client
            store.onWrite { if $0 == number { throw StoreError(.full, "the disk is full") } }
            let settings = PushSettings(maxInFlight: 1)
            #expect(await syncErrorCode { try await client.push(settings: settings) } == .store, "\(number)")
            store.onWrite(nil)
            #expect(try second.store.read { try $0.row(in: "MS_TableConfig", id: "pushLease") } == nil, "\(number)")
            try await second.context.push(settings: Self.fails)
            #expect(try await second.queue().isEmpty)
            try store.close()
        }
    }

    @Test(
        "P9 L12 the store is not emptied or moved to another server while another process pushes",
        arguments: StoreKind.sharing, [true, false])
    func emptying(_ stores: StoreKind, isKilled: Bool) async throws {
        try Device.run(stores) { device, first, second in
            try await Self.insert(["a", "b"], first)
            device.delay(first, .answer, by: 6)
            let push =
                isKilled ? nil : device.start { try await first.context.push(settings: PushSettings(maxInFlight: 1)) }
            if isKilled { try device.plantLease(first) }
            try await device.world.sleep(.seconds(1))
            let removed = try await second.client.wipe()
            // By then, the first had sent both.
            #expect(removed == ForcePurgeResult(rows: 2, operations: isKilled ? 2 : 0))
            #expect(try await push?.value.progress.sent ?? 2 == 2)
            #expect(try device.world.world.serverTexts().count == (isKilled ? 0 : 2))
            #expect(try !device.hasLease(first))
        }
    }

    // MARK: Holders that are gone

    /// The clock of the process that meets the lease of one that was killed.
    enum ClockChange: String, CaseIterable, Sendable {
        case none, setBackALittle, setBackFar, setForward, frozen
    }

    @Test(
        "P9 the lease of a process that was killed is taken over, whatever the clock shows",
        arguments: StoreKind.sharing, ClockChange.allCases)
    func takeover(_ stores: StoreKind, _ change: ClockChange) async throws {
        let device = try Device(stores)
        try device.world.run {
            let client = try await device.makeProcess { options in
                guard change == .frozen else { return }
                let now = options.environment.now()
                options.environment.now = { now }
            }
            try await Self.insert(["a"], client)
            try device.plantLease(client)
            switch change {
            case .none, .frozen: break
            case .setBackALittle: device.world.offset.value = .seconds(-10)
            case .setBackFar: device.world.offset.value = .seconds(-86_400 * 365)
            case .setForward: device.world.offset.value = .seconds(86_400 * 365)
            }
            let isFree = change == .setBackFar || change == .setForward
            let code = await syncErrorCode { try await client.context.push(settings: Self.fails) }
            #expect(code == (isFree ? nil : .otherProcess))
            if !isFree { try await client.context.push() }
            #expect(device.world.executor.now >= .seconds(isFree ? 0 : 15) && device.world.executor.now < .seconds(16))
            #expect(try device.world.world.state(client) == "local [a=new] queue [] server [a=new]")
            #expect(try !device.hasLease(client))
        }
    }

    @Test("P9 the end of a push does not remove the lease of another process", arguments: StoreKind.sharing)
    func releases(_ stores: StoreKind) throws {
        try Device.run(stores) { device, first, second in
            let options = first.context.options
            let lease = PushLease(
                tables: options.systemTables, environment: options.environment, holder: "first", duration: .seconds(15))
            #expect(try first.store.write { try lease.take(in: $0) })
            try device.plantLease(second)
            try first.store.write { try lease.release(in: $0) }
            #expect(try device.hasLease(second))
        }
    }

    @Test("P9 a damaged lease holds nobody up", arguments: StoreKind.sharing)
    func damaged(_ stores: StoreKind) async throws {
        try Device.run(stores) { device, client, _ in
            for (number, text) in ["", "x", "a b c", "a 1 \(Int64.max)", "a \(Int64.min) \(Int64.max)"].enumerated() {
                try await Self.insert(["r\(number)"], client)
                try device.plant(text, client)
                #expect(try await client.context.push(settings: Self.fails).progress.sent == 1)
            }
        }
    }

    // MARK: Holders that are suspended

    /// The point at which a process is suspended until another one has taken over.
    enum Suspension: String, CaseIterable, Sendable {
        /// Before the request leaves.
        case beforeRequest
        /// After the request left, which arrives late.
        case request
        /// After the server has applied the request.
        case answer
    }

    /// The other process's action after it has taken over, before the suspended one continues.
    enum Meanwhile: String, CaseIterable, Sendable { case nothing, edits, stillPushes }

    @Test(
        "P9 a process that was suspended while it pushed finds out, sends nothing more, and changes nothing",
        arguments: StoreKind.sharing,
        OperationKind.allCases.flatMap { kind in
            Suspension.allCases.flatMap { point in
                // An insert over a delete that the server has applied is a conflict in any case.
                Meanwhile.allCases.filter { kind != .delete || $0 != .edits }.map { (kind, point, $0) }
            }
        })
    func suspension(
        _ stores: StoreKind, _ way: (kind: OperationKind, point: Suspension, meanwhile: Meanwhile)
    ) async throws {
        let device = try Device(stores)
        try device.world.run {
            let first = try await device.makeSuspended(device.delays(way.point, by: 60))
            let second = try await device.makeProcess()
            let id = try await Self.prepare(way.kind, first)
            try await device.world.sleep(.seconds(1))
            first.transport.clear()
            device.delay(first, way.point, by: 60)
            let push = try await device.startPush(first)
            if way.meanwhile == .stillPushes {
                device.delay(second, .answer, by: 90)
            }
            let other = device.start { try await second.context.push() }
            try await device.world.sleep(.seconds(30))
            let version = try device.world.world.serverRow(id)?.version
            if way.meanwhile == .edits { try await second.items.update(["id": .string(id), "text": "edited"]) }
            #expect(await syncErrorCode { _ = try await push.value } == .otherProcess)
            // The request that was on its way is the last one.
            #expect(first.transport.requests.count == (way.point == .beforeRequest ? 0 : 1))
            #expect(first.context.database.clients.inFlight.isEmpty)
            #expect(try await other.value.progress == PushProgress(sent: 1, total: 1))
            #expect(try device.world.world.serverRow(id)?.version == version)
            second.transport.inspect(nil)
            try await second.context.push(settings: Self.fails)
            try Self.expectAgreement(
                way.kind, id, edited: way.meanwhile == .edits, device.world.world, [first, second])
        }
    }

    static func prepare(_ kind: OperationKind, _ client: Client) async throws -> String {
        if kind != .insert {
            try await insert(["a"], client)
            try await client.context.push()
        }
        return try await client.items.edit(kind, ["text": .string(kind == .insert ? "new" : "two")])
    }

    private static func expectAgreement(
        _ kind: OperationKind, _ id: String, edited: Bool, _ world: World, _ clients: [Client]
    ) throws {
        let text = edited ? "edited" : kind == .insert ? "new" : "two"
        for client in clients {
            #expect(
                try world.state(client)
                    == (kind == .delete
                        ? "local [] queue [] server [\(id) deleted]"
                        : "local [\(id)=\(text)] queue [] server [\(id)=\(text)]"))
        }
    }

    @Test("P9 a suspended process whose lease no one took goes on", arguments: StoreKind.sharing)
    func suspendedAlone(_ stores: StoreKind) async throws {
        try Device.run(stores, suspendsFirst: true) { device, client, _ in
            try await Self.insert(["a", "b", "c"], client)
            device.delay(client, .answer, by: 60)
            #expect(try await client.context.push(settings: PushSettings(maxInFlight: 1)).progress.sent == 3)
            #expect(try !device.hasLease(client))
        }
    }

    @Test("P9 a delegate cannot complete an operation that another process took over", arguments: StoreKind.sharing)
    func delegate(_ stores: StoreKind) async throws {
        try Device.run(stores, suspendsFirst: true) { device, first, second in
            first.context.delegate = ScriptedDelegate { operation in
                try await device.world.sleep(.seconds(60))
                // A delegate that ignores errors.
                _ = try? await operation.execute()
                return ["id": "a", "text": "of the delegate"]
            }
            try await Self.insert(["a"], first)
            let push = try await device.startPush(first)
            try await second.context.push()
            #expect(await syncErrorCode { _ = try await push.value } == .otherProcess)
            #expect(first.transport.requests.isEmpty)
            #expect(try device.world.world.state(first) == "local [a=new] queue [] server [a=new]")
        }
    }

    @Test("P9 a delegate that pushes a second client of the store gets an error instead of a deadlock")
    func withinDelegate() async throws {
        try Device.run(StoreKind.sharing[0]) { _, first, second in
            let code = SharedValue<SyncError.Code?>(nil)
            first.context.delegate = ScriptedDelegate { operation in
                code.value = await syncErrorCode { try await second.context.push() }
                return try await operation.execute()
            }
            try await Self.insert(["a"], first)
            try await first.context.push()
            #expect(code.value == .otherProcess)
            #expect(try await second.queue().isEmpty)
        }
    }
}
