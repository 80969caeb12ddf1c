internal import Dispatch
public import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// The change signal of a table service: notifies waiting clients of the tables that have changed, so that they pull at
/// once.
///
/// `GET /.changes?tables=A,B&since=CURSOR` is answered when one of the tables has changes after the cursor, or after a
/// limited time with the same cursor. A request that accepts `text/event-stream` receives the changes as server-sent
/// events. See <doc:ChangeSignal> for the format.
///
/// ```swift
/// let signal = ChangeSignal(service)
/// async let running: Void = signal.run()
/// if ChangeSignal<SQLiteStore>.handles(request) { let response = await signal.respond(to: request) }
/// ```
///
/// The commits of the service end waits at once. Those of other services over the same store, also in other processes,
/// are found by one small query for all clients, which is repeated at an interval while a client waits. A waiting
/// client takes no thread and no timer.
///
/// Answers are hints: they say that a table has changed, not how. No change is missed between two requests, also if the
/// service or the process is another one, because the store keeps the last timestamp of each table.
public final class ChangeSignal<Store: LocalStore>: Sendable {
    let service: TableService<Store>
    let options: ChangeSignalOptions
    private var hub: ChangeHub { service.changes }

    /// Creates the signal of a service, which can have one. It responds with 503 until ``run()`` is called.
    public init(_ service: TableService<Store>, options: ChangeSignalOptions = ChangeSignalOptions()) {
        self.service = service
        self.options = options
    }

    /// Returns whether a request is one for ``respond(to:)``, by its path.
    public static func handles(_ request: HTTPRequest) -> Bool { ChangesRequest.isTarget(request.path ?? "") }

    /// Runs the signal until the task is cancelled or ``end()`` is called. Waits end only while it runs.
    ///
    /// While no client waits, it does nothing. Call it once.
    public func run() async {
        guard hub.begin() else { return }
        let isLooking = LockedValue(false)
        await withDiscardingTaskGroup { group in
            while await hub.waitForPlace() {
                guard (try? await options.sleep(options.interval)) != nil else { break }
                hub.passInterval()
                // A store that is slow delays the next look, but no time limit.
                guard hub.waiterCount > 0, isLooking.withLock({ $0.setIfClear() }) else { continue }
                group.addTask {
                    await self.look()
                    isLooking.withLock { $0 = false }
                }
            }
        }
        hub.end()
    }

    /// Ends all waits, and refuses further requests with 503. Call it when a graceful shutdown begins.
    public func end() { hub.end() }

    /// The number of clients that wait.
    public var waitingClientCount: Int { hub.placeCount }

    /// Notes the commits of other services.
    private func look() async {
        // A store that cannot be read now is read again after the interval.
        if let clocks = try? await onThread({ [service] in try service.readInTime { try TableClocks(in: $0) } }) {
            hub.note(clocks)
        }
    }

    // MARK: Responses

    /// Responds to a request whose path is that of the signal.
    ///
    /// If the task is cancelled, the wait ends.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - caller: The user who sent it, as in ``TableService/handle(_:body:caller:)``. A request that names a table
    ///     whose rows the caller must not read is answered with 401 or 403. The caller learns when a table changes,
    ///     also by rows of other owners. At its ``Caller/expiration``, a wait ends without changes, and a stream ends.
    public func respond(to request: HTTPRequest, caller: Caller = .anonymous) async -> ChangeResponse {
        var answer: TableResponse
        do {
            switch try await response(to: request, caller) {
            case .events(let events): return .events(events)
            case .answer(let complete): answer = complete
            }
        } catch {
            answer = (error as? TableRefusal)?.response ?? TableResponse(failure: error)
        }
        answer.response.headerFields[.date] = HTTPDate.text(of: service.options.clock())
        return .answer(answer)
    }

    private func response(to request: HTTPRequest, _ caller: Caller) async throws -> ChangeResponse {
        guard request.method == .get else {
            throw RequestRejection(
                .methodNotAllowed, "\(request.method.rawValue) is not supported for this path", allowedMethods: [.get])
        }
        let wanted = try ChangesRequest(target: request.path ?? "")
        let acceptsEvents = request.headerFields[values: .accept].contains { $0.contains("text/event-stream") }
        let since = acceptsEvents ? request.headerFields[.lastEventID] ?? wanted.cursor : wanted.cursor
        let cursor = try since.map { text throws(RequestRejection) in try ChangeCursor(text) }
        let longest = wanted.wait.map { .seconds(min($0, 86_400)) } ?? options.maximumWait
        let wait = min(longest, options.maximumWait, signInTime(of: caller))
        guard let place = hub.takePlace(limit: options.maximumWaitingClients) else { return .answer(unavailable) }
        try await onThread { try self.requireReadable(wanted.tables, by: caller) }
        if acceptsEvents { return .events(events(of: wanted.tables, since: cursor, to: caller, place)) }
        defer { withExtendedLifetime(place) {} }
        guard let news = try await news(of: wanted.tables, since: cursor, within: wait) else {
            return .answer(unavailable)
        }
        var answer = TableResponse(.ok, json: Array(try RecordJSON.encode(news.answer).utf8))
        answer.response.headerFields[.cacheControl] = "no-store"
        return .answer(answer)
    }

    private func events(
        of tables: [String], since cursor: ChangeCursor?, to caller: Caller, _ place: ChangeHub.Place
    ) -> ChangeEvents {
        ChangeEvents(start: cursor) { [self] cursor in
            defer { withExtendedLifetime(place) {} }
            let wait = min(options.heartbeat, signInTime(of: caller))
            // A table that changes all the time never lets the stream wait for the end of the signal.
            guard hub.isRunning, wait > .zero, let news = try await news(of: tables, since: cursor, within: wait) else {
                return nil
            }
            // Without changes, the element is a comment.
            var text = ":\n\n"
            if cursor != news.cursor {
                text = "id: \(news.answer.cursor)\ndata: \(try RecordJSON.encode(news.answer))\n\n"
            }
            return (Array(text.utf8), news.cursor)
        } pause: { [options] in
            try await options.sleep(options.minimumEventInterval)
        }
    }

    /// Returns the time until the caller's sign-in ends.
    private func signInTime(of caller: Caller) -> Duration {
        guard let end = caller.expiration else { return .seconds(Int64.max) }
        return .microseconds((end.ticks - service.options.clock().ticks) / 10)
    }

    /// The changes of tables after a cursor.
    private struct News {
        var cursor: ChangeCursor
        var answer: ChangesAnswer
    }

    /// Returns the changes as soon as there are any, or none after the wait, or `nil` if the signal has ended.
    ///
    /// The caller has a place.
    private func news(
        of tables: [String], since cursor: ChangeCursor?, within wait: Duration
    ) async throws -> News? {
        let note = hub.noteCount
        let clocks = try await onThread { [service] in
            try service.readInTime { try TableClocks(of: tables, in: $0) }
        }
        let now = news(of: tables, since: cursor, at: clocks)
        guard now.cursor == cursor, wait > .zero else { return now }
        let ticks = Int(min((wait / options.interval).rounded(.up), 1e9))
        switch await hub.wait(for: tables, after: clocks, since: note, ticks: ticks) {
        case .changed(let clocks): return news(of: tables, since: cursor, at: clocks)
        case .unchanged: return now
        case .ended: return nil
        }
    }

    private func news(of tables: [String], since cursor: ChangeCursor?, at clocks: TableClocks) -> News {
        let changes = tables.compactMap { table -> ChangesAnswer.Change? in
            guard let stamp = clocks[table], cursor?.differs(for: table, at: stamp) ?? true else { return nil }
            return ChangesAnswer.Change(table: table, updatedAt: stamp.iso8601())
        }
        return News(
            cursor: ChangeCursor(tables, clocks),
            answer: ChangesAnswer(cursor: ChangeCursor.text(of: tables, clocks), changes: changes))
    }

    private var unavailable: TableResponse {
        var answer = TableResponse(
            .serviceUnavailable, error: "no further client can wait for changes now; try again later")
        answer.response.headerFields[.retryAfter] = "1"
        return answer
    }

    // MARK: Tables

    /// Checks that a caller may learn when each of the tables changes.
    ///
    /// - Throws: ``TableRefusal`` for the first table that the caller must not read or that does not exist.
    private func requireReadable(_ tables: [String], by caller: Caller) throws {
        for table in tables {
            do {
                _ = try TableAccess(.read, to: table, rights: service.options.rights(of: table), caller: caller)
            } catch {
                throw TableRefusal(error, table: table)
            }
            if service.catalog.table(table) == nil { try service.catalog.refresh(table) }
            guard service.catalog.table(table) != nil else {
                throw TableRefusal(.init(.notFound, "there is no table \(table.debugDescription)"), table: table)
            }
        }
    }

    // MARK: Threads

    /// Runs a call of the store on a thread that may block.
    private func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            options.schedule { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// The refusal of a request because of one of its tables.
struct TableRefusal: Error {
    let response: TableResponse

    init(_ rejection: RequestRejection, table: String) {
        var response = TableResponse(rejection)
        if let body = try? RecordJSON.encode(ChangesRefusal(error: rejection.message, table: table)) {
            response.body = Array(body.utf8)
        }
        self.response = response
    }
}

extension Bool {
    /// Sets the value. Returns `false` if it was set before.
    fileprivate mutating func setIfClear() -> Bool {
        defer { self = true }
        return !self
    }
}

extension HTTPField.Name {
    // The name is a valid constant, so it is not nil.
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}
