internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineMemory
internal import TidelineStore

/// The world of one check: its devices, the rows that it makes, and the last requests.
final class DialectScene: Sendable {
    let suite: DialectConformance
    private let state = Mutex<(ids: [String], lines: [String])>(([], []))

    init(suite: DialectConformance) { self.suite = suite }

    /// The last requests and responses, without headers, which contain credentials.
    var log: String { state.withLock { $0.lines.suffix(30).joined(separator: "\n") } }

    func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    // MARK: Rows

    /// The columns that the checks write.
    var columns: [ColumnSchema] {
        let references = Set(suite.schema.references.map(\.column))
        return suite.schema.columns.filter { !references.contains($0.name) }
    }

    /// The columns that the checks change: the first, and the second if there is one.
    private var marks: [ColumnSchema] { columns.filter { [.string, .int, .double, .timestamp].contains($0.type) } }

    func mark() throws -> ColumnSchema {
        guard let column = marks.first else {
            throw SkippedCheck(reason: "the table needs a column of the type string, int, double, or timestamp")
        }
        return column
    }

    var other: ColumnSchema? { marks.dropFirst().first }

    func newID(_ id: String? = nil) -> String {
        let id = id ?? suite.options.environment.makeID()
        state.withLock { $0.ids.append(id) }
        return id
    }

    /// Returns a row with a value in each column.
    func row(_ id: String, _ number: Int) -> Row {
        var row = Row(id: .string(id))
        for column in columns { row[column.name] = Self.value(of: column.type, number) }
        return row
    }

    static func value(of type: ColumnType, _ number: Int) -> Value {
        switch type {
        case .bool: .bool(!number.isMultiple(of: 2))
        case .int: .int(Int64(number))
        case .double: .double(Double(number) + 0.5)
        case .string: .string("text \(number)")
        case .timestamp: Timestamp(milliseconds: 1_795_799_290_922 + Int64(number)).map { .timestamp($0) } ?? .null
        case .bytes: .bytes([UInt8(truncatingIfNeeded: number), 0, 255])
        case .json: .json(#"{"n":\#(number)}"#)
        }
    }

    /// Returns the columns of a row that the checks write, without null.
    func content(_ row: Row) -> Row {
        var content = Row(id: row.id)
        for column in columns {
            if let value = row[column.name], !value.isNull { content[column.name] = value }
        }
        return content
    }

    // MARK: Devices

    /// Makes a client with a store of its own.
    func device(_ policy: ConflictPolicy = .manual, table: String? = nil, waits: Bool = false) async throws
        -> DialectDevice
    {
        var (options, schema) = (suite.options, suite.schema)
        schema.name = table ?? schema.name
        options.conflictPolicy = policy
        options.conflictPolicies = [:]
        options.logger.logLevel = .critical
        let network = FaultyTransport(base: suite.transport, scene: self)
        // Retries need not wait for real, but the waits that a server asks for are noted.
        if !waits {
            options.environment.sleep = { delay in
                network.noteWait(delay)
                try await Task.sleep(for: min(delay, .milliseconds(20)))
            }
        }
        let client = try SyncClient(url: suite.url, store: try MemoryStore(), transport: network, options: options)
        if let user = suite.user { client.currentUser = user }
        try await client.define([schema])
        return DialectDevice(client: client, table: client.table(schema.name), network: network, scene: self)
    }

    /// Makes two devices that have these rows, which are on the server.
    func pair(_ numbers: Int..., policy: ConflictPolicy = .manual) async throws -> (
        DialectDevice, DialectDevice, ids: [String]
    ) {
        let (one, two) = (try await device(policy), try await device(policy))
        let ids = numbers.map { _ in newID() }
        for (id, number) in zip(ids, numbers) { try await one.insert(id, number) }
        try await one.settle()
        try await two.pull()
        return (one, two, ids)
    }

    /// Verifies that a device without rows finds exactly these rows of the check, and each of the devices after a pull.
    func expectRows(_ rows: [Row], on devices: DialectDevice...) async throws {
        let expected = Dictionary(rows.map { ($0.idText, content($0)) }, uniquingKeysWith: { $1 })
        let fresh = try await device()
        for (index, device) in ([fresh] + devices).enumerated() {
            try await device.pull()
            let found = try await device.contents()
            try expectEqual(found, expected, index == 0 ? "on the server" : "of device \(index) after a pull")
        }
    }

    func expectRows(_ numbers: [String: Int], on devices: DialectDevice...) async throws {
        let rows = numbers.map { row($0, $1) }
        try await expectRows(rows)
        for device in devices { try await expectRows(rows, on: device) }
    }

    /// Compares rows, and names the first that differ, with their columns.
    private func expectEqual(_ found: [String: Row], _ expected: [String: Row], _ place: String) throws {
        try expect(found.keys.sorted(), expected.keys.sorted(), "the ids \(place)")
        for (id, row) in expected.sorted(by: { $0.key < $1.key }) {
            for column in columns {
                let (value, other) = (found[id]?[column.name] ?? .null, row[column.name] ?? .null)
                guard value != other else { continue }
                func text(_ value: Value) -> String { String("\(value)".debugDescription.prefix(300)) }
                throw BrokenPromise(
                    "the column \(column.name) of \(id) \(place): expected: \(text(other)); found: \(text(value))")
            }
        }
    }

    func expect<T: Equatable>(_ found: T, _ expected: T, _ subject: String) throws {
        guard found != expected else { return }
        throw BrokenPromise("\(subject): expected: \(expected); found: \(found)")
    }

    /// The identifiers of this check.
    var ids: Set<String> { state.withLock { Set($0.ids) } }

    /// Deletes the rows of this check.
    func removeRows() async {
        guard !ids.isEmpty, let device = try? await device(.clientWins), (try? await device.pull()) != nil else {
            return
        }
        for id in (try? await device.contents().keys.sorted()) ?? [] { try? await device.table.delete(id: id) }
        _ = try? await device.push()
    }
}

/// A client of a check.
struct DialectDevice: Sendable {
    let client: SyncClient<MemoryStore>
    let table: SyncTable
    let network: FaultyTransport
    let scene: DialectScene

    func insert(_ id: String, _ number: Int) async throws { try await table.insert(scene.row(id, number)) }

    /// Sets the first column of a row, or the second one.
    func update(_ id: String, _ number: Int, isOther: Bool = false) async throws {
        let column = isOther ? scene.other : try scene.mark()
        guard let column else { return }
        try await table.update(["id": .string(id), column.name: DialectScene.value(of: column.type, number)])
    }

    func delete(_ id: String) async throws { try await table.delete(id: id) }

    /// Pushes, and returns the errors of single operations.
    @discardableResult
    func push(maxInFlight: Int = 8) async throws -> [TableOperationError] {
        var settings = PushSettings()
        settings.maxInFlight = maxInFlight
        do {
            return try await client.push(settings: settings).operationErrors
        } catch let error as SyncError where error.code == .completedWithErrors {
            return error.operationErrors
        }
    }

    /// Pushes, and verifies that no operation failed.
    func pushAll() async throws {
        let errors = try await push()
        guard errors.isEmpty else { throw BrokenPromise("a push: expected: no errors; found: \(errors)") }
    }

    /// Pulls into the token of the device.
    func pull(pageSize: Int = 1_000, lookback: Duration = .seconds(5)) async throws {
        let settings = PullSettings(pageSize: pageSize, lookback: lookback)
        try await client.pull(TableQuery(table.name), queryID: "all", settings: settings)
    }

    /// The contents of the rows of the check, by their identifiers.
    func contents() async throws -> [String: Row] {
        let ids = scene.ids
        let rows = try await table.rows().rows.filter { ids.contains($0.idText) }
        return Dictionary(rows.map { ($0.idText, scene.content($0)) }, uniquingKeysWith: { $1 })
    }

    /// Pushes and pulls until both succeed and nothing is pending, over a network without faults.
    func settle() async throws {
        network.rule = nil
        var problem = "no error"
        for _ in 1...12 {
            do {
                let errors = try await push()
                problem = "\(errors)"
                if try await client.pendingOperationsCount == 0 { return try await pull() }
            } catch let error as SyncError {
                problem = "\(error)"
            }
        }
        let count = try await client.pendingOperationsCount
        throw BrokenPromise(
            "changes on a network without faults: expected: all arrive within 12 pushes; found: \(count) pending, \(problem)"
        )
    }

    /// Verifies that a push had one conflict, with the server's row, or with none if it is gone.
    func expectConflict(_ errors: [TableOperationError], with row: Row?) throws {
        guard errors.count == 1, let error = errors.first, error.code == .conflict else {
            throw BrokenPromise("the errors of the push: expected: one conflict; found: \(errors)")
        }
        try scene.expect(error.serverItem.map(scene.content), row.map(scene.content), "the row in the conflict")
        try scene.expect(error.isRowGone, row == nil, "whether the conflict says that the row is gone")
    }
}

/// The network between a device and the server, with the faults of a check.
final class FaultyTransport: Transport {
    enum Fault: Sendable {
        /// The server receives the request, and its response is lost.
        case loseAnswer
        /// The second half of the response's body is missing.
        case cut
        /// Something else responds in place of the server.
        case answer(TransportResponse)
        /// The closure runs before the request is sent.
        case before(@Sendable () async throws -> Void)
        /// The closure runs between the response and its arrival.
        case after(@Sendable () async throws -> Void)
    }

    /// Returns the fault of a request, with its number since the rule was set, from 0.
    typealias Rule = @Sendable (Int, HTTPRequest) -> Fault?

    private let base: any Transport
    private let scene: DialectScene
    private let state = Mutex<(rule: Rule?, count: Int, waits: [Duration], targets: [String])>((nil, 0, [], []))

    init(base: any Transport, scene: DialectScene) { (self.base, self.scene) = (base, scene) }

    var rule: Rule? {
        get { state.withLock { $0.rule } }
        set { state.withLock { ($0.rule, $0.count) = (newValue, 0) } }
    }

    /// The delays before requests were sent again.
    var waits: [Duration] { state.withLock { $0.waits } }
    func noteWait(_ delay: Duration) { state.withLock { $0.waits.append(delay) } }
    /// The paths of the requests.
    var targets: [String] { state.withLock { $0.targets } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let (rule, number) = state.withLock { state in
            defer { state.count += 1 }
            state.targets.append(request.path ?? "")
            return (state.rule, state.count)
        }
        let fault = rule?(number, request)
        if case .answer(let response)? = fault { return noted(response, request, "a gateway answers") }
        if case .before(let body)? = fault { try await body() }
        var response = try await base.send(request, body: body, timeout: timeout)
        switch fault {
        case .loseAnswer?:
            _ = noted(response, request, "the response is lost")
            throw TransportError(.timeout, "the conformance run lost the response")
        case .cut?: response.body.removeLast(response.body.count - response.body.count / 2)
        case .after(let body)?: try await body()
        default: break
        }
        return noted(response, request, "")
    }

    private func noted(_ response: TransportResponse, _ request: HTTPRequest, _ fault: String) -> TransportResponse {
        let path = scene.suite.url.contains("?") ? request.path?.prefix { $0 != "?" } : request.path.map { $0[...] }
        let text = String(decoding: response.body.prefix(200), as: UTF8.self)
        scene.note("\(request.method) \(path ?? "") -> \(response.response.status.code) \(fault) \(text)")
        return response
    }
}
