internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TidelineServer
internal import TidelineStore

/// An HTTP server for a table service.
struct TableServer {
    var host: String
    /// The port, or 0 to select a free port.
    var port: Int
    var limits = ServerLimits()
    /// Finds out who sends requests, or `nil` for a server without a sign-in.
    var signIn: TokenVerifier?
    var logger: Logger
    /// The maximum number of requests that use the store concurrently.
    var threadCount = 8

    /// Serves until the process receives SIGTERM or SIGINT, and then finishes the requests in flight.
    /// - Parameters:
    ///   - service: The table service.
    ///   - onListening: Called with the URL once the server accepts connections.
    func run(
        _ service: TableService<some LocalStore>, onListening: @escaping @Sendable (String) -> Void
    ) async throws {
        let threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
        let bodies = BodyBudget(limit: limits.maximumBodiesSize)
        let signal = ChangeSignal(service, options: changeSignalOptions(threads))
        let application = Application(
            responder: TableResponder(
                service: service, signal: signal, threads: threads, limits: limits, bodies: bodies, signIn: signIn),
            server: HTTPServerBuilder { [limits] in
                GuardedChannel(limits: limits, responder: $0, onShutdown: { signal.end() })
            },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [host] channel in
                onListening(Self.url(host: host, port: channel.localAddress?.port))
            },
            logger: logger
        )
        let outcome: Result<Void, any Error>
        do {
            async let signaling: Void = signal.run()
            outcome = .success(try await application.runService())
            signal.end()
            await signaling
        } catch {
            outcome = .failure(explained(error))
        }
        try await threads.shutdownGracefully()
        try outcome.get()
    }

    private func changeSignalOptions(_ threads: NIOThreadPool) -> ChangeSignalOptions {
        ChangeSignalOptions(
            maximumWaitingClients: limits.maximumWaitingClients,
            // A closure runs also after the end of the threads, because its caller waits for it.
            schedule: { body in threads.submit { _ in body() } })
    }

    /// Checks that the server can listen on the address, before any file is created for it.
    ///
    /// - Throws: ``ToolError`` if it cannot.
    func requireAddress() async throws {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: host, port: port).get()
            try await channel.close()
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
    private static func url(host: String, port: Int?) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host)" + (port.map { ":\($0)" } ?? "")
    }
}
