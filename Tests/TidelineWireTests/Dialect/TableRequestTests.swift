import HTTPTypes
import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineWire

private func parse(
    _ target: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [.zumoAPIVersion: "2.0.0"]
) throws -> TableRequest {
    try TableRequest(method: method, target: target, headers: headers)
}

private func rejection(
    _ target: String, _ method: HTTPRequest.Method = .get, headers: HTTPFields = [.zumoAPIVersion: "2.0.0"]
) -> RequestRejection? {
    #expect(throws: RequestRejection.self) { try parse(target, method, headers: headers) }
}

extension TableRequest {
    fileprivate var read: TableRead? { if case .read(let read) = self { read } else { nil } }
}

struct TableRequestTests {
    @Test func `what the dialect asks is what the server understands`() throws {
        let schema = TableSchema("T b", columns: [.string("text"), .timestamp("due")])
        let query = TableQuery("T b").filter(.column("text") == "a b&c#d+e%'é😀\u{0}" && .column("due") > Timestamp.min)
            .order(by: "due", descending: true).skip(10).limit(50).select("text", "due").includingTotalCount()
        let request = try ZUMODialect().read(query, schema: schema, options: ReadOptions(includeDeleted: true))
        let read = try #require(parse(request.target, request.method, headers: request.headers).read)
        #expect(try String(reflecting: read.query(schema)) == String(reflecting: query))
        #expect(read.includesDeleted)
    }

    @Test(arguments: [
        "1", "a b", "é😀", "50%", "a#b&c=d", "it's", "...", "%2F", "a/b", "/", "../x", "a?b#c", "a+b", "a\\b", "a\nb",
        " ", "a%2Fb",
    ])
    func `ids come through the path`(_ id: String) throws {
        let dialect = ZUMODialect()
        let match = IfMatch.versions(["v\"1"])
        let forms: [(WireRequest, TableRequest)] = [
            (try dialect.lookup(id, in: "T"), .lookup(table: "T", id: id, includeDeleted: false)),
            (try dialect.lookup(id, in: "T", includeDeleted: true), .lookup(table: "T", id: id, includeDeleted: true)),
            (try dialect.insert(["a": 1], into: "T"), .insert(table: "T")),
            (
                try dialect.update(["id": .string(id), "a": 1], in: "T", version: "v\"1"),
                .update(table: "T", id: id, ifMatch: match)
            ),
            (try dialect.delete(id, from: "T", version: "v\"1"), .delete(table: "T", id: id, ifMatch: match)),
            (try dialect.delete(id, from: "T", version: nil), .delete(table: "T", id: id, ifMatch: nil)),
            (try dialect.undelete(id, in: "T", version: "v\"1"), .undelete(table: "T", id: id, ifMatch: match)),
        ]
        for (request, meaning) in forms {
            #expect(try parse("/" + request.target, request.method, headers: request.headers) == meaning)
            #expect(meaning.table == "T")
        }
    }

    @Test func `a bare read takes the defaults`() throws {
        let read = try #require(parse("/tables/T?app=1&$inlinecount=none&&").read)
        #expect(read.filter == nil && read.order.isEmpty && read.skip == 0 && read.top == nil && read.selection == nil)
        #expect(!read.includesDeleted && !read.includesTotalCount)
    }

    @Test func `the version may be a parameter, a plus is a space`() throws {
        #expect(throws: Never.self) { try parse("tables/T?ZUMO-API-VERSION=2.0.0", headers: [:]) }
        #expect(try parse("tables/T?%24filter=a+eq+1").read?.filter == "a eq 1")
    }

    @Test(arguments: [
        "/tables/T?$top=-1", "/tables/T?$top=1001", "/tables/T?$top=x", "/tables/T?$top=", "/tables/T?$skip=-1",
        "/tables/T?$skip=99999999999999999999", "/tables/T?$top=1.5", "/tables/T?$foo=1", "/tables/T?$top=1&$top=2",
        "/tables/T?$top=%", "/tables/T?$top=%4", "/tables/T?$top=%zz", "/tables/T?a=%FF", "/tables/%C3", "/tables/T/%x",
        "/tables/T?$inlinecount=some", "/tables/T?$select=a,,b", "/tables/T?$select=", "/tables/T?$orderby=a%20up",
        "/tables/T?__includeDeleted=maybe", "/tables/T/1?__includeDeleted=",
    ])
    func `a request against the protocol is 400`(_ target: String) {
        #expect(rejection(target)?.status == .badRequest)
    }

    @Test(arguments: [
        "", "/", "/tables", "/tables/", "/table/T", "/tables/T/1/2", "/tables//1", "/tables/T/", "//tables/T", "*",
        "/?x", "?",
    ])
    func `a path that is no table's is 404`(_ target: String) { #expect(rejection(target)?.status == .notFound) }

    @Test func `a method that the path does not know is 405 and names those it knows`() {
        #expect(rejection("/tables/T", .patch)?.status == .methodNotAllowed)
        #expect(rejection("/tables/T", .put)?.allowedMethods == [.get, .post])
        #expect(rejection("/tables/T/1", .put)?.allowedMethods == [.get, .post, .patch, .delete])
        #expect(rejection("/tables/T/1", .head)?.status == .methodNotAllowed)
    }

    @Test(arguments: [nil, "", "1.0", "3.0.0", "2.0.0.0"] as [String?])
    func `another version of the protocol is 400`(_ version: String?) {
        var headers: HTTPFields = [:]
        headers[.zumoAPIVersion] = version
        #expect(rejection("/tables/T", headers: headers)?.status == .badRequest)
    }

    @Test func `a broken If-Match is 400`() {
        let headers: HTTPFields = [.zumoAPIVersion: "2.0.0", .ifMatch: "abc"]
        #expect(rejection("/tables/T/1", .delete, headers: headers)?.status == .badRequest)
    }

    @Test(arguments: 0..<20)
    func `no target traps`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = [
            "/", "tables", "T", "?", "&", "=", "$top", "$filter", "%", "%2", "%00", "%C3%A9", "+", "#", "é", "1", "..",
            "\u{0}",
        ]
        for _ in 0..<500 {
            let target = (0..<Int.random(in: 0...12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            _ = try? parse(target.joined())
        }
    }
}
