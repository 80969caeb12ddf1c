internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import TidelineServer
internal import TidelineStore

/// A table service behind a socket.
struct TableServer {
    var host: String
    /// 0 for any free port.
    var port: Int
    var limits = ServerLimits()
    var logger: Logger
    /// How many requests work on the store at once.
    var threadCount = 8

    /// Serves until the process gets SIGTERM or SIGINT; requests in flight are finished then.
    /// - Parameters:
    ///   - service: What answers.
    ///   - onListening: Called with the URL once connections are accepted.
    func run(
        _ service: TableService<some LocalStore>, onListening: @escaping @Sendable (String) -> Void
    ) async throws {
        let threads = NIOThreadPool(numberOfThreads: threadCount)
        threads.start()
        let bodies = BodyBudget(limit: limits.maximumBodiesSize)
        let application = Application(
            responder: TableResponder(service: service, threads: threads, limits: limits, bodies: bodies),
            server: HTTPServerBuilder { [limits] in GuardedChannel(limits: limits, responder: $0) },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [host] channel in
                onListening(Self.url(host: host, port: channel.localAddress?.port))
            },
            logger: logger
        )
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await application.runService())
        } catch {
            outcome = .failure(explained(error))
        }
        try await threads.shutdownGracefully()
        try outcome.get()
    }

    /// Checks that the address can be listened on, before anything is made for a server that could not.
    ///
    /// - Throws: ``ToolError``.
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

    /// An error of listening with what a person needs to know; any other as it is.
    private func explained(_ error: any Error) -> any Error {
        switch error {
        case let error as IOError: cannotListen(String(cString: strerror(error.errnoCode)))
        case let error as SocketAddressError.UnknownHost:
            cannotListen("\(error.host) is no address of this machine")
        default: error
        }
    }

    private func cannotListen(_ reason: String) -> ToolError {
        ToolError("cannot listen on \(host) port \(port): \(reason)")
    }

    /// The base URL for clients; an IPv6 address stands in brackets.
    private static func url(host: String, port: Int?) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host)" + (port.map { ":\($0)" } ?? "")
    }
}
