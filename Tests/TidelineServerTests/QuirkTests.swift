import HTTPTypes
import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineWire

/// The deviations of the original Node server, enabled one at a time.
struct QuirkTests {
    @Test(arguments: StoreKind.served)
    func `versions count the changes of one row, and begin again with its next life`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, quirks: [.perRowVersions, .hardDelete])
        #expect(try fixture.insert(#"{"id":"1","text":"a"}"#)["version"] == "MQ==")
        let second = fixture.send(.patch, "/tables/Item/1", #"{"text":"b"}"#, ifMatch: #""MQ==""#)
        #expect(try second.row()["version"] == "Mg==")
        #expect(fixture.send(.delete, "/tables/Item/1").status == .ok)
        #expect(try fixture.insert(#"{"id":"1","text":"c"}"#)["version"] == "MQ==")
    }

    @Test(arguments: StoreKind.served)
    func `a hard delete leaves nothing, no row has the column deleted, an undelete is 500`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, quirks: .hardDelete)
        let inserted = try fixture.insert(#"{"id":"1","text":"a"}"#)
        #expect(inserted["deleted"] == nil)
        #expect(!fixture.send(.get, "/tables/Item").text.contains("deleted"))
        #expect(!fixture.send(.get, "/tables/Item/1").text.contains("deleted"))
        #expect(fixture.send(.delete, "/tables/Item/1", ifMatch: #""other""#).status == .preconditionFailed)
        #expect(fixture.send(.delete, "/tables/Item/1").status == .ok)
        #expect(fixture.send(.delete, "/tables/Item/1").status == .notFound)
        #expect(fixture.send(.post, "/tables/Item/1").status == .internalServerError)
        #expect(try fixture.ids("/tables/Item?__includeDeleted=true").isEmpty)
    }

    @Test(arguments: StoreKind.served)
    func `only the list shows a soft-deleted row`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, quirks: .hidesDeletedRows)
        _ = try fixture.insert(#"{"id":"1"}"#)
        _ = fixture.send(.delete, "/tables/Item/1")
        #expect(fixture.send(.get, "/tables/Item/1?__includeDeleted=true").status == .notFound)
        #expect(try fixture.ids("/tables/Item?$filter=id%20eq%20'1'&__includeDeleted=true") == ["1"])
    }

    @Test(arguments: [#"{"extra":{"a":1}}"#, #"{"extra":[1]}"#, #"{"unknown":1}"#, #"{"unknown":null}"#])
    func `a permanent fault is 500`(_ body: String) throws {
        let fixture = try ServiceFixture(.simplest, quirks: .answersFaultsWith500)
        _ = try fixture.insert(#"{"id":"1"}"#)
        #expect(fixture.send(.patch, "/tables/Item/1", body).status == .internalServerError)
        #expect(fixture.send(.post, "/tables/Item", body).status == .internalServerError)
    }

    @Test func `an insert of an identifier that exists gets its own body back`() throws {
        let fixture = try ServiceFixture(.simplest, quirks: .echoesConflictingInserts)
        _ = try fixture.insert(#"{"id":"1","text":"server's"}"#)
        let answer = fixture.send(.post, "/tables/Item", #"{"id":"1","text":"client's"}"#)
        #expect(answer.status == .conflict && answer.text == #"{"id":"1","text":"client's"}"#)
    }

    @Test func `integers beyond 2^53 are rounded`() throws {
        let fixture = try ServiceFixture(.simplest, quirks: .roundsIntegers)
        #expect(try fixture.insert(#"{"id":"1","count":9007199254740993}"#)["count"] == 9_007_199_254_740_992)
        let changed = fixture.send(.patch, "/tables/Item/1", #"{"count":-9007199254740995}"#)
        #expect(try changed.row()["count"] == -9_007_199_254_740_996)
    }

    @Test func `the server makes the identifiers`() throws {
        let fixture = try ServiceFixture(.simplest, quirks: .makesIDs)
        let row = try fixture.insert(#"{"id":"mine","text":"a"}"#)
        #expect(row.idText != "mine" && Int(row.idText) != nil)
    }

    @Test(arguments: StoreKind.served)
    func `a filter leaves out rows whose value is null`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, quirks: .filtersLikeSQL)
        for row in [#"{"id":"1","count":1}"#, #"{"id":"2","count":2}"#, #"{"id":"3"}"#] { _ = try fixture.insert(row) }
        func ids(_ filter: String) throws -> [String] {
            try fixture.ids("/tables/Item?$filter=\(filter.replacing(" ", with: "%20"))")
        }
        #expect(try ids("count ne 1") == ["2"])
        #expect(try ids("not (count eq 1)") == ["2"])
        #expect(try ids("not (count eq 1 and text eq 'a')") == ["2"])
        #expect(try ids("count ne 1 or count eq null") == ["2", "3"])
        #expect(try ids("count ne null") == ["1", "2"])
        #expect(try ids("unknown eq 1").isEmpty)
    }

    @Test func `stamps have whole milliseconds and may be shared`() throws {
        let fixture = try ServiceFixture(.simplest, quirks: .millisecondStamps)
        fixture.clock.advance(byTicks: 1_234)
        let stamps = [try fixture.insert(#"{"id":"1"}"#).updatedAt, try fixture.insert(#"{"id":"2"}"#).updatedAt]
        #expect(stamps[0] == stamps[1] && stamps[0]?.flooredToMillisecond == stamps[0])
    }

    @Test func `If-Match with a star matches no row`() throws {
        let fixture = try ServiceFixture(.simplest, quirks: .refusesAnyMatch)
        _ = try fixture.insert(#"{"id":"1"}"#)
        #expect(fixture.send(.delete, "/tables/Item/1", ifMatch: "*").status == .preconditionFailed)
    }

    @Test func `every quirk has one name`() {
        let single = ServerQuirks.named.dropFirst().map(\.quirks)
        #expect(Set(single).count == single.count && single.allSatisfy { $0.rawValue.nonzeroBitCount == 1 })
        #expect(ServerQuirks.original.isSubset(of: ServerQuirks(single)))
    }
}
