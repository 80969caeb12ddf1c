internal import Foundation
internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineStore
internal import TidelineWire

/// A request on its way to the server.
struct Message: Sendable, CustomStringConvertible {
    let request: HTTPRequest
    let body: [UInt8]
    /// The path of the request in the form of a table service; see ``SimulatedWorld/CustomServer/path(_:tables:)``.
    let path: String
    private let isCustom: Bool
    /// The device, or `nil` for a script on the server.
    let device: Int?
    /// The mark of the device in the ``Oracle`` when it made the request.
    var sentAt: Int

    init(_ request: HTTPRequest, _ body: [UInt8], from device: Int?, sentAt: Int, in world: SimulatedWorld) {
        self.request = request
        self.body = body
        let path = (request.path ?? "").prefix { $0 != "?" }
        isCustom = world.customServer != nil
        self.path = world.customServer?.path(path, tables: world.schema) ?? String(path)
        self.device = device
        self.sentAt = sentAt
    }

    var description: String {
        "\(request.method) \(request.path?.removingPercentEncoding ?? "") \(Self.text(body, isSorted: isCustom))"
    }

    /// The identifier of the row that the request changes or reads, or `nil` if it is for a table.
    var id: String? {
        let parts = path.split(separator: "/")
        if parts.count > 2 { return String(parts[2]).removingPercentEncoding }
        return (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])?["id"] as? String
    }

    /// Returns the table of the request, or `nil` if it is for none of the app's tables.
    func table(in schema: [TableSchema]) -> String? {
        let parts = path.split(separator: "/")
        guard parts.count >= 2, let name = String(parts[1]).removingPercentEncoding else { return nil }
        return schema.first { $0.name == name }?.name
    }

    /// Returns the table and the identifier of the row that the request changes.
    func row(in schema: [TableSchema]) -> (table: String, id: String)? {
        guard let table = table(in: schema), let id else { return nil }
        return (table, id)
    }

    /// The texts between quotation marks in the query, such as the identifiers of a look-up.
    var quotedTexts: [String] {
        let parts = (request.path?.removingPercentEncoding ?? "").split(
            separator: "'", omittingEmptySubsequences: false)
        return parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    }

    /// - Parameter isSorted: Whether to sort the members of JSON, which an encoder may order differently each time.
    static func text(_ body: [UInt8], isSorted: Bool) -> String {
        var body = body
        if isSorted, let json = try? JSONSerialization.jsonObject(with: Data(body)),
            let data = try? JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
        {
            body = Array(data)
        }
        return String(decoding: body.prefix(400), as: UTF8.self)
    }
}

/// The network between the devices and the server.
extension WorldRun {
    /// Carries a request to the server and its response back, with the faults of the step, through what stands between
    /// the device and the server.
    func exchange(
        _ request: HTTPRequest, _ body: [UInt8], from device: Int, timeout: Duration
    ) async throws -> TransportResponse {
        let intermediary = isHealing ? nil : devices[device].intermediary
        if let response = intercept(request, by: intermediary) {
            log("device \(device): \(Message(request, body, from: device, sentAt: 0, in: world))")
            try await executor.sleep(for: .milliseconds(20))
            log("device \(device): HTTP \(response.response.status.code) from something else than the server")
            return response
        }
        if case .resets(let row)? = intermediary {
            let message = Message(request, body, from: device, sentAt: 0, in: world)
            if message.id == row || message.quotedTexts.contains(row) {
                log("device \(device): the connection is closed at \(message)")
                throw TransportError(.connection, "the connection was closed")
            }
        }
        let response = try await exchange(request, body, from: device, repeats: intermediary == .repeats)
        return try await pass(response, to: request, body, by: intermediary, timeout: timeout)
    }

    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8], from device: Int, repeats: Bool
    ) async throws -> TransportResponse {
        await executor.turn()
        let context = StepContext.current
        let fault = isHealing ? nil : context?.nextFault()
        let random = { (range: Range<Int>) in context?.random(in: range) ?? range.lowerBound }
        let message = message(request, body, from: device)
        log("device \(device): \(message)")
        try await executor.sleep(for: .milliseconds(random(1..<40)))
        // A process that was killed has sent its request.
        switch fault {
        case .requestLost:
            log("device \(device): the request is lost")
            throw TransportError(.connection, "the request was lost")
        case .late(let steps) where canBeLate(message):
            log("device \(device): the request is late")
            state.withLock { $0.late.append((message, $0.position + steps)) }
            throw TransportError(.timeout, "the request is late")
        case .status(let code, processed: false): return refused(code, device)
        default: break
        }
        checkDecimals(of: message)
        checkUser(of: message)
        let service = schedule.hasClocksBehind ? random(0..<schedule.services) : random(0..<4) / 3
        var response = try process(message, fault, service: service)
        if repeats, ![.get, .post].contains(request.method) {
            log("server: the request arrives again")
            response = try process(message, nil, service: service)
        }
        response = withDecimals(response)
        if case .overtaken = fault, request.method != .get { try overtake(message, context) }
        try await executor.sleep(for: .milliseconds(random(1..<40)))
        return try arrived(response, message, fault, device)
    }

    private func message(_ request: HTTPRequest, _ body: [UInt8], from device: Int) -> Message {
        let mark = StepContext.current?.mark ?? withOracle { $0.mark(of: device) }
        var message = Message(request, body, from: device, sentAt: mark, in: world)
        if let (table, id) = message.row(in: world.schema),
            let decided = withOracle({ $0.decision(device, id, in: table) })
        {
            // The request contains the decision of the policy.
            message.sentAt = max(mark, decided)
        }
        return message
    }

    private func refused(_ code: Int, _ device: Int) -> TransportResponse {
        log("device \(device): HTTP \(code) instead of a response")
        return TransportResponse(response: HTTPResponse(status: .init(code: code)), body: Array("Error".utf8))
    }

    /// Returns what arrives of a response.
    private func arrived(
        _ response: TransportResponse, _ message: Message, _ fault: SimulationStep.Fault?, _ device: Int
    ) throws -> TransportResponse {
        let request = message.request
        var response = response
        switch fault {
        case .responseLost, .overtaken(isLost: true):
            log("device \(device): the response is lost")
            throw TransportError(.timeout, "the response was lost")
        case .status(let code, processed: true): return refused(code, device)
        case .unreadable:
            log("device \(device): the response is unreadable")
            response.body = Array("<html>Error</html>".utf8)
        case .cutPage where request.method == .get:
            if let cut = Self.cut(response.body) {
                log("device \(device): the page is cut")
                response.body = cut
                response.response.headerFields[.link] = nil
            }
        case .partial where request.method != .get:
            log("device \(device): the response has only a part of the row")
            response = Self.partial(response, of: request, keepsVersion: !world.hasProxies)
        case .otherCase:
            log("device \(device): the response has columns in another case")
            response = inOtherCase(response)
        default: break
        }
        response = withChangedTag(response)
        heard(response, to: message)
        log("device \(device): \(brief(response))")
        return response
    }

    /// Returns a page with only its first row, or `nil` if it has no row.
    private static func cut(_ page: [UInt8]) -> [UInt8]? {
        guard let row = try? JSONPage(page).rows.first, let last = page.lastIndex(of: UInt8(ascii: "]")) else {
            return nil
        }
        let end = String(decoding: page[last...], as: UTF8.self)
        return Array(page[..<row.upperBound]) + Array(end.replacing("\"nextLink\"", with: "\"-\"").utf8)
    }

    /// Whether a request that arrives late, or twice, can have no other effect than one that a server refuses.
    ///
    /// A client cannot protect itself from a repeated request without a version: an insert after the row was deleted
    /// for good, or an unconditional update.
    private func canBeLate(_ message: Message) -> Bool {
        switch message.request.method {
        case .get: false
        case .post: server.keepsTombstones && message.path.split(separator: "/").count == 2
        default: message.request.headerFields[.ifMatch] != nil
        }
    }

    /// Processes a request on the server, and records its effects.
    @discardableResult
    private func process(
        _ message: Message, _ fault: SimulationStep.Fault? = nil, service: Int = 0
    ) throws -> TransportResponse {
        var (delay, crash) = (Duration.zero, Int?.none)
        if case .lateCommit(let milliseconds) = fault, message.request.method != .get,
            let (table, id) = message.row(in: world.schema)
        {
            // The sender knows the row as it is now, so the request, and its stamp, cannot be older than that.
            let age = server.age(of: id, in: table).map { $0 - .milliseconds(2) } ?? .milliseconds(milliseconds)
            delay = max(.zero, min(age, .milliseconds(milliseconds)))
        }
        if case .serverCrash(let call) = fault { crash = call }
        if case .ahead(let seconds) = fault, message.request.method != .get { delay = .seconds(-seconds) }
        let (response, changes) = try server.handle(
            message.request, message.body, service: service, commitDelay: delay, crash: crash)
        note(changes, of: message)
        if delay != .zero { log("server: the row was stamped \(delay) before its commit") }
        guard let response else {
            log("server: it ends and starts again")
            throw TransportError(.connection, "the server closed the connection")
        }
        if message.request.method != .get, [409, 412].contains(response.response.status.code) {
            notePolicyConflict(message)
        }
        if case .doubled = fault, canBeLate(message) {
            log("server: the request arrives again")
            note(try server.handle(message.request, message.body, service: service).changes, of: message)
        }
        return response
    }

    func note(_ changes: [SimulatedStore.Change], of message: Message?) {
        for change in changes {
            let before = change.before?.isTombstone == true ? nil : change.before
            let after = change.after?.isTombstone == true ? nil : change.after
            log("server: \(change.table) \(change.id.text) is \(after.map(\.brief) ?? "deleted")")
            withOracle {
                $0.serverWrote(
                    message?.device, change.id.text, in: change.table, before: before, after: after,
                    sentAt: message?.sentAt ?? 0, message?.description ?? "the server lost its rows")
            }
        }
    }

    /// Records that the author's policy sees the server row of a conflict and decides about its own.
    private func notePolicyConflict(_ message: Message) {
        guard StepContext.isPerforming, let device = message.device, let (table, id) = message.row(in: world.schema),
            let local = try? devices[device].row(id, in: table)
        else { return }
        let row = server.row(id, in: table)
        withOracle { oracle in
            if let row { oracle.sees(device, row, in: table) }
            oracle.kept(device, id, in: table, local)
        }
    }

    /// Changes the row of a request, as another client could.
    private func overtake(_ message: Message, _ context: StepContext?) throws {
        guard let (table, id) = message.row(in: world.schema), server.row(id, in: table) != nil, let context else {
            return
        }
        let columns = world.schema.first { $0.name == table }?.columns ?? []
        guard !columns.isEmpty else { return }
        let column = columns[context.random(in: 0..<columns.count)]
        // The number of a step is less than a million, so the value is unique.
        let number = (context.step.number + 1) * 1_000_000 + context.requests
        let row = values(id, in: table, [column], of: number)
        try serverEdit(table, id, row)
    }

    /// Delivers the late requests that are due.
    func deliverLate(before position: Int) throws {
        let due = state.withLock { state in
            let due = state.late.filter { $0.position <= position }
            state.late.removeAll { $0.position <= position }
            return due.map(\.message)
        }
        for message in due {
            log("\(message.device.map { "device \($0)" } ?? "server"): \(message) arrives late")
            try process(message)
        }
    }

    /// Changes a row as a script on the server could.
    func serverEdit(_ table: String, _ id: String, _ values: Row?, insert: Bool = false) throws {
        if let custom = world.customServer, let schema = world.schema.first(where: { $0.name == table }) {
            let action: RowRequest.Action = values == nil ? .delete : insert ? .insert : .update
            let made = try custom.request(RowRequest(action, of: id, in: schema, row: values ?? Row()))
            let request = HTTPRequest(
                method: made.method, scheme: "http", authority: "server.simulation", path: "/\(made.target)",
                headerFields: made.headers)
            try process(Message(request, made.body ?? [], from: nil, sentAt: 0, in: world))
            return
        }
        let path = "/tables/\(table)" + (insert ? "" : "/\(id)")
        var request = HTTPRequest(
            method: values == nil ? .delete : insert ? .post : .patch, scheme: "http", authority: "server.simulation",
            path: path)
        request.headerFields[.init("ZUMO-API-VERSION")!] = "2.0.0"
        var body = JSONWriter()
        if let values { body.append(values) }
        try process(Message(request, body.bytes, from: nil, sentAt: 0, in: world))
    }

    /// The status of a response, with the identifiers and versions of its rows.
    private func brief(_ response: TransportResponse) -> String {
        let status = "HTTP \(response.response.status.code)"
        let json = try? JSONSerialization.jsonObject(with: Data(response.body))
        let object = json as? [String: Any]
        guard let rows = Self.rows(ofPage: json) else {
            let text = { Message.text(response.body, isSorted: self.world.customServer != nil) }
            return "\(status) \(object?["id"] == nil ? text() : object.map(Self.brief) ?? "")"
        }
        let count = (object?["count"]).map { " (of \($0))" } ?? ""
        return "\(status) [\(rows.map(Self.brief).joined(separator: ", "))]\(count)"
    }

    /// Returns the rows of a page, or `nil` if it is not a page.
    static func rows(ofPage json: Any?) -> [[String: Any]]? {
        let object = json as? [String: Any]
        return json as? [[String: Any]] ?? (object?["results"] ?? object?["items"]) as? [[String: Any]]
    }

    private static func brief(_ row: [String: Any]) -> String {
        "\(row["id"] ?? "") \(row["version"] ?? "")\(row["deleted"] as? Bool == true ? " deleted" : "")"
    }
}
