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
struct ServerConnection: Sendable {
    let base: ServerAddress
    let transport: any Transport
    let options: SyncOptions
    let dialect: any Dialect
    let account = Account()
    private let refresh = SharedRefresh()
    /// Called before each request, including retries. Throws if the request must not be sent.
    var willSend: @Sendable () throws -> Void = {}

    init(base: ServerAddress, transport: any Transport, options: SyncOptions) {
        self.base = base
        self.transport = transport
        self.options = options
        dialect = options.dialect.name.dialect
    }

    /// Sends a request and returns the response, whatever its status.
    ///
    /// Retries after transient responses and returns the last one. After a 401, refreshes the authentication once.
    /// - Parameters:
    ///   - retries: Whether to retry after a transient response. Pass `false` for a request that must not be applied
    ///     twice.
    ///   - signsIn: Whether the request includes the user's token.
    /// - Throws: ``SyncError`` with code network; invalidAnswer for a response larger than the transport accepts;
    ///   authentication if there is no token; or cancelled.
    func send(
        _ request: WireRequest, retries: Bool = true, signsIn: Bool = true
    ) async throws -> TransportResponse {
        var attempt = 1
        var hasRefreshed = false
        // The number of refreshes before a request that the server refused.
        var refused: Int?
        while true {
            if Task.isCancelled { throw SyncError(.cancelled, "the task was cancelled") }
            let refreshes = refresh.successes
            let field = signsIn ? try await signIn(refreshAfter: refused) : nil
            try willSend()
            var answer = try await sendOnce(request, signIn: field)
            answer.attempts = attempt
            let isRefused = dialect.meaning(of: answer.response, to: .existingRow) == .authentication
            refused = nil
            if isRefused, !hasRefreshed, signsIn, options.authorization != nil {
                (hasRefreshed, refused) = (true, refreshes)
                continue
            }
            guard retries, dialect.isTransient(answer.response),
                let delay = options.retry.delay(
                    afterAttempt: attempt, retryAfter: RetryAfter.duration(of: answer.response),
                    random: options.environment.random())
            else { return answer }
            // The query is not logged because it contains values of the app's rows.
            let path = request.target.prefix { $0 != "?" }
            options.logger.notice(
                "\(request.method) \(path): HTTP \(answer.response.status.code), retrying in \(delay)")
            try await pause(delay)
            attempt += 1
        }
    }

    private func pause(_ delay: Duration) async throws {
        do {
            try await options.environment.sleep(delay)
        } catch {
            throw SyncError(.cancelled, "the task was cancelled while waiting to retry", cause: error)
        }
    }

    private func sendOnce(_ request: WireRequest, signIn: HTTPField?) async throws -> TransportResponse {
        let http = makeRequest(request, signIn: signIn)
        do {
            var answer = try await transport.send(http, body: request.body, timeout: options.timeout)
            options.logger.debug("\(request.method) \(request.target): HTTP \(answer.response.status.code)")
            let isDone = dialect.meaning(of: answer.response, to: .existingRow) == .done
            if let signIn, !isDone { answer.redact(signIn) }
            return answer
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
        http.headerFields[.userAgent] = "Tideline/\(TidelineVersion.current)"
        let own = dialect.headers(version: TidelineVersion.current, installationID: options.installationID)
        for fields in [own, options.headers, request.headers] {
            for field in fields { http.headerFields[fields: field.name] = fields[fields: field.name] }
        }
        if let signIn { http.headerFields[signIn.name] = signIn.value }
        return http
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
    private func signIn(refreshAfter count: Int?) async throws -> HTTPField? {
        do {
            if let field = try await authorization(refreshAfter: count) { return field }
            return account.user.map { dialect.authentication(token: $0.authenticationToken) }
        } catch is CancellationError {
            throw SyncError(.cancelled, "the sign-in was cancelled")
        } catch {
            throw SyncError(.authentication, "no authentication token is available: \(error)", cause: error)
        }
    }

    private func authorization(refreshAfter count: Int?) async throws -> HTTPField? {
        guard let authorize = options.authorization else { return nil }
        if let count, let fresh = try await refresh.run(after: count, { try await authorize(true) }) { return fresh }
        return try await authorize(false)
    }
}

/// The parsed address of a server.
struct ServerAddress: Sendable, Hashable {
    var scheme: String
    /// The host, with the port if there is one.
    var authority: String
    /// The path without a trailing slash; empty for the root.
    var path: String
    /// The query that is added to every request, percent-encoded; empty if there is none.
    var query: String

    /// The address as text, without the query, which may contain a key.
    var text: String { "\(scheme)://\(authority)\(path)" }

    init(_ text: String) throws {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            parts.user == nil, parts.fragment == nil,
            parts.port.map({ (1...65535).contains($0) }) ?? true
        else {
            // Text before an @ may be a password.
            let address = text.prefix { $0 != "?" }
            let shown = address.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            throw SyncError(
                .invalidArgument,
                "\(shown.debugDescription) is not a valid server address; use the form https://example.org/app, "
                    + "without a user or fragment")
        }
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
        query = parts.percentEncodedQuery ?? ""
    }

    /// Returns the path and query of a request for a target relative to this address.
    ///
    /// A query parameter of the address is not repeated if the target already has it, as in a link that the server made
    /// from an earlier request.
    func pathAndQuery(of target: String) -> String {
        let own = target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        let missing = query.split(separator: "&").filter { !own.contains($0) }.joined(separator: "&")
        guard !missing.isEmpty else { return "\(path)/\(target)" }
        return "\(path)/\(target)\(target.contains("?") ? "&" : "?")\(missing)"
    }
}

/// Parses the header `Retry-After`: a number of seconds, or a date.
enum RetryAfter {
    static func duration(of response: HTTPResponse) -> Duration? {
        guard let text = response.headerFields[.retryAfter] else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 86_400)) }
        guard let until = HTTPDate.instant(text), let now = ServerClock.time(of: response) else { return nil }
        return .milliseconds((until.ticks - now.ticks) / 10_000)
    }
}

/// Reads the server's clock from its responses.
enum ServerClock {
    /// Returns the time in the header `Date`, or `nil` if there is none or it cannot be parsed.
    static func time(of response: HTTPResponse) -> Timestamp? {
        response.headerFields[.date].flatMap { HTTPDate.instant($0) }
    }
}
