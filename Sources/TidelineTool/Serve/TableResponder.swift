internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TidelineServer
internal import TidelineStore

/// Passes each request to the table service, on threads that may block, and returns the response.
struct TableResponder<Store: LocalStore>: HTTPResponder {
    typealias Context = ServerRequestContext

    var service: TableService<Store>
    var signal: ChangeSignal<Store>
    /// The threads for store calls, which wait for disks and locks and so must not run on the event loops.
    var threads: NIOThreadPool
    var limits: ServerLimits
    /// The memory available for the bodies of requests.
    var bodies: BodyBudget
    /// Finds out who sent a request, or `nil` for a server without a sign-in.
    var signIn: TokenVerifier?
    /// The limit on the requests of each address, or `nil`.
    var rate: RequestRate?
    var metrics: ServerMetrics
    /// The metrics for the page `/metrics`, or `nil` if it is not served.
    var prometheus: PrometheusMetrics?
    /// Whether the server speaks TLS, which links to next pages state.
    var isSecure = false
    /// Whether pages are compressed for clients that accept it.
    var compresses = false

    func respond(to request: Request, context: Context) async throws -> Response {
        let began = ContinuousClock.now
        let id = RequestID.of(request.headers)
        var response = try await answer(request, context, id)
        response.headers[RequestID.field] = id
        let status = response.status.code
        let isTable = status < 400 || status == 409 || status == 412
        metrics.answered(
            request.method, status, table: isTable ? Self.table(in: request.head.path ?? "") : nil, after: .now - began)
        return response
    }

    private func answer(_ request: Request, _ context: Context, _ id: String) async throws -> Response {
        if let page = await page(request.head.path ?? "", context.logger) { return page }
        if let rate, let delay = rate.delay(of: context.address ?? "") {
            var answer = ErrorAnswer(.tooManyRequests, "too many requests from this address; try again later")
            answer.head.headerFields[.retryAfter] = "\(delay)"
            return Self.response(answer)
        }
        guard request.head.path?.utf8.count ?? 0 <= limits.maximumQuerySize else {
            return Self.response(
                ErrorAnswer(.uriTooLong, "the path and query are longer than \(limits.maximumQuerySize) bytes"))
        }
        var body: [UInt8] = []
        defer { bodies.release(body.count) }
        // Before the body, so that a refused request uses no memory.
        let caller: Caller
        do {
            caller = try await signIn?.caller(of: request.headers) ?? .anonymous
        } catch let refusal as TokenVerifier.Refusal {
            return Self.response(.signInFailed(refusal.reason))
        }
        if signIn != nil, request.uri.path == Self.userPath { return Self.user(caller, request) }
        if let refusal = try await collect(&body, of: request) { return Self.response(refusal) }
        var head = request.head
        if ChangeSignal<Store>.handles(head) {
            return Self.response(await signal.respond(to: head, caller: caller), to: head)
        }
        if isSecure { head.scheme = "https" }
        let began = ContinuousClock.now
        let answer = try await answer(head, body, caller)
        log(answer, to: head, context.logger, id, after: .now - began)
        return Self.response(answer, to: head)
    }

    /// Logs failures of the store or the server, and for debugging all responses.
    private func log(
        _ answer: TableResponse, to head: HTTPRequest, _ logger: Logger, _ id: String, after duration: Duration
    ) {
        let status = answer.response.status.code
        let level: Logger.Level = status < 500 ? .debug : status == 503 ? .warning : .error
        guard level >= logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "request": "\(id)", "method": "\(head.method)", "path": "\(head.path ?? "")", "status": "\(status)",
            "bytes": "\(answer.body.count)", "seconds": "\(duration / .seconds(1))",
        ]
        if let trace = TraceParent.traceID(in: head.headerFields) { metadata["trace"] = "\(trace)" }
        if let reason = answer.failureReason { metadata["reason"] = "\(reason)" }
        logger.log(level: level, "answered", metadata: metadata)
    }

    // MARK: Pages for operators

    /// Returns a page that does not belong to a table, or `nil` for another path.
    private func page(_ path: String, _ logger: Logger) async -> Response? {
        switch path {
        case "/.health": return Self.page("ok\n")
        case "/.ready":
            switch await onThread({ try service.checkStore() }) {
            case .success: return Self.page("ready\n")
            case .failure(let error):
                // Everyone can read the response, and the reason can name files and databases.
                logger.warning("not ready", metadata: ["reason": "\(error)"])
                return Self.response(
                    ErrorAnswer(
                        .serviceUnavailable, "the store cannot be read; the reason is in the log of the server"))
            }
        case "/metrics":
            metrics.waiting(signal.waitingClientCount)
            return prometheus.map { Self.page($0.page, type: "text/plain; version=0.0.4; charset=utf-8") }
        default: return nil
        }
    }

    private static func page(_ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    private func onThread(_ body: @escaping @Sendable () throws -> Void) async -> Result<Void, any Error> {
        await withCheckedContinuation { continuation in
            threads.submit { state in
                continuation.resume(
                    returning: Result {
                        guard state == .active else { throw CancellationError() }
                        try body()
                    })
            }
        }
    }

    /// Returns the name of the table in a path such as `/tables/Item/1?…`.
    private static func table(in path: String) -> String? {
        guard path.hasPrefix("/tables/") else { return nil }
        return String(path.dropFirst("/tables/".count).prefix { $0 != "/" && $0 != "?" })
    }

    /// Returns the response of the service, which commits writes together that wait at the same time.
    private func answer(
        _ head: HTTPRequest, _ body: [UInt8], _ caller: Caller
    ) async throws -> TableResponse {
        try await withCheckedThrowingContinuation { continuation in
            threads.submit { [service, compresses] state in
                guard state == .active else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                let compresses = compresses && head.method == .get && Gzip.isAccepted(by: head.headerFields)
                service.handle(head, body: body, caller: caller) { answer in
                    continuation.resume(returning: compresses ? Gzip.compress(answer) : answer)
                }
            }
        }
    }

    /// Reads the body, and reserves memory for it as it arrives.
    ///
    /// - Returns: The response to a request whose body is refused, or `nil`.
    private func collect(_ body: inout [UInt8], of request: Request) async throws -> ErrorAnswer? {
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard length <= limits.maximumBodySize else { return tooLarge }
        body.reserveCapacity(length)
        for try await chunk in request.body {
            guard chunk.readableBytes <= limits.maximumBodySize - body.count else { return tooLarge }
            guard bodies.reserve(chunk.readableBytes) else {
                return ErrorAnswer(
                    .serviceUnavailable, "the memory for the bodies of requests in flight is used up; try again later")
            }
            body.append(contentsOf: chunk.readableBytesView)
        }
        // The framework ends the body when the server stops.
        guard body.count >= length else { return ErrorAnswer(.serviceUnavailable, ErrorAnswer.stoppedMessage) }
        return nil
    }

    private var tooLarge: ErrorAnswer {
        ErrorAnswer(.contentTooLarge, "the body is larger than \(limits.maximumBodySize) bytes")
    }

    /// The path at which clients check whether they are signed in, as in the original back ends.
    private static var userPath: String { "/.auth/me" }

    /// Returns the response with the identifier of the user, or 401.
    private static func user(_ caller: Caller, _ request: Request) -> Response {
        guard request.method == .get || request.method == .head else {
            return response(ErrorAnswer(.methodNotAllowed, "\(userPath) supports only GET"))
        }
        guard let userID = caller.userID else {
            return response(.signInFailed("no user is signed in; send a token in the header Authorization"))
        }
        return response(ErrorAnswer(.ok, object: ["userId": userID]))
    }

    private static func response(_ refusal: ErrorAnswer) -> Response {
        Response(
            status: refusal.head.status, headers: refusal.head.headerFields,
            body: ResponseBody(byteBuffer: refusal.body))
    }

    private static func response(_ response: ChangeResponse, to request: HTTPRequest) -> Response {
        switch response {
        case .answer(let answer): Self.response(answer, to: request)
        case .events(let events):
            Response(
                status: events.response.status, headers: events.response.headerFields,
                body: ResponseBody { writer in
                    for try await bytes in events { try await writer.write(ByteBuffer(bytes: bytes)) }
                    try await writer.finish(nil)
                })
        }
    }

    private static func response(_ answer: TableResponse, to request: HTTPRequest) -> Response {
        var headers = answer.response.headerFields
        // A response to HEAD has the length of the body, but no body.
        headers[.contentLength] = String(answer.body.count)
        let body = ByteBuffer(bytes: request.method == .head ? [] : answer.body)
        return Response(status: answer.response.status, headers: headers, body: Self.body(body))
    }

    /// Returns a response body. Sends a large one in pieces, so that progress shows whether the client receives it.
    private static func body(_ bytes: ByteBuffer) -> ResponseBody {
        let pieceSize = 64 << 10
        guard bytes.readableBytes > pieceSize else { return ResponseBody(byteBuffer: bytes) }
        return ResponseBody(contentLength: bytes.readableBytes) { writer in
            var rest = bytes
            while rest.readableBytes > 0, let piece = rest.readSlice(length: min(pieceSize, rest.readableBytes)) {
                try await writer.write(piece)
            }
            try await writer.finish(nil)
        }
    }
}
