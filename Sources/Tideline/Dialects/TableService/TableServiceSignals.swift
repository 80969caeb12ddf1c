internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The change signals of a table service: one long poll after another.
///
/// A request contains the cursor of the last answer, so a change between two requests is in the next answer. The
/// requests stop waiting when the subscribed tables change.
struct TableServiceSignals: Sendable {
    let connection: DialectConnection

    private var environment: SyncEnvironment { connection.connection.options.environment }
    private var tables: SubscribedTables { connection.subscribed }

    /// The server has no change signal.
    struct NotSupported: Error {}

    private enum Outcome: Sendable {
        case answer(ChangesAnswer)
        /// The server does not signal a table: it does not exist, or the user must not read it.
        case refused(table: String)
        case tablesChanged
    }

    /// The time between an answer with changes and the next request, so that a busy table does not lead to a flood.
    private static let pause = Duration.milliseconds(250)
    /// The minimum time between two requests whose answers have no changes.
    private static let minimumCycle = Duration.seconds(1)
    /// The time that an answer may take beyond the wait.
    private static let tolerance = 30
    /// The time after the limit of a request beyond which its end shows that the process was suspended.
    private static let lateness = Duration.seconds(10)

    /// Calls `body` with the names of tables that have changed, until the task is cancelled.
    ///
    /// - Throws: ``NotSupported``; ``SyncError`` if a request fails.
    func read(_ body: (String) async throws -> Void) async throws {
        var refused: [String] = []
        while true {
            try Task.checkCancellation()
            let (names, version) = tables.current
            let wanted = Array(
                names.filter { !refused.contains($0) }
                    .prefix(ChangesRequest.maximumTables))
            if wanted.isEmpty, !names.isEmpty {
                throw SyncError(
                    .rejected, "the server signals none of the tables \(names.joined(separator: ", "))")
            }
            guard !wanted.isEmpty else {
                await tables.waitForChange(after: version)
                continue
            }
            async let cycle: Void? = try? environment.sleep(Self.minimumCycle)
            switch try await poll(wanted, version) {
            case .tablesChanged: refused = []
            case .refused(let table): refused.append(table)
            case .answer(let answer) where answer.changes.isEmpty:
                tables.position.withLock { position in
                    if position.cursor == answer.cursor { position.noteFullWait() }
                    position.cursor = answer.cursor
                }
                // A table may exist by now.
                refused = []
                _ = await cycle
            case .answer(let answer):
                for change in answer.changes { try await body(change.table) }
                tables.position.withLock { $0.cursor = answer.cursor }
                try await environment.sleep(Self.pause * (0.75 + environment.random() / 2))
            }
        }
    }

    /// Sends a request, and returns its outcome or that the tables have changed.
    private func poll(_ wanted: [String], _ version: Int) async throws -> Outcome {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { try await send(wanted) }
            group.addTask {
                await tables.waitForChange(after: version)
                try Task.checkCancellation()
                return .tablesChanged
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .tablesChanged
        }
    }

    private func send(_ wanted: [String]) async throws -> Outcome {
        let position = tables.position.withLock { $0 }
        let request = ChangesRequest(tables: wanted, cursor: position.cursor, wait: position.wait)
        let headers: HTTPFields = [.prefer: "wait=\(position.wait)"]
        let call = ServerCall(request: WireRequest(method: .get, target: request.target, headers: headers)) {
            AnswerMeaning(byStatusOf: $0)
        }
        let timeout = Duration.seconds(position.wait + Self.tolerance)
        let began = environment.now()
        do {
            let answer = try await connection.connection.send(call, retries: false, timeout: timeout)
            return try outcome(of: answer, to: wanted)
        } catch {
            // A proxy ends the request in any way that it likes, after a time that only it knows.
            let end = environment.now()
            let hasWaited = end > began.advanced(by: Self.minimumCycle)
            let wasSuspended = end > began.advanced(by: timeout + Self.lateness)
            if position.cursor != nil, hasWaited, !wasSuspended, !(error is NotSupported), !Task.isCancelled {
                tables.position.withLock { $0.noteInterruption() }
            }
            throw error
        }
    }

    private func outcome(of answer: ServerAnswer, to wanted: [String]) throws -> Outcome {
        let body = answer.response.body
        switch answer.status {
        case 200..<300:
            guard let answer = try? RecordJSON.decode(ChangesAnswer.self, from: body) else { break }
            tables.position.withLock { $0.hasAnswered = true }
            return .answer(answer)
        case 403, 404, 405, 501:
            let refusal = try? RecordJSON.decode(ChangesRefusal.self, from: body)
            if let table = refusal?.table, wanted.contains(table) {
                return .refused(table: table)
            }
            // A server that has answered before has a change signal, and something else gives this response.
            let isUnsupported = answer.status != 403 && answer.kind != .notFromService
            if isUnsupported, !tables.position.withLock({ $0.hasAnswered }) { throw NotSupported() }
        case 400: tables.position.withLock { $0.cursor = nil }
        default: break
        }
        throw answer.kind == .done ? connection.connection.foreign(answer) : answer.failure()
    }
}
