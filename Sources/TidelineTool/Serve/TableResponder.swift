#if Serve
internal import Foundation
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import Synchronization
internal import TidelineServer
internal import TidelineStore

/// Decides which requests of a server are admitted, passes them to the table service, and returns its responses.
final class TableResponder<Store: LocalStore>: Sendable {
    private let server: TableServer
    private let service: TableService<Store>
    let signal: ChangeSignal<Store>
    /// The memory available for the bodies of requests.
    let bodies: SharedBudget
    /// The memory available for responses until their clients receive them.
    let responses: SharedBudget
    /// The memory available for small responses that find none in ``responses``.
    let smallResponses: SharedBudget
    /// The places of clients that wait for changes.
    private let waitingClients: SharedBudget
    /// The limit on the requests of each address, or `nil`.
    private let rate: RequestRate?
    private let pageGuard: LocalPageGuard?
    private let refusals: RefusalLog
    /// Runs a closure on a thread that may block: store calls wait for disks and locks.
    private let schedule: TableServer.Schedule
    private let reads: ReadQueue
    private let sizes = ExpectedSizes()
    private let isStopping = Atomic(false)

    init(_ server: TableServer, service: TableService<Store>, schedule: @escaping TableServer.Schedule) {
        self.server = server
        self.service = service
        self.schedule = schedule
        let limits = server.limits
        let reads = ReadQueue(
            maximumRunning: server.threadCount, maximumWaiting: limits.maximumWaitingReads, schedule: schedule)
        self.reads = reads
        signal = ChangeSignal(
            service,
            options: ChangeSignalOptions(
                maximumWaitingClients: limits.maximumWaitingClients,
                schedule: { body in
                    let read = ReadQueue.Read(.single, of: CurrentSharer.value, isLimited: false, orRefuse: {}) {
                        body()
                        return true
                    }
                    reads.append(read)
                }))
        bodies = SharedBudget(limit: limits.maximumBodiesSize, minimum: limits.maximumBodySize)
        func responses(_ size: Int) -> SharedBudget {
            SharedBudget(limit: size, minimum: size / 32, stallTimeout: limits.stallTimeout)
        }
        self.responses = responses(limits.maximumResponsesSize)
        smallResponses = responses(limits.maximumResponsesSize / 16)
        waitingClients = SharedBudget(limit: limits.maximumWaitingClients, minimum: ServerLimits.maximumStreams)
        rate = server.limits.maximumRate.map(RequestRate.init)
        pageGuard = server.signIn == nil ? LocalPageGuard(host: server.host, publicURL: server.publicURL) : nil
        refusals = RefusalLog(server.logger)
    }

    // MARK: Admission

    /// The decision about a request before its body is received.
    enum Admission: Sendable {
        case admitted(Caller)
        case refused(ServerResponse)
    }

    /// Decides whether the body of a request is received. A refused request takes no memory for it.
    func admission(of request: ReceivedRequest, on loop: any EventLoop) -> EventLoopFuture<Admission> {
        if request.path == ServerPage.health.rawValue { return loop.makeSucceededFuture(.admitted(.anonymous)) }
        if let refusal = refusal(of: request) { return loop.makeSucceededFuture(.refused(refusal)) }
        guard let signIn = server.signIn, ServerPage(rawValue: request.path) == nil else {
            return loop.makeSucceededFuture(.admitted(.anonymous))
        }
        return loop.makeFutureWithTask {
            do throws(TokenVerifier.Refusal) {
                let caller = try await signIn.caller(of: request.head.headerFields)
                if let refusal = self.refusal(of: request, from: caller) { return .refused(refusal) }
                return .admitted(caller)
            } catch {
                return .refused(error.isTemporary ? .unavailable(error.reason) : .signInFailed(error.reason))
            }
        }
    }

    private func refusal(of request: ReceivedRequest) -> ServerResponse? {
        if let rate, let delay = rate.delay(of: request.address?.ipAddress ?? "") {
            var response = ServerResponse(.tooManyRequests, "too many requests from this address; try again later")
            response.head.headerFields[.retryAfter] = "\(delay)"
            return response
        }
        // A proxy may ask for the readiness without a host, and a page learns nothing from it.
        if request.path != ServerPage.ready.rawValue, let reason = pageGuard?.refusal(of: request.head) {
            return ServerResponse(.forbidden, reason)
        }
        if let encoding = request.head.headerFields[.contentEncoding], encoding.lowercased() != "identity" {
            return ServerResponse(
                .unsupportedMediaType, "the body is compressed (\(encoding)); send it without Content-Encoding")
        }
        guard request.path.utf8.count <= server.limits.maximumQuerySize else {
            return ServerResponse(
                .uriTooLong, "the path and query are longer than \(server.limits.maximumQuerySize) bytes")
        }
        let length = request.head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        return length <= server.limits.maximumBodySize ? nil : tooLarge
    }

    /// Returns the response to a request with a body that the service would refuse whatever the body is, or `nil`.
    private func refusal(of request: ReceivedRequest, from caller: Caller) -> ServerResponse? {
        guard usesBody(of: request), let answer = service.refusal(of: request.head, caller: caller) else { return nil }
        log(answer, to: request, after: .now - request.began)
        return ServerResponse(answer)
    }

    /// Returns whether the body of a request is used. If not, it is discarded as it arrives, and takes no memory.
    func usesBody(of request: ReceivedRequest) -> Bool {
        request.head.method != .get && ServerPage(rawValue: request.path) == nil && !isUserPage(request)
            && !ChangeSignal<Store>.handles(request.head)
    }

    private var tooLarge: ServerResponse {
        ServerResponse(.contentTooLarge, "the body is larger than \(server.limits.maximumBodySize) bytes")
    }

    /// Reserves memory for the next bytes of a body, which the caller releases with the body.
    ///
    /// - Returns: The response to a request whose body is refused, or `nil`.
    func refusal(of count: Int, after size: Int, from sharer: Sharer) -> ServerResponse? {
        guard count <= server.limits.maximumBodySize - size else { return tooLarge }
        guard bodies.reserve(count, for: sharer) else {
            return .unavailable("the memory for the bodies of requests in flight is used up; try again later")
        }
        return nil
    }

    // MARK: Responses

    /// Responds to a request, by keeping a promise on any thread.
    ///
    /// - Returns: A closure that ends the wait of a request, for changes or for a thread, to be called when its client
    ///   goes away. The promise is kept then, too.
    func respond(
        to request: ReceivedRequest, body: [UInt8], _ response: EventLoopPromise<ServerResponse>
    ) -> (() -> Void)? {
        if request.path == ServerPage.ready.rawValue {
            return readiness(request, response)
        } else if let page = page(request) {
            response.succeed(reserve(.init(of: request.sharer), for: page))
        } else if ChangeSignal<Store>.handles(request.head) {
            let sharer = request.sharer
            guard let place = WaitingPlace(of: sharer, in: waitingClients) else {
                response.succeed(.unavailable("too many clients wait for changes; try again later"))
                return nil
            }
            let task = response.completeWithTask {
                let response = await CurrentSharer.$value.withValue(sharer) {
                    await self.signal.respond(to: request.head, caller: request.caller)
                }
                if case .answer(let answer) = response, answer.failureReason != nil {
                    self.log(answer, to: request, after: .now - request.began)
                }
                return ServerResponse(response, to: place)
            }
            return { task.cancel() }
        } else {
            return handle(request, body, response)
        }
        return nil
    }

    /// Reserves memory for a large response until its client receives it.
    ///
    /// - Parameter memory: The memory, with what was reserved before the response was known.
    /// - Returns: The response with its memory, or the one to send instead if there is none.
    private func reserve(_ memory: SharedBudget.Part, for response: ServerResponse) -> ServerResponse {
        let size = ServerLimits.memory(ofResponse: response.size)
        guard size > 0 else {
            responses.release(memory)
            return response
        }
        guard responses.reserve(size, for: memory) else { return Self.memoryIsUsedUp }
        var response = response
        response.memory = memory
        return response
    }

    private static var memoryIsUsedUp: ServerResponse {
        .unavailable("the memory for responses that clients have not received is used up; try again later")
    }

    /// Returns the headers of a response, and records it in the metrics.
    func completed(_ response: ServerResponse, of request: ReceivedRequest) -> HTTPResponse {
        var head = response.head
        head.headerFields[RequestID.field] = request.id
        let status = head.status.code
        refusals.note(status, to: request)
        server.metrics.answered(
            request.head.method, status, table: table(of: request, answeredWith: status),
            after: .now - request.began)
        return head
    }

    /// Returns the table of a request, if it is known to exist. The pages of one yet to be created are empty.
    private func table(of request: ReceivedRequest, answeredWith status: Int) -> String? {
        guard status < 400 || status == 409 || status == 412, let name = Self.table(in: request.path),
            service.hasTable(name)
        else { return nil }
        return name
    }

    /// Passes a request to the service, which commits writes together that wait at the same time. Reads wait for a
    /// thread.
    ///
    /// - Returns: As ``respond(to:body:_:)``. The connection of a client that went away can be half-closed; a client
    ///   that has closed only its output is asked to try again.
    private func handle(
        _ request: ReceivedRequest, _ body: [UInt8], _ response: EventLoopPromise<ServerResponse>
    ) -> (() -> Void)? {
        var head = request.head
        if server.identity != nil { head.scheme = "https" }
        let compresses = server.compresses && head.method == .get && Gzip.isAccepted(by: head.headerFields)
        let began = ContinuousClock.now
        let memory = SharedBudget.Part(of: request.sharer)
        let finish = { @Sendable (answer: TableResponse) in
            let answer = compresses ? Gzip.compress(answer) : answer
            self.log(answer, to: request, after: .now - began)
            // Now, and not when the thread of the connection has time for it.
            response.succeed(self.reserve(memory, for: ServerResponse(answer)))
        }
        guard head.method == .get else {
            service.handle(head, body: body, caller: request.caller, schedule: schedule, completion: finish)
            return nil
        }
        return read(Self.kind(of: request), request, response) { [service, sizes, head] in
            guard self.responses.reserve(sizes[request], for: memory) else {
                response.succeed(Self.memoryIsUsedUp)
                return false
            }
            let answer = service.handle(head, body: body, caller: request.caller)
            sizes[request] = ServerLimits.memory(ofResponse: answer.body.count)
            finish(answer)
            return true
        }
    }

    /// Runs a read on a thread, when it is its turn.
    ///
    /// - Returns: A closure that ends the wait.
    private func read(
        _ kind: ReadQueue.Read.Kind, _ request: ReceivedRequest, _ response: EventLoopPromise<ServerResponse>,
        _ run: @escaping @Sendable () -> Bool
    ) -> () -> Void {
        let refuse = { @Sendable in
            response.succeed(.unavailable("too many reads wait for the store; try again later"))
        }
        let read = ReadQueue.Read(kind, of: request.sharer, orRefuse: refuse, run)
        reads.append(read)
        return { [reads] in
            if reads.remove(read) { refuse() }
        }
    }

    /// Logs failures of the store or the server, and for debugging all responses.
    private func log(_ answer: TableResponse, to request: ReceivedRequest, after duration: Duration) {
        let status = answer.response.status.code
        let level: Logger.Level = status < 500 ? .debug : status == 503 ? .warning : .error
        guard level >= server.logger.logLevel else { return }
        var metadata: Logger.Metadata = [
            "request": "\(request.id)", "method": "\(request.head.method)", "path": "\(request.path)",
            "status": "\(status)", "bytes": "\(answer.body.count)", "seconds": "\(duration / .seconds(1))",
        ]
        if let trace = TraceParent.traceID(in: request.head.headerFields) { metadata["trace"] = "\(trace)" }
        if let reason = answer.failureReason { metadata["reason"] = "\(reason)" }
        server.logger.log(level: level, "answered", metadata: metadata)
    }

    // MARK: Pages for operators

    /// The path at which clients check whether they are signed in, as in the original back ends.
    private static var userPath: String { "/.auth/me" }

    /// Returns a page that does not belong to a table and needs no thread, or `nil` for another path.
    private func page(_ request: ReceivedRequest) -> ServerResponse? {
        switch ServerPage(rawValue: request.path) {
        case .health: return ServerResponse(page: "ok\n")
        case .metrics:
            server.metrics.waiting(signal.waitingClientCount)
            return server.prometheus.map {
                ServerResponse(page: $0.page, type: "text/plain; version=0.0.4; charset=utf-8")
            }
        case nil where isUserPage(request): return Self.user(request)
        case .ready, nil: return nil
        }
    }

    private func isUserPage(_ request: ReceivedRequest) -> Bool {
        server.signIn != nil && request.path.prefix { $0 != "?" } == Self.userPath
    }

    /// Answers requests for the readiness with 503 from now on: the server is about to stop.
    func stopBeingReady() { isStopping.store(true, ordering: .relaxed) }

    private func readiness(_ request: ReceivedRequest, _ response: EventLoopPromise<ServerResponse>) -> (() -> Void)? {
        guard !isStopping.load(ordering: .relaxed) else {
            response.succeed(.unavailable("the server is about to stop"))
            return nil
        }
        guard let signIn = server.signIn else {
            return read(.single, request, response) { self.readReadiness(response) }
        }
        Task {
            guard await signIn.isReady else {
                return response.succeed(.unavailable("the keys of the identity provider were never read"))
            }
            _ = self.read(.single, request, response) { self.readReadiness(response) }
        }
        return nil
    }

    private func readReadiness(_ response: EventLoopPromise<ServerResponse>) -> Bool {
        do {
            try service.checkStore()
            response.succeed(ServerResponse(page: "ready\n"))
        } catch {
            // Everyone can read the response, and the reason can name files and databases.
            server.logger.warning("not ready", metadata: ["reason": "\(error)"])
            response.succeed(
                .unavailable("the store cannot be read or written; the reason is in the log of the server"))
        }
        return true
    }

    /// Returns the response with the identifier of the user, or 401.
    private static func user(_ request: ReceivedRequest) -> ServerResponse {
        guard request.head.method == .get || request.head.method == .head else {
            return ServerResponse(.methodNotAllowed, "\(userPath) supports only GET")
        }
        guard let userID = request.caller.userID else {
            return .signInFailed("no user is signed in; send a token in the header Authorization")
        }
        return ServerResponse(.ok, object: ["userId": userID])
    }

    /// Returns what the time of a GET request for a path such as `/tables/Item/1?…` depends on.
    private static func kind(of request: ReceivedRequest) -> ReadQueue.Read.Kind {
        let path = request.path.utf8.prefix { $0 != UInt8(ascii: "?") }
        return path.count { $0 == UInt8(ascii: "/") } > 2 ? .single : .page(String(Substring(path)))
    }

    /// Returns the name of the table in a path such as `/tables/Item/1?…`.
    private static func table(in path: String) -> String? {
        guard path.hasPrefix("/tables/") else { return nil }
        return path.dropFirst("/tables/".count).prefix { $0 != "/" && $0 != "?" }.removingPercentEncoding
    }
}

/// The sizes of large responses that were read, which the same requests of their senders are expected to have again.
private final class ExpectedSizes: Sendable {
    private static var maximumCount: Int { 4_096 }

    /// By a hash value of the path and the sender.
    private let sizes = Mutex<[Int: Int]>([:])

    /// The size of a response in bytes, or 0 for a small or unknown one.
    subscript(request: ReceivedRequest) -> Int {
        get { sizes.withLock { $0.isEmpty ? 0 : $0[Self.key(of: request), default: 0] } }
        set {
            sizes.withLock { sizes in
                guard newValue > 0 || !sizes.isEmpty else { return }
                if sizes.count >= Self.maximumCount { sizes.removeAll() }
                sizes[Self.key(of: request)] = newValue > 0 ? newValue : nil
            }
        }
    }

    private static func key(of request: ReceivedRequest) -> Int {
        var hasher = Hasher()
        hasher.combine(request.path)
        hasher.combine(request.sharer.group)
        return hasher.finalize()
    }
}

/// The pages for operators, which need no sign-in.
private enum ServerPage: String {
    case health = "/.health"
    case ready = "/.ready"
    case metrics = "/metrics"
}
#endif
