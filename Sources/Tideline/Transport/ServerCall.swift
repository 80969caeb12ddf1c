internal import HTTPTypes
internal import TidelineWire

/// A request with the meaning of its responses.
struct ServerCall: Sendable {
    var request: WireRequest
    /// Returns the meaning of a response.
    ///
    /// - Throws: ``SyncError`` with code invalidAnswer if the response cannot be read.
    var meaning: @Sendable (TransportResponse) throws -> AnswerMeaning
    /// Returns whether the service gave a response, or `nil` if the response does not tell.
    var mark: @Sendable (TransportResponse) -> Bool? = { _ in nil }
    /// Whether the target is a link of the server; see ``ServerAddress/target(following:)``.
    var isLink = false
    /// Whether the request may be sent in a batch.
    var isOfRow = false
}

/// A response with its meaning.
struct ServerAnswer: Sendable {
    /// The response, for messages. In the body of a failure, credentials are replaced.
    var response: TransportResponse
    var meaning: AnswerMeaning
    /// Whether something else than the service may have given the response. A look-up of the table finds out.
    var isDoubtful = false
    /// Whether the response has the mark of the service, so that nothing else gave it.
    var isMarked = false
    /// The body as received, for rows.
    var rowBody: [UInt8]

    /// Whether the response is a web page.
    var isPage: Bool { ErrorBody.isPage(response.body) }

    init(response: TransportResponse, meaning: AnswerMeaning) {
        self.response = response
        self.meaning = meaning
        rowBody = response.body
    }

    var kind: AnswerMeaning.Kind { meaning.kind }
    /// The HTTP status, for error messages.
    var status: Int { response.response.status.code }
    /// Whether the request was certainly not carried out.
    var isCertainlyRefused: Bool {
        switch kind {
        case .gone, .conflict, .refused, .signInNeeded:
            !isDoubtful && !meaning.mayHaveBeenApplied && response.attempts == 1
        case .done, .serverFailed, .unavailable, .notFromService: false
        }
    }

    /// Returns the error for a response from which nothing is known about the request, so that the push or pull ends.
    func unreachable(asksForPause: Bool = false) -> SyncError {
        var error = failure()
        error.asksForPause = asksForPause
        if kind != .signInNeeded { error.code = .network }
        return error
    }

    /// Returns the error for a failed response, with the server's message and the status.
    func failure(table: String? = nil, id: String? = nil) -> SyncError {
        let (code, reason): (SyncError.Code, String) =
            switch kind {
            case .signInNeeded: (.authentication, "the server requires authentication: ")
            case .unavailable: (.network, "the server is not available: ")
            case .serverFailed: (.serverFailed, "the server failed: ")
            case .done, .gone, .conflict, .refused: (.rejected, "the server rejected the request: ")
            case .notFromService: (.network, "")
            }
        var error = SyncError(code, "\(reason)\(meaning.message)", table: table, id: id, status: status)
        error.retryAfter = meaning.retryAfter
        error.isFromOther = kind == .notFromService
        return error
    }
}

/// The headers that a dialect adds to each request.
protocol RequestFormat: DialectIdentity {
    /// Returns the headers of every request.
    func headers(installationID: String?) -> HTTPFields
    /// Returns the header with the token of a signed-in user.
    func authentication(token: String) -> HTTPField
}
