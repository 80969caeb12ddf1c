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

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// Transient answers are tried again; the last one is returned. After a 401 the sign-in is refreshed once.
    /// - Throws: ``SyncError`` with code network or cancelled.
    func send(_ request: WireRequest) async throws -> TransportResponse {
        var attempt = 1
        var hasRefreshed = false
        var refreshes = false
        while true {
            var answer = try await sendOnce(request, refreshesSignIn: refreshes)
            answer.attempts = attempt
            let status = answer.response.status.code
            refreshes = status == 401 && !hasRefreshed && options.authorization != nil
            if refreshes {
                hasRefreshed = true
                continue
            }
            guard ServerConnection.isTransient(status),
                let delay = options.retry.delay(
                    afterAttempt: attempt, retryAfter: RetryAfter.duration(of: answer.response),
                    random: options.environment.random())
            else { return answer }
            options.logger.notice("\(request.method) \(request.target): HTTP \(status), trying again in \(delay)")
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

    private func sendOnce(_ request: WireRequest, refreshesSignIn: Bool) async throws -> TransportResponse {
        if Task.isCancelled { throw SyncError(.cancelled, "the task was cancelled") }
        var http = HTTPRequest(
            method: request.method, scheme: base.scheme, authority: base.authority,
            path: base.path + "/" + request.target)
        http.headerFields = request.headers
        for field in options.headers { http.headerFields[fields: field.name] = options.headers[fields: field.name] }
        http.headerFields[.userAgent] = http.headerFields[.userAgent] ?? "Tideline"
        if let id = options.installationID { http.headerFields[.installationID] = id }
        if let field = try await signIn(refresh: refreshesSignIn) { http.headerFields[field.name] = field.value }
        do {
            let answer = try await transport.send(http, body: request.body, timeout: options.timeout)
            options.logger.debug("\(request.method) \(request.target): HTTP \(answer.response.status.code)")
            return answer
        } catch let error as TransportError {
            throw error.code == .cancelled || Task.isCancelled
                ? SyncError(.cancelled, "the request was cancelled", cause: error)
                : SyncError(.network, "\(base.text) was not reached: \(error.message)", cause: error)
        } catch is CancellationError {
            throw SyncError(.cancelled, "the request was cancelled")
        } catch {
            throw SyncError(.network, "\(base.text) was not reached: \(error)", cause: error)
        }
    }

    private func signIn(refresh: Bool) async throws -> HTTPField? {
        guard let authorization = options.authorization else { return nil }
        do {
            return try await authorization(refresh)
        } catch is CancellationError {
            throw SyncError(.cancelled, "the sign-in was cancelled")
        } catch {
            throw SyncError(.authentication, "there is no token to sign in with: \(error)", cause: error)
        }
    }
}

extension HTTPField.Name {
    // A constant that is a valid name.
    static let installationID = HTTPField.Name("X-ZUMO-INSTALLATION-ID")!
}

/// The address of a server, taken apart.
struct ServerAddress: Sendable, Hashable {
    var scheme: String
    /// Host, and port where one is given.
    var authority: String
    /// The path without a slash at its end; empty for the root.
    var path: String

    /// The address as text.
    var text: String { "\(scheme)://\(authority)\(path)" }

    init(_ text: String) throws {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty,
            parts.user == nil, parts.query == nil, parts.fragment == nil,
            parts.port.map({ (1...65535).contains($0) }) ?? true
        else {
            // What comes before an @ is a password, or was meant as one.
            let shown = text.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            throw SyncError(
                .invalidArgument,
                "\(shown.debugDescription) is no address of a server; it should look like https://example.org/app, "
                    + "without a user, query or fragment")
        }
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
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
