internal import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// The meaning of a response in HTTP itself, for all dialects.
extension AnswerMeaning {
    /// Creates the meaning of a response by the conventions of HTTP, for a dialect whose server follows them.
    ///
    /// 200 to 299 is ``Kind/done``, 401 ``Kind/signInNeeded``, 404 and 410 ``Kind/gone``, 409 and 412
    /// ``Kind/conflict``, 408, 429, 502, 503, and 504 ``Kind/unavailable``, 500 ``Kind/serverFailed``, and any other
    /// status ``Kind/refused``. 409 with `Retry-After` is ``Kind/serverFailed``: the request met another one, and may
    /// be repeated. The client then finds out whether the service gave the response, and whether it has the table; see
    /// ``CustomDialect/isFromService(_:)``. The message is the text of the body, and the delay that of `Retry-After`,
    /// also of a success. The row is `nil`.
    public init(byStatusOf response: TransportResponse) {
        let code = response.response.status.code
        let delay = response.retryAfter
        switch code {
        case 200..<300: self.init(.done)
        case 401: self.init(.signInNeeded)
        case 404, 410: self.init(.gone)
        case 409 where delay != nil: self.init(.serverFailed)
        case 409, 412: self.init(.conflict)
        case 408, 429, 502...504: self.init(.unavailable)
        case 500: self.init(.serverFailed)
        default: self.init(.refused)
        }
        mayHaveBeenApplied = !(400..<500).contains(code)
        retryAfter = delay
        if kind != .done { message = HTTPMessage.text(of: response) }
    }
}

/// The message of a failed response.
enum HTTPMessage {
    /// The maximum number of bytes of a body that are searched for a message.
    private static let maximumBody = 64 << 10

    /// Returns the text of the body, or the status and reason ("HTTP 400 Bad Request") if the body has no text.
    static func text(of answer: TransportResponse) -> String {
        let response = answer.response
        if (300..<400).contains(response.status.code), let target = response.redirectTarget {
            return "\(response.statusText), a redirect to \(target.debugDescription), which is not followed"
        }
        let text = ErrorBody.message(of: Array(answer.body.prefix(maximumBody)))
        return text.isEmpty ? response.statusText : text
    }
}

extension HTTPResponse {
    /// The status with its standard reason, such as `HTTP 400 Bad Request`. The server's own reason, which may be any
    /// text, is ignored.
    var statusText: String {
        let reason = Self.standard.first { $0.code == status.code }?.reasonPhrase
        return reason.map { "HTTP \(status.code) \($0)" } ?? "HTTP \(status.code)"
    }

    /// The scheme, host, and path of the header `Location`, or its path if it has no host. A user and the query are
    /// omitted because they may contain a secret.
    var redirectTarget: String? {
        guard let location = headerFields[.location]?.prefix(while: { $0 != "?" && $0 != "#" }), !location.isEmpty
        else {
            return nil
        }
        guard let separator = location.firstRange(of: "://") else { return String(location.prefix(255)) }
        let authority = location[separator.upperBound...].prefix { $0 != "/" }
        let host = authority.split(separator: "@").last ?? ""
        return
            "\(location[..<separator.lowerBound].prefix(20))://\(host.prefix(255))\(location[authority.endIndex...].prefix(255))"
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

extension TransportResponse {
    /// The time of the server at the response, as its header `Date` tells, to the second; `nil` if there is none.
    ///
    /// A ``CustomDialect`` of a server that lists changes by time steps back from it; see ``ServerPage/nextPull``.
    public var serverTime: Timestamp? { response.headerFields[.date].flatMap { HTTPDate.instant($0) } }

    /// The delay in the header `Retry-After`: a number of seconds, or a date.
    fileprivate var retryAfter: Duration? {
        guard let text = response.headerFields[.retryAfter] else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return .seconds(min(seconds, 86_400)) }
        guard let until = HTTPDate.instant(text), let now = serverTime else { return nil }
        return .milliseconds((until.ticks - now.ticks) / 10_000)
    }
}
