import Foundation
import HTTPTypes
import Tideline
import TidelineStore

/// A dialect of Kinto that is broken in one way.
struct KintoFlaw: Sendable, CustomStringConvertible {
    var description: String
    /// The check that must find it.
    var check: String
    var request: @Sendable (inout ServerRequest) -> Void = { _ in }
    var rowMeaning: @Sendable (TransportResponse, inout AnswerMeaning) -> Void = { _, _ in }
    var pageMeaning: @Sendable (inout AnswerMeaning) -> Void = { _ in }
    var page: @Sendable (inout Tideline.ServerPage<Int64>, Int64?) -> Void = { _, _ in }
    /// Whether the responses in a batch are taken as they are.
    var believesBatches = false
    var acceptsAnyID = false
    var dropsFirstSignals = false
    var collidesEvery = 0

    static let all: [KintoFlaw] = [
        .init(
            description: "any 404 is gone", check: "DIA-306",
            rowMeaning: { if $0.response.status == .notFound { $1.kind = .gone } }),
        .init(
            description: "409 is a conflict", check: "DIA-209",
            rowMeaning: { if $0.response.status == .conflict { $1 = .conflict(nil) } }, collidesEvery: 3),
        .init(
            description: "what a batch undoes counts as stored", check: "DIA-209", believesBatches: true,
            collidesEvery: 3),
        .init(description: "there is no step back", check: "DIA-408", page: { page, _ in page.nextPull = nil }),
        .init(description: "signals have no baseline", check: "DIA-601", dropsFirstSignals: true),
        .init(
            description: "503 lasts a day", check: "DIA-309",
            rowMeaning: { if $0.response.status == .serviceUnavailable { $1.retryAfter = .seconds(86_400) } }),
        .init(
            description: "tombstones are ignored", check: "DIA-403",
            page: { page, _ in page.rows.removeAll { $0["deleted"] == true } }),
        .init(description: "an update has no version", check: "DIA-202", request: withoutVersion(.patch)),
        .init(description: "a delete has no version", check: "DIA-203", request: withoutVersion(.delete)),
        .init(description: "a lost update has no version", check: "DIA-502", request: withoutVersion(.patch)),
        .init(description: "an insert replaces", check: "DIA-201", request: { $0.headers[.ifNoneMatch] = nil }),
        .init(description: "every page is the last", check: "DIA-401", page: { page, _ in page.isLast = true }),
        .init(
            description: "the cursor is that of the page before", check: "DIA-401",
            page: { page, cursor in page.cursor = cursor ?? 0 }),
        .init(
            description: "texts are cut", check: "DIA-102",
            page: { page, _ in
                for index in page.rows.indices {
                    page.rows[index]["text"] = page.rows[index]["text"]?.string.map { .string(String($0.prefix(255))) }
                }
            }),
        .init(
            description: "a restored server is not recognized", check: "DIA-407",
            pageMeaning: { if $0.kind == .gone { $0.kind = .done } }),
        .init(description: "ids are not validated", check: "DIA-104", acceptsAnyID: true),
        .init(
            description: "nulls are not sent", check: "DIA-103",
            request: { request in
                request.body = request.body.map {
                    Array(String(decoding: $0, as: UTF8.self).replacing(#/"[a-z]+":null,?/#, with: "").utf8)
                }
            }),
        .init(
            description: "a missing row is a conflict", check: "DIA-204",
            rowMeaning: { if $1.kind == .gone { $1 = .refused("missing") } }),
        .init(
            description: "versions are not read", check: "DIA-207",
            rowMeaning: { if $1.row != nil { $1.row?["version"] = .string("1") } }),
    ]

    private static func withoutVersion(_ method: HTTPRequest.Method) -> @Sendable (inout ServerRequest) -> Void {
        { if $0.method == method { $0.headers[.ifMatch] = nil } }
    }
}

/// The dialect with a flaw.
struct BrokenKinto: CustomDialect {
    let base: KintoDialect
    let flaw: KintoFlaw

    var name: String { base.name }

    func request(for page: PageRequest, after cursor: Int64?) throws -> ServerRequest {
        try base.request(for: page, after: cursor)
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int64?) throws
        -> Tideline.ServerPage<Int64>
    {
        var read = try base.page(in: response, to: page, after: cursor)
        flaw.page(&read, cursor)
        return read
    }

    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Int64?) throws -> AnswerMeaning {
        var meaning = try base.meaning(of: response, to: page, after: cursor)
        flaw.pageMeaning(&meaning)
        return meaning
    }

    func request(for row: RowRequest) throws -> ServerRequest {
        var request = try base.request(for: row)
        flaw.request(&request)
        return request
    }

    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        var meaning = try base.meaning(of: response, to: row)
        flaw.rowMeaning(response, &meaning)
        return meaning
    }

    var maxBatchCount: Int { base.maxBatchCount }

    func request(forBatch requests: [ServerRequest]) throws -> ServerRequest {
        try base.request(forBatch: requests)
    }

    func responses(in response: TransportResponse, toBatch requests: [ServerRequest]) throws -> [TransportResponse] {
        guard flaw.believesBatches else { return try base.responses(in: response, toBatch: requests) }
        struct Part: Decodable { var status: Int, body: JSONFields }
        return try JSONDecoder().decode([String: [Part]].self, from: Data(response.body))["responses"]?.map {
            var part = response
            part.response.status = .init(code: $0.status)
            part.body = Array(try JSONEncoder().encode($0.body))
            return part
        } ?? []
    }

    func isFromService(_ response: TransportResponse) -> Bool? { base.isFromService(response) }
    func validateNewID(_ id: String) throws { if !flaw.acceptsAnyID { try base.validateNewID(id) } }

    /// The signals of the base, or those after the first request.
    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        guard flaw.dropsFirstSignals else { return base.changeSignals(over: connection) }
        return ChangeSignals(
            AsyncThrowingStream<String, any Error> { names in
                let task = Task {
                    var last: String?
                    do {
                        while true {
                            let request = try ServerRequest(
                                .get, path: ["buckets", "b", "collections", "Todo", "records"], query: [("_limit", "1")]
                            )
                            let stamp = try await connection.send(request).response.headerFields[.eTag]
                            if let last, last != stamp { names.yield("Todo") }
                            last = stamp
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    } catch {
                        names.finish(throwing: error)
                    }
                }
                names.onTermination = { _ in task.cancel() }
            })
    }
}
