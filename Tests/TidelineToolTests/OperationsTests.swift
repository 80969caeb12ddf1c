#if Tool
import Foundation
import HTTPTypes
import Logging
import Metrics
import NIOCore
import Synchronization
import Testing
import Tideline
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

@Suite("Operations of the server", .timeLimit(.minutes(15)))
struct OperationsTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Sends a request and returns the response, on a connection of its own.
    private static func get(_ path: String, _ authority: String, headers: String = "") async throws -> RawAnswer {
        try await RawConnection.answer(of: authority, to: RawConnection.get(path, headers: headers))
    }

    private static func insert(_ id: String, into table: String, _ authority: String) async throws -> Int {
        let row = #"{"id":"\#(id)","a":1}"#
        return try await send(.post, "/tables/\(table)", to: authority, body: row).response.status.code
    }

    // MARK: Health, request ids

    @Test("Health and readiness are answered; a server without --metrics has no metrics")
    func health() async throws {
        try await serving { authority in
            let health = try await Self.get("/.health", authority)
            #expect(health.status == 200 && health.body == "ok\n")
            let ready = try await Self.get("/.ready", authority)
            #expect(ready.status == 200 && ready.body == "ready\n")
            for path in ["/.health", "/.ready"] {
                for (head, status) in ["1.0\r\n": 200, "1.1\r\nHost: proxy\r\n": 200, "1.1\r\n": 400] {
                    let check = try await RawConnection.answer(of: authority, to: "GET \(path) HTTP/\(head)\r\n")
                    #expect(check.status == status)
                }
            }
            #expect(try await Self.get("/metrics", authority).status == 404)
        }
    }

    @Test("A server whose store has failed is alive but not ready, and logs the reason of each failure")
    func notReady() async throws {
        let lines = SharedLog<String>()
        try await serving(closesStore: true, logger: lines.logger) { authority in
            #expect(try await Self.get("/.health", authority).status == 200)
            for path in ["/.ready", "/tables/T", "/.changes?tables=T"] {
                _ = lines.takeAll()
                let answer = try await Self.get(path, authority)
                #expect(answer.status >= 500 && answer.error?.contains("log of the server") == true, "\(answer)")
                let new = lines.takeAll()
                #expect(new.count == 1 && new.first?.contains("closed") == true, "\(path): \(new)")
            }
        }
    }

    @Test("A request has the id that its client sent, or a new one")
    func requestIDs() async throws {
        try await serving { authority in
            let sent = try await Self.get("/tables/T", authority, headers: "X-Request-ID: a-1.b_2\r\n")
            #expect(sent.headers["x-request-id"] == "a-1.b_2")
            let long = String(repeating: "a", count: 129)
            var ids: Set<String> = []
            for header in ["", "X-Request-ID: a b\r\n", "X-Request-ID: \(long)\r\n", "X-Request-ID: \"}\r\n"] {
                let id = try #require(
                    try await Self.get("/tables/T", authority, headers: header).headers["x-request-id"])
                #expect((10...16).contains(id.count) && !header.contains(id))
                ids.insert(id)
            }
            #expect(ids.count == 4)
        }
    }

    @Test("A JSON log message is one line with its metadata")
    func jsonLog() throws {
        let lines = SharedLog<String>()
        var logger = lines.logger
        logger[metadataKey: "a"] = "1"
        logger.error("two\nlines \"quoted\"", metadata: ["request": "\("x\u{1}")"])
        logger.debug("not logged")
        try #require(lines.count == 1)
        let line = lines.takeAll()[0]
        #expect(!line.contains("\n"))
        let object = try #require(Self.objects(ofLog: line).first)
        #expect(object["message"] == "two\nlines \"quoted\"" && object["request"] == "x\u{1}" && object["a"] == "1")
        #expect(object["level"] == "error" && object["time"].flatMap { Timestamp($0) } != nil)
    }

    @Test("Refused requests are logged, at most one each second and status")
    func refusals() throws {
        let lines = SharedLog<String>()
        let now = Mutex(ContinuousClock.now)
        let log = RefusalLog(lines.logger) { now.withLock { $0 } }
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/tables/T")
        let request = ReceivedRequest(head, from: .server)
        for status in [200, 404, 401, 401, 401, 403, 429, 500] { log.note(status, to: request) }
        now.withLock { $0 += .seconds(1) }
        log.note(401, to: request)
        let objects = Self.objects(ofLog: lines.takeAll().joined(separator: "\n"))
        #expect(objects.map { $0["status"] } == ["401", "403", "429", "401"])
        #expect(objects.map { $0["omitted"] } == [nil, nil, nil, "2"])
        #expect(objects.allSatisfy { $0["level"] == "notice" && $0["path"] == "/tables/T" })
    }

    @Test("With JSON logs, standard error has nothing else, also if the server does not start")
    func onlyJSON() throws {
        for arguments in [["--check"], ["--schema", tool.path("none.yaml")]] {
            let output = try tool.run(
                ["serve", "--store", "memory", "--port", "0", "--log-format", "json"] + arguments)
            #expect(!Self.objects(ofLog: output.err).isEmpty)
        }
    }

    /// Returns the objects of a log, each of whose lines must be one.
    private static func objects(ofLog text: String) -> [[String: String]] {
        let lines = text.split(separator: "\n").map { Data($0.utf8) }
        let objects = lines.compactMap { try? JSONSerialization.jsonObject(with: $0) as? [String: String] }
        #expect(objects.count == lines.count, "\(text)")
        return objects
    }

    @Test("The trace of a request is the second part of a valid traceparent")
    func traceParent() {
        let id = "0af7651916cd43dd8448eb211c80319c"
        let name = HTTPField.Name("traceparent")
        func traceID(_ text: String) -> String? { name.flatMap { TraceParent.traceID(in: [$0: text]) } }
        #expect(traceID("00-\(id)-b7ad6b7169203331-01") == id)
        for text in [
            "", "00-\(id)", "00-\(id.uppercased())-b7ad6b7169203331-01", "00-\(id)0-b7ad6b7169203331-01",
            "00-\(String(repeating: "0", count: 32))-b7ad6b7169203331-01", "0-\(id)-b7ad6b7169203331-01",
            "00-\(id.dropLast())\"-b7ad6b7169203331-01",
        ] { #expect(traceID(text) == nil, "\(text)") }
        #expect(TraceParent.traceID(in: [:]) == nil)
    }

    // MARK: Metrics

    @Test("Metrics of libraries are on the page with names that Prometheus accepts")
    func otherMetrics() {
        let metrics = PrometheusMetrics(descriptions: ["a_total": "A."])
        Counter(label: "a.total", dimensions: [("x-y", "\"\\\n\"\u{301}")], factory: metrics).increment(by: 2)
        FloatingPointCounter(label: "b", factory: metrics).increment(by: 0.5)
        let gauge = Gauge(label: "2c", factory: metrics)
        gauge.record(4)
        gauge.record(3)
        let timer = Metrics.Timer(label: "d", dimensions: [("e", "f")], factory: metrics)
        timer.record(duration: .milliseconds(2))
        #expect(
            metrics.page == #"""
                # TYPE _2c gauge
                _2c 3
                # HELP a_total A.
                # TYPE a_total counter
                a_total{x_y="\"\\\n\"\#u{301}"} 2
                # TYPE b counter
                b 0.5
                # TYPE d histogram
                d_bucket{le="0.0005",e="f"} 0
                d_bucket{le="0.001",e="f"} 0
                d_bucket{le="0.0025",e="f"} 1
                d_bucket{le="0.005",e="f"} 1
                d_bucket{le="0.01",e="f"} 1
                d_bucket{le="0.025",e="f"} 1
                d_bucket{le="0.05",e="f"} 1
                d_bucket{le="0.1",e="f"} 1
                d_bucket{le="0.25",e="f"} 1
                d_bucket{le="0.5",e="f"} 1
                d_bucket{le="1.0",e="f"} 1
                d_bucket{le="2.5",e="f"} 1
                d_bucket{le="5.0",e="f"} 1
                d_bucket{le="10.0",e="f"} 1
                d_bucket{le="+Inf",e="f"} 1
                d_sum{e="f"} 0.002
                d_count{e="f"} 1

                """#)
        timer.destroy()
        #expect(!metrics.page.contains("d_sum"))
    }

    @Test("Metrics count responses, rows, and transactions by table, with a bounded number of series")
    func metrics() async throws {
        try await serving(servesMetrics: true) { authority in
            for (id, table) in ["0": "T", "1": "T", "2": "%54"] {
                #expect(try await Self.insert(id, into: table, authority) == 201)
            }
            #expect(try await Self.insert("0", into: "T", authority) == 409)
            #expect(try await Self.get("/tables/None/1", authority).status == 404)
            let page = try await Self.get("/metrics", authority)
            #expect(page.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
            for line in [
                #"tideline_requests_total{method="POST",status="201",table="T"} 3"#,
                #"tideline_requests_total{method="POST",status="409",table="T"} 1"#,
                #"tideline_requests_total{method="GET",status="404",table=""} 1"#,
                #"tideline_rows_written_total{table="T"} 3"#, "tideline_request_duration_seconds_count 5",
                "tideline_writes_per_transaction_count 4", "tideline_errors_total 0", "tideline_waiting_clients 0",
            ] { #expect(page.body.contains(line + "\n"), "\(line)\n\(page.body)") }
            try Self.requireValid(page.body)
            // Each request had a connection of its own, and only that of the page is open.
            try await suspendUntil("connections to close") {
                try await Self.get("/metrics", authority).body.contains("\ntideline_connections 1\n")
            }
            for number in 0..<ServerMetrics.maximumTables + 5 {
                #expect(try await Self.insert("x", into: "Many\(number)", authority) == 201)
            }
            let many = try await Self.get("/metrics", authority).body.components(separatedBy: "\n")
            #expect(many.count { $0.hasPrefix("tideline_rows_written_total{") } == ServerMetrics.maximumTables + 1)
            #expect(many.contains(#"tideline_rows_written_total{table=""} 6"#))
        }
    }

    @Test("Pages for operators count no rows, and tables that do not exist take no place in the metrics")
    func metricsWithoutTable() async throws {
        try await serving(servesMetrics: true) { authority in
            for path in ["/.health", "/.ready", "/metrics"] {
                let post = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                #expect(try await RawConnection.answer(of: authority, to: post).status == 200)
            }
            for number in 0..<ServerMetrics.maximumTables {
                #expect(try await send(.get, "/tables/None\(number)", to: authority).response.status.code == 200)
            }
            #expect(try await Self.insert("0", into: "T", authority) == 201)
            #expect(try await send(.get, "/tables/T", to: authority).response.status.code == 200)
            let page = try await Self.get("/metrics", authority).body
            #expect(!page.contains(#"tideline_rows_written_total{table=""}"#), "\(page)")
            #expect(page.contains(#"tideline_rows_written_total{table="T"} 1"# + "\n"), "\(page)")
            let read = #"tideline_requests_total{method="GET",status="200",table="T"} 1"#
            #expect(page.contains(read + "\n"), "\(page)")
        }
    }

    /// Checks that each line is a comment or a sample in Prometheus's text format.
    private static func requireValid(_ page: String) throws {
        for line in page.split(separator: "\n") where !line.hasPrefix("# HELP ") && !line.hasPrefix("# TYPE ") {
            let match = line.wholeMatch(of: /[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+/)
            #expect(match != nil, "\(line)")
        }
    }

    // MARK: Limits

    @Test(
        "A connection beyond the limit is closed, those before it are served, and a free place is used again",
        arguments: [true, false])
    func connections(isByAddress: Bool) async throws {
        var limits = ServerLimits()
        if isByAddress { limits.maximumConnectionsPerAddress = 2 } else { limits.maximumConnections = 2 }
        try await serving(limits: limits) { authority in
            try await RawConnection.blocking {
                let request = RawConnection.get("/.health")
                let first = try RawConnection(authority)
                do {
                    let second = try RawConnection(authority)
                    for connection in [first, second] {
                        connection.send(request)
                        #expect(try connection.receiveAnswer().status == 200)
                    }
                    #expect(try RawConnection(authority).receiveToEnd() == "")
                    first.send(request)
                    #expect(try first.receiveAnswer().status == 200)
                }
                // The place is free when the server has closed the connection, too.
                for attempt in 0..<1_000 {
                    let third = try RawConnection(authority, sending: request)
                    if let answer = try? third.receiveAnswer(), answer.status == 200 { return }
                    try #require(attempt < 999, "the place of a closed connection remains taken")
                }
            }
        }
    }

    @Test("Requests beyond the rate are answered with 429, others are served, and tokens return with time")
    func rate() async throws {
        try await serving(limits: ServerLimits(maximumRate: 1)) { authority in
            let answers = try await RawConnection.blocking {
                let connection = try RawConnection(authority)
                // More than the tokens that return meanwhile on a busy machine.
                return try (0..<200).map { _ in
                    connection.send(RawConnection.get("/tables/T"))
                    return try connection.receiveAnswer()
                }
            }
            #expect(answers.prefix(2).allSatisfy { $0.status == 200 })
            let refused = try #require(answers.first { $0.status == 429 })
            #expect(refused.headers["retry-after"] == "1")
            #expect(try await Self.get("/.health", authority).status == 200)
        }
        let rate = RequestRate(requestsPerSecond: 2)
        let start = NIODeadline.now()
        for _ in 0..<4 { #expect(rate.delay(of: "a", now: start) == nil) }
        #expect(rate.delay(of: "a", now: start) == 1)
        #expect(rate.delay(of: "b", now: start) == nil)
        #expect(rate.delay(of: "a", now: start + .milliseconds(500)) == nil)
        #expect(rate.delay(of: "a", now: start + .milliseconds(500)) == 1)
        // The table of addresses is bounded: full buckets are removed.
        for number in 0..<30_000 { _ = rate.delay(of: "n\(number)", now: start + .seconds(Int64(number))) }
        #expect(rate.addressCount <= 10_001)
    }

    @Test("A query beyond the limit is answered with 414, and the next request is served")
    func querySize() async throws {
        try await serving(limits: ServerLimits(maximumQuerySize: 1_000)) { authority in
            let filter = String(repeating: "a", count: 1_000)
            let answer = try await Self.get("/tables/T?$filter=\(filter)", authority)
            #expect(answer.status == 414 && answer.error?.contains("1000 bytes") == true)
            #expect(try await Self.get("/tables/T", authority).status == 200)
        }
    }

    // MARK: The command

    @Test("serve limits pages, tables, and columns, and writes JSON logs with request ids")
    func commandLimits() async throws {
        let (server, url) = try tool.startServer(
            "--max-page-size", "10", "--max-page-bytes", "10", "--max-tables", "2", "--max-columns", "2",
            "--log-format", "json", "--log-level", "debug")
        #expect(try await Self.insert("1", into: "A", url) == 201)
        // The first table is that of the to-do list.
        #expect(try await Self.insert("1", into: "B", url) == 400)
        let columns = #"{"id":"2","a":1,"b":2,"c":3}"#
        #expect(try await send(.post, "/tables/A", to: url, body: columns).response.status.code == 400)
        #expect(try await Self.insert("2", into: "A", url) == 201)
        #expect(try await Self.get("/tables/A?$top=11", url).status == 400)
        let page = try await Self.get("/tables/A?$top=10", url, headers: "X-Request-ID: my-id\r\n")
        #expect(page.status == 200 && page.headers["link"]?.contains("$skip=1;") == true)
        server.stop()
        #expect(Self.objects(ofLog: server.errors()).contains { $0["request"] == "my-id" && $0["status"] == "200" })
    }

    @Test("A stopped server closes idle connections, and answers requests that are incomplete with 503")
    func shutdown() async throws {
        let (server, url) = try tool.startServer("--shutdown-timeout", "3600", "--body-timeout", "3600")
        let headers = "Host: localhost\r\nZUMO-API-VERSION: 2.0.0\r\nContent-Length: 10\r\n"
        let connection = try RawConnection(url, sending: "POST /tables/T HTTP/1.1\r\n\(headers)\r\n{\"id\"")
        // Each thread of the server that reads has read it before it answers a later request.
        let others = try (0..<2 * ProcessInfo.processInfo.processorCount).map { _ in
            try RawConnection(url, sending: RawConnection.get("/.health"))
        }
        for other in others { #expect(try other.receiveAnswer().status == 200) }
        server.signal(SIGTERM)
        for other in others { #expect(try other.receiveToEnd() == "") }
        let answer = try connection.receiveAnswer()
        #expect(answer.status == 503 && answer.error?.contains("stopped") == true)
        #expect(answer.headers["connection"] == "close")
        #expect(server.wait() == 0)
    }

    @Test("A stopped server closes the connections of clients that do not receive their responses in time")
    func forcedShutdown() async throws {
        let (server, url) = try tool.startServer("--shutdown-timeout", "1", "--body-timeout", "3600", engine: .memory)
        // More than the system keeps of what a client does not receive, in rows that no busy disk delays.
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 0..<32 {
            let row = try await send(.post, "/tables/T", to: url, body: #"{"text":"\#(text)"}"#)
            try #require(row.response.status == .created)
        }
        let connection = try RawConnection(url, sending: RawConnection.get("/tables/T"))
        try #require(connection.waits(milliseconds: 300_000))
        server.signal(SIGTERM)
        _ = server.wait()
        #expect(((try? connection.receiveBytesToEnd().count) ?? 0) < 32 << 20)
    }

    @Test("A server with a certificate speaks TLS, links to pages over https, and reads a new certificate after SIGHUP")
    func tls() async throws {
        try tool.makeCertificate(named: "first")
        let (server, url) = try tool.startServer(tool.certificateOptions)
        #expect(url.hasPrefix("https://127.0.0.1:"))
        func curl(_ path: String, _ arguments: String...) throws -> ToolProcess.Output {
            try ToolProcess.run(
                ["-s", "-v", "--cacert", tool.path("cert.pem"), "-H", "ZUMO-API-VERSION: 2.0.0"] + arguments
                    + [url + path], executable: URL(fileURLWithPath: "/usr/bin/curl"))
        }
        for number in 0..<3 {
            try curl("/tables/T", "-H", "Content-Type: application/json", "-d", #"{"id":"\#(number)"}"#)
                .expect(0, #""id":"\#(number)""#)
        }
        let page = try curl("/tables/T?$top=2")
        #expect(page.err.lowercased().contains("link: https://127.0.0.1"), "\(page)")
        #expect(page.err.contains("CN=first") || page.err.contains("CN = first"), "\(page.err)")
        try tool.makeCertificate(named: "second")
        server.signal(SIGHUP)
        try await suspendUntil("the new certificate") {
            let errors = try curl("/.health").err
            return errors.contains("CN=second") || errors.contains("CN = second")
        }
        #expect(try ToolProcess.run("/usr/bin/curl", "-s", "http" + url.dropFirst("https".count)).status != 0)
        try tool.write("no key", to: "key.pem")
        try tool.run(["serve", "--check", "--store", "memory", "--port", "0"] + tool.certificateOptions)
            .expect(1, "key.pem")
        try tool.run("serve", "--tls-key", tool.path("key.pem")).expect(64)
    }
}

extension SharedLog<String> {
    /// A logger whose messages become lines.
    fileprivate var logger: Logger {
        var handler = JSONLogHandler(label: "test")
        handler.write = { line in self.append(line) }
        var logger = Logger(label: "test") { _ in handler }
        logger.logLevel = .info
        return logger
    }
}
#endif
