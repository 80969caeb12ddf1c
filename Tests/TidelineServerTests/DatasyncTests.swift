import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

/// The service in the dialect Datasync 3.
@Suite("Datasync 3 on the server")
struct DatasyncTests {
    /// Sends a request of this dialect, or of another version or none.
    private func send(
        _ fixture: ServiceFixture, _ method: HTTPRequest.Method, _ path: String, _ body: String = "",
        ifMatch: String? = nil, version: String? = "3.0.0"
    ) -> TableResponse {
        fixture.send(method, path, body, version: version, ifMatch: ifMatch)
    }

    private typealias Page = (ids: [String], info: PageInfo, text: String)

    private func page(_ fixture: ServiceFixture, _ query: String) throws -> Page {
        let answer = send(fixture, .get, "/tables/Item" + query)
        let (rows, info) = try fixture.rows(answer)
        return (rows.map(\.idText), info, answer.text)
    }

    /// Returns a page and those that follow it.
    private func pages(_ fixture: ServiceFixture, _ query: String) throws -> [Page] {
        var pages = [try page(fixture, query)]
        while let link = pages.last?.info.nextLink {
            #expect(!link.contains("?") && !link.contains("/"))
            pages.append(try page(fixture, "?" + link))
        }
        return pages
    }

    @Test("An insert is answered with row and address; an existing id with its row", arguments: StoreKind.served)
    func insert(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let made = send(fixture, .post, "/tables/Item", #"{"id":"a|1","text":"x","deleted":false,"updatedAt":null}"#)
        #expect(made.status == .created)
        #expect(made.response.headerFields[.location] == "http://host:8080/tables/Item/a%7C1")
        let row = try made.row()
        #expect(row["text"] == "x" && row["deleted"] == false && made.eTag == ETag.quote(row["version"]?.string ?? ""))
        let again = send(fixture, .post, "/tables/Item", #"{"id":"a|1","text":"y"}"#)
        #expect(again.status == .conflict)
        #expect(try again.row() == row)
        for id in ["-a", "a b", String(repeating: "x", count: 128)] {
            #expect(send(fixture, .post, "/tables/Item", #"{"id":"\#(id)"}"#).status == .badRequest)
        }
    }

    @Test("A PUT replaces the whole row, if its version is that of the request", arguments: StoreKind.served)
    func replace(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try send(fixture, .post, "/tables/Item", #"{"id":"1","text":"x","count":3,"done":true}"#).row()
        let version = ETag.quote(first["version"]?.string ?? "")
        let answer = send(fixture, .put, "/tables/Item/1", #"{"id":"1","text":"y","version":"x"}"#, ifMatch: version)
        #expect(answer.status == .ok)
        let row = try answer.row()
        #expect(row["text"] == "y" && row["count"] == .null && row["done"] == .null)
        #expect(row["createdAt"] == first["createdAt"] && row["version"] != first["version"])
        let stale = send(fixture, .put, "/tables/Item/1", #"{"id":"1","text":"z"}"#, ifMatch: version)
        #expect(stale.status == .preconditionFailed)
        #expect(try stale.row() == row)
        #expect(send(fixture, .put, "/tables/Item/1", #"{"id":"2"}"#).status == .badRequest)
        #expect(send(fixture, .put, "/tables/Item/1", #"{"id":"1","deleted":true}"#).status == .badRequest)
        #expect(send(fixture, .put, "/tables/Item/2", #"{"id":"2"}"#).status == .notFound)
        #expect(try send(fixture, .get, "/tables/Item/1").row() == row)
    }

    @Test("A deleted row is 410, and a PUT with __includedeleted restores it", arguments: StoreKind.served)
    func deleted(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try send(fixture, .post, "/tables/Item", #"{"id":"1","text":"x"}"#).row()
        #expect(send(fixture, .delete, "/tables/Item/1", ifMatch: "\"old\"").status == .preconditionFailed)
        let deleted = send(fixture, .delete, "/tables/Item/1", ifMatch: ETag.quote(first["version"]?.string ?? ""))
        #expect(deleted.status == .noContent && deleted.body.isEmpty)
        #expect(send(fixture, .get, "/tables/Item/1").status == .gone)
        #expect(send(fixture, .delete, "/tables/Item/1").status == .gone)
        #expect(send(fixture, .put, "/tables/Item/1", #"{"id":"1","text":"y"}"#).status == .gone)
        #expect(send(fixture, .get, "/tables/Item/2").status == .notFound)
        let tombstone = try send(fixture, .get, "/tables/Item/1?__includedeleted=true").row()
        #expect(tombstone["deleted"] == true && tombstone["text"] == "x")
        let restored = send(
            fixture, .put, "/tables/Item/1?__includedeleted=true", #"{"id":"1","text":"z","deleted":false}"#,
            ifMatch: ETag.quote(tombstone["version"]?.string ?? ""))
        #expect(restored.status == .ok)
        #expect(try restored.row()["deleted"] == false)
        #expect(try send(fixture, .get, "/tables/Item/1").row()["text"] == "z")
    }

    @Test("Pages follow each other by the query in nextLink, up to $top", arguments: StoreKind.served)
    func pages(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        for number in 0..<250 {
            _ = try fixture.insert(#"{"id":"\#(1000 + number)","count":\#(number)}"#)
        }
        let pages = try pages(fixture, "?$orderby=id&$count=true&$top=230")
        #expect(pages.map(\.ids.count) == [100, 100, 30])
        #expect(pages.flatMap(\.ids) == (0..<230).map { "\(1000 + $0)" })
        #expect(pages.allSatisfy { $0.info.totalCount == 250 })
        // The last page has no link, and nulls are left out.
        let last = try page(fixture, "?$skip=200")
        #expect(last.ids.count == 50 && last.info.nextLink == nil && last.info.totalCount == nil)
        #expect(!last.text.contains("null") && last.text.hasPrefix(#"{"items":[{"id":"1200","#))
        #expect(try page(fixture, "?$filter=count%20lt%200").text == #"{"items":[]}"#)
        #expect(send(fixture, .get, "/tables/Item?$top=128001").status == .badRequest)
        #expect(send(fixture, .get, "/tables/Item?$inlinecount=allpages").status == .badRequest)
        #expect(send(fixture, .get, "/tables/Item?$count=maybe").status == .badRequest)
    }

    @Test(
        "A page ends before the row that would exceed its size, with a link up to $top", arguments: StoreKind.served,
        ["", "&$filter=replace(text,'x','yy')%20ne%20'a'"])
    func pageBytes(_ stores: StoreKind, _ filter: String) throws {
        let fixture = try ServiceFixture(stores, maximumPageBytes: 2_000)
        try fixture.insertLongTexts()
        let pages = try pages(fixture, "?$orderby=id&$count=true&$top=11\(filter)")
        #expect(pages.map(\.ids.count) == [3, 2, 1, 3, 2])
        #expect(pages.flatMap(\.ids) == (10..<21).map(String.init))
        #expect(pages.allSatisfy { $0.info.totalCount == 12 && ($0.text.utf8.count < 2_100 || $0.ids.count == 1) })
    }

    @Test("Both dialects are served at once, by the version or by an option that only one has")
    func bothDialects() throws {
        let fixture = try ServiceFixture(.simplest)
        #expect(send(fixture, .post, "/tables/Item", #"{"id":"1","text":"x"}"#, version: "2.0.0").status == .created)
        #expect(send(fixture, .get, "/tables/Item", version: "2.0.0").text.hasPrefix("["))
        #expect(send(fixture, .get, "/tables/Item").text.hasPrefix(#"{"items":["#))
        #expect(send(fixture, .get, "/tables/Item?zumo-api-version=3.0.0", version: nil).text.hasPrefix("{"))
        #expect(send(fixture, .get, "/tables/Item?$count=true", version: nil).text.contains(#""count":1"#))
        #expect(send(fixture, .put, "/tables/Item/1", #"{"id":"1","text":"y"}"#, version: nil).status == .ok)
        // Without a version, ZUMO 2 is assumed, which requires it.
        #expect(send(fixture, .get, "/tables/Item", version: nil).status == .badRequest)
        for version in ["1.0.0", "3.1.0", "4.0.0", ""] {
            #expect(send(fixture, .get, "/tables/Item", version: version).status == .badRequest, "\(version)")
        }
        #expect(send(fixture, .patch, "/tables/Item/1", #"{"text":"z"}"#).status == .methodNotAllowed)
        #expect(send(fixture, .post, "/tables/Item/1").status == .methodNotAllowed)
        let put = send(fixture, .put, "/tables/Item/1", #"{"text":"z"}"#, version: "2.0.0")
        #expect(put.status == .methodNotAllowed)
        #expect(put.response.headerFields[.allow] == "GET, POST, PATCH, DELETE")
    }

    @Test("With the dialect Datasync 3, a request without a version is served in it")
    func assumedDialect() throws {
        let store = try StoreKind.simplest.makeStore()
        let service = try TableService(
            store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema], dialect: .datasync3))
        #expect(service.send(.get, "/tables/Item", version: nil).text == #"{"items":[]}"#)
    }

    @Test("A PUT that needs a new column creates it, and one that fails does not")
    func growingTable() throws {
        let fixture = try ServiceFixture(.simplest, schemas: nil)
        #expect(send(fixture, .post, "/tables/New", #"{"id":"1","a":1}"#).status == .created)
        #expect(
            send(fixture, .put, "/tables/New/1", #"{"id":"1","b":"x"}"#, ifMatch: "\"no\"").status
                == .preconditionFailed)
        #expect(try fixture.store.tables().first { $0.name == "New" }?.column("b") == nil)
        let row = try send(fixture, .put, "/tables/New/1", #"{"id":"1","b":"x"}"#).row()
        #expect(row["a"] == .null && row["b"] == "x")
    }
}
