#if AsyncHTTPClient
import NIOCore
import NIOPosix
import Synchronization

/// A server that reads one request at a time from a socket and sends the bytes given by the test, valid or not.
struct SocketServer {
    /// One received request.
    struct Request: Sendable {
        /// The request line and the header lines.
        var head: [String]
        var body: [UInt8]
        /// The position among the requests to the server, from 1.
        var number = 0

        var target: String { String(head[0].split(separator: " ")[1]) }

        func header(_ name: String) -> String? {
            head.dropFirst().first { $0.lowercased().hasPrefix(name + ":") }
                .map { $0.dropFirst(name.count + 1).drop { $0 == " " } }.map(String.init)
        }
    }

    /// The bytes of a response, and whether the connection is closed after it.
    struct Answer: Sendable {
        var bytes: [UInt8]
        var closes = false
        /// The bytes sent repeatedly until the client closes the connection, and the pause before each repetition.
        var repeated: (bytes: [UInt8], pause: Duration)?

        /// Returns this response followed by `bytes`, repeated up to ``SocketServer/limit`` bytes in total.
        func followed(by bytes: some Sequence<UInt8>, every pause: Duration = .zero) -> Answer {
            var answer = self
            answer.repeated = (Array(bytes), pause)
            return answer
        }

        /// Makes a response of these bytes. The connection stays open unless `closes` is true.
        static func raw(_ bytes: some Sequence<UInt8>, closes: Bool = false) -> Answer {
            Answer(bytes: Array(bytes), closes: closes)
        }

        /// Makes a complete response with its length.
        static func whole(_ status: String = "200 OK", headers: [String] = [], body: [UInt8] = []) -> Answer {
            let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)"] + headers
            return raw(Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8) + body)
        }
    }

    /// Returns the response to a request.
    let answer: @Sendable (Request) -> Answer
    private let counts = Counts()

    /// The maximum number of bytes sent in one endless response, so that a client that reads them all does not fill the
    /// memory.
    static let limit = 128 << 20

    private final class Counts: Sendable {
        let sent = Mutex(0)
        let requests = Mutex(0)
    }

    /// The number of bytes of endless responses sent so far.
    var bytesSent: Int { counts.sent.withLock { $0 } }
    /// The number of requests received so far.
    var requests: Int { counts.requests.withLock { $0 } }

    init(_ answer: @escaping @Sendable (Request) -> Answer) { self.answer = answer }

    /// Serves on a free port of the loopback interface while `body`, which receives the port, runs.
    func serve<R: Sendable>(_ body: @escaping @Sendable (Int) async throws -> R) async throws -> R {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections are read once they are served. Those that are accepted last may not be.
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0) { channel in channel.eventLoop.makeSucceededFuture(channel) }
        let port = listener.channel.localAddress?.port ?? 0
        return try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask { [self] in
                try await listener.executeThenClose { connections in
                    await withTaskGroup(of: Void.self) { inner in
                        do {
                            for try await connection in connections {
                                inner.addTask { try? await serve(connection) }
                            }
                        } catch {}
                        inner.cancelAll()
                    }
                }
                return nil
            }
            group.addTask { try await body(port) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func serve(_ channel: any Channel) async throws {
        let connection = try await channel.eventLoop.submit {
            try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }.get()
        try await channel.setOption(.autoRead, value: true).get()
        try await connection.executeThenClose { inbound, outbound in
            var received: [UInt8] = []
            for try await part in inbound {
                received.append(contentsOf: part.readableBytesView)
                guard var request = Self.takeRequest(from: &received) else { continue }
                request.number = counts.requests.withLock { count in
                    count += 1
                    return count
                }
                let reply = answer(request)
                try await outbound.write(ByteBuffer(bytes: reply.bytes))
                if let (bytes, pause) = reply.repeated {
                    try await send(bytes, every: pause, to: outbound)
                    return
                }
                if reply.closes { return }
            }
        }
    }

    /// Sends the bytes until the client closes the connection or the limit is reached.
    private func send(
        _ bytes: [UInt8], every pause: Duration, to outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        var sent = 0
        while sent < Self.limit {
            try await Task.sleep(for: pause)
            try await outbound.write(ByteBuffer(bytes: bytes))
            sent += bytes.count
            counts.sent.withLock { $0 += bytes.count }
        }
    }

    /// Removes and returns the first request in the received bytes, or returns `nil` if it is incomplete.
    private static func takeRequest(from received: inout [UInt8]) -> Request? {
        // A TLS client hello is answered like a request, as by a server without TLS.
        if received.first == 0x16 {
            received.removeAll()
            return Request(head: ["TLS hello HTTP/1.1"], body: [])
        }
        guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        var request = Request(head: head.map(String.init), body: [])
        let length = request.header("content-length").flatMap { Int($0) } ?? 0
        guard received.count >= end.upperBound + length else { return nil }
        request.body = Array(received[end.upperBound..<end.upperBound + length])
        received.removeFirst(end.upperBound + length)
        return request
    }
}
#endif
