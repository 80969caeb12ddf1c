internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineStore
internal import TidelineWire

/// The properties of a server that are determined before the first check.
struct ServerFacts: Sendable {
    /// Whether a row keeps the id with which it was inserted.
    var keepsIDs: Bool
    /// Whether a deleted row stays in the table, marked as deleted.
    var keepsTombstones: Bool
}

/// The connection to one server in one dialect, and everything that all checks share.
final class ServerSession: Sendable {
    let address: ServerAddress
    let dialectName: DialectName
    let dialect: any Dialect
    let options: ServerConformance.Options
    private let transport: any Transport
    private let requests = Atomic(0)
    private let removals = Mutex(Removals())

    /// The outcomes of the deletes of rows at the end of their checks.
    private struct Removals {
        var deleted = 0
        var failed = 0
    }

    private let facts = OnceTask<ServerFacts>()
    private let shared = OnceTask<SharedRows>()

    init(address: ServerAddress, dialect: DialectName, transport: any Transport, options: ServerConformance.Options) {
        self.address = address
        dialectName = dialect
        self.dialect = dialect.dialect
        self.transport = transport
        self.options = options
    }

    /// The number of times that a request is sent again because the server asks to wait.
    private static var maximumAttempts: Int { 6 }

    /// Sends a request with the headers of a client. A response with `Retry-After` that the server is busy is followed
    /// by another attempt.
    ///
    /// - Parameter isCounted: Whether the request is one of those whose number is limited.
    /// - Throws: ``BrokenPromise`` if there is no response; ``SuiteFailure`` if the run has sent too many requests.
    func send(_ wire: WireRequest, isCounted: Bool = true) async throws -> ServerAnswer {
        for attempt in 1... {
            try Task.checkCancellation()
            if isCounted { try countRequest() }
            let answer = try await sendOnce(wire)
            let wait = answer.headers[.retryAfter].flatMap { Int($0) }
            guard [429, 503].contains(answer.status), let wait, attempt < Self.maximumAttempts else { return answer }
            try await Task.sleep(for: .seconds(min(max(wait, 1), 30)))
        }
        throw SuiteFailure(description: "no attempt was made")
    }

    private func countRequest() throws {
        guard requests.add(1, ordering: .relaxed).newValue <= options.maximumRequests else {
            throw SuiteFailure(description: "the run has sent \(options.maximumRequests) requests, the maximum")
        }
    }

    private func sendOnce(_ wire: WireRequest) async throws -> ServerAnswer {
        var http = HTTPRequest(
            method: wire.method, scheme: address.scheme, authority: address.authority,
            path: address.pathAndQuery(of: wire.target))
        http.headerFields = dialect.headers(version: TidelineVersion.current, installationID: nil)
        http.headerFields[.userAgent] = "Tideline/\(TidelineVersion.current)"
        if let token = options.token {
            http.headerFields[.zumoAuth] = token
            http.headerFields[.authorization] = "Bearer \(token)"
        }
        for field in wire.headers { http.headerFields[field.name] = field.value }
        do {
            var response = try await transport.send(http, body: wire.body, timeout: options.requestTimeout)
            response.redact([options.token ?? ""])
            return ServerAnswer(request: wire, response: response)
        } catch let error as TransportError {
            throw BrokenPromise("no response to \(wire.method.rawValue) \(wire.target): \(error)", isTolerable: false)
        }
    }

    /// Returns the facts, which the first call finds out, or throws ``ServerConformanceError``.
    func facts() async throws -> ServerFacts {
        try await facts.value { try await Preparation(session: self).facts() }
    }

    // MARK: Shared rows

    /// The rows that the checks of paging read, inserted by the first of them.
    func sharedRows() async throws -> SharedRows {
        try await shared.value {
            let context = ServerCheckContext(self)
            do {
                return SharedRows(context: context, rows: try await context.insertMany(self.options.rows))
            } catch {
                await context.removeRows()
                throw error
            }
        }
    }

    /// Records the response to the delete of a row at the end of its check, or `nil` if there was none.
    func noteRemoval(_ answer: ServerAnswer?) {
        removals.withLock { removals in
            switch answer?.status {
            case .some(200..<300): removals.deleted += 1
            // The check has deleted it, or it was never inserted.
            case 404, 410: break
            default: removals.failed += 1
            }
        }
    }

    /// Returns a sentence about the rows that stay in the table, or `nil` if there are none.
    func leftovers() async -> String? {
        let (deleted, failed) = removals.withLock { ($0.deleted, $0.failed) }
        let keepsTombstones = await facts.finished()?.keepsTombstones ?? false
        var parts: [String] = []
        if keepsTombstones, deleted > 0 { parts.append("\(deleted) or more deleted rows, which the server keeps") }
        if failed > 0 { parts.append("\(failed) rows that could not be deleted") }
        guard !parts.isEmpty else { return nil }
        return "The suite leaves in the table \(options.table.debugDescription): \(parts.joined(separator: "; "))."
    }

    /// Deletes the rows that checks share, if there are any.
    func removeSharedRows() async {
        guard let rows = await shared.finished() else { return }
        await rows.context.removeRows()
    }
}

/// The rows that the checks of paging read.
struct SharedRows: Sendable {
    let context: ServerCheckContext
    let rows: [ServerRow]
}

/// A value that the first caller computes, and for which the others wait.
final class OnceTask<Value: Sendable>: Sendable {
    private let task = Mutex<Task<Value, any Error>?>(nil)

    /// Returns the value, which the first call computes. A caller that is cancelled cancels this for all callers.
    func value(_ compute: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = task.withLock { task in
            if let task { return task }
            let new = Task { try await compute() }
            task = new
            return new
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Returns the value, or `nil` if it was not computed.
    func finished() async -> Value? {
        guard let task = task.withLock({ $0 }) else { return nil }
        return try? await task.value
    }
}
