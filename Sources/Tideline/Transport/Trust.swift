internal import HTTPTypes
internal import TidelineWire

/// Decides whether the service gave a response.
///
/// Between an app and its service are sign-in pages of networks, proxies, and gateways, which respond with any status
/// and any body. A response of theirs says nothing about a row, so nothing is deleted, rejected, or decided because of
/// it.
struct Trust: Sendable {
    /// The address of the service.
    let base: ServerAddress

    /// Returns whether the service certainly did not give a response.
    ///
    /// - Parameter mark: Whether the dialect recognizes the response as that of its service, or not; `nil` if it cannot
    ///   tell.
    func isForeign(_ response: TransportResponse, mark: Bool?) -> Bool {
        guard mark != true else { return false }
        return mark == false || Self.isForeign(response.response) || isForeignPage(response)
    }

    /// Returns whether a look-up of the table must find out who gave a response, because others respond in the same
    /// way.
    static func isDoubtful(_ kind: AnswerMeaning.Kind, mark: Bool?) -> Bool {
        switch kind {
        case .gone, .conflict, .refused: mark != true
        case .done, .signInNeeded, .unavailable, .serverFailed, .notFromService: false
        }
    }

    /// Returns whether only something between the app and the service responds with a status.
    private static func isForeign(_ response: HTTPResponse) -> Bool {
        switch response.status.code {
        case 300...303, 305...308, 407, 421, 451, 511, 520...530: true
        default: false
        }
    }

    /// Returns whether a response is a web page in place of a row, or of a request for a token, which names its scheme
    /// (RFC 9110, section 11.6.1).
    private func isForeignPage(_ response: TransportResponse) -> Bool {
        let head = response.response
        switch head.status.code {
        case 200..<300: return ErrorBody.isPage(response.body)
        case 401: return head.headerFields[.wwwAuthenticate] == nil && ErrorBody.isPage(response.body)
        default: return false
        }
    }

    /// Returns the description of a response that the service did not give. The words of a page are not those of the
    /// service, so only its title is shown.
    func message(for response: TransportResponse) -> String {
        let (head, service) = (response.response, "the service at \(base.text)")
        if base.scheme == "http", Self.requestsTLS(response.body) {
            return "\(head.statusText): the server speaks TLS: try https://\(base.authority)\(base.path)"
        }
        if (300..<400).contains(head.status.code), let target = head.redirectTarget {
            return
                "\(head.statusText), a redirect to \(target.debugDescription), which is not followed: a sign-in page of the "
                + "network, or \(service) has moved; if it has, use the new address"
        }
        guard ErrorBody.isPage(response.body) else {
            return
                "something else than \(service) answered (\(head.statusText)): a gateway or proxy, or a wrong address"
        }
        return
            "\(Self.page(response)) answered instead of \(service) (\(head.statusText)): a sign-in page of the network, or a "
            + "wrong address"
    }

    /// Returns a page with its title.
    private static func page(_ response: TransportResponse) -> String {
        "a web page" + (ErrorBody.title(of: response.body).map { " titled \($0.debugDescription)" } ?? "")
    }

    /// Returns the message of a failure: that of the dialect, or the title of a page that need not be the service's.
    func message(_ message: String, of response: TransportResponse, mark: Bool?) -> String {
        guard mark != true, ErrorBody.isPage(response.body) else { return message }
        return "\(response.response.statusText), with \(Self.page(response))"
    }

    /// The texts of nginx, Apache, and Go about a request without TLS at a port for TLS.
    private static let tlsTexts = ["HTTPS port", "SSL-enabled server port", "HTTP request to an HTTPS server"]

    private static func requestsTLS(_ body: [UInt8]) -> Bool {
        let text = String(decoding: body.prefix(4_096), as: UTF8.self)
        return tlsTexts.contains { text.contains($0) }
    }
}

/// Whether the service has been found to answer in a push. One look-up of a push finds it out, if no web page follows.
final class ServiceTrust: Sendable {
    private let lock = AsyncLock()
    private let found = LockedValue<Result<Void, SyncError>?>(nil)
    /// The tables that the service has listed.
    private let tables = LockedValue<Set<String>>([])

    /// Runs a look-up, unless an earlier one has found that something else answers in place of the service.
    ///
    /// The first look-up runs alone, so that the others need not send theirs in that case.
    func confirming<T: Sendable>(_ lookUp: @Sendable () async throws -> T) async throws -> T {
        if let result = try await first(lookUp) { return result }
        return try await lookUp()
    }

    /// Runs a look-up, unless an earlier one has found whether the service answers.
    func confirm(_ lookUp: @Sendable () async throws -> Void) async throws { _ = try await first(lookUp) }

    /// Runs a look-up of a table's list, unless an earlier one has succeeded.
    func confirm(table: String, _ lookUp: @Sendable () async throws -> Void) async throws {
        guard !tables.withLock({ $0.contains(table) }) else { return }
        try await confirming(lookUp)
        tables.withLock { _ = $0.insert(table) }
    }

    /// Runs the first look-up. Returns `nil` if there was one.
    private func first<T: Sendable>(_ lookUp: @Sendable () async throws -> T) async throws -> T? {
        try await lock.withLock {
            if let known = found.withLock({ $0 }) {
                try known.get()
                return nil
            }
            do {
                let result = try await lookUp()
                found.withLock { $0 = .success(()) }
                return result
            } catch let error as SyncError where error.code == .network && error.status != nil {
                // A look-up that got no response shows nothing about those of others.
                found.withLock { $0 = .failure(error) }
                throw error
            }
        }
    }
}
