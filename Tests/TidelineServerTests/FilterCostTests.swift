import HTTPTypes
import Synchronization
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

/// Filters that exceed the cost limits of the server.
@Suite(.timeLimit(.minutes(5)))
struct FilterCostTests {
    private func read(_ fixture: ServiceFixture, _ filter: String, _ rest: String = "") -> TableResponse {
        fixture.send(.get, "/tables/Item?$filter=\(PercentEncoding.encode(filter))\(rest)")
    }

    private func fixture(_ stores: StoreKind, time: Duration = .seconds(60)) throws -> ServiceFixture {
        let fixture = try ServiceFixture(stores, maximumQueryTime: time)
        for number in 0..<6 {
            _ = try fixture.insert(#"{"id":"\#(number)","text":"aaaa aaaa \#(number)","count":\#(number)}"#)
        }
        return fixture
    }

    /// Each filter multiplies the length of a text by 1,000, ten times.
    @Test(arguments: StoreKind.served)
    func `a filter whose texts grow without bound is 400`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores)
        let many = String(repeating: "a", count: 1_000)
        var growing = "text"
        for _ in 0..<10 { growing = "replace(\(growing),'a','\(many)')" }
        for filter in [
            "\(growing) eq 'x'", "length(\(growing)) gt 1", "not (count eq 9 or \(growing) eq 'x')",
            "substringof('x',toupper(\(growing)))", "count ge 0 and \(growing) ne 'x' and count lt 99",
        ] {
            let answer = read(fixture, filter)
            #expect(answer.status == .badRequest)
            #expect(try answer.error().contains("bytes"), "\(answer.text)")
        }
        var doubled = "text"
        for _ in 0..<10 { doubled = "replace(\(doubled),'a',concat(text,text))" }
        #expect(read(fixture, "\(doubled) eq 'x'").status == .badRequest)
    }

    @Test(arguments: StoreKind.served)
    func `a query that takes too long is 400, and lookups and writes are not timed`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores, time: .zero)
        for filter in ["replace(text,'a','b') eq 'x'", "substringof('a 3',text)"] {
            let answer = read(fixture, filter)
            #expect(answer.status == .badRequest)
            #expect(try answer.error().contains("longer than"), "\(answer.text)")
        }
        #expect(fixture.send(.get, "/tables/Item/3").status == .ok)
        #expect(fixture.send(.patch, "/tables/Item/3", #"{"count":7}"#).status == .ok)
        #expect(fixture.send(.delete, "/tables/Item/3").status == .ok)
    }

    @Test(arguments: StoreKind.served)
    func `a time limit ends a scan that finds nothing among many rows`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        try store.define([TableSchema("T", columns: [.string("text")])])
        let rows = (0..<20_000).map { ["id": .string("\($0)"), "text": .string("text \($0)")] as Row }
        try store.write { try $0.upsert(rows, into: "T") }
        let query = TableQuery("T", predicate: .column("text").contains("x y"))
        for query in [query, query.order(by: "text").limit(5), query.limit(5).includingTotalCount()] {
            try store.read { reader in
                try reader.limitTime?(.microseconds(10))
                expectError(.timeLimit) { try reader.scan(query) { _ in .next } }
                expectError(.timeLimit) { _ = try reader.count(query) }
            }
            #expect(try store.read { try $0.count(query) } == 0)
        }
    }

    @Test func `a sort of a reader with a time limit takes a limited amount of memory`() throws {
        let store = try StoreKind.simplest.makeStore()
        try store.define([TableSchema("T", columns: [.string("text")])])
        let text = String(repeating: "x", count: 4 << 20)
        for number in 0..<70 {
            try store.write { try $0.upsert(["id": .string("\(number)"), "text": .string(text)], into: "T") }
        }
        let query = TableQuery("T").order(by: "text").limit(70)
        try store.read { reader in
            try reader.limitTime?(.seconds(600))
            expectError(.unsupportedQuery) { try reader.scan(query) { _ in .next } }
            #expect(try reader.rows(matching: query.limit(3)).rows.count == 3)
        }
    }

    @Test(arguments: StoreKind.served)
    func `a costly filter that ends is answered, page by page, with count and selection`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores)
        #expect(fixture.send(.delete, "/tables/Item/1").status == .ok)
        let filter = "count gt 0 and replace(text,'a','bb') ne concat('bbbbbbbb bbbbbbbb ','4')"
        let page = try fixture.rows(
            read(fixture, filter, "&$orderby=count%20desc&$skip=1&$top=2&$inlinecount=allpages&$select=id,count"))
        #expect(page.rows.map(\.id) == ["3", "2"] && page.info.totalCount == 3)
        #expect(page.rows[0]["count"] == 3 && page.rows[0]["text"] == nil)
        #expect(try fixture.rows(read(fixture, filter, "&$top=0")).rows.isEmpty)
        #expect(
            try fixture.rows(read(fixture, filter, "&__includeDeleted=true")).rows.map(\.id) == ["1", "2", "3", "5"])
        let whole = try fixture.rows(read(fixture, filter, "&$top=1")).rows[0]
        #expect(whole["text"] == "aaaa aaaa 2" && whole["version"] != nil)
    }

    /// The service reads the rows of a page in groups.
    @Test(arguments: StoreKind.served)
    func `a long page of a costly filter has its rows in order`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores)
        let rows = (6..<130).map { number -> Row in
            [
                "id": .string("\(number)"), "text": "aaaa", "count": .int(Int64(number * 37 % 130)), "deleted": false,
                "version": "v",
            ]
        }
        try fixture.store.write { try $0.upsert(rows, into: "Item") }
        let filter = "count ge 0 and replace(text,'a','bb') ne 'x'"
        for (order, isDescending) in [("count", true), ("id", false)] {
            let rest = "&$orderby=\(order)\(isDescending ? "%20desc" : "")&$skip=7&$top=100"
            let page = try fixture.rows(read(fixture, filter, rest))
            let query = TableQuery("Item").order(by: order, descending: isDescending)
            let ids = try fixture.store.read { try $0.rows(matching: query).rows.map(\.idText) }
            #expect(page.rows.map(\.idText) == Array(ids.dropFirst(7).prefix(100)))
        }
    }

    @Test func `a costly page takes few calls of the store`() throws {
        let store = CountingStore(try StoreKind.simplest.makeStore())
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [ServiceFixture.schema]))
        let rows = (0..<1_000).map {
            ["id": .string("\($0)"), "text": "aaaa", "deleted": false, "version": "v"] as Row
        }
        try store.write { try $0.upsert(rows, into: "Item") }
        let path = "/tables/Item?$filter=\(PercentEncoding.encode("replace(text,'a','bb') ne 'x'"))&$top=1000"
        let answer = service.send(.get, path)
        #expect(answer.status == .ok && answer.text.contains("\"999\""))
        #expect(store.scans.load(ordering: .relaxed) <= 50)
    }

    /// A naive search that compares at every position takes time proportional to the product of both lengths.
    @Test(arguments: StoreKind.served)
    func `a search for a long text takes time for the sum of both texts`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores)
        let size = 400_000
        _ = try fixture.insert(#"{"id":"long","text":"\#(String(repeating: "a", count: size))"}"#)
        let needle = String(repeating: "a", count: size / 2) + "b"
        #expect(try fixture.rows(read(fixture, "substringof('\(needle)',text)")).rows.isEmpty)
        #expect(try fixture.rows(read(fixture, "indexof(text,'\(needle.dropLast())') eq 0")).rows.map(\.id) == ["long"])
    }

    @Test(arguments: StoreKind.served)
    func `a long list of comparisons and functions has its answer`(_ stores: StoreKind) throws {
        let fixture = try fixture(stores)
        let counts = (4..<5_000).map { "count eq \($0)" }.joined(separator: " or ")
        #expect(try fixture.rows(read(fixture, counts)).rows.map(\.id) == ["4", "5"])
        let texts = (4..<60).map { "endswith(text,' \($0)')" }.joined(separator: " or ")
        #expect(try fixture.rows(read(fixture, texts)).rows.map(\.id) == ["4", "5"])
        #expect(read(fixture, "concat(nosuch,'a') eq 'x'").status == .badRequest)
        #expect(read(fixture, "concat(text,'a')").status == .badRequest)
    }

    @Test(arguments: StoreKind.served)
    func `a row whose id holds a slash is read, changed and deleted`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        try fixture.store.write {
            try $0.upsert(["id": "a/b", "text": "x", "deleted": false, "version": "v"], into: "Item")
        }
        #expect(try fixture.send(.get, "/tables/Item/a%2Fb").row()["text"] == "x")
        #expect(try fixture.send(.patch, "/tables/Item/a%2Fb", #"{"text":"y"}"#).row()["text"] == "y")
        #expect(fixture.send(.delete, "/tables/Item/a%2Fb").status == .ok)
        #expect(fixture.send(.post, "/tables/Item/a%2Fb").status == .ok)
        #expect(fixture.send(.get, "/tables/Item/a/b").status == .notFound)
        #expect(fixture.send(.post, "/tables/Item", #"{"id":"c/d"}"#).status == .badRequest)
    }
}

/// A store that counts the queries and lookups of its reads, and the rows that its queries return.
final class CountingStore: StoreLayer {
    typealias Writer = AnyStore.Writer

    let base: TestStore
    let scans = Atomic(0)
    let rows = Atomic(0)

    init(_ base: TestStore) { self.base = base }

    func read<T>(_ body: (Reader) throws -> T) throws -> T {
        try base.read { try body(Reader(base: $0, store: self)) }
    }

    struct Reader: ReaderLayer {
        let base: AnyStore.Reader
        let store: CountingStore

        func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
            store.scans.add(1, ordering: .relaxed)
            return try base.withRow(in: table, id: id, body)
        }
        func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
            store.scans.add(1, ordering: .relaxed)
            return try base.scan(query) { row in
                store.rows.add(1, ordering: .relaxed)
                return try body(row)
            }
        }
    }
}
