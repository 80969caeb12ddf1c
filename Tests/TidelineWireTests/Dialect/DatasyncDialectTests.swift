import HTTPTypes
import Testing
import TidelineStore

@testable import TidelineWire

private let dialect = DatasyncDialect()

private func text(_ request: WireRequest) -> String { String(decoding: request.body ?? [], as: UTF8.self) }

@Suite("Datasync 3: requests")
struct DatasyncRequestTests {
    @Test("A read has the options and literals of OData version 4")
    func read() throws {
        let instant = try #require(Timestamp("2026-11-21T09:12:49.403Z"))
        let query = TableQuery("TodoItem").filter(.column("due") > .value(instant) && .column("text").contains("b'c"))
            .order(by: "due", descending: true).skip(10).limit(50).includingTotalCount()
        let request = try dialect.read(query, schema: nil, options: ReadOptions(includeDeleted: true))
        #expect(
            PercentEncoding.decode(request.target, plusIsSpace: true)
                == "tables/TodoItem?$filter=due gt cast(2026-11-21T09:12:49.403Z,Edm.DateTimeOffset) and "
                + "contains(text,'b''c')&$orderby=due desc&$skip=10&$top=50&$count=true&__includedeleted=true")
        #expect(request.headers[.zumoAPIVersion] == "3.0.0")
        #expect(dialect.headers(version: "1.2.3", installationID: nil)[.zumoVersion]?.hasPrefix("ZUMO/3.0 ") == true)
    }

    @Test(
        "A filter that was written is read back",
        arguments: [
            "due ge cast(2026-11-21T09:12:49.4030001Z,Edm.DateTimeOffset)", "contains(text,'b') and price lt 1.5",
            "count eq 5000000000L or done eq true and text ne null", "startswith(tolower(text),'a')",
        ])
    func filters(_ filter: String) throws {
        let predicate = try OData.parseFilter(filter, schema: nil)
        #expect(try OData.filter(predicate, schema: nil, syntax: .version4) == filter)
    }

    @Test(
        "A malformed date is an error with its offset",
        arguments: [
            "due ge cast(2026-13-21T09:12:49Z,Edm.DateTimeOffset)", "due ge cast(2026-11-21T09:12:49Z,Edm.Date)",
            "due ge cast(2026-11-21T09:12:49Z", "due ge cast()", "due ge cast(,)",
        ])
    func malformedDates(_ filter: String) {
        let error = #expect(throws: WireError.self) { try OData.parseFilter(filter, schema: nil) }
        #expect(error?.code == .invalidFilter && error?.offset ?? 0 >= 7)
    }

    @Test(
        "A column of another type on the server is compared with literals of its type",
        arguments: [
            (EdmType.date, "1994-10-14", "a eq cast(1994-10-14,Edm.Date)"),
            (.timeOfDay, "12:24:00.5", "a eq cast(12:24:00.5,Edm.TimeOfDay)"),
            (.guid, "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "a eq cast(3F2504E0-4F89-41D3-9A0C-0305E82C3301,Edm.Guid)"),
            (.enumeration("Movies.Rating"), "It's", "a eq Movies.Rating'It''s'"),
        ])
    func edmTypes(_ type: EdmType, _ text: String, _ filter: String) throws {
        let dialect = DatasyncDialect(edmTypes: ["Movie": ["a": type]])
        func target(_ predicate: RowPredicate, of table: String = "Movie") throws -> String? {
            let request = try dialect.read(TableQuery(table).filter(predicate), schema: nil, options: ReadOptions())
            return PercentEncoding.decode(request.target, plusIsSpace: true)?.split(separator: "$filter=").last.map(
                String.init)
        }
        let string = "'" + text.replacing("'", with: "''") + "'"
        #expect(try target(.column("a") == .literal(.string(text))) == filter)
        #expect(try target(.literal(.string(text)) == .column("a")) == "\(filter.dropFirst(5)) eq a")
        #expect(try target(.column("a") == .literal(.string(text)), of: "Other") == "a eq \(string)")
        #expect(try target(.column("b") == .literal(.string(text))) == "b eq \(string)")
        #expect(try target(.column("a") == .literal(.null)) == "a eq null")
        // A server reads it as the string.
        #expect(
            try OData.parseFilter(filter, schema: nil).isIdentical(to: .column("a") == .literal(.string(text))))
        let error = #expect(throws: WireError.self) { try target(.column("a") == .value("")) }
        #expect(error?.code == .invalidFilter && error?.column == "a" && error?.table == "Movie")
    }

    @Test("A date in quotes is read, too")
    func quotedDate() throws {
        let instant = try #require(Timestamp("2026-11-21T09:12:49Z"))
        let filter = "due ge cast('2026-11-21T10:12:49+01:00', Edm.DateTimeOffset)"
        let expected: RowPredicate = .column("due") >= .value(instant)
        #expect(try OData.parseFilter(filter, schema: nil).isIdentical(to: expected))
    }

    @Test("An update sends the whole row, with the columns that the table does not define as they were received")
    func update() throws {
        let current = #"""
            {"id":"a","text":"old","count":3,"gone":null,"updatedAt":"2026-11-21T09:12:49.403Z","version":"v1",
            "deleted":false,"__extra":{"rate": 1.10000000000000000001,"big":123456789012345678901234567890,
            "nested" : {"b":[1, 2]},"nothing":null,"createdAt":"2026-11-21T09:12:49.403Z","A\"":"\u00e9"}}
            """#
        let request = try dialect.update(
            ["id": "a", "text": "new", "count": .null], in: "T", replacing: current, version: "v1")
        #expect(request.method == .put && request.target == "tables/T/a")
        #expect(request.headers[.ifMatch] == "\"v1\"")
        #expect(
            text(request)
                == #"{"id":"a","rate": 1.10000000000000000001,"big":123456789012345678901234567890,"#
                + #""nested" : {"b":[1, 2]},"nothing":null,"A\"":"\u00e9","text":"new","count":null}"#)
    }

    @Test("A column that was defined after the row was read keeps the server's value")
    func laterColumn() throws {
        let current = #"{"id":"a","text":"t","later":null,"version":"v1","__extra":{"later":7,"other":"x"}}"#
        let kept = try dialect.update(["id": "a", "text": "u"], in: "T", replacing: current, version: "v1")
        #expect(text(kept) == #"{"id":"a","later":7,"other":"x","text":"u"}"#)
        let changed = try dialect.update(["id": "a", "later": 8], in: "T", replacing: current, version: "v1")
        #expect(text(changed) == #"{"id":"a","other":"x","text":"t","later":8}"#)
        let cleared = try dialect.update(["id": "a", "later": .null], in: "T", replacing: current, version: "v1")
        #expect(text(cleared) == #"{"id":"a","other":"x","text":"t","later":null}"#)
    }

    @Test("A further column whose name differs from a changed one only in normalization is sent back")
    func normalizationForms() throws {
        let current = "{\"id\":\"a\",\"\u{E9}\":1,\"version\":\"v1\",\"__extra\":{\"e\u{301}\":2,\"\u{E9}\":3}}"
        let request = try dialect.update(["id": "a", "\u{E9}": 4], in: "T", replacing: current, version: "v1")
        #expect(request.body == Array("{\"id\":\"a\",\"e\u{301}\":2,\"\u{E9}\":4}".utf8))
    }

    @Test("An undelete sends the row that is not deleted any more")
    func undelete() throws {
        let request = try dialect.undelete(
            "a", in: "T", replacing: #"{"id":"a","text":"t","deleted":true,"__extra":{"n":1}}"#, version: "v2")
        #expect(request.method == .put && request.target == "tables/T/a?__includedeleted=true")
        #expect(text(request) == #"{"id":"a","deleted":false,"n":1,"text":"t"}"#)
    }

    @Test("A row that is not known, or not JSON, is an error")
    func unknownRow() {
        for current in [nil, "", "[1]", #"{"id":"a","#, "7"] as [String?] {
            #expect(throws: WireError.self) {
                try dialect.update(["id": "a", "text": "u"], in: "T", replacing: current, version: "v1")
            }
        }
        #expect(throws: WireError.self) {
            try dialect.update(["id": "a", "version": "v"], in: "T", replacing: #"{"id":"a"}"#, version: nil)
        }
    }

    @Test(
        "L3 the rule for ids",
        arguments: [
            ("a", true), ("A-1_2.3|4:5", true), ("9", true), (String(repeating: "x", count: 127), true), ("", false),
            (String(repeating: "x", count: 128), false), ("-a", false), ("_a", false), ("a b", false), ("ä", false),
            ("a/b", false), ("a\n", false), ("a~", false),
        ])
    func ids(_ id: String, isValid: Bool) {
        let isSent = (try? dialect.insert(["id": .string(id), "n": 1], into: "T")) != nil
        #expect(isSent == (isValid || id.isEmpty))
        let isAccepted = (try? dialect.validateNewID(id)) != nil
        #expect(isAccepted == isValid)
    }

    @Test(
        "A link is a query string, or stays on the server",
        arguments: [
            ("$skip=100&$top=50", "tables/T?$skip=100&$top=50"), ("?$skip=1", "tables/T?$skip=1"),
            ("$filter=a eq 'b'#x", "tables/T?$filter=a%20eq%20'b'"),
            ("u=http://e.org/a&$skip=1", "tables/T?u=http://e.org/a&$skip=1"),
            ("$filter=a%20eq%20'x://y'&$skip=1", "tables/T?$filter=a%20eq%20'x://y'&$skip=1"),
            ("$filter=t eq '1:2 x://y'", "tables/T?$filter=t%20eq%20'1:2%20x://y'"),
            ("HTTP://host/app/tables/T?$skip=1", "tables/T?$skip=1"),
            ("http://host/app/tables/T?$skip=1", "tables/T?$skip=1"), ("/app/tables/T?$skip=1", "tables/T?$skip=1"),
            ("http://evil/app/tables/T?$skip=1", nil), ("//evil/x", nil), ("/other/T", nil),
            ("https://host/app/tables/T", nil),
        ] as [(String, String?)])
    func links(_ link: String, _ expected: String?) {
        let target = try? dialect.nextPage(
            after: HTTPResponse(status: .ok), link: link, target: "tables/T?$top=5", base: ("http", "host", "/app"))
        #expect(target == expected)
    }
}

@Suite("Datasync 3: responses")
struct DatasyncResponseTests {
    static let schema = TableSchema(
        "T", columns: [.string("text"), .int("count")], systemColumns: [.updatedAt, .version, .extra])

    private func parse(_ text: String, keepsOthers: Bool = true) throws -> (rows: [Row], info: PageInfo) {
        try PageParser(schema: Self.schema, keepsOthers: keepsOthers).page(text)
    }

    @Test("A page has items, a count that may be null, and a link that may be null or missing")
    func page() throws {
        let page = try parse(
            #"""
            {"items":[{"id":"a","updatedAt":"2026-11-21T09:12:49.403+00:00","version":"AAAAAAAAB9E=","deleted":false,
            "text":"x","rate":1.10,"Owner":{"name":"é"}},{"id":"b","deleted":true}],"count":7,"nextLink":"$skip=2"}
            """#)
        #expect(page.info.totalCount == 7 && page.info.nextLink == "$skip=2" && page.info.deleted == [1])
        #expect(page.rows[0]["__extra"] == .json(#"{"rate":1.10,"Owner":{"name":"é"}}"#))
        // The server may omit nulls. A column must not keep an earlier value.
        #expect(page.rows[0]["count"] == .null && page.rows[1]["text"] == .null)
        #expect(page.rows[1]["__extra"] == .json("{}"))
        for end in [#","count":null,"nextLink":null"#, "", #","nextLink":"""#] {
            let page = try parse(#"{"items":[]\#(end)}"#)
            #expect(page.rows.isEmpty && page.info.totalCount == nil && page.info.nextLink == nil)
        }
        #expect(try JSONPage(Array(#"{"nextLink":"$skip=1","items":[{}],"count":1}"#.utf8)).nextLink == "$skip=1")
    }

    @Test("A member of the server that is named as the column for other members is one of them")
    func reservedName() throws {
        let text = #"{"items":[{"id":"a","__extra":{"x":1},"n":null}]}"#
        #expect(try parse(text).rows[0]["__extra"] == .json(#"{"__extra":{"x":1},"n":null}"#))
        // A stored row has it as a column.
        #expect(try parse(text, keepsOthers: false).rows[0]["__extra"] == .json(#"{"x":1}"#))
    }

    @Test("Other members are checked, and can be stored in a row")
    func nesting() throws {
        func row(_ depth: Int) -> String {
            let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"id":"a","deep":\#(deep)}"#
        }
        let parser = PageParser(schema: Self.schema, keepsOthers: true)
        let kept = try parser.parseRow(Array(row(510).utf8), requireID: true)
        var writer = JSONWriter()
        writer.append(kept)
        #expect(
            try PageParser(schema: Self.schema).parseRow(writer.bytes, requireID: true)["__extra"] == kept["__extra"])
        for text in [row(511), #"{"id":"a","x":01}"#, #"{"id":"a","x":"\u{0}"}"#, #"{"id":"a","x":}"#] {
            #expect(throws: WireError.self) { try parser.parseRow(Array(text.utf8), requireID: true) }
        }
    }

    @Test("A page has its rows once", arguments: [#"{"items":[],"results":[]}"#, #"{"items":{}}"#, #"{"count":1}"#])
    func malformed(_ text: String) {
        #expect(throws: WireError.self) { try parse(text) }
        #expect(throws: WireError.self) { try JSONPage(Array(text.utf8)) }
    }
}
