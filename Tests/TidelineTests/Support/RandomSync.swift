import HTTPTypes
import Logging
import Synchronization
import TidelineServer
import TidelineStore
import TidelineSupport
import TidelineTestStores

@testable import Tideline

/// Three devices, a server with its own changes, and a network that loses, duplicates and delays requests, all from one
/// seed.
final class RandomSync: Sendable {
    static let devices = 3
    /// Few rows, so that devices edit the same ones. The case of the letters differs between devices.
    private static let ids = ["r1", "r2", "r3"]
    /// If a row can be deleted and inserted again, versions that repeat let the server itself overwrite unseen changes,
    /// so such servers do not have them.
    private static let servers: [ServerQuirks] = [
        [], .original, [.hardDelete, .original.subtracting(.perRowVersions)],
    ]

    private struct State {
        var chance: SplitMix64
        var oracle = SyncOracle(devices: RandomSync.devices)
        var token: Int64 = 0
        var isCalm = false
        /// The steps so far, to print with a failure.
        var log: [String] = []
        /// For each device, a request that is delivered once more before its next one.
        var late: [Int: (HTTPRequest, [UInt8])] = [:]

        mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &chance) < percent }
        mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: 0..<choices.count, using: &chance)] }
        mutating func nextToken() -> Int64 {
            token += 1
            return token
        }
    }

    private let world: World
    private let quirks: ServerQuirks
    private let stores: [TestStore]
    private let state: Mutex<State>
    private let clients = Mutex<[SyncClient<TestStore>]>([])

    init(seed: UInt64, stores kind: StoreKind) throws {
        var chance = SplitMix64(seed: seed)
        let quirks = Self.servers[Int.random(in: 0..<Self.servers.count, using: &chance)]
        self.quirks = quirks
        world = try World(kind) { $0.quirks = quirks }
        stores = try (0..<Self.devices).map { _ in try kind.makeStore() }
        state = Mutex(State(chance: chance))
    }

    /// Runs the simulation and returns the violations with the steps that led to them, or an empty array.
    func run(steps: Int = 25) async throws -> [String] {
        // Break the reference cycle: each client holds its transport, which holds this object and its stores.
        defer { clients.withLock { $0 = [] } }
        for index in 0..<Self.devices { try await start(index) }
        for _ in 0..<steps { try await step() }
        try await heal()
        state.withLock { $0.oracle.finish() }
        let (violations, log) = state.withLock { ($0.oracle.violations, $0.log) }
        return violations.isEmpty ? [] : violations + ["quirks \(quirks.rawValue)"] + log
    }

    private func log(_ text: String) { state.withLock { $0.log.append(text) } }

    // MARK: Devices

    private func client(_ index: Int) -> SyncClient<TestStore> { clients.withLock { $0[index] } }
    private func items(_ index: Int) -> SyncTable { client(index).table("TodoItem") }

    /// Makes the device's client as after a restart, whose state is in the store only.
    private func start(_ index: Int) async throws {
        var options = SyncOptions()
        options.environment.sleep = { _ in }
        options.environment.random = { 0.5 }
        options.logger.logLevel = .critical
        options.retry.maximumAttempts = 2
        let transport = RandomTransport(device: index, sync: self)
        let client = try SyncClient(
            url: "http://server.test", store: stores[index], transport: transport, options: options)
        try await client.define([World.schema])
        clients.withLock { clients in
            if index < clients.count { clients[index] = client } else { clients.append(client) }
        }
    }

    private func step() async throws {
        let (device, action) = state.withLock {
            (Int.random(in: 0..<Self.devices, using: &$0.chance), Int.random(in: 0..<100, using: &$0.chance))
        }
        switch action {
        case ..<50: try await edit(device)
        case ..<75: try await push(device)
        case ..<88: try await pull(device)
        case ..<94: try serverEdit()
        case ..<97: world.clock.advance(by: .seconds(60))
        default:
            log("\(device) restarts")
            try await start(device)
        }
        try look(device)
    }

    private func look(_ device: Int) throws {
        let rows = try stores[device].read { try $0.rows(matching: Query("TodoItem")).rows }
        state.withLock { state in for row in rows { state.oracle.sees(device, row) } }
    }

    /// Edits a row that the device's local table shows.
    func edit(_ device: Int) async throws {
        try look(device)
        let (id, kind, row) = state.withLock { state in
            let id = state.pick(Self.ids)
            var row: Row = ["id": .string(id)]
            if state.happens(70) { row["text"] = .string("\(device):\(state.nextToken())") }
            if state.happens(50) || row.isEmpty { row["priority"] = .int(state.nextToken()) }
            if state.happens(10) { row["priority"] = .null }
            if state.happens(20) { row["complete"] = .bool(state.happens(50)) }
            return (id, Int.random(in: 0..<100, using: &state.chance), row)
        }
        let local = try stores[device].read { try $0.row(in: "TodoItem", id: id) }
        // A concurrent pull may have stored the row after the previous read.
        if let local { state.withLock { $0.oracle.sees(device, local) } }
        do {
            if local == nil {
                try await items(device).insert(row)
                let whole = SyncOracle.columns.reduce(into: row) { if $0[$1] == nil { $0[$1] = .null } }
                state.withLock { $0.oracle.edited(device, whole) }
                log("\(device) inserts \(row)")
            } else if kind < 25 {
                try await items(device).delete(["id": .string(id), "version": local?["version"] ?? .null])
                // Deleting a pending insert only removes it from the queue.
                let isGone = try serverRow(id) == nil || local?.version == nil
                state.withLock { $0.oracle.deleted(device, id, isGone: isGone) }
                log("\(device) deletes \(id)")
            } else {
                // The row as the user saw it. The update is refused if a pull has changed it since.
                let change = row.merging(["version": local?["version"] ?? .null])
                try await items(device).update(change)
                state.withLock { $0.oracle.edited(device, row) }
                log("\(device) updates \(row)")
            }
        } catch let error as SyncError
            where [.rowExists, .noSuchRow, .rowChanged].contains(error.code)
        {
            log("\(device) is refused: \(error.code)")
        }
    }

    private func push(_ device: Int) async throws {
        log("\(device) pushes")
        do {
            try await client(device).context.push()
        } catch let error as SyncError {
            log("  \(error)")
            guard [.network, .completedWithErrors, .serverFailing].contains(error.code) else { throw error }
            for failure in error.operationErrors { try await settle(failure, device) }
        }
    }

    private func pull(_ device: Int) async throws {
        log("\(device) pulls")
        do {
            try await items(device).pull(queryID: "q", settings: PullSettings(pageSize: 2, whenPushFails: .pullOthers))
        } catch let error as SyncError {
            log("  \(error)")
            guard ![.store, .invalidArgument, .noProgress].contains(error.code) else { throw error }
        }
    }

    /// Resolves a conflict as a user could, or leaves it.
    private func settle(_ error: TableOperationError, _ device: Int) async throws {
        guard error.code == .conflict else { return }
        var way = state.withLock {
            $0.isCalm ? Int.random(in: 1...3, using: &$0.chance) : Int.random(in: 0...3, using: &$0.chance)
        }
        if way == 2, error.serverItem?.isTombstone ?? true { way = 3 }
        if let server = error.serverItem { state.withLock { $0.oracle.sees(device, server) } }
        do {
            switch way {
            case 0: return
            case 1:
                try await error.cancelOperationAndDiscardItem()
                state.withLock { $0.oracle.dropped(device, error.itemID) }
            case 2:
                guard let server = error.serverItem else { return }
                try await error.cancelOperationAndUpdateItem(server)
                state.withLock { $0.oracle.dropped(device, error.itemID) }
            default:
                guard let item = error.item else { return }
                try await error.keepOperationAndUpdateItem(item)
                state.withLock { $0.oracle.kept(device, error.itemID, error.kind == .delete ? nil : item) }
            }
            log("\(device) settles \(error.itemID) by \(way)")
        } catch let error as SyncError where error.code == .operationChanged {
            log("  \(error)")
        }
    }

    // MARK: Server

    private func serverRow(_ id: String) throws -> Row? {
        let row = try world.serverRow(id)
        return row?.isTombstone == true ? nil : row
    }

    /// Changes a row as a script on the server could.
    private func serverEdit() throws {
        let (id, text, deletes) = state.withLock { ($0.pick(Self.ids), "s:\($0.nextToken())", $0.happens(25)) }
        guard try serverRow(id) != nil else { return }
        var request = HTTPRequest(
            method: deletes ? .delete : .patch, scheme: "http", authority: "server.test", path: "/tables/TodoItem/\(id)"
        )
        request.headerFields[.init("ZUMO-API-VERSION")!] = "2.0.0"
        try handle(request, Array(deletes ? "".utf8 : "{\"text\":\"\(text)\"}".utf8), from: nil)
        log("server \(deletes ? "deletes" : "updates") \(id)")
    }

    /// Executes a request on the server, and records the changes in the oracle.
    @discardableResult
    private func handle(_ request: HTTPRequest, _ body: [UInt8], from device: Int?) throws -> TransportResponse {
        let before = request.method == .get ? [:] : try serverRows()
        let answer = world.service.handle(request, body: body)
        if request.method != .get {
            let after = try serverRows()
            let text =
                "\(request.method) \(request.path ?? "") \(String(decoding: body, as: UTF8.self)) -> "
                + "\(answer.response.status.code)"
            for id in Self.ids where before[id] != after[id] {
                state.withLock {
                    $0.oracle.serverWrote(device, id, before: before[id], after: after[id], text)
                }
            }
            log("    \(device.map(String.init) ?? "server"): \(text)")
        }
        return TransportResponse(response: answer.response, body: answer.body)
    }

    private func serverRows() throws -> [String: Row] {
        try Self.ids.reduce(into: [:]) { $0[$1] = try serverRow($1) }
    }

    /// Delivers a request with random network faults.
    func send(_ request: HTTPRequest, _ body: [UInt8], from device: Int) async throws -> TransportResponse {
        let (fault, late, edits) = state.withLock { state in
            let fault = state.isCalm ? 100 : Int.random(in: 0..<100, using: &state.chance)
            let edits = state.isCalm ? 100 : Int.random(in: 0..<100, using: &state.chance)
            return (fault, state.late.removeValue(forKey: device), edits)
        }
        if let late { try handle(late.0, late.1, from: device) }
        if edits < 5 { try await edit(device) }
        switch fault {
        case ..<7:
            log("    request lost")
            throw TransportError(.connection, "the request was lost")
        case ..<10 where request.method == .patch:
            log("    request late")
            state.withLock { $0.late[device] = (request, body) }
            throw TransportError(.timeout, "the request is late")
        case ..<13:
            log("    502 instead")
            return .answer(502)
        default: break
        }
        let answer = try handle(request, body, from: device)
        if edits >= 5, edits < 10 { try await edit(device) }
        switch fault {
        case ..<22:
            log("    answer lost")
            throw TransportError(.timeout, "the answer was lost")
        case ..<26:
            log("    502 after it")
            return .answer(502)
        case ..<29:
            log("    unreadable")
            return TransportResponse(response: answer.response, body: Array("<html>".utf8))
        case ..<33 where request.method != .get:
            log("    doubled")
            try handle(request, body, from: device)
            return answer
        default: return answer
        }
    }

    // MARK: Healing

    /// With a reliable network, all devices push, resolve and pull until nothing changes. Then all must be equal.
    private func heal() async throws {
        state.withLock { $0.isCalm = true }
        for device in 0..<Self.devices {
            if let late = state.withLock({ $0.late.removeValue(forKey: device) }) {
                try handle(late.0, late.1, from: device)
            }
        }
        var calmRounds = 0
        for _ in 1...8 where calmRounds < 2 {
            let isCalm = try await isIdle()
            calmRounds = isCalm ? calmRounds + 1 : 0
            for device in 0..<Self.devices {
                try await push(device)
                try look(device)
                try await pull(device)
                try look(device)
            }
        }
        let server = try serverRows()
        for device in 0..<Self.devices {
            let queue = try await client(device).context.pendingOperations()
            let local = try Self.ids.reduce(into: [String: Row]()) { rows, id in
                rows[id] = try stores[device].read { try $0.row(in: "TodoItem", id: id) }
            }
            for id in Self.ids where !isSame(local[id], server[id]) {
                violated(
                    "\(id) differs on device \(device): \(String(describing: local[id])), server \(String(describing: server[id]))"
                )
            }
            if !queue.isEmpty { violated("the queue of device \(device) does not empty: \(queue)") }
        }
    }

    private func isIdle() async throws -> Bool {
        for device in 0..<Self.devices where try await client(device).context.pendingOperationsCount > 0 {
            return false
        }
        return true
    }

    private func violated(_ text: String) { state.withLock { $0.oracle.violated(text) } }

    private func isSame(_ local: Row?, _ server: Row?) -> Bool {
        // Without tombstones a pull does not find deletes.
        guard let server else { return local == nil || quirks.contains(.hardDelete) }
        guard let local else { return false }
        return ["text", "priority", "complete", "version"].allSatisfy { local[$0] ?? .null == server[$0] ?? .null }
    }
}

/// The transport of a device.
private struct RandomTransport: Transport {
    let device: Int
    let sync: RandomSync

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        try await sync.send(request, body ?? [], from: device)
    }
}
