import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineConformance
import TidelineServer
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineWire

struct StampTests {
    @Test(arguments: StoreKind.served)
    func `stamps increase though the clock stands still or goes back`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        var stamps: [Timestamp] = []
        for number in 0..<6 {
            stamps.append(try #require(try fixture.insert(#"{"id":"\#(number)"}"#).updatedAt))
            if number == 2 { fixture.clock.set("2020-01-01") }
        }
        stamps.append(try #require(try fixture.send(.patch, "/tables/Item/0", #"{"text":"a"}"#).row().updatedAt))
        stamps.append(try #require(try fixture.send(.delete, "/tables/Item/0").row().updatedAt))
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        fixture.clock.set("2027-01-01T00:00:00.0000001Z")
        #expect(try fixture.insert("{}").updatedAt == Timestamp("2027-01-01T00:00:00.0000001Z"))
    }

    @Test func `a version is twelve random bytes in base64`() throws {
        let makeVersion = TableServiceOptions().makeVersion
        let versions = (0..<2_000).map { _ in makeVersion() }
        #expect(Set(versions).count == versions.count)
        #expect(versions.allSatisfy { Data(base64Encoded: $0)?.count == 12 })
        for position in 0..<16 {
            #expect(Set(versions.map { Array($0.utf8)[position] }).count == 64, "position \(position)")
        }
    }

    @Test(arguments: StoreKind.served)
    func `a refused write makes no stamp appear, and the next is still later`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try #require(try fixture.insert(#"{"id":"1"}"#).updatedAt)
        #expect(fixture.send(.post, "/tables/Item", #"{"id":"1"}"#).status == .conflict)
        #expect(try fixture.send(.get, "/tables/Item/1").row().updatedAt == first)
        #expect(try #require(try fixture.insert(#"{"id":"2"}"#).updatedAt) > first)
    }

    @Test(
        arguments: StoreKind.served,
        [(.patch, "/tables/Item/1", .ok, .preconditionFailed), (.post, "/tables/Item", .created, .conflict)]
            as [(HTTPRequest.Method, String, HTTPResponse.Status, HTTPResponse.Status)])
    func `of clients that change one version or insert one id, one succeeds`(
        _ stores: StoreKind,
        _ request: (
            method: HTTPRequest.Method, path: String, success: HTTPResponse.Status, failure: HTTPResponse.Status
        )
    ) async throws {
        let fixture = try ServiceFixture(stores)
        var ifMatch: String?
        if request.method == .patch {
            ifMatch = ETag.quote(try #require(try fixture.insert(#"{"id":"1","count":0}"#)["version"]?.string))
        }
        let statuses = await withTaskGroup(of: HTTPResponse.Status.self) { group in
            for client in 0..<16 {
                let body = #"{"id":"1","count":\#(client)}"#
                group.addTask { [ifMatch] in
                    fixture.send(request.method, request.path, body, ifMatch: ifMatch).status
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.count { $0 == request.success } == 1)
        #expect(statuses.count { $0 == request.failure } == 15)
    }

    @Test(arguments: StoreKind.served, 0..<20)
    func `no request traps, each has a status and a JSON body`(_ stores: StoreKind, _ seed: UInt64) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        var random = SplitMix64(seed: seed)
        let methods: [HTTPRequest.Method] = [.get, .post, .patch, .delete, .put, .options]
        let paths = ["/tables/T", "/tables/T/1", "/tables/T/%00", "/tables/", "/x", "*", "/tables/'", "/tables/T/'"]
        let queries = [
            "", "?$top=2", "?$filter=a eq 1", "?$filter='", "?$orderby=a", "?$select=a,b", "?%",
            "?__includeDeleted=true",
        ]
        let bodies = ["", "{}", #"{"id":"1","a":1}"#, #"{"a":"x"}"#, #"{"id":"'"}"#, "[1", "\u{0}", #"{"a":{"b":[]}}"#]
        for _ in 0..<200 {
            let path = paths.randomElement(using: &random)! + queries.randomElement(using: &random)!
            let answer = fixture.send(
                methods.randomElement(using: &random)!, path, bodies.randomElement(using: &random)!)
            #expect((200..<500).contains(answer.status.code), "\(path): \(answer.text)")
            #expect(!answer.body.isEmpty)
            let wrapped = Array(#"{"v":"#.utf8) + answer.body + Array("}".utf8)
            #expect(throws: Never.self) { try wrapped.withUnsafeBytes { try JSONRow.parse($0) } }
        }
    }
}
