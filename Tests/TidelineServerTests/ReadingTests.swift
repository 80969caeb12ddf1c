import HTTPTypes
import Synchronization
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

struct ReadingTests {
    private func filled(_ stores: StoreKind, _ count: Int) throws -> ServiceFixture {
        let fixture = try ServiceFixture(stores)
        for number in 0..<count {
            _ = try fixture.insert(#"{"id":"\#(1_000 + number)","count":\#(number),"text":"t\#(number % 3)"}"#)
        }
        return fixture
    }

    @Test(arguments: StoreKind.served)
    func `a read is a bare array, with a count an object, also without rows`(_ stores: StoreKind) throws {
        let empty = try ServiceFixture(stores)
        #expect(empty.send(.get, "/tables/Item").text == "[]")
        #expect(empty.send(.get, "/tables/Item?$inlinecount=allpages").text == #"{"results":[],"count":0}"#)
        let fixture = try filled(stores, 3)
        #expect(fixture.send(.get, "/tables/Item").text.hasPrefix("[{\"id\":\"1000\","))
        let counted = fixture.send(.get, "/tables/Item?$inlinecount=allpages&$top=2")
        #expect(counted.text.hasPrefix("{\"results\":[{") && counted.text.hasSuffix("],\"count\":3}"))
        #expect(try fixture.rows(counted).info.totalCount == 3)
        #expect(counted.eTag == nil)
    }

    @Test(arguments: StoreKind.served)
    func `a page has 50 rows unless the request says, a link exactly when it is full, and none past the end`(
        _ stores: StoreKind
    ) throws {
        let fixture = try filled(stores, 50)
        let full = fixture.send(.get, "/tables/Item")
        #expect(try fixture.rows(full).rows.count == 50)
        #expect(full.link == "http://host:8080/tables/Item?$skip=50; rel=next")
        for skip in ["50", "9223372036854775807"] {
            #expect(fixture.send(.get, "/tables/Item?$skip=\(skip)").text == "[]", "\(skip)")
        }
        #expect(fixture.send(.get, "/tables/Item?$top=51").link == nil)
        #expect(fixture.send(.get, "/tables/Item?$top=0").link == nil)
        #expect(try fixture.ids("/tables/Item?$top=0&$inlinecount=allpages").isEmpty)
    }

    /// Each copy of a column would be a part of every row's sort key.
    @Test(arguments: StoreKind.served)
    func `a column that is repeated in the order counts once`(_ stores: StoreKind) throws {
        let fixture = try filled(stores, 9)
        let columns = (0..<5_000).map { $0.isMultiple(of: 2) ? "text" : "count%20desc" }.joined(separator: ",")
        let rows = try fixture.rows(fixture.send(.get, "/tables/Item?$orderby=\(columns)")).rows
        #expect(rows.map(\.idText) == ["1006", "1003", "1000", "1007", "1004", "1001", "1008", "1005", "1002"])
    }

    /// The costly filter is one that the service evaluates itself.
    @Test(
        arguments: StoreKind.served,
        ["", "&$inlinecount=allpages", "&$filter=replace(text,'x','yy')%20ne%20'a'&$inlinecount=allpages"])
    func `a page ends before the row that would exceed its size, and links to the next`(
        _ stores: StoreKind, _ options: String
    ) throws {
        let fixture = try ServiceFixture(stores, maximumPageBytes: 2_000)
        try fixture.insertLongTexts()
        var path: String? = "/tables/Item?$top=1000&$orderby=id\(options)"
        var (ids, sizes): ([String], [Int]) = ([], [])
        while let current = path {
            let answer = fixture.send(.get, current)
            let (rows, info) = try fixture.rows(answer)
            #expect(info.totalCount == (options.isEmpty ? nil : 12))
            #expect(answer.body.count < 2_020 || rows.count == 1)
            ids += rows.map(\.idText)
            sizes.append(rows.count)
            path = answer.link?.split(separator: ";").first?.dropFirst("http://host:8080".count).description
        }
        #expect(ids == (10..<22).map(String.init))
        #expect(sizes == [3, 2, 1, 3, 3])
    }

    @Test func `links begin with the public URL, and otherwise with that of the request`() throws {
        let store = try StoreKind.simplest.makeStore()
        for (url, origin) in [(nil, "http://host:8080"), ("https://example.com/api", "https://example.com/api")] {
            var options = TableServiceOptions(schemas: [ServiceFixture.schema])
            options.publicURL = url
            let service = try TableService(store: store, options: options)
            let created = service.send(.post, "/tables/Item", "{}", version: "3.0.0")
            #expect(created.response.headerFields[.location]?.hasPrefix("\(origin)/tables/Item/") == true)
            #expect(service.send(.get, "/tables/Item?$top=1").link == "\(origin)/tables/Item?$top=1&$skip=1; rel=next")
        }
    }

    @Test func `each response is reported with its request and its time, alone and in a group`() throws {
        let served = Mutex<[ServedRequest]>([])
        var options = TableServiceOptions()
        options.onResponse = { request in served.withLock { $0.append(request) } }
        let service = try TableService(store: StoreKind.simplest.makeStore(), options: options)
        let (insert, body) = (HTTPRequest(.post, "/tables/Item"), Array(#"{"id":"1"}"#.utf8))
        let created = service.handle(insert, body: body)
        service.handle(insert, body: body) { #expect($0.status == .conflict) }
        service.handle(HTTPRequest(.get, "/tables/None/1"), body: []) { #expect($0.status == .notFound) }
        let all = served.withLock { $0 }
        #expect(all.map(\.response.status) == [.created, .conflict, .notFound])
        #expect(all.map(\.request.method) == [.post, .post, .get])
        #expect(all.first?.response == created && all.allSatisfy { $0.duration > .zero })
    }

    @Test func `a host of a request that could end a link is not copied into it`() throws {
        let service = try TableService(store: StoreKind.simplest.makeStore())
        for (host, isCopied) in [
            ("a.b-c:80", true), ("[::1]:80", true), ("", false), ("a>; rel=next, <b", false), ("a/b", false),
            ("a b", false), (String(repeating: "a", count: 301), false),
        ] {
            _ = service.handle(HTTPRequest(.post, "/tables/Item", authority: host), body: Array("{}".utf8))
            let link = service.handle(HTTPRequest(.get, "/tables/Item?$top=1", authority: host), body: []).link
            #expect(link == "\(isCopied ? "http://\(host)" : "")/tables/Item?$top=1&$skip=1; rel=next")
        }
    }

    @Test(arguments: StoreKind.served)
    func `a table that an insert may create is empty, and similar names are suggested`(_ stores: StoreKind) throws {
        let growing = try ServiceFixture(stores, schemas: nil)
        #expect(growing.send(.get, "/tables/New?$filter=text%20eq%20'a'").text == "[]")
        #expect(growing.send(.get, "/tables/New?$inlinecount=allpages").text == #"{"results":[],"count":0}"#)
        #expect(growing.send(.get, "/tables/New/1").status == .notFound)
        // No insert may create a table whose name differs in case from that of another one, or of the service's own.
        _ = try growing.insert(#"{"id":"1"}"#, into: "New")
        #expect(growing.send(.get, "/tables/new").status == .notFound)
        #expect(growing.send(.get, "/tables/new").text.contains("did you mean \\\"New\\\"?"))
        #expect(growing.send(.get, "/tables/ms_tableservice").status == .notFound)
        #expect(growing.send(.post, "/tables/new", #"{"id":"1"}"#).status == .badRequest)
        let fixed = try ServiceFixture(stores)
        let hints = [
            (fixed.send(.get, "/tables/item"), "Item"), (fixed.send(.get, "/tables/Item?$orderby=Text"), "text"),
            (fixed.send(.get, "/tables/Item?$filter=Text%20eq%20'a'"), "text"),
            (fixed.send(.get, "/tables/Item?$select=Text"), "text"),
            (fixed.send(.post, "/tables/Item", #"{"Text":"a"}"#), "text"),
        ]
        for (answer, name) in hints {
            #expect(answer.status.code >= 400, "\(answer.text)")
            #expect(answer.text.contains("did you mean \\\"\(name)\\\"?"), "\(answer.text)")
        }
    }

    @Test func `a body that is declared as something else than JSON is refused`() throws {
        let service = try TableService(store: StoreKind.simplest.makeStore())
        for (type, status) in [
            (nil, 201), ("application/json", 201), ("application/json; charset=utf-8", 201), ("Text/JSON", 201),
            ("application/problem+json", 201), ("text/plain", 415), ("application/x-www-form-urlencoded", 415),
            ("", 415),
        ] {
            var request = HTTPRequest(.post, "/tables/Item")
            request.headerFields[.contentType] = type
            #expect(service.handle(request, body: Array("{}".utf8)).status.code == status, "\(type ?? "none")")
        }
    }

    @Test(arguments: StoreKind.served)
    func `the link keeps the other options and replaces the skip`(_ stores: StoreKind) throws {
        let fixture = try filled(stores, 10)
        let path = "/tables/Item?%24skip=2&$filter=text%20ne%20%27%26%27&$top=3&a=%C3%A9&$orderby=count%20desc"
        #expect(
            fixture.send(.get, path).link
                == "http://host:8080/tables/Item?$filter=text%20ne%20%27%26%27&$top=3&a=%C3%A9&$orderby=count%20desc&$skip=5; rel=next"
        )
    }

    @Test(
        arguments: StoreKind.served,
        ["", "&$orderby=text,count%20desc", "&$filter=count%20ge%204", "&$skip=3", "&$inlinecount=allpages"])
    func `following the links reaches every row once`(_ stores: StoreKind, _ options: String) throws {
        let fixture = try filled(stores, 20)
        let all = try fixture.ids("/tables/Item?$top=1000\(options)")
        var ids: [String] = []
        var target: String? = "tables/Item?$top=4\(options)"
        while let current = target {
            let page = fixture.send(.get, "/" + current)
            ids += try fixture.rows(page).rows.map(\.idText)
            target = try ZUMODialect().nextPage(after: page.response, base: ("http", "host:8080", ""))
        }
        #expect(ids == all)
        #expect(Set(ids).count == ids.count && ids.count >= 16)
    }

    @Test(arguments: StoreKind.served)
    func `filter, order, skip, top and select are the store's`(_ stores: StoreKind) throws {
        let fixture = try filled(stores, 10)
        #expect(
            try fixture.ids("/tables/Item?$filter=text%20eq%20't1'%20and%20count%20gt%201&$orderby=count%20desc") == [
                "1007", "1004",
            ])
        let selected = fixture.send(.get, "/tables/Item?$select=text&$top=1").text
        #expect(selected.contains("\"id\"") && selected.contains("\"text\"") && selected.contains("\"version\""))
        #expect(!selected.contains("\"count\""))
    }

    @Test(arguments: StoreKind.served)
    func `soft-deleted rows come only when asked for`(_ stores: StoreKind) throws {
        let fixture = try filled(stores, 3)
        _ = fixture.send(.delete, "/tables/Item/1001")
        #expect(try fixture.ids("/tables/Item") == ["1000", "1002"])
        let counted = fixture.send(.get, "/tables/Item?$inlinecount=allpages&$filter=count%20ge%201")
        #expect(try fixture.rows(counted).info.totalCount == 1)
        #expect(try fixture.ids("/tables/Item?__includeDeleted=true") == ["1000", "1001", "1002"])
        #expect(try fixture.ids("/tables/Item?__includeDeleted=true&$filter=deleted%20eq%20true") == ["1001"])
        // A row that was written without the server.
        try fixture.store.write { try $0.upsert(["id": "1003", "text": "x", "version": "v"], into: "Item") }
        #expect(try fixture.ids("/tables/Item") == ["1000", "1002", "1003"])
        #expect(try fixture.ids("/tables/Item?$filter=text%20eq%20'x'") == ["1003"])
    }

    @Test(arguments: StoreKind.served)
    func `the windows of an incremental pull are answered`(_ stores: StoreKind) throws {
        let fixture = try filled(stores, 9)
        let third = try #require(try fixture.send(.get, "/tables/Item/1003").row().updatedAt)
        let query = TableQuery("Item").filter(.column("updatedAt") >= third).order(by: "updatedAt").order(by: "id")
            .limit(4)
        let request = try ZUMODialect().read(
            query, schema: ServiceFixture.schema, options: ReadOptions(includeDeleted: true, isIncremental: true))
        #expect(try fixture.rows(fixture.send(request)).rows.map(\.id) == ["1003", "1004", "1005", "1006"])
    }

    /// Options of a read, and a part of the message of each error.
    static let refusals: [(part: String, options: [String])] = [
        (
            "cannot be compared with",
            [
                "$filter=text%20eq%201", "$filter=count%20eq%20'x'", "$filter=1%20lt%20text", "$filter=id%20eq%205",
                "$filter=not%20(count%20gt%20true)",
            ]
        ),
        ("txt", ["$filter=txt%20eq%20'a'", "$orderby=txt", "$select=txt", "$filter=length(txt)%20eq%201"]),
        (
            "",
            [
                "$filter=", "$filter=text", "$filter=text%20eq", "$filter=length(count)%20eq%201", "$filter=(",
                "$top=1001", "$top=-1", "$skip=-1", "$foo=1", "$filter=due%20gt%20'soon'", "$filter=%zz",
                "$top=99999999999999999999",
            ]
        ),
    ]

    @Test(arguments: StoreKind.served, refusals)
    func `a column of another type, an unknown column, and a query that makes no sense are 400 and named`(
        _ stores: StoreKind, _ refusal: (part: String, options: [String])
    ) throws {
        let fixture = try filled(stores, 1)
        for option in refusal.options {
            let answer = fixture.send(.get, "/tables/Item?\(option)")
            #expect(answer.status == .badRequest, "\(option)")
            let message = try answer.error()
            #expect(
                !message.isEmpty && (refusal.part.isEmpty || message.contains(refusal.part)), "\(option): \(message)")
        }
        #expect(try fixture.ids("/tables/Item?$filter=count%20eq%200.0") == ["1000"])
    }

    @Test(
        arguments: StoreKind.served,
        [("not%20(", 480), ("(", 480), ("(done%20or%20", 480), ("(count%20ge%200)%20eq%20(", 20)])
    func `a deep filter is answered, a deeper may be refused`(_ stores: StoreKind, _ nesting: (String, Int)) throws {
        let (opening, sure) = nesting
        let fixture = try filled(stores, 1)
        for depth in [sure, 990, 5_000] {
            let nested = String(repeating: opening, count: depth) + "done" + String(repeating: ")", count: depth)
            let answer = fixture.send(.get, "/tables/Item?$filter=\(nested)")
            #expect(answer.status == .ok || (depth > sure && answer.status == .badRequest), "\(depth): \(answer.text)")
        }
    }

    @Test(arguments: StoreKind.served)
    func `without the version header a request is 400, at an unknown path 404, by an unknown method 405`(
        _ stores: StoreKind
    ) throws {
        let fixture = try ServiceFixture(stores)
        let bare = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/tables/Item")
        #expect(fixture.service.handle(bare, body: []).status == .badRequest)
        let none = HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)
        #expect(fixture.service.handle(none, body: []).status == .notFound)
        #expect(fixture.send(.get, "/").status == .notFound)
        let put = fixture.send(.put, "/tables/Item/1", "{}")
        #expect(put.status == .methodNotAllowed)
        #expect(put.response.headerFields[.allow] == "GET, POST, PATCH, DELETE")
    }
}
