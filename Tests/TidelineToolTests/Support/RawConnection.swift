#if Tool
import Dispatch
import Foundation
import Testing
import TidelineTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A byte-level connection to a local server, for clients that an HTTP library cannot imitate.
///
/// Its calls block for at most ``WaitLimit/seconds``. ``blocking(_:)`` keeps them off the threads of the server.
final class RawConnection: Sendable {
    private let socket: Int32

    struct Failure: Error {
        var call: String
        var number: Int32
    }

    /// - Parameters:
    ///   - authority: `127.0.0.1:PORT`, alone or after `http://`.
    ///   - text: The text to send at once.
    ///   - sendLimit: The maximum time in seconds to wait until the server accepts bytes.
    init(_ authority: String, sending text: String = "", sendLimit: Int = Int(WaitLimit.seconds)) throws {
        let port = try #require(authority.split(separator: ":").last.flatMap { UInt16($0) })
        socket = Self.open()
        try Self.require(socket >= 0, "socket")
        for (option, seconds) in [(SO_RCVTIMEO, Int(WaitLimit.seconds)), (SO_SNDTIMEO, sendLimit)] {
            var limit = timeval(tv_sec: seconds, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
        }
        try Self.require(status == 0, "connect")
        send(text)
    }

    deinit { close(socket) }

    private static func open() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    private static func require(_ holds: Bool, _ call: String) throws {
        guard holds else { throw Failure(call: call, number: errno) }
    }

    /// Sends as many bytes as the server accepts.
    ///
    /// - Returns: Whether the server accepted all of them.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Tells the server that nothing more will be sent.
    func closeOutput() { shutdown(socket, Int32(SHUT_WR)) }

    /// Returns the text received until the server ends the connection.
    func receiveToEnd() throws -> String { String(decoding: try receiveBytesToEnd(), as: UTF8.self) }

    /// Returns the bytes received until the server ends the connection.
    func receiveBytesToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try receive() { bytes += piece }
        return bytes
    }

    /// Returns the next response, once it is complete. Its body must have a known length.
    func receiveAnswer() throws -> RawAnswer {
        var text: [UInt8] = []
        while true {
            if let answer = RawAnswer(String(decoding: text, as: UTF8.self)), answer.isComplete { return answer }
            guard let piece = try receive() else { throw Failure(call: "end of connection", number: 0) }
            text += piece
        }
    }

    /// Returns the text received until it contains all of the given texts.
    func receive(until parts: String...) throws -> String {
        var text = ""
        while !parts.allSatisfy({ text.contains($0) }) {
            guard let piece = try receive() else { throw Failure(call: "end of connection", number: 0) }
            text += String(decoding: piece, as: UTF8.self)
        }
        return text
    }

    /// Returns whether bytes arrive, or the connection ends, within the given number of milliseconds.
    func waits(milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) > 0
    }

    private func receive() throws -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        try Self.require(count >= 0, "recv")
        return count == 0 ? nil : Array(buffer[..<count])
    }

    /// Returns the text of a request of the table protocol without a body. Each header ends with a line break.
    static func get(_ path: String, headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nZUMO-API-VERSION: 2.0.0\r\n\(headers)\r\n"
    }

    /// Sends a request on a connection of its own, and returns the response.
    static func answer(of authority: String, to request: String) async throws -> RawAnswer {
        try await blocking { try RawConnection(authority, sending: request).receiveAnswer() }
    }

    /// Runs blocking code on its own thread.
    static func blocking<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// A response as received.
struct RawAnswer: Sendable {
    let status: Int
    let headers: [String: String]
    let body: String

    /// Returns `nil` if the text does not contain a complete response head.
    init?(_ text: String) {
        guard let split = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<split.lowerBound].components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else { return nil }
        self.status = status
        let fields = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        headers = Dictionary(fields) { $1 }
        body = String(text[split.upperBound...])
    }

    var isComplete: Bool { headers["content-length"].flatMap { Int($0) } == body.utf8.count }

    /// The reason in `{"error": "…"}`.
    var error: String? {
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String]
        return object?["error"]
    }
}
#endif
