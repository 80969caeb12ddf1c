internal import HTTPTypes
internal import Logging
internal import TidelineStore
internal import TidelineWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Sends requests to one server: adds address, headers, and authentication, and retries.
final class ServerConnection: Sendable {
    let base: ServerAddress
    let transport: any Transport
    let options: SyncOptions
    let format: any RequestFormat
    let account: Account
    private let refresh: SharedRefresh
    /// From when and until when the server asked for no further request, or `nil`.
    private let pauseOfServer: LockedValue<Range<Timestamp>?>
    /// The headers of each request, or `nil` if those of the dialect are its own.
    private let headers: HTTPFields?
    /// Called before each request, including retries. Throws if the request must not be sent.
    private let willSend: @Sendable () async throws -> Void
    /// The batches of the requests for rows, if they are sent together.
    private let batches: RequestBatches?

    init(base: ServerAddress, transport: any Transport, options: SyncOptions, format: any RequestFormat) {
        self.base = base
        self.transport = transport
        self.options = options
        self.format = format
        (account, refresh, pauseOfServer) = (Account(), SharedRefresh(), LockedValue(nil))
        headers = format.isTableService ? Self.headers(format, options) : nil
        (willSend, batches) = ({}, nil)
    }

    /// Creates a connection that shares the sign-in and the pauses of another one, for one push.
    init(
        _ other: ServerConnection, batches: RequestBatches?, willSend: @escaping @Sendable () async throws -> Void
    ) {
        (base, transport, options, format) = (other.base, other.transport, other.options, other.format)
        (account, refresh, pauseOfServer) = (other.account, other.refresh, other.pauseOfServer)
        headers = other.headers
        (self.willSend, self.batches) = (willSend, batches)
    }

    /// Sets the signed-in user, for whom a refresh that failed before says nothing.
    func setUser(_ user: SignedInUser?) {
        account.user = user
        refresh.noteSignIn()
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// Retries after transient responses and returns the last one. If the user must sign in, refreshes the
    /// authentication once, unless the request is part of a refresh.
    /// - Parameters:
    ///   - retries: Whether to retry after a transient response. Pass `false` for a request that must not be applied
    ///     twice.
    ///   - signsIn: Whether the request includes the user's token.
    ///   - timeout: The time limit, or `nil` for that of the options.
    /// - Throws: ``SyncError`` with code network; invalidAnswer for a response that is larger than the
    ///   transport accepts or that the dialect cannot read;
    ///   authentication if there is no token; or cancelled.
    func send(
        _ call: ServerCall, retries: Bool = true, signsIn: Bool = true, timeout: Duration? = nil
    ) async throws -> ServerAnswer {
        var call = call
        if call.isLink { call.request.target = try base.target(following: call.request.target) }
        var (attempt, hasRefreshed) = (1, false)
        // The number of refreshes before a request that the server refused.
        var refused: SharedRefresh.Count?
        while true {
            if Task.isCancelled { throw SyncError(.cancelled, "the task was cancelled") }
            let refreshes = refresh.count
            let field = signsIn ? try await signIn(refreshAfter: refused) : nil
            try await waitForServer()
            try await willSend()
            var answer = try await sendOnce(call, signIn: field, timeout: timeout ?? options.timeout)
            answer.response.attempts = attempt
            if !answer.meaning.isTransient, let wait = answer.meaning.retryAfter { note(pause: wait) }
            refused = nil
            if !hasRefreshed, signsIn, answer.kind == .signInNeeded, mayRefresh {
                (hasRefreshed, refused) = (true, refreshes)
                continue
            }
            // A longer delay than the policy waits is not divided among the operations of a round.
            if answer.meaning.isTransient, let wait = answer.meaning.retryAfter, wait > options.retry.maximumDelay {
                throw answer.unreachable(asksForPause: true)
            }
            guard retries, answer.meaning.isTransient,
                let delay = options.retry.delay(
                    afterAttempt: attempt, retryAfter: answer.meaning.retryAfter,
                    random: options.environment.random())
            else { return answer }
            // The query is not logged because it contains values of the app's rows.
            let path = call.request.target.prefix { $0 != "?" }
            options.logger.notice("\(call.request.method) \(path): HTTP \(answer.status), retrying in \(delay)")
            try await pause(delay)
            // Another request may have made the batch fail.
            (attempt, call.isOfRow) = (attempt + 1, false)
        }
    }

    /// Whether the app has a closure for a new token, which does not run now.
    private var mayRefresh: Bool { options.authorization != nil && !CallScope.isWithin(refresh) }

    private func note(pause: Duration) {
        let now = options.environment.now()
        let end = now.advanced(by: min(pause, options.retry.maximumDelay))
        pauseOfServer.withLock { $0 = now < end ? now..<end : nil }
    }

    /// Waits until the end of the delay that the server asked for with a response that is not retried. A clock that is
    /// set back does not make it longer.
    private nonisolated(nonsending) func waitForServer() async throws {
        guard let range = pauseOfServer.withLock({ $0 }) else { return }
        let now = options.environment.now()
        guard range.contains(now) else { return }
        try await pause(.nanoseconds((range.upperBound.ticks - now.ticks) * 100))
    }

    private func pause(_ delay: Duration) async throws {
        batches?.leave()
        defer { batches?.enter() }
        do {
            try await options.environment.sleep(delay)
        } catch {
            throw SyncError(.cancelled, "the task was cancelled while waiting to retry", cause: error)
        }
    }

    private nonisolated(nonsending) func sendOnce(
        _ call: ServerCall, signIn: HTTPField?, timeout: Duration
    ) async throws -> ServerAnswer {
        var response = try await respond(to: call, signIn: signIn, timeout: timeout)
        let trust = Trust(base: base)
        let mark = call.mark(response)
        if trust.isForeign(response, mark: mark) {
            if let signIn { _ = response.redact(signIn) }
            return ServerAnswer(response: response, meaning: .notFromService(trust.message(for: response)))
        }
        let meaning = Result { try call.meaning(response) }
        let received = response.body
        var answer: ServerAnswer
        // A failure may be shown, so its text must not repeat the credentials.
        if let signIn, (try? meaning.get())?.kind != .done, response.redact(signIn) {
            answer = ServerAnswer(response: response, meaning: try call.meaning(response))
            // The row of a conflict may contain the same text.
            if let row = try? meaning.get().row { answer.meaning.row = row }
            answer.rowBody = received
        } else {
            answer = ServerAnswer(response: response, meaning: try meaning.get())
        }
        answer.isMarked = mark == true
        guard answer.kind != .done else { return answer }
        answer.isDoubtful = Trust.isDoubtful(answer.kind, mark: mark)
        answer.meaning.message = trust.message(answer.meaning.message, of: answer.response, mark: mark)
        return answer
    }

    /// Returns the error for a response that the service did not give.
    func foreign(_ answer: ServerAnswer) -> SyncError {
        var error = SyncError(.network, Trust(base: base).message(for: answer.response), status: answer.status)
        error.isFromOther = true
        return error
    }

    /// Sends a request, with others if it may be sent in a batch.
    private nonisolated(nonsending) func respond(
        to call: ServerCall, signIn: HTTPField?, timeout: Duration
    ) async throws -> TransportResponse {
        guard let batches else { return try await transmit(call.request, signIn: signIn, timeout: timeout) }
        guard call.isOfRow else {
            batches.leave()
            defer { batches.enter() }
            return try await transmit(call.request, signIn: signIn, timeout: timeout)
        }
        return try await batches.send(call) { request in
            try await willSend()
            return try await transmit(request, signIn: signIn, timeout: timeout)
        }
    }

    private nonisolated(nonsending) func transmit(
        _ request: WireRequest, signIn: HTTPField?, timeout: Duration
    ) async throws -> TransportResponse {
        let http = makeRequest(request, signIn: signIn)
        do {
            let response = try await transport.send(http, body: request.body, timeout: timeout)
            options.logger.debug("\(request.method) \(request.target): HTTP \(response.response.status.code)")
            return response
        } catch let error as TransportError {
            throw failure(error)
        } catch is CancellationError {
            throw SyncError(.cancelled, "the request was cancelled")
        } catch {
            throw SyncError(.network, "cannot reach \(base.text): \(error)", cause: error)
        }
    }

    private func makeRequest(_ request: WireRequest, signIn: HTTPField?) -> HTTPRequest {
        var http = HTTPRequest(
            method: request.method, scheme: base.scheme, authority: base.authority,
            path: base.pathAndQuery(of: request.target))
        http.headerFields = headers ?? Self.headers(format, options)
        http.headerFields.set(request.headers)
        // The built-in dialects accept JSON, unless the app names a type for all requests.
        if format.isTableService, let accept = options.headers[.accept], request.headers[.accept] == "application/json"
        {
            http.headerFields[.accept] = accept
        }
        if let signIn { http.headerFields[signIn.name] = signIn.value }
        return http
    }

    private static func headers(_ format: any RequestFormat, _ options: SyncOptions) -> HTTPFields {
        var headers: HTTPFields = [.userAgent: "Tideline/\(TidelineVersion.current)"]
        headers.set(format.headers(installationID: options.installationID))
        headers.set(options.headers)
        return headers
    }

    private func failure(_ error: TransportError) -> SyncError {
        if error.code == .cancelled || Task.isCancelled {
            return SyncError(.cancelled, "the request was cancelled", cause: error)
        }
        if error.code == .tooLarge {
            return SyncError(
                .invalidAnswer, "the response of \(base.text) cannot be read: \(error.message)", cause: error)
        }
        return SyncError(.network, "cannot reach \(base.text): \(error.message)", cause: error)
    }

    /// Returns the header that authenticates a request.
    ///
    /// - Parameter count: The number of refreshes before the request that the server refused, or `nil` if none was.
    private nonisolated(nonsending) func signIn(refreshAfter count: SharedRefresh.Count?) async throws -> HTTPField? {
        do {
            _ = try account.userForRequest()
            if let field = try await authorization(refreshAfter: count) { return field }
            return try account.userForRequest().map { format.authentication(token: $0.authenticationToken) }
        } catch let error as SyncError where [.otherUser, .authentication].contains(error.code) {
            throw error
        } catch is CancellationError where Task.isCancelled {
            throw SyncError(.cancelled, "the sign-in was cancelled")
        } catch {
            // The network of the closure may be down, which does not sign the user out.
            throw SyncError(.network, "the authentication token cannot be requested: \(error)", cause: error)
        }
    }

    private nonisolated(nonsending) func authorization(
        refreshAfter count: SharedRefresh.Count?
    ) async throws -> HTTPField? {
        guard let authorize = options.authorization else { return nil }
        if let count {
            let fresh = try await refresh.run(after: count) {
                try await CallScope.run(for: refresh) { try await authorize(true) }
            }
            if let fresh { return fresh }
        }
        return try await CallScope.run(for: account) { try await authorize(false) }
    }
}

extension HTTPFields {
    /// Replaces the fields that have the names of others.
    fileprivate mutating func set(_ others: HTTPFields) {
        for field in others {
            // A second field of a name is rare.
            self[fields: field.name] = contains(field.name) ? others[fields: field.name] : [field]
        }
    }
}
