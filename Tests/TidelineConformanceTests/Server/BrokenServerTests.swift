import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineWire

@testable import TidelineServerConformance

/// A way in which a server can be broken: a change of its requests and responses.
struct ServerFlaw: Sendable, CustomStringConvertible {
    /// The flaw, in words.
    let description: String
    /// Checks that must find it.
    let ids: [String]
    /// The dialect in which the flaw exists, or `nil` for both.
    var dialect: ServerDialect?
    /// Changes a request before the service receives it.
    var request: @Sendable (inout HTTPRequest, inout [UInt8]) -> Void = { _, _ in }
    /// Changes the response to a request.
    var response: @Sendable (HTTPRequest, inout TransportResponse) -> Void = { _, _ in }

    /// A flaw in the processing of requests.
    static func input(
        _ description: String, _ ids: String..., dialect: ServerDialect? = nil,
        change: @escaping @Sendable (inout HTTPRequest, inout [UInt8]) -> Void
    ) -> ServerFlaw {
        ServerFlaw(description: description, ids: ids, dialect: dialect, request: change)
    }

    /// A flaw in the responses.
    static func output(
        _ description: String, _ ids: String..., dialect: ServerDialect? = nil,
        change: @escaping @Sendable (HTTPRequest, inout TransportResponse) -> Void
    ) -> ServerFlaw {
        ServerFlaw(description: description, ids: ids, dialect: dialect, response: change)
    }
}

/// A service with a flaw.
struct BrokenServer: Transport {
    let base: ServiceTransport
    let flaw: ServerFlaw

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        var (changed, bytes) = (request, body ?? [])
        flaw.request(&changed, &bytes)
        var response = try await base.send(changed, body: bytes, timeout: timeout)
        flaw.response(request, &response)
        return response
    }
}

extension HTTPRequest {
    fileprivate var target: String { path ?? "" }
    /// Whether the request is for a single row.
    fileprivate var isOfRow: Bool { target.prefix { $0 != "?" }.split(separator: "/").count == 3 }
    fileprivate var isList: Bool { method == .get && !isOfRow }
    fileprivate var isUpdate: Bool { method == .patch || method == .put }

    /// Replaces text of the path and query.
    fileprivate mutating func replace(_ pattern: String, with text: String) {
        path = target.replacingOccurrences(of: pattern, with: text, options: .regularExpression)
    }
}

extension TransportResponse {
    fileprivate var status: Int { response.status.code }
    fileprivate var text: String {
        get { String(decoding: body, as: UTF8.self) }
        set { body = Array(newValue.utf8) }
    }

    /// Replaces text of the body.
    fileprivate mutating func replace(_ pattern: String, with text: String) {
        self.text = self.text.replacingOccurrences(of: pattern, with: text, options: .regularExpression)
    }

    fileprivate mutating func set(_ status: Int, _ text: String? = nil) {
        response.status = .init(code: status)
        if let text { self.text = text }
    }
}

extension ServerFlaw {
    static let all: [ServerFlaw] = [
        .input("answers without a version header", "SRV-101", dialect: .zumo2) { request, _ in
            request.headerFields[.zumoAPIVersion] = "2.0.0"
        },
        .output("sends no Date", "SRV-102") { $1.response.headerFields[.date] = nil },
        .output("declares JSON as text", "SRV-103") { $1.response.headerFields[.contentType] = "text/plain" },
        .output("answers errors with web pages", "SRV-104") { request, answer in
            if answer.status == 400 { answer.set(400, "<html><body>Bad</body></html>") }
        },
        .output("answers errors without a reason", "SRV-104") { request, answer in
            if answer.status == 400 { answer.set(400, "") }
        },
        .output("answers an unknown table with 500", "SRV-105") { request, answer in
            if request.isList, !request.target.contains("ConformanceItem") { answer.set(500) }
        },
        .output("takes a DELETE without an id", "SRV-106") { request, answer in
            if request.method == .delete, !request.isOfRow { answer.set(200) }
        },
        .output("answers HEAD with 500", "SRV-107") { if $0.method == .head { $1.set(500) } },
        .output("cuts long texts in lists", "SRV-108") {
            if $0.isList { $1.replace(#"(\d tide ){100,}"#, with: "tide ") }
        },
        .output("refuses parameters of the app", "SRV-109") { if $0.target.contains("color=") { $1.set(400) } },
        .input("ignores encoded options", "SRV-110") { request, _ in request.replace("%24filter", with: "x") },
        .output("answers malformed JSON with 500", "SRV-111") { if $1.text.contains("JSON") { $1.set(500) } },
        .output("returns lists in an object of its own", "SRV-201", dialect: .zumo2) { request, answer in
            if request.isList, answer.text.hasPrefix("[") { answer.text = #"{"results":\#(answer.text)}"# }
        },
        .output("counts the rows of the page", "SRV-202") { request, answer in
            guard request.isList, let page = try? JSONPage(answer.body) else { return }
            answer.replace(#""count":\d+"#, with: "\"count\":\(page.rows.count)")
        },
        .output("counts one row too many", "SRV-203") { request, answer in
            answer.replace(#""count":0"#, with: "\"count\":1")
        },
        .input("ignores $top", "SRV-204", "SRV-208") { request, _ in request.replace(#"\$top=\d+"#, with: "x=1") },
        .input("ignores $skip", "SRV-205", "SRV-213") { request, _ in
            request.replace(#"\$skip=\d+"#, with: "x=1")
        },
        .input("ignores descending order", "SRV-206") { request, _ in request.replace("%20desc", with: "") },
        .input("ignores $orderby", "SRV-206") { request, _ in request.replace(#"\$orderby=[^&]*"#, with: "x=1") },
        .output("returns no id with $select", "SRV-207") { request, answer in
            if request.target.contains("$select") { answer.replace(#""id":"[^"]*","#, with: "") }
        },
        .output("answers a large $top with 500", "SRV-209") { request, answer in
            if answer.status == 400, request.target.contains("$top") { answer.set(500) }
        },
        .output("allows 500 rows in a page", "SRV-210") { request, answer in
            if request.target.contains("$top=1000") { answer.set(400) }
        },
        .output("cuts pages without a link", "SRV-211", "SRV-212") { request, answer in
            answer.response.headerFields[.link] = nil
            answer.replace(#","nextLink":"[^"]*""#, with: "")
        },
        .output("cuts pages, and counts what is left", "SRV-214") { request, answer in
            answer.response.headerFields[.link] = nil
            answer.replace(#","nextLink":"[^"]*""#, with: "")
            guard request.isList, let page = try? JSONPage(answer.body), page.rows.count > 20 else { return }
            let bytes = answer.body
            let rows = page.rows.prefix(20).map { String(decoding: bytes[$0], as: UTF8.self) }.joined(separator: ",")
            answer.text = #"{"results":[\#(rows)],"count":20}"#
        },
        .output("links from a page to itself", "SRV-211", "SRV-213") { request, answer in
            if let link = answer.response.headerFields[.link] {
                answer.response.headerFields[.link] = link.replacingOccurrences(
                    of: #"skip=\d+"#, with: "skip=0", options: .regularExpression)
            }
            answer.replace(#"skip=\d+"#, with: "skip=0")
        },
        .output("links to another host", "SRV-218") { request, answer in
            if let link = answer.response.headerFields[.link] {
                answer.response.headerFields[.link] = link.replacing("server.test", with: "other.test")
            }
            answer.replace(#""nextLink":""#, with: #""nextLink":"https://other.test/tables/ConformanceItem?"#)
        },
        .input("orders lists by text instead of updatedAt", "SRV-215", "SRV-607") { request, _ in
            request.replace("orderby=updatedAt", with: "orderby=text")
        },
        .input("finds nothing after an id", "SRV-216") { request, _ in
            request.replace("id%20gt%20", with: "id%20lt%20")
        },
        .output("rounds doubles in lists", "SRV-217") { if $0.isList { $1.replace("0\\.1\\b", with: "0.125") } },
        .output("returns other texts", "SRV-301") { request, answer in
            if request.method == .post { answer.replace(#""text":"a""#, with: #""text":"A""#) }
        },
        .input("refuses rows without an id", "SRV-303") { request, body in
            if request.method == .post, !String(decoding: body, as: UTF8.self).contains(#""id""#) {
                request.method = .delete
            }
        },
        .input("distinguishes the case of ids", "SRV-304") { request, body in
            body = Array(String(decoding: body, as: UTF8.self).replacing(#"-Ab""#, with: #"-other""#).utf8)
            request.replace("-Ab\\b", with: "-other")
        },
        .output("answers inserts with 200", "SRV-317") { if $1.status == 201 { $1.set(200) } },
        .output("returns ids in lower case", "SRV-318") { $1.text = $1.text.replacing("-aBcD", with: "-abcd") },
        .output("sends the ETag of the row before", "SRV-418") { request, answer in
            if request.isUpdate { answer.response.headerFields[.eTag] = request.headerFields[.ifMatch] ?? "\"before\"" }
        },
        .output("answers a repeated insert with 200", "SRV-305", "SRV-901") { request, answer in
            if request.method == .post, answer.status == 409 { answer.set(200) }
        },
        .output("answers 409 without a body", "SRV-306") { if $1.status == 409 { $1.set(409, "") } },
        .output("answers 412 without a body", "SRV-410", "SRV-506") { if $1.status == 412 { $1.set(412, "") } },
        .output("sends no Location", "SRV-309", dialect: .datasync3) {
            $1.response.headerFields[.location] = nil
        },
        .input("decodes ids twice", "SRV-310", dialect: .zumo2) { request, _ in
            request.replace("%2525", with: "%25")
        },
        .output("refuses ids with a colon", "SRV-310", dialect: .datasync3) { request, answer in
            if request.target.contains("%3A") { answer.set(404) }
        },
        .output("refuses long ids", "SRV-311") { if $0.target.count > 120, $0.isOfRow { $1.set(400) } },
        .output("takes timestamps from clients", "SRV-312", "SRV-417") { request, answer in
            if answer.status == 400 { answer.set(201, #"{"id":"x","updatedAt":"1999-12-31T23:59:59.000Z"}"#) }
            answer.replace(#""updatedAt":"[^"]*""#, with: #""updatedAt":"1999-12-31T23:59:59.000Z""#)
        },
        .output("stores the version of the client", "SRV-313") { request, answer in
            if request.method == .post { answer.replace(#""version":"[^"]*""#, with: #""version":"mine""#) }
        },
        .input("drops unknown columns", "SRV-314") { request, body in
            body = Array(String(decoding: body, as: UTF8.self).replacing(#","conformanceExtra":"kept""#, with: "").utf8)
        },
        .input("converts types", "SRV-315") { request, body in
            body = Array(
                String(decoding: body, as: UTF8.self).replacing(#""number":"many""#, with: #""number":0"#).utf8)
        },
        .output("has no versions", "SRV-401") { $1.replace(#","version":"[^"]*""#, with: "") },
        .output("sends weak ETags", "SRV-402") { request, answer in
            if let tag = answer.response.headerFields[.eTag] { answer.response.headerFields[.eTag] = "W/\(tag)" }
        },
        .output("has one version for all", "SRV-403", "SRV-404", "SRV-510") {
            $1.replace(#""version":"[^"]*""#, with: #""version":"one""#)
        },
        .output("clears columns that an update omits", "SRV-405", dialect: .zumo2) { request, answer in
            if request.method == .patch { answer.replace(#""text":"[^"]*""#, with: #""text":null"#) }
        },
        .input("keeps columns that a PUT clears", "SRV-406", "SRV-407", dialect: .datasync3) { request, body in
            guard request.method == .put else { return }
            var text = String(decoding: body, as: UTF8.self)
            for (column, value) in [("text", #""a""#), ("number", "1"), ("price", "1.5"), ("done", "true")] {
                text = text.replacing("\"\(column)\":null", with: "\"\(column)\":\(value)")
                if !text.contains("\"\(column)\"") { text = text.dropLast() + ",\"\(column)\":\(value)}" }
            }
            body = Array(text.utf8)
        },
        .input("ignores null", "SRV-407", dialect: .zumo2) { request, body in
            guard request.method == .patch else { return }
            body = Array(String(decoding: body, as: UTF8.self).replacing("\"number\":null,", with: "").utf8)
        },
        .input("refuses every If-Match", "SRV-408", "SRV-411") { request, _ in
            if request.headerFields[.ifMatch] != nil { request.headerFields[.ifMatch] = "\"none\"" }
        },
        .input(
            "ignores If-Match", "SRV-409", "SRV-505", "SRV-511", "SRV-902", "SRV-903", "SRV-905"
        ) { request, _ in request.headerFields[.ifMatch] = nil },
        .output("requires If-Match", "SRV-412") { request, answer in
            if request.isUpdate, request.headerFields[.ifMatch] == nil { answer.set(428) }
        },
        .input("ignores the version in the body", "SRV-413", dialect: .zumo2) { request, body in
            guard request.method == .patch else { return }
            let text = String(decoding: body, as: UTF8.self)
            body = Array(
                text.replacingOccurrences(of: #","version":"[^"]*""#, with: "", options: .regularExpression).utf8)
        },
        .output("answers an update of nothing with 200", "SRV-414", "SRV-415") { request, answer in
            if request.isUpdate, [404, 410].contains(answer.status) { answer.set(200, #"{"id":"x"}"#) }
        },
        .output("changes createdAt", "SRV-416") { request, answer in
            if request.isUpdate {
                answer.replace(#""createdAt":"[^"]*""#, with: #""createdAt":"2000-01-01T00:00:00Z""#)
            }
        },
        .input("shows deleted rows to everyone", "SRV-501", "SRV-502") { request, _ in
            if request.isList { request.path = request.target + "&__includeDeleted=true" }
        },
        .input("hides deleted rows from lists", "SRV-503") { request, _ in
            if request.isList { request.replace("(?i)&__includedeleted=true", with: "") }
        },
        .input("keeps the timestamp of a deleted row", "SRV-504") { request, _ in
            if request.isList, request.target.lowercased().contains("includedeleted") {
                request.replace("updatedAt%20ge", with: "updatedAt%20lt")
            }
        },
        .output("answers a delete of nothing with 200", "SRV-507") { request, answer in
            if request.method == .delete, [404, 410].contains(answer.status) { answer.set(200) }
        },
        .output("finds no deleted row by a filter of its id", "SRV-509") { request, answer in
            if request.isList, request.target.contains("id%20eq"),
                request.target.lowercased().contains("includedeleted")
            {
                answer.text = "[]"
            }
        },
        .output("restores rows without content", "SRV-510") { request, answer in
            if request.isOfRow, request.method == .get { answer.replace(#""number":4"#, with: #""number":null"#) }
        },
        .output("has no timestamps", "SRV-601", "SRV-602") {
            $1.replace(#","(created|updated)At":"[^"]*""#, with: "")
        },
        .input("rounds timestamps of filters up", "SRV-604") { request, _ in
            request.replace("updatedAt%20ge", with: "updatedAt%20gt")
        },
        .output("cuts timestamps to milliseconds in responses", "SRV-605") {
            $1.replace(#"(T\d\d:\d\d:\d\d\.\d{3})\d+Z"#, with: "$1Z")
        },
        .input("compares timestamps by whole seconds", "SRV-606") { request, _ in
            request.replace(#"\.\d+Z"#, with: "Z")
        },
        .output("does not know seven digits", "SRV-604", "SRV-610") { request, answer in
            if request.target.firstRange(of: #/\.\d{4,}Z/#) != nil { answer.set(400) }
        },
        .output("does not know offsets", "SRV-611") { if $0.target.contains("%2B01") { $1.set(400) } },
        .input("compares numbers as texts", "SRV-701") { request, _ in
            request.replace("number%20gt%202999999999", with: "number%20gt%20'2999999999'")
        },
        .output("does not know true", "SRV-702") { if $0.target.contains("%20eq%20true") { $1.set(400) } },
        .input("compares with null like SQL", "SRV-703", "SRV-717") { request, _ in
            request.replace("eq%20null", with: "eq%20null%20and%20false")
        },
        .input("ignores parentheses", "SRV-705") { request, _ in
            request.replace(
                "%28(number%20eq%201%20or%20number%20eq%202)%29%20and%20done", with: "$1%20and%20done")
        },
        .output("limits the length of addresses", "SRV-706") { if $0.target.count > 1_000 { $1.set(414) } },
        .output("finds no id by a filter", "SRV-707", "SRV-310") { request, answer in
            if request.isList { request.target.contains("id%20eq%20%27srv") ? answer.set(200, "[]") : () }
        },
        .output("has no arithmetic", "SRV-708") { if $0.target.contains("%20mod%20") { $1.set(400) } },
        .output("has no parts of dates", "SRV-709") { if $0.target.contains("year") { $1.set(400) } },
        .output("does not know doubled quotes", "SRV-710") {
            if $0.target.contains("''") || $0.target.contains("%27%27") { $1.set(400) }
        },
        .input("reads %2B as a space", "SRV-711") { request, _ in request.replace("%2B", with: "%20") },
        .input("ignores case", "SRV-712", "SRV-715") { request, _ in
            request.replace("text%20eq%20%27abc%27", with: "tolower(text)%20eq%20%27abc%27")
            request.replace(#"substringof\(%27a_%27,text"#, with: "substringof(%27a_%27,tolower(text)")
            request.replace(#"contains\(text,%27a_"#, with: "contains(tolower(text),%27a_")
        },
        .output("has no test for a substring", "SRV-713") {
            if $0.target.contains("substringof") || $0.target.contains("contains(") { $1.set(400) }
        },
        .input("confuses the ends of texts", "SRV-714") { request, _ in
            request.replace("startswith", with: "endswith")
        },
        .output("has no functions of texts", "SRV-716") { if $0.target.contains("tolower") { $1.set(400) } },
        .input("stores empty texts as null", "SRV-717", "SRV-801") { request, body in
            body = Array(String(decoding: body, as: UTF8.self).replacing(#""text":"""#, with: #""text":null"#).utf8)
        },
        .output("ignores filters that it cannot read", "SRV-718", "SRV-719") { request, answer in
            if request.isList, answer.status == 400 { answer.set(200, "[]") }
        },
        .input("ignores orders by unknown columns", "SRV-720") { request, _ in
            request.replace("orderby=conformanceMissing", with: "orderby=id")
        },
        .output("knows one spelling of literals", "SRV-721", dialect: .zumo2) {
            if $0.target.contains("1.5d") { $1.set(400) }
        },
        .output("knows no literal 2.0", "SRV-721", dialect: .datasync3) {
            if $0.target.contains("2.0") { $1.set(400) }
        },
        .output("reads dates in texts", "SRV-802") {
            $1.replace(#""text":"2026-11-21""#, with: #""text":"2026-11-21T00:00:00.000Z""#)
        },
        .output("cuts long texts", "SRV-803") {
            if $0.isOfRow, $0.method == .get { $1.replace("(tide ){100,}", with: "tide ") }
        },
        .output("computes with 32 bits", "SRV-804") { $1.replace(#":2147483648\b"#, with: ":2147483647") },
        .output("prints doubles with 15 digits", "SRV-806") {
            $1.replace(#"0\.3333333333333333"#, with: "0.333333333333333")
        },
        .output("returns 1 for true", "SRV-807") { $1.replace(#""done":true"#, with: #""done":1"#) },
        .output("has defaults that only lists and lookups show", "SRV-808") { request, answer in
            if request.method == .get { answer.replace(#","done":null"#, with: #","done":false"#) }
        },
        .output("drops the offset of a timestamp", "SRV-809") { $1.replace(#"\+01:00"#, with: "Z") },
        .output("keeps microseconds", "SRV-810") { $1.replace(#"4031234Z"#, with: "403123Z") },
        .output("answers large bodies with 500", "SRV-812") { if $1.status == 413 { $1.set(500) } },
    ]
}

// One after the other: each case has concurrent clients of its own.
@Suite("The conformance suite finds what is wrong with a server", .serialized)
struct BrokenServerTests {
    @Test(arguments: ServerFlaw.all, ServerDialect.all)
    func `a flaw is found by the check of its promise`(_ flaw: ServerFlaw, _ dialect: ServerDialect) async throws {
        guard flaw.dialect.map({ $0 == dialect }) ?? true else { return }
        let suite = try ServerFixture(.simplest, dialect).suite { BrokenServer(base: $0, flaw: flaw) }
        let checks = ServerCheck.all.filter { check in
            flaw.ids.contains(check.id)
                && check.needs.allSatisfy { need in
                    if case .dialect(let name) = need { name.rawValue == dialect.description } else { true }
                }
        }
        let found = try await deviations(of: suite, checks)
        for check in checks {
            #expect(found[check.id] != nil || found["~\(check.id)"] != nil, "\(check) passes")
        }
    }

    @Test func `each check is failed by a server with a quirk or with a flaw of its own`() {
        let quirks: Set = [
            "SRV-302", "SRV-308", "SRV-316", "SRV-603", "SRV-704", "SRV-805", "SRV-811", "SRV-508",
        ]
        // Found by the servers with timing below, or by a server that answers everything with success.
        let others: Set = ["SRV-307", "SRV-608", "SRV-609", "SRV-904"]
        let missing = Set(ServerCheck.all.map(\.id)).subtracting(ServerFlaw.all.flatMap(\.ids))
        #expect(missing.subtracting(quirks).subtracting(others) == [])
    }

    @Test(arguments: [200, 404, 500], ServerDialect.all)
    func `no check passes on a server that gives every request the same answer`(
        _ status: Int, _ dialect: ServerDialect
    ) async throws {
        let isBroken = Flag()
        let suite = try ServerFixture(.simplest, dialect).suite { base in
            BrokenServer(
                base: base,
                flaw: .output("dead") { _, answer in
                    guard isBroken.value else { return }
                    answer = TransportResponse(
                        response: HTTPResponse(status: .init(code: status)), body: Array("{}".utf8))
                })
        }
        try await suite.prepare()
        isBroken.set()
        for check in ServerCheck.all {
            let result = await suite.run(check)
            let isPassed = result.status == .passed
            #expect(!isPassed, "\(check) passes")
        }
    }

    /// Flaws of a server in the style of the Datasync toolkit, and the checks that deviate.
    private static let toolkitFlaws: [(flaw: ServerFlaw, deviations: Set<String>)] = [
        (.output("none") { _, _ in }, []),
        (
            .output("cuts pages without a link") { $1.replace(#","nextLink":"[^"]*""#, with: "") },
            ["~SRV-212"]
        ),
        (
            .output("cuts pages without a link, and counts the rows of the page") { request, answer in
                answer.replace(#","nextLink":"[^"]*""#, with: "")
                guard request.isList, let page = try? JSONPage(answer.body) else { return }
                answer.replace(#""count":\d+"#, with: "\"count\":\(page.rows.count)")
            },
            ["SRV-202", "~SRV-208", "~SRV-212", "SRV-214", "SRV-215"]
        ),
        (
            .output("finds no deleted row by its id") { request, answer in
                if request.method == .get, request.isOfRow, answer.text.contains(#""deleted":true"#) {
                    answer.set(410, "")
                }
            },
            ["~SRV-508"]
        ),
    ]

    @Test(arguments: toolkitFlaws.indices)
    func `a server without createdAt, as that of the Datasync toolkit, deviates only by its flaw`(
        _ index: Int
    ) async throws {
        let (flaw, deviating) = Self.toolkitFlaws[index]
        let fixture = try ServerFixture(.simplest, .datasync3, schemas: [ServerFixture.schema])
        let suite = try fixture.suite { base in
            BrokenServer(
                base: base,
                flaw: .output(flaw.description) { request, answer in
                    answer.replace(#","createdAt":"[^"]*""#, with: "")
                    flaw.response(request, &answer)
                })
        }
        let found = try await deviations(of: suite)
        #expect(Set(found.keys) == deviating, "\(flaw): \(found)")
    }

    @Test(arguments: ServerDialect.all)
    func `a late commit is found: a row that appears after one with a later timestamp`(_ dialect: ServerDialect)
        async throws
    {
        // Every other list hides the newest row but one.
        let count = Mutex(0)
        let suite = try ServerFixture(.simplest, dialect).suite { base in
            BrokenServer(
                base: base,
                flaw: .output("late") { request, answer in
                    guard request.isList, request.target.contains("desc"), let page = try? JSONPage(answer.body),
                        page.rows.count > 2
                    else { return }
                    let hides = count.withLock { count in
                        count += 1
                        return !count.isMultiple(of: 2)
                    }
                    let bytes = answer.body
                    var rows = page.rows.map { String(decoding: bytes[$0], as: UTF8.self) }
                    if hides { rows.remove(at: 1) }
                    answer.text = "[\(rows.joined(separator: ","))]"
                })
        }
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-609" })
        #expect(await suite.run(check).status == .tolerated)
    }

    @Test(arguments: ServerDialect.all)
    func `timestamps of servers whose clocks differ are found`(_ dialect: ServerDialect) async throws {
        let count = Mutex(0)
        let suite = try ServerFixture(.simplest, dialect).suite { base in
            BrokenServer(
                base: base,
                flaw: .output("skewed") { request, answer in
                    guard request.method == .post else { return }
                    let isEven = count.withLock { count in
                        count += 1
                        return count.isMultiple(of: 2)
                    }
                    if isEven { answer.replace(#""updatedAt":"\d{4}"#, with: #""updatedAt":"2001"#) }
                })
        }
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-608" })
        #expect(await suite.run(check).status == .tolerated)
    }

    @Test(arguments: ServerDialect.all)
    func `a server that overwrites or loses rows is found`(_ dialect: ServerDialect) async throws {
        let suite = try ServerFixture(.simplest, dialect).suite { base in
            BrokenServer(
                base: base,
                flaw: .output("forgetful") { request, answer in
                    if request.method == .get { answer.replace(#""text":"first""#, with: #""text":"second""#) }
                    if request.isList { answer.replace(#""id":"[^"]*-7""#, with: #""id":"lost""#) }
                })
        }
        let found = try await deviations(of: suite, ServerCheck.all.filter { ["SRV-307", "SRV-904"].contains($0.id) })
        #expect(Set(found.keys) == ["SRV-307", "SRV-904"])
    }
}

/// A flag that is set once.
final class Flag: Sendable {
    private let state = Mutex(false)
    var value: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
}
