import HTTPTypes
import Testing
import TidelineConformance
import TidelineServerConformance

@testable import Tideline

@Suite("A second dialect, written by the article")
struct NotesConformanceTests {
    @Test("It keeps every promise of dialects, also with batches of changes", arguments: [1, 25])
    func conforms(_ maxBatchCount: Int) async throws {
        let server = NotesServer()
        let schema = TableSchema(
            "Note",
            columns: [
                .string("text"), .int("count"), .double("weight"), .bool("done"), .timestamp("due"), .json("tags"),
                .bytes("photo"),
            ], idMatching: .exact)
        var run = DialectConformance(
            url: "http://notes.test/db", dialect: ServerDialect(NotesDialect(maxBatchCount: maxBatchCount)),
            schema: schema, transport: server)
        run.emptyServer = { server.empty() }
        let report = await run.report()
        // Its numbers are given in the order of the commits, and nothing waits for the change signals.
        let skipped = report.stores[0].results.filter { $0.status == .skipped }.map(\.id)
        let (text, hasFailures) = (report.text, report.hasFailures)
        #expect(!hasFailures && skipped == ["DIA-408", "DIA-601"], "\(text)")
    }

    @Test("Its server keeps the conditions of requests, and lists deletions")
    func service() throws {
        var service = NotesService()
        func send(_ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields = [:]) throws -> (Int, String) {
            let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: headers)
            let segments = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
            let answer = try service.respond(to: request, segments, Array(#"{"text":"one"}"#.utf8))
            return (answer.response.status.code, String(decoding: answer.body, as: UTF8.self))
        }
        #expect(try send(.put, "Note/rows/a", [.ifNoneMatch: "*"]) == (201, #"{"change":1,"id":"a","text":"one"}"#))
        #expect(try send(.put, "Note/rows/a", [.ifNoneMatch: "*"]).0 == 412)
        #expect(try send(.get, "Note/rows/a", [.ifNoneMatch: "\"1\""]).0 == 304)
        #expect(try send(.patch, "Note/rows/a", [.ifMatch: "\"1\""]).0 == 200)
        #expect(try send(.delete, "Note/rows/a", [.ifMatch: "\"1\""]).0 == 412)
        #expect(try send(.delete, "Note/rows/a", [.ifMatch: "\"2\""]).0 == 204)
        #expect(try send(.get, "Note/rows/a") == (404, #"{"error":"noRow"}"#))
        #expect(try send(.get, "Other/rows/a") == (404, #"{"error":"noTable"}"#))
        #expect(
            try send(.get, "Note/changes?after=0&limit=9").1
                == #"{"last":3,"more":false,"rows":[{"change":3,"deleted":true,"id":"a"}],"total":1}"#)
        #expect(try send(.get, "Note/changes?after=9&limit=9").0 == 410)
    }
}
