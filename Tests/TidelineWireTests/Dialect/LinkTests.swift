import HTTPTypes
import Testing

@testable import TidelineWire

private func next(_ link: String, _ authority: String = "host", scheme: String = "http", path: String = "") throws
    -> String?
{
    let response = HTTPResponse(status: .ok, headerFields: [.link: link])
    return try ZUMODialect().nextPage(after: response, base: (scheme, authority, path))
}

struct LinkTests {
    static let target = "tables/T?$skip=50&$top=50"

    @Test(arguments: [
        "http://host/tables/T?$skip=50&$top=50; rel=next", "<http://host/tables/T?$skip=50&$top=50>; rel=next",
        "<http://host/tables/T?$skip=50&$top=50>;rel=\"next\"", "http://host/tables/T?$skip=50&$top=50;rel=next",
        "HTTP://HOST/tables/T?$skip=50&$top=50 ; REL=Next",
        "<http://host:80/tables/T?$skip=50&$top=50>; rel=\"prev next\"",
        "<http://host/x>; rel=prev, <http://host/tables/T?$skip=50&$top=50>; rel=next",
        "http://host/x; rel=prev, http://host/tables/T?$skip=50&$top=50; rel=next, http://host/y; rel=last",
        "<http://host/x>; title=\"a,b; rel=no\"; rel=first, <http://host/tables/T?$skip=50&$top=50>; title=n; rel=next",
        "</tables/T?$skip=50&$top=50>; rel=next", "<http://host/tables/T?$skip=50&$top=50#top>; rel=next",
    ])
    func `the next page is found in every form of the header`(_ link: String) throws {
        #expect(try next(link) == Self.target)
    }

    @Test func `the original's form: no brackets, no port, an encoded dollar, commas in the URL`() throws {
        let link = "http://host/tables/T?%24orderby=a,b%20desc&%24skip=50; rel=next"
        #expect(try next(link, "host:3000") == "tables/T?%24orderby=a,b%20desc&%24skip=50")
    }

    @Test func `what no URL may hold is encoded`() throws {
        #expect(try next("<http://host/tables/T?q=é \"{}>; rel=next") == "tables/T?q=%C3%A9%20%22%7B%7D")
    }

    @Test func `a link under the base URL's path is followed, by whatever port the base URL has`() throws {
        #expect(try next("<http://host/api/tables/T>; rel=next", "host:81", path: "/api") == "tables/T")
        #expect(try next("<http://host:81/api/tables/T>; rel=next", "host:81", path: "/api") == "tables/T")
        #expect(throws: WireError.self) { try next("<http://host:80/api/T>; rel=next", "host:81", path: "/api") }
        #expect(try next("<http://[::1]/api/tables/T>; rel=next", "[::1]:81", path: "/api") == "tables/T")
    }

    @Test func `the base URL's path is taken off`() throws {
        let link = "<https://host:443/api/v1/tables/T?a=1>; rel=next"
        #expect(try next(link, "Host", scheme: "https", path: "/api/v1") == "tables/T?a=1")
        #expect(try next(link, "host:443", scheme: "HTTPS", path: "/api/v1/") == "tables/T?a=1")
    }

    @Test func `several headers are one list`() throws {
        var fields: HTTPFields = [:]
        fields.append(HTTPField(name: .link, value: "<http://host/a>; rel=prev"))
        fields.append(HTTPField(name: .link, value: "<http://host/tables/T?$skip=50&$top=50>; rel=next"))
        let response = HTTPResponse(status: .ok, headerFields: fields)
        #expect(try ZUMODialect().nextPage(after: response, base: ("http", "host", "")) == Self.target)
    }

    @Test(arguments: [
        "", ",", "<http://host/a>; rel=prev", "<http://host/a", "http://host/a", ";;;", "rel=next", "<>",
        "<http://host/a>; rel",
    ])
    func `no next link, no next page`(_ link: String) throws { #expect(try next(link) == nil) }

    @Test func `no header, no next page`() throws {
        #expect(try ZUMODialect().nextPage(after: HTTPResponse(status: .ok), base: ("http", "host", "")) == nil)
    }

    @Test(arguments: [
        "https://host/api/tables/T", "http://other/api/tables/T", "http://host.evil/api/tables/T",
        "http://host:81/api/tables/T", "http://user@host/api/tables/T", "http://host@evil/api/tables/T",
        "//evil/api/tables/T", "http:/api/tables/T", "api/tables/T", "?$skip=1", "http://host/other/T",
        "http://host/apis/T", "http://host/api/../tables/T", "http://host/api/%2e%2E/x", "http://host/api//x",
        "http://host", "http://host/api", "javascript:alert(1)", "http:///api/tables/T", "http://host/api/",
        "http://host\\@evil/api/x", "http://host/api/%zz/T",
    ])
    func `a link that leads elsewhere is an error`(_ link: String) {
        expectError(.invalidRequest) { try next("<\(link)>; rel=next", path: "/api") }
    }
}
