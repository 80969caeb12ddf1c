import HTTPTypes
import Testing
import TidelineStore

@testable import TidelineWire

private let dialect = ZUMODialect()

private func text(_ request: WireRequest) -> String? { request.body.map { String(decoding: $0, as: UTF8.self) } }

struct ZUMODialectReadTests {
    @Test func `a read says the whole query`() throws {
        let query = TableQuery("TodoItem").filter(.column("text") == "a b&c#d+e%'é").order(by: "due", descending: true)
            .order(by: "id").skip(10).limit(50).select("text", "due").includingTotalCount()
        let request = try dialect.read(query, schema: nil, options: ReadOptions(includeDeleted: true))
        #expect(
            request.target
                == "tables/TodoItem?$filter=text%20eq%20%27a%20b%26c%23d%2Be%25%27%27%C3%A9%27"
                + "&$orderby=due%20desc,id&$skip=10&$top=50&$select=text,due&$inlinecount=allpages"
                + "&__includeDeleted=true")
        #expect(request.method == .get)
        #expect(request.headers[.zumoAPIVersion] == "2.0.0")
        #expect(request.headers[.accept] == "application/json")
        #expect(request.headers[.contentType] == nil)
        #expect(request.headers[.zumoFeatures] == nil)
        #expect(request.body == nil)
    }

    @Test(
        arguments: [
            (TableQuery("T"), [], "tables/T"), (TableQuery("T").limit(0), [], "tables/T?$top=0"),
            (
                TableQuery("T"), [("a b&", "ü=&#+ %"), ("x", "")],
                "tables/T?a%20b%26=%C3%BC%3D%26%23%2B%20%25&x="
            ),
        ] as [(TableQuery, [(String, String)], String)])
    func `an empty query asks nothing, a limit of zero is said, and parameters are encoded by name and value`(
        _ query: TableQuery, _ parameters: [(String, String)], _ target: String
    ) throws {
        #expect(try dialect.read(query, schema: nil, options: ReadOptions(parameters: parameters)).target == target)
    }

    @Test(
        arguments: [
            (false, false, [], nil), (true, false, [], "OL"), (true, true, [], "OL,IP"),
            (false, false, [("a", "b")], "QS"),
            (true, true, [("a", "b")], "OL,QS,IP"),
        ] as [(Bool, Bool, [(String, String)], String?)])
    func `the features are named together`(
        _ isSync: Bool, _ isIncremental: Bool, _ parameters: [(String, String)], _ header: String?
    ) throws {
        let options = ReadOptions(parameters: parameters, isSyncTable: isSync, isIncremental: isIncremental)
        #expect(try dialect.read(TableQuery("T"), schema: nil, options: options).headers[.zumoFeatures] == header)
    }

    @Test(arguments: ["$top", "", "__includeDeleted", "__INCLUDEDELETED"])
    func `parameters of the protocol are refused`(_ name: String) {
        expectError(.invalidRequest) {
            try dialect.read(TableQuery("T"), schema: nil, options: ReadOptions(parameters: [(name, "1")]))
        }
        #expect(throws: WireError.self) { try dialect.insert(["a": 1], into: "T", parameters: [(name, "1")]) }
    }

    @Test func `columns that cannot be said are refused with table and column`() {
        for query in [
            TableQuery("T").order(by: "a b"), TableQuery("T").select("a,b"),
            TableQuery("T").filter(.column("a b") == 1),
        ] {
            let error = #expect(throws: WireError.self) {
                try dialect.read(query, schema: nil, options: ReadOptions())
            }
            #expect(error?.table == "T")
            #expect(error?.column != nil)
        }
    }

    @Test(arguments: [TableQuery("T").skip(-1), TableQuery("T").limit(-1)] + ["", ".", ".."].map { TableQuery($0) })
    func `negative paging and a table whose name cannot be in a path are refused`(_ query: TableQuery) {
        #expect(throws: WireError.self) { try dialect.read(query, schema: nil, options: ReadOptions()) }
    }

    @Test(arguments: [
        ("a b", "a%20b"), ("ü", "%C3%BC"), ("a#b&c=d", "a%23b%26c%3Dd"), ("50%", "50%25"), ("it's", "it%27s"),
        ("😀", "%F0%9F%98%80"),
        ("a;b:c@d,e", "a%3Bb%3Ac%40d%2Ce"), ("...", "..."),
    ])
    func `ids and tables are encoded in the path`(_ id: String, _ encoded: String) throws {
        #expect(try dialect.lookup(id, in: "T").target == "tables/T/\(encoded)")
        #expect(
            try dialect.lookup("1", in: id, includeDeleted: true).target == "tables/\(encoded)/1?__includeDeleted=true")
    }
}

struct ZUMODialectWriteTests {
    private let row: Row = [
        "id": "1", "text": "a\"b", "complete": false, "createdAt": .timestamp(.min), "updatedAt": .null, "version": "v",
        "deleted": true,
    ]

    @Test func `an insert sends the row without its system columns`() throws {
        let request = try dialect.insert(row, into: "T")
        #expect(request.method == .post)
        #expect(request.target == "tables/T")
        #expect(text(request) == #"{"id":"1","text":"a\"b","complete":false}"#)
        #expect(request.headers[.contentType] == "application/json")
        #expect(request.headers[.ifMatch] == nil)
    }

    @Test func `an insert may leave the id to the server`() throws {
        #expect(text(try dialect.insert(["a": 1], into: "T")) == #"{"a":1}"#)
    }

    @Test func `an update sends the columns to change, and its version quoted`() throws {
        let request = try dialect.update(row, in: "T", version: #"A"B="#, parameters: [("p", "1")])
        #expect(request.method == .patch)
        #expect(request.target == "tables/T/1?p=1")
        #expect(text(request) == #"{"text":"a\"b","complete":false}"#)
        #expect(request.headers[.ifMatch] == #""A\"B=""#)
        #expect(request.headers[.zumoFeatures] == "QS,OC")
        let unconditional = try dialect.update(row, in: "T", version: nil)
        #expect(unconditional.headers[.ifMatch] == nil && unconditional.headers[.zumoFeatures] == nil)
    }

    @Test func `an update without a column to change is refused`() {
        #expect(throws: WireError.self) { try dialect.update(["id": "1", "version": "v"], in: "T", version: nil) }
    }

    @Test func `delete and undelete have no body`() throws {
        let delete = try dialect.delete("a b", from: "T", version: "v")
        #expect(delete.method == .delete && delete.target == "tables/T/a%20b" && delete.body == nil)
        #expect(delete.headers[.ifMatch] == "\"v\"" && delete.headers[.contentType] == nil)
        let undelete = try dialect.undelete("1", in: "T", version: "v", features: .offline)
        #expect(undelete.method == .post && undelete.target == "tables/T/1" && undelete.body == nil)
        #expect(undelete.headers[.ifMatch] == "\"v\"" && undelete.headers[.zumoFeatures] == "OL,OC")
    }

    @Test(arguments: ["v\r\nX-Evil: 1", "v\u{0}"])
    func `a version that is no header is refused, not cut`(_ version: String) {
        #expect(throws: WireError.self) { try dialect.delete("1", from: "T", version: version) }
    }

    @Test func `reserved columns and doubles without JSON are refused by name`() {
        for (column, value) in [("__a", 1), ("a", .double(.nan))] as [(String, Value)] {
            let error = #expect(throws: WireError.self) { try dialect.insert([column: value], into: "T") }
            #expect(error?.column == column)
        }
    }

    @Test(arguments: [
        "", " ", "\u{3000}", ".", "..", "a\u{0}", "a\u{7F}", "a\u{85}", "a\"b", "a+b", "a?b", "a\\b", "a/b", "a`b",
        "a/\u{301}", String(repeating: "x", count: 256),
    ])
    func `a bad id is refused in a new row`(_ id: String) {
        expectError(.invalidID) { try ItemID.validate(id) }
        if !id.isEmpty { #expect(throws: WireError.self) { try dialect.insert(["id": .string(id)], into: "T") } }
    }

    @Test(arguments: ["", ".", ".."])
    func `an id that no path can hold is refused everywhere`(_ id: String) throws {
        for call in requests(of: id) {
            let error = expectError(.invalidID) { try call() }
            #expect(error?.table == "T")
        }
    }

    @Test(arguments: [
        ("a/b", "a%2Fb"), ("/", "%2F"), ("../x", "..%2Fx"), ("a?b#c", "a%3Fb%23c"), ("a+b", "a%2Bb"), ("a\\b", "a%5Cb"),
        ("a\nb", "a%0Ab"), (" ", "%20"), ("a%2Fb", "a%252Fb"),
    ])
    func `an id that others made is one segment of the path`(_ id: String, _ segment: String) throws {
        for call in requests(of: id) { #expect(try call().target == "tables/T/\(segment)") }
    }

    /// Returns the requests for an existing row.
    private func requests(of id: String) -> [() throws -> WireRequest] {
        [
            { try dialect.lookup(id, in: "T") }, { try dialect.delete(id, from: "T", version: nil) },
            { try dialect.undelete(id, in: "T", version: nil) },
            { try dialect.update(["id": .string(id), "a": 1], in: "T", version: nil) },
        ]
    }

    @Test func `names keep their case, and dates the digits that they have`() throws {
        let due = try #require(Timestamp("2026-11-21T09:12:49.4030001Z"))
        let query = TableQuery(
            "ToDo_Item", predicate: .column("DueDate") > .literal(.timestamp(due)), order: [OrderTerm("CreatedBY")],
            selection: ["DueDate", "id"])
        let target = try dialect.read(query, schema: nil, options: ReadOptions()).target
        #expect(target.hasPrefix("tables/ToDo_Item?"))
        #expect(target.contains("DueDate%20gt%20datetimeoffset%272026-11-21T09:12:49.4030001Z%27"))
        #expect(target.contains("$orderby=CreatedBY") && target.contains("$select=DueDate,id"))
        let body = text(try dialect.insert(["id": "A", "DueDate": .timestamp(due)], into: "T"))
        #expect(body == #"{"id":"A","DueDate":"2026-11-21T09:12:49.4030001Z"}"#)
    }

    @Test(arguments: [
        "a", "...", "a b", "é", "😀", "%", "50%", "%2F", "a;b", "a#b&c=d", "it's", "__",
        String(repeating: "é", count: 255),
    ])
    func `a good id is taken`(_ id: String) throws {
        try ItemID.validate(id)
        #expect(try dialect.insert(["id": .string(id)], into: "T").target == "tables/T")
    }

    @Test func `random ids are lower-case version 4 UUIDs and differ`() throws {
        let ids = (0..<100).map { _ in ItemID.random() }
        #expect(Set(ids).count == 100)
        for id in ids {
            let parts = id.split(separator: "-")
            #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
            #expect(parts[2].first == "4" && "89ab".contains(parts[3].first ?? "x"))
            #expect(
                id.utf8.allSatisfy {
                    $0 == 0x2D || ($0.hexadecimalDigit != nil && $0.isDigit != (0x61...0x66).contains($0))
                })
        }
    }
}

struct ETagTests {
    @Test(arguments: ["AAAA=", "a\"b", "\"", "\\", "\\\"", "a\\", "\"\"", "é", "a,b", "W/x"])
    func `a version is quoted once and comes back`(_ version: String) throws {
        let quoted = ETag.quote(version)
        #expect(ETag.version(fromETag: quoted) == version)
        #expect(try IfMatch(quoted) == .versions([version]))
        #expect(try IfMatch("  \(quoted) ").allows(version))
    }

    @Test(arguments: ["MQ==", " AAAAAAAAB9E= ", "a,b", "1"])
    func `a version without its quotes is read all the same`(_ text: String) {
        let version = text.filter { $0 != " " }
        #expect(ETag.version(fromETag: text) == version)
        #expect(dialect.version(of: HTTPResponse(status: .ok, headerFields: [.eTag: text])) == version)
    }

    @Test(arguments: ["W/\"a\"", "W/a", "*", "\"", "\"\"", "", " ", "\"a", "a\"", "a b", "é"])
    func `a weak or malformed ETag is no version`(_ text: String) {
        #expect(ETag.version(fromETag: text) == nil)
        let response = HTTPResponse(status: .ok, headerFields: [.eTag: text])
        #expect(dialect.version(of: response) == nil)
    }

    @Test func `quotes that a server forgot to escape are read as they are`() {
        #expect(ETag.version(fromETag: "\"a\"b\"") == "a\"b")
        #expect(ETag.version(fromETag: "\"\"\"") == "\"")
    }

    @Test func `If-Match lists`() throws {
        #expect(try IfMatch("\"a\", \"b\",W/\"c\"") == .versions(["a", "b"]))
        #expect(try IfMatch("*") == .any)
        #expect(IfMatch.any.allows(nil) && IfMatch.any.allows("x"))
        #expect(!IfMatch.versions(["a"]).allows(nil) && !IfMatch.versions(["a"]).allows("b"))
        for text in ["", "a", "\"a\" \"b\"", "\"a\",", ",", "W/", "\"a\"; x"] {
            #expect(throws: WireError.self) { try IfMatch(text) }
        }
    }
}

struct ErrorMessageTests {
    @Test(arguments: [
        (#"{"error":"no"}"#, "no"), (#"{"description":"no"}"#, "no"), (#"{"message":"no"}"#, "no"),
        (#"{"Message":"no"}"#, "no"), (#"{"code":400,"error":"no"}"#, "no"), (#""no""#, "no"),
        (#"{"error":{"message":"deep"}}"#, "deep"), (#"{"error":null,"message":"no"}"#, "no"), ("no", "no"),
        ("<html><head><TITLE>502 Bad Gateway</TITLE></head></html>\n", "502 Bad Gateway"),
        ("<html>no title</html>", "no title"),
        ("<title>cut", "cut"), ("", ""), ("  ", ""), ("{", "{"), ("[1]", "[1]"),
        (#"{"other":1}"#, #"{"other":1}"#), (#"{"error":""}"#, ""),
        (#"{"id":5,"error":"x"}"#, #"{"id":5,"error":"x"}"#),
        (
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset='utf-8'><title>Error</title><style>p > a {}</style>"
                + "</head><body><pre>Cannot POST&nbsp;/tables/T<br>a &lt; b &amp;&amp; c</pre></body></html>",
            "Cannot POST /tables/T a < b && c"
        ),
        (
            "<html><script>if (a < b) { document.write('</p>') }</script><body>it <!-- not > this --> broke</body></html>",
            "it broke"
        ),
        (
            "<?xml version=\"1.0\"?><Error><Code>Busy</Code><Message>try &#x61;gain &#8212; l&#97;ter</Message></Error>",
            "Busy try again \u{2014} later"
        ),
        ("<a><![CDATA[5 < 6 & 7]]></a>", "5 < 6 & 7"), ("<a><![CDATA[cut", "cut"), ("<p title=\"a > b\">x</p>", "x"),
        ("\u{FEFF}{\"error\":\"no\"}", "no"),
        ("\u{FEFF} \n<p>x", "x"), ("<p>a<b", "a"), ("<", "<"), ("<>", "<>"), ("<p>1 < 2", "1 < 2"),
        ("<p>&nosuch; &amp &#xD800; &#;", "&nosuch; &amp &#xD800; &#;"), ("<script>x", ""), ("<svg/>x", "x"),
        ("<body><h1>Error</h1></body>", "Error"), (#"{"error":"<p>no</p>"}"#, "no"),
        (#"{"title":"Error","detail":"no such column"}"#, "no such column"),
        (#"{"error":"Error","message":"no such column"}"#, "no such column"), (#"{"error":"Error"}"#, "Error"),
    ])
    func `every form of error body has a message, and of a page its text is shown, without markup and scripts`(
        _ body: String, _ message: String
    ) {
        #expect(ErrorBody.message(of: Array(body.utf8)) == message)
    }

    @Test(arguments: ["", "\u{FEFF}"])
    func `a byte order mark hides neither an error nor a list`(_ mark: String) {
        #expect(ErrorBody.hasExactForm(Array("\(mark){\"error\":\"no\"}".utf8)))
        for list in ["[]", #"[{"id":"a"}]"#, #"{"results":[],"count":0}"#, #"{"items":[]}"#] {
            #expect(ListBody.isList(Array("\(mark)\(list)".utf8)), "\(list)")
        }
    }

    @Test func `the text of a page is cut at 500 characters`() {
        let page = "<html>" + String(repeating: "<p>word</p>", count: 100_000)
        let message = ErrorBody.message(of: Array(page.utf8))
        #expect(message.unicodeScalars.count == 500)
        #expect(message.hasPrefix("word word") && message.hasSuffix("\u{2026}"))
        let marks = "<p>e" + String(repeating: "\u{301}", count: 100_000)
        #expect(ErrorBody.message(of: Array(marks.utf8)).unicodeScalars.count == 500)
    }

    @Test func `a long or broken body is cut, not refused`() {
        #expect(ErrorBody.message(of: [UInt8](repeating: 0x61, count: 1_000_000)).count == 2_000)
        #expect(ErrorBody.message(of: [0xFF, 0xFE]) == "\u{FFFD}\u{FFFD}")
    }
}

struct HTTPDateTests {
    @Test(arguments: [
        ("2026-11-21T09:12:49.403Z", "Sat, 21 Nov 2026 09:12:49 GMT"), ("1970-01-01", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("1969-12-31T23:59:59.9999999Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        ("0001-01-01", "Mon, 01 Jan 0001 00:00:00 GMT"),
        ("9999-12-31T23:59:59.9999999Z", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ("1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ])
    func `an instant is written to the second and read back`(_ iso: String, _ text: String) throws {
        let instant = try #require(Timestamp(iso))
        #expect(HTTPDate.text(of: instant) == text)
        let read = try #require(HTTPDate.instant(text))
        #expect((0..<Timestamp.ticksPerSecond).contains(instant.ticks - read.ticks))
    }

    @Test(arguments: [
        "", "soon", "Sat, 21 Nov 2026 09:12 GMT", "Sat, 31 Feb 2026 09:12:49 GMT", "Sat, 21 Nov 2026 09:12:49 CET",
        "Sat, -1 Nov 2026 09:12:49 GMT", "Sat, 21 Nov 2026 09:12:99 CET",
    ])
    func `other text is no date`(_ text: String) { #expect(HTTPDate.instant(text) == nil) }
}
