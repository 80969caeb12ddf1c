internal import Foundation
internal import HTTPTypes
internal import Logging
internal import TidelineStore
internal import TidelineWire

/// The way to one server: addresses, headers, sign-in, retries.
struct ServerConnection: Sendable {
    let base: ServerAddress
    let transport: any Transport
    let options: SyncOptions
    let account = Account()

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// Transient answers are tried again; the last one is returned. After a 401 the sign-in is refreshed once.
    /// - Parameters:
    ///   - retries: Whether a transient answer is tried again. A request that may be carried out twice passes false.
    ///   - signsIn: Whether the request carries the user's token.
    /// - Throws: ``SyncError`` with code network, invalidAnswer for an answer that is larger than the transport accepts,
    ///   authentication when there is no token to sign in with, or cancelled.
    func send(
        _ request: WireRequest, retries: Bool = true, signsIn: Bool = true
    ) async throws -> TransportResponse {
        var attempt = 1
        var hasRefreshed = false
        var refreshes = false
        while true {
            if Task.isCancelled { throw SyncError(.cancelled, "the task was cancelled") }
            var answer = try await sendOnce(request, signIn: signsIn ? signIn(refresh: refreshes) : nil)
            answer.attempts = attempt
            let status = answer.response.status.code
            refreshes = status == 401 && !hasRefreshed && signsIn && options.authorization != nil
            if refreshes {
                hasRefreshed = true
                continue
            }
            guard retries, ServerConnection.isTransient(status),
                let delay = options.retry.delay(
                    afterAttempt: attempt, retryAfter: RetryAfter.duration(of: answer.response),
                    random: options.environment.random())
            else { return answer }
            // The query holds values of the app's rows.
            let path = request.target.prefix { $0 != "?" }
            options.logger.notice("\(request.method) \(path): HTTP \(status), trying again in \(delay)")
            try await pause(delay)
            attempt += 1
        }
    }

    static func isTransient(_ status: Int) -> Bool { [408, 429, 500, 502, 503, 504].contains(status) }

    private func pause(_ delay: Duration) async throws {
        do {
            try await options.environment.sleep(delay)
        } catch {
            throw SyncError(.cancelled, "the task was cancelled while it waited to try again", cause: error)
        }
    }

    private func sendOnce(_ request: WireRequest, signIn: HTTPField?) async throws -> TransportResponse {
        let http = makeRequest(request, signIn: signIn)
        do {
            var answer = try await transport.send(http, body: request.body, timeout: options.timeout)
            options.logger.debug("\(request.method) \(request.target): HTTP \(answer.response.status.code)")
            if let signIn, !(200..<300).contains(answer.response.status.code) { answer.redact(signIn) }
            return answer
        } catch let error as TransportError {
            throw failure(error)
        } catch is CancellationError {
            throw SyncError(.cancelled, "the request was cancelled")
        } catch {
            throw SyncError(.network, "\(base.text) was not reached: \(error)", cause: error)
        }
    }

    private func makeRequest(_ request: WireRequest, signIn: HTTPField?) -> HTTPRequest {
        var http = HTTPRequest(
            method: request.method, scheme: base.scheme, authority: base.authority,
            path: base.pathAndQuery(of: request.target))
        http.headerFields[.userAgent] = "Tideline/\(TidelineVersion.current)"
        http.headerFields[.zumoVersion] = "ZUMO/2.0 (lang=Swift; version=\(TidelineVersion.current))"
        if let id = options.installationID { http.headerFields[.installationID] = id }
        for fields in [options.headers, request.headers] {
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
                .invalidAnswer, "the answer of \(base.text) cannot be used: \(error.message)", cause: error)
        }
        return SyncError(.network, "\(base.text) was not reached: \(error.message)", cause: error)
    }

    private func signIn(refresh: Bool) async throws -> HTTPField? {
        do {
            if let field = try await options.authorization?(refresh) { return field }
            return account.user.map { HTTPField(name: .zumoAuth, value: $0.authenticationToken) }
        } catch is CancellationError {
            throw SyncError(.cancelled, "the sign-in was cancelled")
        } catch {
            throw SyncError(.authentication, "there is no token to sign in with: \(error)", cause: error)
        }
    }
}

extension HTTPField.Name {
    // Constants that are valid names.
    static let installationID = HTTPField.Name("X-ZUMO-INSTALLATION-ID")!
    static let zumoVersion = HTTPField.Name("X-ZUMO-VERSION")!
    static let zumoAuth = HTTPField.Name("X-ZUMO-AUTH")!
}

/// The address of a server, taken apart.
struct ServerAddress: Sendable, Hashable {
    var scheme: String
    /// Host, and port where one is given.
    var authority: String
    /// The path without a slash at its end; empty for the root.
    var path: String
    /// The query that goes with every request, percent-encoded; empty for none.
    var query: String

    /// The address as text, without the query, which may hold a key.
    var text: String { "\(scheme)://\(authority)\(path)" }

    init(_ text: String) throws {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            parts.user == nil, parts.fragment == nil,
            parts.port.map({ (1...65535).contains($0) }) ?? true
        else {
            // What comes before an @ is a password, or was meant as one.
            let address = text.prefix { $0 != "?" }
            let shown = address.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            throw SyncError(
                .invalidArgument,
                "\(shown.debugDescription) is no address of a server; it should look like https://example.org/app, "
                    + "without a user or fragment")
        }
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
        query = parts.percentEncodedQuery ?? ""
    }

    /// The path and query of a request for a target relative to this address. A parameter of the address that the target
    /// has already, as in a link that the server made of an earlier request, is not repeated.
    func pathAndQuery(of target: String) -> String {
        let own = target.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
        let missing = query.split(separator: "&").filter { !own.contains($0) }.joined(separator: "&")
        guard !missing.isEmpty else { return "\(path)/\(target)" }
        return "\(path)/\(target)\(target.contains("?") ? "&" : "?")\(missing)"
    }
}

/// The header `Retry-After`: seconds, or a date.
enum RetryAfter {
    static func duration(of response: HTTPResponse) -> Duration? {
        guard let text = response.headerFields[.retryAfter] else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 86_400)) }
        guard let until = HTTPDate.instant(text), let now = ServerClock.time(of: response) else { return nil }
        return .milliseconds((until.ticks - now.ticks) / 10_000)
    }
}

/// The server's clock, as its answers tell it.
enum ServerClock {
    /// The time in the header `Date`, nil when there is none that can be read.
    static func time(of response: HTTPResponse) -> Timestamp? {
        response.headerFields[.date].flatMap { HTTPDate.instant($0) }
    }
}
