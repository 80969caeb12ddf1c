#if Serve
internal import Foundation
internal import NIOCore
internal import Synchronization

/// A socket that is bound to the address of a server and does not listen, so that no client is accepted before it can
/// be answered.
final class BoundAddress: Sendable {
    /// The socket, or `nil` if it was taken.
    private let socket: Mutex<Int32?>

    /// - Throws: `IOError`, such as for a port that is in use, or `SocketAddressError`.
    init(host: String, port: Int) throws {
        let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
        let socket = Self.open(address.protocol)
        guard socket >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        self.socket = Mutex(socket)
        // The port of a server that has just ended can be bound again.
        var isReused: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        let status = address.withSockAddr { bind(socket, $0, socklen_t($1)) }
        guard status == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
    }

    deinit {
        if let socket = release() { close(socket) }
    }

    /// Returns the socket, which the caller closes.
    func take() throws -> Int32 {
        guard let socket = release() else { throw ChannelError.alreadyClosed }
        return socket
    }

    private func release() -> Int32? { socket.withLock { $0.take() } }

    private static func open(_ family: NIOBSDSocket.ProtocolFamily) -> Int32 {
        #if canImport(Glibc)
        Foundation.socket(family.rawValue, Int32(SOCK_STREAM.rawValue), 0)
        #else
        Foundation.socket(family.rawValue, SOCK_STREAM, 0)
        #endif
    }
}
#endif
