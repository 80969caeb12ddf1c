internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension Dialect {
    /// Returns whether a request that changes or reads existing rows, or calls an API, was successful.
    func isDone(_ answer: TransportResponse) -> Bool { meaning(of: answer.response, to: .existingRow) == .done }

    /// Returns the error message of a failed response: the text of its body, or the status and reason ("HTTP 400 Bad
    /// Request") if the body has no text.
    func message(of answer: TransportResponse) -> String {
        let response = answer.response
        if (300..<400).contains(response.status.code), let target = response.redirectTarget {
            return "\(response.statusText), a redirect to \(target.debugDescription), which is not followed"
        }
        let text = errorMessage(Array(answer.body.prefix(maximumErrorBody)))
        return text.isEmpty ? response.statusText : text
    }

    /// Returns the error for a failed response to a request, with the server's message and the status.
    ///
    /// - Returns: ``SyncError`` with code authentication for 401; network for responses that ask to retry later (408,
    ///   429, 503); serverFailed for 500, 502, and 504; rejected for all others.
    func failure(_ answer: TransportResponse, table: String? = nil, id: String? = nil) -> SyncError {
        let status = answer.response.status.code
        let (code, reason): (SyncError.Code, String) =
            switch meaning(of: answer.response, to: .existingRow) {
            case .authentication: (.authentication, "the server requires authentication")
            case .unavailable: (.network, "the server is not available")
            case .serverFailure: (.serverFailed, "the server failed")
            default: (.rejected, "the server rejected the request")
            }
        var error = SyncError(code, "\(reason): \(message(of: answer))", table: table, id: id, status: status)
        error.retryAfter = RetryAfter.duration(of: answer.response)
        return error
    }
}

/// The maximum number of bytes of a body that are searched for a message.
private let maximumErrorBody = 64 << 10

extension HTTPResponse {
    /// The status with its standard reason, such as `HTTP 400 Bad Request`. The server's own reason, which may be any
    /// text, is ignored.
    fileprivate var statusText: String {
        let reason = Self.standard.first { $0.code == status.code }?.reasonPhrase
        return reason.map { "HTTP \(status.code) \($0)" } ?? "HTTP \(status.code)"
    }

    /// The scheme and host of the header `Location`. Its path and query are omitted because they may contain a secret.
    fileprivate var redirectTarget: String? {
        guard let location = headerFields[.location], let separator = location.firstRange(of: "://") else { return nil }
        let authority = location[separator.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return
            "\(location[..<separator.lowerBound].prefix(20))://\(authority.split(separator: "@").last?.prefix(255) ?? "")"
    }

    private static let standard: [Status] = [
        .multipleChoices, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect, .permanentRedirect,
        .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable,
        .proxyAuthenticationRequired, .requestTimeout, .conflict, .gone, .lengthRequired, .preconditionFailed,
        .contentTooLarge, .uriTooLong, .unsupportedMediaType, .expectationFailed, .misdirectedRequest,
        .unprocessableContent, .upgradeRequired, .preconditionRequired, .tooManyRequests, .requestHeaderFieldsTooLarge,
        .unavailableForLegalReasons, .internalServerError, .notImplemented, .badGateway, .serviceUnavailable,
        .gatewayTimeout, .httpVersionNotSupported, .networkAuthenticationRequired,
    ]
}

extension SyncError {
    /// Creates the error for a response that cannot be read, with the column and id from the parser.
    init(unreadable error: WireError, table: String, id: String? = nil, status: Int? = nil) {
        let place = error.offset.map { " (byte \($0) of the response)" } ?? ""
        self.init(
            .invalidAnswer, "the server's response cannot be read: \(error.message)\(place)", table: table,
            column: error.column, id: error.id ?? id, status: status, cause: error)
    }
}
