#if PostgreSQL && Tool
import Foundation
import Synchronization
import TidelineTestSupport

/// A proxy on a port of this machine before a PostgreSQL server. It can stop forwarding, as a network that is cut does:
/// connections stay open, and nothing arrives.
///
/// `@unchecked Sendable`: the condition guards all variables.
final class SilentProxy: @unchecked Sendable {
    /// The connections on which nothing arrives.
    enum Cut: Sendable { case nothing, openConnections, allConnections }

    let port: Int
    private let listener: Int32
    private let socketPath: String
    private let condition = NSCondition()
    private var cut = Cut.nothing
    private var isEnded = false
    private var connectionCount = 0
    /// The number of the last connection before the cut.
    private var lastCut = 0
    private var descriptors: [Int32]

    /// - Parameter folder: The folder of the server's socket.
    init(to folder: String) throws {
        let listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 100) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard bound else { throw CocoaError(.fileReadUnknown) }
        port = Int(UInt16(bigEndian: address.sin_port))
        socketPath = "\(folder)/.s.PGSQL.5432"
        (self.listener, descriptors) = (listener, [listener])
        Thread.detachNewThread { self.accept() }
    }

    /// Cuts connections, or lets what was held arrive.
    func set(_ cut: Cut) {
        condition.withLock {
            self.cut = cut
            lastCut = connectionCount
            condition.broadcast()
        }
    }

    func end() {
        condition.withLock {
            isEnded = true
            condition.broadcast()
            for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    private func accept() {
        while true {
            let client = Foundation.accept(listener, nil, nil)
            guard client >= 0 else { return }
            let server = socket(AF_UNIX, streamSocket, 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
            _ = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            let number = condition.withLock {
                connectionCount += 1
                descriptors += [client, server]
                return connectionCount
            }
            Thread.detachNewThread { self.forward(from: client, to: server, number) }
            Thread.detachNewThread { self.forward(from: server, to: client, number) }
        }
    }

    private func forward(from source: Int32, to target: Int32, _ number: Int) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &bytes, bytes.count, 0)
            let isOpen = condition.withLock {
                while !isEnded, cut == .allConnections || cut == .openConnections && number <= lastCut {
                    condition.wait()
                }
                return !isEnded
            }
            guard isOpen, count > 0, send(target, bytes, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(target, Int32(SHUT_RDWR))
    }
}

private var streamSocket: Int32 {
    #if canImport(Glibc)
    Int32(SOCK_STREAM.rawValue)
    #else
    SOCK_STREAM
    #endif
}
#endif
