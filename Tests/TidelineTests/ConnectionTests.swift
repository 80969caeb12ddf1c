import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineWire

@testable import Tideline

/// Addresses, headers, sign-in, retries and timeouts.
@Suite("Connection")
struct ConnectionTests {
    private func makeClient(
        url: String = "http://server.test", _ transport: ScriptedTransport,
        configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncTable {
        var options = SyncOptions()
        options.environment.sleep = { _ in }
        configure(&options)
        let client = try SyncClient(
            url: url, store: StoreKind.simplest.makeStore(), transport: transport, options: options)
        try await client.define([World.schema])
        return client.table("TodoItem")
    }

    private static let noRows = ScriptedTransport { _ in .answer(200, "[]") }

    // MARK: Addresses

    @Test(
        "the table URL is below a base URL with a path, a port or a trailing slash",
        arguments: [
            ("http://server.test", "http://server.test/tables/"), ("http://server.test/", "http://server.test/tables/"),
            ("https://server.test:8443", "https://server.test:8443/tables/"),
            ("https://server.test/app", "https://server.test/app/tables/"),
            ("https://server.test/a/b//", "https://server.test/a/b/tables/"),
            ("HTTP://Server.Test:80/", "http://Server.Test:80/tables/"),
            ("http://[::1]:5000/x", "http://[::1]:5000/x/tables/"), ("http://127.0.0.1", "http://127.0.0.1/tables/"),
            ("https://server.test/a%20b", "https://server.test/a%20b/tables/"),
        ])
    func addresses(url: String, expected: String) async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        try await makeClient(url: url, transport).pull()
        #expect(transport.requests[0].url.hasPrefix(expected + "TodoItem?"), "\(transport.requests[0].url)")
    }

    @Test(
        "the query of a base URL is sent with every request and does not appear in messages",
        arguments: [
            ("https://server.test/app?code=k%20y&b=%2F", "https://server.test/app/tables/TodoItem", "code=k%20y&b=%2F"),
            ("https://server.test?code=k%20y", "https://server.test/tables/TodoItem", "code=k%20y"),
            ("https://server.test/?code=k%20y", "https://server.test/tables/TodoItem", "code=k%20y"),
        ])
    func addressWithQuery(url: String, start: String, query: String) async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        try await makeClient(url: url, transport).pull()
        #expect(transport.requests[0].url.hasPrefix(start + "?"))
        #expect(transport.requests[0].url.hasSuffix("&" + query))
        #expect(try ServerAddress(url).text.contains("?") == false)
    }

    @Test("no log or error contains the query of a base URL, which may be a key")
    func secretQuery() async throws {
        let log = LogRecorder()
        let answers: [@Sendable () throws -> TransportResponse] = [
            { throw TransportError(.connection, "refused") }, { throw TransportError(.tooLarge, "too large") },
            { throw CancellationError() }, { .answer(200, "[") }, { .answer(401) }, { .answer(404) }, { .answer(503) },
            { .answer(200, "[]") },
        ]
        var texts: [String] = []
        for answer in answers {
            let items = try await makeClient(
                url: "https://server.test/app?code=SECRET", ScriptedTransport { _ in try answer() }
            ) { $0.logger = log.logger }
            do { try await items.pull(queryID: "q") } catch {
                texts.append("\(error) \(String(reflecting: error))")
            }
        }
        #expect(texts.count == answers.count - 1 && log.entries.count >= answers.count - 3)
        texts += log.entries.map(\.message)
        #expect(!texts.contains { $0.contains("SECRET") }, "\(texts)")
    }

    @Test("a base URL parameter that the target already has is not sent twice")
    func addressWithRepeatedQuery() throws {
        let address = try ServerAddress("https://server.test/app?code=k&b=1")
        #expect(address.pathAndQuery(of: "tables/T?$top=5&code=k") == "/app/tables/T?$top=5&code=k&b=1")
        #expect(address.pathAndQuery(of: "tables/T?code=k&b=1") == "/app/tables/T?code=k&b=1")
        #expect(address.pathAndQuery(of: "tables/T/1") == "/app/tables/T/1?code=k&b=1")
        #expect(try ServerAddress("https://server.test").pathAndQuery(of: "tables/T?a=1") == "/tables/T?a=1")
    }

    @Test(
        "an invalid address is refused with a message that contains it",
        arguments: [
            "", " ", "server.test", "server.test:80", "//server.test", "/tables", "ftp://server.test", "file:///tmp",
            "http://", "http:///app", "http:server.test", "http://server.test:0", "http://server.test:65536",
            "http://server.test:x", "http://server.test#x", "http://user@server.test",
            "http://user:secret@server.test", "http://:secret@server.test", "http://a b", "http://server.test\n",
            "http://[::1", "http://server\u{0}.test", "wss://server.test",
        ])
    func badAddresses(url: String) throws {
        let error = #expect(throws: SyncError.self) {
            _ = try SyncClient(url: url, store: StoreKind.simplest.makeStore(), transport: Self.noRows)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("https://example.org/app") == true)
        #expect(error?.message.contains("secret") == false)
    }

    // MARK: Headers

    @Test("each request has the protocol's headers, the installation ID and the app's headers")
    func headers() async throws {
        let transport = ScriptedTransport { exchange in
            .answer(exchange.method == .get ? 200 : 201, exchange.method == .get ? "[]" : #"{"id":"a"}"#)
        }
        let items = try await makeClient(transport) {
            $0.installationID = "installation-1"
            $0.headers = [HTTPField.Name("X-Mine") ?? .accept: "mine"]
        }
        try await items.insert(["id": "a", "text": "x"])
        try await items.pull(queryID: "q", settings: PullSettings(parameters: [("p", "1")]))
        try await items.pull()
        let features = HTTPField.Name.zumoFeatures
        #expect(transport.requests.map { $0.headers[features] } == ["OL", "OL,QS,IP", "OL"])
        for request in transport.requests {
            #expect(request.headers[.init("ZUMO-API-VERSION") ?? .accept] == "2.0.0")
            #expect(request.headers[.accept] == "application/json")
            #expect(request.headers[.userAgent] == "Tideline/\(TidelineVersion.current)")
            #expect(request.headers[.zumoVersion] == "ZUMO/2.0 (lang=Swift; version=\(TidelineVersion.current))")
            #expect(request.headers[.installationID] == "installation-1")
            #expect(request.headers[.init("X-Mine") ?? .accept] == "mine")
            #expect(request.headers[.contentType] == (request.method == .post ? "application/json" : nil))
            #expect(request.headers[.authorization] == nil)
        }
        #expect(transport.requests[1].target.contains("p=1"))
    }

    @Test("a User-Agent of the app replaces the default; a header given twice is sent twice")
    func ownHeaders() async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        try await makeClient(transport) { options in
            options.headers[.userAgent] = "App/1"
            options.headers[values: .cookie] = ["a=1", "b=2"]
        }.pull()
        #expect(transport.requests[0].headers[.userAgent] == "App/1")
        #expect(transport.requests[0].headers[values: .cookie] == ["a=1", "b=2"])
    }

    @Test("a retry is logged at notice level, without the values of the filter")
    func retryLog() async throws {
        let log = LogRecorder()
        let transport = ScriptedTransport { .answer($0.number == 1 ? 503 : 200, "[]") }
        let items = try await makeClient(transport) { $0.logger = log.logger }
        try await items.pull(TableQuery("TodoItem").filter(.column("text") == "secret"))
        let notices = log.entries.filter { $0.level >= .notice }.map(\.message)
        #expect(notices.count == 1 && notices[0].hasPrefix("GET tables/TodoItem: HTTP 503, retrying in "))
        #expect(transport.requests.allSatisfy { $0.target.contains("secret") })
    }

    @Test("the timeout in the options is passed to the transport")
    func timeout() async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        try await makeClient(transport) { $0.timeout = .milliseconds(1234) }.pull()
        #expect(transport.requests.map(\.timeout) == [.milliseconds(1234)])
    }

    // MARK: Sign-in

    @Test(
        "a 401 refreshes the sign-in once, also after a retry, and a 401 after the refresh is an authentication error",
        arguments: [
            ([401, 200], nil, [false, true]), ([401, 401], .authentication, [false, true]),
            ([503, 401, 503, 200], nil, [false, false, true, false]),
        ] as [([Int], SyncError.Code?, [Bool])])
    func refreshes(_ statuses: [Int], code: SyncError.Code?, asked: [Bool]) async throws {
        let asks = Recorder<Bool>()
        let transport = ScriptedTransport { exchange in
            guard exchange.number <= statuses.count else { throw TransportError(.connection, "asked too often") }
            let status = statuses[exchange.number - 1]
            return .answer(status, status == 200 ? "[]" : #"{"error":"who are you"}"#)
        }
        let items = try await makeClient(transport) {
            $0.authorization = { refresh in
                asks.add(refresh)
                return HTTPField(name: .authorization, value: asks.values.contains(true) ? "new" : "old")
            }
        }
        if let code {
            await expectSyncError(code, status: 401, says: "who are you") { try await items.pull() }
        } else {
            try await items.pull()
        }
        #expect(asks.values == asked)
        let isNew = asked.indices.map { asked[...$0].contains(true) }
        #expect(transport.requests.map { $0.headers[.authorization] } == isNew.map { $0 ? "new" : "old" })
    }

    @Test(
        "a refresh that sends a request of its own, which the server refuses too, is an authentication error",
        .timeLimit(.minutes(15)))
    func refreshThroughClient() async throws {
        let transport = ScriptedTransport { _ in .answer(401) }
        let signedIn = Mutex<SyncClient<TestStore>?>(nil)
        defer { signedIn.withLock { $0 = nil } }
        var options = SyncOptions()
        options.environment.sleep = { _ in }
        options.authorization = { refresh in
            if refresh { _ = try await signedIn.withLock { $0 }?.invokeAPI("refresh") }
            return HTTPField(name: .authorization, value: "old")
        }
        let client = try SyncClient(
            url: "http://server.test", store: StoreKind.simplest.makeStore(), transport: transport, options: options)
        signedIn.withLock { $0 = client }
        try await client.define([World.schema])
        #expect(await syncErrorCode { try await client.table("TodoItem").pull() } == .authentication)
        #expect(transport.requests.map(\.method) == [.get, .post])
    }

    @Test("a task that a refresh has started can refresh the sign-in after it", .timeLimit(.minutes(15)))
    func refreshAfterRefresh() async throws {
        let refresh = SharedRefresh()
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let task = await CallScope.run(for: refresh) { () async -> Task<Bool, Never> in
            #expect(CallScope.isWithin(refresh) && !CallScope.isWithin(SharedRefresh()))
            return Task {
                for await _ in ends {}
                return CallScope.isWithin(refresh)
            }
        }
        end.finish()
        #expect(await task.value == false)
    }

    @Test("without a sign-in a 401 is an authentication error immediately; without a signed-in user no header is sent")
    func signedOut() async throws {
        let transport = ScriptedTransport { exchange in
            guard exchange.number < 9 else { throw TransportError(.connection, "asked too often") }
            return .answer(401)
        }
        for authorization in [nil, { _ in nil }] as [(@Sendable (Bool) async throws -> HTTPField?)?] {
            let items = try await makeClient(transport) { $0.authorization = authorization }
            #expect(await syncErrorCode { try await items.pull() } == .authentication)
        }
        #expect(transport.requests.count == 3)
        #expect(transport.requests.allSatisfy { $0.headers[.authorization] == nil })
    }

    @Test(
        "S8 a failed sign-in is a network failure unless it is an authentication error, and nothing is sent",
        arguments: [SyncError.Code.network, .authentication])
    func signInFails(code: SyncError.Code) async throws {
        let transport = ScriptedTransport { _ in .answer(200, "[]") }
        let failing = try await makeClient(transport) {
            $0.authorization = { _ in
                if code == .authentication { throw SyncError(.authentication, "no keychain") }
                throw StoreError(.io, "no keychain")
            }
        }
        await expectSyncError(code, says: "no keychain") { try await failing.pull() }
        // The task of the pull is not cancelled.
        let other = try await makeClient(transport) { $0.authorization = { _ in throw CancellationError() } }
        #expect(await syncErrorCode { try await other.pull() } == .network)
        #expect(transport.requests.isEmpty)
    }

    // MARK: Retries

    /// Returns the pauses of a pull that receives the given answers, and the code of its error.
    private func pauses(
        _ answers: [TransportResponse], policy: RetryPolicy = RetryPolicy(), random: Double = 1
    ) async throws -> (pauses: [Duration], requests: Int, code: SyncError.Code?) {
        let pauses = Recorder<Duration>()
        let transport = ScriptedTransport { answers[min($0.number, answers.count) - 1] }
        let items = try await makeClient(transport) {
            $0.retry = policy
            $0.environment.random = { random }
            $0.environment.sleep = { pauses.add($0) }
        }
        let code = await syncErrorCode { try await items.pull() }
        return (pauses.values, transport.requests.count, code)
    }

    private static func unavailable(_ headers: HTTPFields) -> TransportResponse { .answer(503, headers: headers) }

    @Test("a transient failure is retried after pauses that double, up to the policy's number of attempts")
    func doubling() async throws {
        let result = try await pauses([.answer(500)])
        #expect(result.pauses == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(result.requests == 4 && result.code == .serverFailed)
        let half = try await pauses([.answer(500), .answer(200, "[]")], random: 0)
        #expect(half.pauses == [.milliseconds(250)] && half.code == nil)
        let single = try await pauses([.answer(503)], policy: RetryPolicy(maximumAttempts: 1))
        #expect(single.pauses.isEmpty && single.requests == 1)
        let none = try await pauses([.answer(503)], policy: RetryPolicy(maximumAttempts: -3))
        #expect(none.pauses.isEmpty && none.requests == 1)
    }

    @Test("errors that are not transient, and network failures, are not retried", arguments: [403, 404, 405, 501])
    func notTransient(status: Int) async throws {
        #expect(try await pauses([.answer(status)]).requests == 1)
    }

    @Test("a network failure ends the call immediately; the caller decides whether to retry")
    func networkFailure() async throws {
        let transport = ScriptedTransport { _ in throw TransportError(.connection, "refused") }
        let items = try await makeClient(transport)
        let error = await expectSyncError(.network, says: "http://server.test") { try await items.pull() }
        #expect((error?.cause as? TransportError)?.code == .connection)
        #expect(transport.requests.count == 1)
    }

    @Test(
        "Retry-After is honored, in seconds and as a date, up to the longest pause",
        arguments: [
            (["3"], nil, 3000), (["0"], nil, 0), (["30"], nil, 30_000), (["99999999999999999999"], nil, 500),
            (["-1"], nil, 500), (["soon"], nil, 500), ([""], nil, 500), (["1.5"], nil, 500),
            (["Sat, 21 Nov 2026 09:12:56 GMT"], "Sat, 21 Nov 2026 09:12:49 GMT", 7000),
            (["Sat, 21 Nov 2026 09:12:00 GMT"], "Sat, 21 Nov 2026 09:12:49 GMT", 0),
            (["Sat, 21 Nov 2026 09:13:19 GMT"], "Sat, 21 Nov 2026 09:12:49 GMT", 30_000),
            (["Sat, 21 Nov 2026 09:12:56 GMT"], nil, 500),
        ] as [([String], String?, Int)])
    func retryAfter(values: [String], date: String?, milliseconds: Int) async throws {
        var headers = HTTPFields()
        headers[values: .retryAfter] = values
        headers[.date] = date
        let result = try await pauses([Self.unavailable(headers), .answer(200, "[]")])
        #expect(result.pauses == [.milliseconds(milliseconds)] && result.code == nil)
    }

    @Test(
        "P13 a delay beyond the longest pause ends the call at once, with the delay",
        arguments: [
            ("31", nil, 31), ("120", nil, 120),
            ("Sat, 21 Nov 2026 10:12:49 GMT", "Sat, 21 Nov 2026 09:12:49 GMT", 3600),
        ] as [(String, String?, Int)], [429, 500, 502, 503, 504])
    func longRetryAfter(value: (text: String, date: String?, seconds: Int), status: Int) async throws {
        var headers: HTTPFields = [.retryAfter: value.text]
        headers[.date] = value.date
        let transport = ScriptedTransport { [headers] _ in .answer(status, headers: headers) }
        let items = try await makeClient(transport)
        let error = await #expect(throws: SyncError.self) { try await items.pull() }
        #expect(error?.code == .network && error?.retryAfter == .seconds(value.seconds))
        #expect(transport.requests.count == 1)
    }

    @Test("cancellation during a pause ends the call as canceled, without another request")
    func cancelledPause() async throws {
        let transport = ScriptedTransport { _ in .answer(503) }
        let items = try await makeClient(transport) { $0.environment.sleep = { _ in throw CancellationError() } }
        #expect(await syncErrorCode { try await items.pull() } == .cancelled)
        #expect(transport.requests.count == 1)
    }
}
