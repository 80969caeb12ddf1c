internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension Dialect {
    /// What an answer of failure says, for a person: the text of its body, or status and reason ("HTTP 400 Bad Request")
    /// where the body has no text.
    func message(of answer: TransportResponse) -> String {
        let response = answer.response
        if (300..<400).contains(response.status.code), let target = response.redirectTarget {
            return "\(response.statusText), a redirect to \(target.debugDescription), which is not followed"
        }
        let text = errorMessage(Array(answer.body.prefix(maximumErrorBody)))
        return text.isEmpty ? response.statusText : text
    }

    /// The error that an answer of failure means to a request of one table or of none.
    ///
    /// - Returns: ``SyncError`` with code authentication for 401, network for answers that ask to try again later (408, 429,
    ///   503), serverFailed for 500, 502 and 504, rejected for the rest; with the server's message and the status.
    func failure(_ answer: TransportResponse, table: String? = nil, id: String? = nil) -> SyncError {
        let status = answer.response.status.code
        let (code, reason): (SyncError.Code, String) =
            switch status {
            case 401: (.authentication, "the server asks to sign in")
            case 408, 429, 503: (.network, "the server is not available")
            case 500, 502, 504: (.serverFailed, "the server failed")
            default: (.rejected, "the server refused the request")
            }
        return SyncError(code, "\(reason): \(message(of: answer))", table: table, id: id, status: status)
    }
}

/// More of a body is not looked at for a message.
private let maximumErrorBody = 64 << 10

extension HTTPResponse {
    /// `HTTP 400 Bad Request`; the server's own reason, which may be any text, only counts where it is the standard's.
    fileprivate var statusText: String {
        let reason = Self.standard.first { $0.code == status.code }?.reasonPhrase
        return reason.map { "HTTP \(status.code) \($0)" } ?? "HTTP \(status.code)"
    }

    /// Scheme and host of the header `Location`; its path and query may hold a secret.
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
