#if AsyncHTTPClient
import HTTPTypes
import Testing
import Tideline

/// Connections that are kept open between requests, and that the server closes without notice.
@Suite("Transports: closed connections", .timeLimit(.minutes(15)))
struct ClosedConnectionTests {
    private static let body = Array("[]".utf8)

    private func request(_ method: HTTPRequest.Method, port: Int) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: "/tables/T")
    }

    /// Returns a server that closes the connection in place of a response to the requests with the given numbers.
    private func server(closingAt numbers: ClosedRange<Int>) -> SocketServer {
        SocketServer { numbers.contains($0.number) ? .raw([], closes: true) : .whole(body: Self.body) }
    }

    @Test("A read is sent once more, on a new connection", arguments: TransportKind.facingHostileServers)
    func repeatsReads(kind: TransportKind) async throws {
        let server = server(closingAt: 2...2)
        try await server.serve { port in
            let transport = kind.makeTransport()
            for _ in 1...2 {
                let answer = try await transport.send(request(.get, port: port), body: nil, timeout: .seconds(300))
                #expect(answer.body == Self.body)
            }
        }
        #expect(server.requests == 3)
    }

    @Test(
        "A read is sent once more at most, and a write that was sent never",
        arguments: [(HTTPRequest.Method.get, 3), (.post, 2), (.patch, 2), (.put, 2), (.delete, 2)])
    func repeatsOnce(method: HTTPRequest.Method, requests: Int) async throws {
        let server = server(closingAt: 2...9)
        try await server.serve { port in
            let transport = TransportKind.asyncHTTPClient.makeTransport()
            let sent = request(method, port: port)
            _ = try await transport.send(sent, body: Self.body, timeout: .seconds(300))
            let error = await #expect(throws: TransportError.self) {
                try await transport.send(sent, body: Self.body, timeout: .seconds(300))
            }
            #expect(error?.code == .connection, "\(String(describing: error))")
        }
        #expect(server.requests == requests)
    }

    @Test("A server that closes each connection after its response, without notice, receives every read")
    func closesAfterEachResponse() async throws {
        let server = SocketServer { _ in
            var answer = SocketServer.Answer.whole(body: Self.body)
            answer.closes = true
            return answer
        }
        try await server.serve { port in
            let transport = TransportKind.asyncHTTPClient.makeTransport()
            for _ in 1...200 {
                let answer = try await transport.send(request(.get, port: port), body: nil, timeout: .seconds(300))
                #expect(answer.body == Self.body)
                do {
                    _ = try await transport.send(request(.post, port: port), body: Self.body, timeout: .seconds(300))
                } catch let error as TransportError {
                    // The write may have been sent. One that was not is sent on a new connection.
                    #expect(error.code == .connection && !error.message.contains("closed channel"), "\(error)")
                }
            }
        }
    }
}
#endif
