internal import Foundation
internal import Hummingbird
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
    var maximumBodySize: Int
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
        let application = Application(
            responder: TableResponder(service: service, threads: threads, maximumBodySize: maximumBodySize),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [host] channel in
                onListening(Self.url(host: host, port: channel.localAddress?.port))
            },
            logger: logger
        )
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await application.runService())
        } catch let error as IOError {
            outcome = .failure(cannotListen(String(cString: strerror(error.errnoCode))))
        } catch let error as SocketAddressError.UnknownHost {
            outcome = .failure(cannotListen("\(error.host) is no address of this machine"))
        } catch {
            outcome = .failure(error)
        }
        try await threads.shutdownGracefully()
        try outcome.get()
    }

    private func cannotListen(_ reason: String) -> ToolError {
        ToolError("cannot listen on \(host) port \(port): \(reason)")
    }

    /// The base URL for clients; an IPv6 address stands in brackets.
    private static func url(host: String, port: Int?) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host)" + (port.map { ":\($0)" } ?? "")
    }
}
