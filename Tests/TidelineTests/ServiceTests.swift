import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Custom APIs of the server, and sign-in with a provider's token.
@Suite("APIs and sign-in")
struct ServiceTests {
    // MARK: APIs

    @Test("an API receives method, parameters, headers and body, and its answer is returned completely")
    func invokes() async throws {
        let transport = ScriptedTransport { _ in .answer(202, "not JSON", headers: [.eTag: "\"e\""]) }
        let client = try await transport.makeClient(url: "http://server.test/app") {
            $0.headers[.accept] = "text/html"
        }
        let answer = try await client.invokeAPI(
            "v1/sum it", method: .put, parameters: [("$a b", "1&2"), ("c", "")], headers: [.accept: "text/plain"],
            body: Array("{}".utf8))
        #expect(answer.response.status.code == 202 && answer.response.headerFields[.eTag] == "\"e\"")
        #expect(answer.body == Array("not JSON".utf8))
        _ = try await client.invokeAPI("plain")
        let (first, second) = (transport.requests[0], transport.requests[1])
        #expect(first.method == .put && first.url == "http://server.test/app/api/v1/sum%20it?%24a%20b=1%262&c=")
        #expect(first.headers[.accept] == "text/plain" && first.headers[.contentType] == "application/json")
        #expect(first.body == "{}")
        #expect(second.method == .post && second.url == "http://server.test/app/api/plain" && second.body.isEmpty)
        #expect(second.headers[.contentType] == nil)
        #expect(second.headers[.init("ZUMO-API-VERSION") ?? .accept] == "2.0.0")
    }

    @Test(
        "an API's failure is an error with status and message",
        arguments: [
            (401, SyncError.Code.authentication), (400, .rejected), (404, .rejected), (409, .rejected),
            (302, .rejected), (500, .serverFailed), (408, .network), (429, .network), (502, .network), (503, .network),
            (504, .network),
        ])
    func failures(status: Int, code: SyncError.Code) async throws {
        let transport = ScriptedTransport { _ in .answer(status, #"{"error":"that's why"}"#) }
        let client = try await transport.makeClient()
        await expectSyncError(code, status: status, says: "that's why") { _ = try await client.invokeAPI("sum") }
    }

    @Test(
        "an API call that is not idempotent is sent once; others are retried",
        arguments: [
            (HTTPRequest.Method.post, 1), (.patch, 1), (.get, 4), (.put, 4), (.delete, 4),
        ])
    func retries(method: HTTPRequest.Method, requests: Int) async throws {
        let transport = ScriptedTransport { _ in .answer(503) }
        let client = try await transport.makeClient()
        #expect(await syncErrorCode { _ = try await client.invokeAPI("sum", method: method) } == .network)
        #expect(transport.requests.count == requests)
    }

    @Test(
        "a name or parameter that is not valid in a URL is refused before anything is sent",
        arguments: [
            "", " ", "/", "a//b", "..", "a/../b", "a/", ".",
        ])
    func badNames(name: String) async throws {
        let transport = ScriptedTransport { _ in .answer(200) }
        let client = try await transport.makeClient()
        #expect(await syncErrorCode { _ = try await client.invokeAPI(name) } == .invalidArgument)
        for provider in ["", " ", ".", ".."] {
            let code = await syncErrorCode { _ = try await client.signIn(provider: provider, token: [:]) }
            #expect(code == .invalidArgument)
        }
        #expect(await syncErrorCode { _ = try await client.invokeAPI("x", parameters: [("", "")]) } == .invalidArgument)
        #expect(transport.requests.isEmpty)
    }

    // MARK: Sign-in

    private static let signedIn = #"{"authenticationToken":"SECRET-1","user":{"userId":"sid:7","x":[]},"y":1}"#

    @Test("a provider's token is exchanged for the server's token, which is then sent with every request")
    func signsIn() async throws {
        let transport = ScriptedTransport { exchange in
            .answer(200, exchange.target.hasPrefix("/app/.auth") ? Self.signedIn : "[]")
        }
        let client = try await transport.makeClient(url: "http://server.test/app")
        client.currentUser = SignedInUser(userID: "old", authenticationToken: "OLD")
        let user = try await client.signIn(provider: "facebook", token: ["access_token": "PROVIDER", "a": "\""])
        #expect(user == SignedInUser(userID: "sid:7", authenticationToken: "SECRET-1") && client.currentUser == user)
        _ = try await client.remoteTable("T").read()
        _ = try await client.invokeAPI("x")
        client.currentUser = nil
        _ = try await client.remoteTable("T").read()
        #expect(transport.requests[0].method == .post)
        #expect(transport.requests[0].url == "http://server.test/app/.auth/login/facebook")
        #expect(transport.requests[0].body == #"{"a":"\"","access_token":"PROVIDER"}"#)
        #expect(transport.requests.map { $0.headers[.zumoAuth] } == [nil, "SECRET-1", "SECRET-1", nil])
    }

    @Test("after a sign-in, a request that is refused does not share a refresh that failed before")
    func refreshBeforeSignIn() async throws {
        struct Expired: Error {}
        let signingIn = Mutex<SyncClient<TestStore>?>(nil)
        defer { signingIn.withLock { $0 = nil } }
        let transport = ScriptedTransport { exchange in
            if exchange.headers[.authorization] == "new" { return .answer(200) }
            if exchange.number == 1, let client = signingIn.withLock({ $0 }) {
                await expectSyncError(.network) { _ = try await client.invokeAPI("early") }
                client.currentUser = SignedInUser(userID: "a", authenticationToken: "SECRET-1")
            }
            return .answer(401)
        }
        let client = try await transport.makeClient { options in
            options.authorization = { refresh in
                guard refresh else { return HTTPField(name: .authorization, value: "old") }
                guard signingIn.withLock({ $0?.currentUser }) != nil else { throw Expired() }
                return HTTPField(name: .authorization, value: "new")
            }
        }
        signingIn.withLock { $0 = client }
        _ = try await client.invokeAPI("late")
        #expect(transport.requests.map { $0.headers[.authorization] } == ["old", "old", "new"])
    }

    @Test("a header in the options overrides that of the signed-in user")
    func ownAuthorization() async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        let header = Mutex<HTTPField?>(HTTPField(name: .authorization, value: "Bearer x"))
        let client = try await transport.makeClient { $0.authorization = { _ in header.withLock { $0 } } }
        client.currentUser = SignedInUser(userID: "a", authenticationToken: "SECRET-1")
        _ = try await client.invokeAPI("x")
        header.withLock { $0 = nil }
        _ = try await client.invokeAPI("x")
        #expect(transport.requests.map { $0.headers[.authorization] } == ["Bearer x", nil])
        #expect(transport.requests.map { $0.headers[.zumoAuth] } == [nil, "SECRET-1"])
    }

    @Test(
        "an answer without user or token is an error, and the user does not change",
        arguments: [
            "", "[]", "{}", #"{"authenticationToken":"t"}"#, #"{"user":{"userId":"x"}}"#,
            #"{"authenticationToken":"","user":{"userId":"x"}}"#, #"{"authenticationToken":1,"user":{"userId":"x"}}"#,
            #"{"authenticationToken":"t","user":{"userId":""}}"#, #"{"authenticationToken":"t","user":"x"}"#,
            #"{"authenticationToken":"a\nb","user":{"userId":"x"}}"#,
        ])
    func badSignIns(body: String) async throws {
        let client = try await ScriptedTransport { _ in .answer(200, body) }.makeClient()
        let before = SignedInUser(userID: "old", authenticationToken: "OLD")
        client.currentUser = before
        await expectSyncError(.invalidAnswer, status: 200) { _ = try await client.signIn(provider: "aad", token: [:]) }
        #expect(client.currentUser == before)
    }

    @Test("no log, error or description has a token, even if a server sends it", arguments: [200, 302, 400, 401, 500])
    func secrets(status: Int) async throws {
        let log = LogRecorder()
        let transport = echo(status)
        let user = SignedInUser(userID: "a", authenticationToken: "SECRET-1")
        var texts = descriptions(user)
        for (authorization, secret) in [
            (nil, "SECRET-1"), ("Bearer SECRET-3", "SECRET-3"), ("SharedKey SECRET-4 v1", "SECRET-4"),
        ] as [(String?, String)] {
            let client = try await transport.makeClient {
                $0.logger = log.logger
                guard let authorization else { return }
                $0.authorization = { _ in HTTPField(name: .authorization, value: authorization) }
            }
            client.currentUser = authorization == nil ? user : nil
            try await client.define([World.schema])
            try await client.table("TodoItem").insert(["id": "a", "text": "x"])
            for (call, secret) in [
                ({ _ = try await client.remoteTable("T").read() }, secret),
                ({ try await client.context.push() }, secret), ({ _ = try await client.invokeAPI("x") }, secret),
                ({ _ = try await client.table("TodoItem").pull() }, secret),
                ({ _ = try await client.signIn(provider: "x", token: ["access_token": "SECRET-2"]) }, "SECRET-2"),
            ] as [(() async throws -> Void, String)] {
                do { try await call() } catch {
                    texts.append(filtered("\(error) \(String(reflecting: error))", [secret]))
                }
            }
            for error in try await client.context.operationErrors() { texts.append(filtered("\(error)", [secret])) }
        }
        texts += log.entries.map(\.message)
        #expect(!texts.contains { $0.contains("SECRET") }, "\(texts)")
        #expect(!log.entries.isEmpty)
    }

    @Test("a row that contains the token is stored as the server has sent it")
    func tokenInRow() async throws {
        let transport = ScriptedTransport { exchange in
            .answer(200, exchange.number == 1 ? #"[{"id":"a","text":"SECRET-1","version":"1"}]"# : "[]")
        }
        let client = try await transport.makeClient(tables: [World.schema])
        client.currentUser = SignedInUser(userID: "a", authenticationToken: "SECRET-1")
        try await client.table("TodoItem").pull()
        #expect(try await client.table("TodoItem").row(id: "a")?["text"] == "SECRET-1")
    }

    @Test("a row in conflict that contains a part of the token is what the server has sent", arguments: [false, true])
    func tokenInConflict(isDirect: Bool) async throws {
        let transport = ScriptedTransport { exchange in
            exchange.method == .get
                ? .answer(200, #"[{"id":"a","text":"x","version":"1"}]"#)
                : .answer(412, #"{"id":"a","text":"dev notes","version":"dev2"}"#, headers: [.eTag: "\"dev2\""])
        }
        let tables = [TableSchema("TodoItem", columns: [.string("text")])]
        let client = try await transport.makeClient(tables: tables) {
            $0.authorization = { _ in HTTPField(name: .authorization, value: "Bearer dev") }
        }
        var server: Row?
        if isDirect {
            let row: Row = ["id": "a", "text": "mine", "version": "1"]
            let error = await #expect(throws: SyncError.self) { try await client.remoteTable("TodoItem").update(row) }
            server = error?.serverItem
        } else {
            try await client.table("TodoItem").pull(TableQuery("TodoItem").limit(1))
            try await client.table("TodoItem").update(["id": "a", "text": "mine"])
            await #expect(throws: SyncError.self) { try await client.context.push() }
            server = try await client.context.operationErrors().first?.serverItem
        }
        #expect(server?["text"] == "dev notes" && server?["version"] == "dev2")
    }

    /// Returns the request in each answer, as a server in debug mode and some proxies do.
    private func echo(_ status: Int) -> ScriptedTransport {
        ScriptedTransport { exchange in
            let echo = "\(exchange.headers) \(exchange.body) SECRET-1 SECRET-2 SECRET-3"
            return .answer(
                status, #"{"error":"\#(echo.replacing("\"", with: "'"))"}"#,
                headers: [.location: "http://x.test/?token=SECRET-1"])
        }
    }

    private func descriptions(_ user: SignedInUser) -> [String] {
        var texts = [
            "\(user)", String(reflecting: user), "\([user])", "\(Mirror(reflecting: user).children.map(\.value))",
        ]
        dump(user, to: &texts[0])
        return texts
    }

    /// Returns the text without the secrets of other requests, which the client cannot know in this one.
    private func filtered(_ text: String, _ secrets: [String]) -> String {
        var text = text
        for secret in ["SECRET-1", "SECRET-2", "SECRET-3"] where !secrets.contains(secret) {
            text = text.replacing(secret, with: "")
        }
        return text
    }
}
