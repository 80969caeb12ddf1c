#if Serve
internal import Foundation
internal import Logging
internal import Metrics
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import TidelineServer
internal import TidelineStore

/// An HTTP server for a table service.
struct TableServer {
    /// Runs a closure, once, on another thread.
    typealias Schedule = @Sendable (@escaping @Sendable () -> Void) -> Void

    var host: String
    /// The port, or 0 to select a free port.
    var port: Int
    /// Finds out who sends requests, or `nil` for a server without a sign-in.
    var signIn: TokenVerifier?
    /// The URL under which a proxy serves the server, or `nil`.
    var publicURL: String?
    let limits: ServerLimits
    var logger: Logger
    /// The maximum number of reads that use the store concurrently. Other requests have as many threads of their own.
    var threadCount = 8
    /// The certificate of a server that speaks TLS, or `nil`.
    var identity: ServerIdentity?
    /// Whether pages are compressed for clients that accept it.
    var compresses = true
    /// The time from SIGTERM or SIGINT, after which the server is not ready, to the end of the listening.
    var drainTime = Duration.zero
    /// The time to finish the requests in flight after that.
    var shutdownTimeout = Duration.seconds(30)
    let connections: Connections
    let metrics: ServerMetrics
    /// The metrics for the page `/metrics`, or `nil` if it is not served.
    let prometheus: PrometheusMetrics?

    init(
        host: String, port: Int, limits: ServerLimits = ServerLimits(), logger: Logger, servesMetrics: Bool = false
    ) {
        self.host = host
        self.port = port
        self.limits = limits
        self.logger = logger
        prometheus = servesMetrics ? PrometheusMetrics(descriptions: ServerMetrics.descriptions) : nil
        let factory: any MetricsFactory = prometheus ?? NOOPMetricsHandler.instance
        connections = Connections(limits: limits, factory: factory)
        metrics = ServerMetrics(factory)
    }

    /// The function for ``TableServiceOptions/onCommit``.
    var onCommit: @Sendable (Int) -> Void { { [metrics] in metrics.committed($0) } }

    /// Serves until the process receives SIGTERM or SIGINT, and then finishes the requests in flight.
    /// - Parameters:
    ///   - service: The table service.
    ///   - address: The bound address, or `nil` to bind it now.
    ///   - onListening: Called with the URL once the server accepts connections.
    func run(
        _ service: TableService<some LocalStore>, on address: BoundAddress? = nil,
        onListening: @escaping @Sendable (String) -> Void
    ) async throws {
        let address = try address ?? bind()
        let allowed = OpenFiles.allow(connections: limits.maximumConnections)
        if allowed < limits.maximumConnections {
            logger.warning("the limit on open files (ulimit -n) allows only \(max(0, allowed)) connections")
        }
        let threads = NIOThreadPool(numberOfThreads: 2 * threadCount)
        threads.start()
        let responder = TableResponder(self, service: service) { body in
            // Also after the end of the threads, because a request waits for it.
            threads.submit { _ in body() }
        }
        let hangup = HangupSignal { [identity, logger] in Self.reload(identity, logger) }
        defer { _ = hangup }
        let outcome: Result<Void, any Error>
        do {
            async let signaling: Void = responder.signal.run()
            outcome = .success(try await runUntilSignal { try await serve(responder, on: address, onListening) })
            await signaling
        } catch {
            outcome = .failure(explained(error))
        }
        try await threads.shutdownGracefully()
        try outcome.get()
    }

    /// Accepts connections until some time after a graceful shutdown begins, and waits until they are closed.
    private func serve(
        _ responder: TableResponder<some LocalStore>, on address: BoundAddress, _ onListening: (String) -> Void
    ) async throws {
        // Connections are accepted as fast as requests are received, however many there are.
        let acceptor = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let listener: any Channel
        do {
            listener = try await bootstrap(acceptor).childChannelInitializer { setUp($0, responder) }
                .withBoundSocket(address.take()).get()
        } catch {
            try await acceptor.shutdownGracefully()
            throw error
        }
        onListening(Self.url(identity == nil ? "http" : "https", host: host, port: listener.localAddress?.port))
        try? await gracefulShutdown()
        responder.stopBeingReady()
        // A second signal ends it.
        if drainTime > .zero { try? await Task.sleep(for: drainTime) }
        try await listener.close()
        responder.signal.end()
        let end = connections.stop(on: MultiThreadedEventLoopGroup.singleton.any())
        try await withTaskCancellationHandler {
            try await end.get()
        } onCancel: {
            connections.close()
        }
        try await acceptor.shutdownGracefully()
    }

    private func bootstrap(_ acceptor: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: acceptor, childGroup: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 4_096)
            // Without free files, connections wait.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptBackoffHandler(shouldForwardIOErrorCaught: false))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
    }

    /// Performs a body that ends when a graceful shutdown begins, which SIGTERM or SIGINT cause. Cancels it if it takes
    /// too long after that.
    private func runUntilSignal(_ body: @escaping @Sendable () async throws -> Void) async throws {
        struct Body: Service {
            let run: @Sendable () async throws -> Void
            func run() async throws { try await run() }
        }
        var configuration = ServiceGroupConfiguration(
            services: [Body(run: body)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = drainTime + shutdownTimeout
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Reads the certificate again, after SIGHUP.
    private static func reload(_ identity: ServerIdentity?, _ logger: Logger) {
        guard let identity else { return logger.notice("SIGHUP has no effect on a server without a certificate") }
        do {
            try identity.reload()
            logger.notice("the certificate was read again")
        } catch {
            logger.error("the previous certificate remains in use: \(error)")
        }
    }

    /// Binds the address, before any file is created for the server. Clients are refused until it runs.
    ///
    /// - Throws: ``ToolError`` if it cannot.
    func bind() throws -> BoundAddress {
        do {
            return try BoundAddress(host: host, port: port)
        } catch {
            throw explained(error)
        }
    }

    /// Returns a listening error with an explanation for the user, and any other error unchanged.
    private func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as IOError: cannotListen(String(cString: strerror(error.errnoCode)))
        case let error as SocketAddressError.UnknownHost:
            cannotListen("\(error.host) is not an address of this machine")
        default: error
        }
    }

    private func cannotListen(_ reason: String) -> ToolError {
        ToolError("cannot listen on \(host) port \(port): \(reason)")
    }

    /// Returns the base URL for clients. An IPv6 address is enclosed in brackets.
    private static func url(_ scheme: String, host: String, port: Int?) -> String {
        "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)" + (port.map { ":\($0)" } ?? "")
    }
}
#endif
