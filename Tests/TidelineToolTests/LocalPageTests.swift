#if Tool
import HTTPTypes
import Testing
import TidelineServer

@testable import TidelineTool

/// Requests that a web page, or something that is not a client, makes to a server on this machine.
@Suite("Requests of web pages")
struct LocalPageTests {
    /// Headers, and the status of an insert with them.
    private static let local = [
        ("Host: localhost", 201), ("Host: LOCALHOST:80", 201), ("Host: 127.0.0.1:8080", 201), ("Host: [::1]:8080", 201),
        ("Host: app.localhost\r\nOrigin: http://app.localhost", 201),
        ("Host: localhost:80\r\nOrigin: https://localhost:80", 201),
        ("Host: localhost\r\nOrigin: https://evil.test", 403),
        ("Host: localhost\r\nOrigin: http://localhost:3000", 403),
        ("Host: localhost\r\nOrigin: null", 403), ("Host: evil.test", 403), ("Host: 127.0.0.1.evil.test", 403),
        ("Host: localhost@evil.test", 403), ("Host: 10.0.0.1", 403), ("Host: ", 403),
    ]
    private static let anywhere = [
        ("X: 1", 400), ("Host: localhost\r\nHost: localhost", 400),
        ("Host: localhost\r\nContent-Encoding: gzip", 415),
        ("Host: localhost\r\nContent-Encoding: identity", 201),
        ("Host: localhost\r\nContent-Type: text/plain", 415),
        ("Host: localhost\r\nContent-Type: application/x-www-form-urlencoded", 415),
    ]

    @Test(
        "A web page cannot use a server without a sign-in, and invalid requests get a reason",
        arguments: local + anywhere)
    func headers(_ headers: String, _ status: Int) async throws {
        try await serving { authority in
            let request =
                "POST /tables/T HTTP/1.1\r\n\(headers)\r\nZUMO-API-VERSION: 2.0.0\r\nContent-Length: 2\r\n\r\n{}"
            let answer = try await RawConnection.answer(of: authority, to: request)
            #expect(answer.status == status)
            #expect((answer.error == nil) == (status == 201))
            let rows = try await send(.get, "/tables/T?$inlinecount=allpages", to: authority)
            let count = status == 201 ? 1 : 0
            #expect(String(decoding: rows.body, as: UTF8.self).contains("\"count\":\(count)"))
        }
    }

    @Test("The host that a proxy serves is accepted, and a server that others can reach accepts any")
    func publicHost() {
        func isRefused(_ host: String, by server: String, publicURL: String? = nil) -> Bool {
            let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
            return LocalPageGuard(host: server, publicURL: publicURL)?.refusal(of: head) != nil
        }
        #expect(!isRefused("Example.com", by: "127.0.0.1", publicURL: "https://example.com/api"))
        #expect(isRefused("example.org", by: "127.0.0.1", publicURL: "https://example.com/api"))
        for server in ["localhost", "LOCALHOST", "a.Localhost", "::1", "[::1]", "127.0.0.2"] {
            #expect(isRefused("example.org", by: server) && !isRefused("localhost", by: server), "\(server)")
        }
        #expect(!isRefused("example.org", by: "0.0.0.0") && !isRefused("example.org", by: "192.168.1.2"))
    }

    @Test("A web page of the public URL is accepted also if the proxy replaces the host")
    func publicOrigin() {
        func isRefused(_ origin: String, publicURL: String?) -> Bool {
            var head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:8080", path: "/tables/T")
            head.headerFields[.origin] = origin
            return LocalPageGuard(host: "127.0.0.1", publicURL: publicURL)?.refusal(of: head) != nil
        }
        for url in ["https://example.com/api", "https://example.com", "HTTPS://Example.com:443/"] {
            #expect(!isRefused("https://example.com", publicURL: url), "\(url)")
            for origin in ["http://example.com", "https://example.com:8443", "https://example.com.evil.test", "null"] {
                #expect(isRefused(origin, publicURL: url), "\(origin)")
            }
        }
        #expect(!isRefused("http://example.com:8443", publicURL: "http://example.com:8443/api"))
        #expect(isRefused("https://example.com", publicURL: nil) && isRefused("null", publicURL: nil))
    }
}
#endif
