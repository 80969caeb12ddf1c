import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

struct InsertTests {
    @Test(arguments: StoreKind.served)
    func `an insert is answered 201 with the row, its system columns and a version of the server's own`(
        _ stores: StoreKind
    ) throws {
        let fixture = try ServiceFixture(stores)
        let body = #"{"id":"A1","text":"milk","count":3,"extra":{"a":[1]},"version":"mine"}"#
        let answer = fixture.send(.post, "/tables/Item", body)
        #expect(answer.status == .created)
        #expect(answer.response.headerFields[.contentType] == "application/json")
        #expect(answer.response.headerFields[.date] == "Sat, 21 Nov 2026 09:00:00 GMT")
        let row = try answer.row()
        #expect(row.id == "A1" && row["text"] == "milk" && row["count"] == 3 && row["extra"] == .json(#"{"a":[1]}"#))
        #expect(row["deleted"] == false && row["due"] == .null)
        #expect(row["createdAt"] == "2026-11-21T09:00:00.000Z" && row["updatedAt"] == row["createdAt"])
        let version = try #require(row["version"]?.string)
        #expect(version != "mine" && answer.eTag == "\"\(version)\"")
    }

    @Test(arguments: StoreKind.served, [#"{"text":"a"}"#, #"{"id":null,"text":"a"}"#, #"{"id":"","text":"a"}"#])
    func `without an id the server makes a lower-case UUID`(_ stores: StoreKind, _ body: String) throws {
        let fixture = try ServiceFixture(stores)
        let ids = [try fixture.insert(body).idText, try fixture.insert(body).idText]
        #expect(ids[0] != ids[1])
        #expect(ids.allSatisfy { $0.count == 36 && $0 == $0.lowercased() })
    }

    @Test(arguments: StoreKind.served, ["1", "A", "a"])
    func `an id that exists is 409 with the row, also a deleted one`(_ stores: StoreKind, _ id: String) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"\#(id.uppercased())","text":"server's"}"#)
        let answer = fixture.send(.post, "/tables/Item", #"{"id":"\#(id)","text":"client's"}"#)
        #expect(answer.status == .conflict)
        #expect(try answer.row() == first)
        #expect(answer.eTag == ETag.quote(first["version"]?.string ?? ""))
        #expect(fixture.send(.delete, "/tables/Item/\(id)").status == .ok)
        let taken = fixture.send(.post, "/tables/Item", #"{"id":"\#(id)","text":"b"}"#)
        #expect(try taken.status == .conflict && taken.row()["deleted"] == true)
    }

    @Test(arguments: StoreKind.served, ["createdAt", "updatedAt", "deleted", "__x"])
    func `a column that only the server makes is 400`(_ stores: StoreKind, _ column: String) throws {
        let fixture = try ServiceFixture(stores)
        _ = try fixture.insert(#"{"id":"1"}"#)
        let body = #"{"id":"2","\#(column)":null}"#
        let answers = [
            fixture.send(.post, "/tables/Item", body),
            fixture.send(.patch, "/tables/Item/1", #"{"text":"a","\#(column)":"2026-11-21"}"#),
        ]
        for answer in answers {
            #expect(answer.status == .badRequest)
            #expect(try answer.error().contains(column))
        }
    }

    @Test(
        arguments: StoreKind.served,
        [
            "", "{", "[]", "1", "null", #"{"id":1}"#, #"{"id":"a/b"}"#, #"{"id":" "}"#, #"{"id":".."}"#, "\u{FEFF}",
            #"{"count":"x"}"#, #"{"count":1.5}"#, #"{"due":"soon"}"#, #"{"photo":"?"}"#, #"{"done":1}"#,
            #"{"extra":1}"#, #"{"extra":["\ud83d"]}"#, #"{"text":"\ud83d"}"#, #"{"unknown":1}"#, #"{"unknown":null}"#,
            #"{"price":1e999}"#,
        ])
    func `a body that does not fit is 400 and stores nothing`(_ stores: StoreKind, _ body: String) throws {
        let fixture = try ServiceFixture(stores)
        let answer = fixture.send(.post, "/tables/Item", body)
        #expect(answer.status == .badRequest)
        #expect(try !answer.error().isEmpty)
        #expect(try fixture.ids("/tables/Item").isEmpty)
    }

    @Test(arguments: StoreKind.served)
    func `an unknown column and a value of the wrong type are named`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        #expect(try fixture.send(.post, "/tables/Item", #"{"txet":"a"}"#).error().contains("txet"))
        #expect(try fixture.send(.post, "/tables/Item", #"{"count":"a"}"#).error().contains("count"))
    }

    @Test(arguments: StoreKind.served)
    func `a body over the limit is 413, one at the limit is taken`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, maximumBodySize: 1_000)
        let rest = #"{"id":"1","text":""}"#.utf8.count
        let fits = #"{"id":"1","text":"\#(String(repeating: "x", count: 1_000 - rest))"}"#
        #expect(fixture.send(.post, "/tables/Item", fits).status == .created)
        #expect(fixture.send(.post, "/tables/Item", fits + " ").status == .contentTooLarge)
    }

    @Test(arguments: StoreKind.served)
    func `an undefined table is 404 where tables do not grow`(_ stores: StoreKind) throws {
        #expect(try ServiceFixture(stores).send(.post, "/tables/Other", #"{"id":"1"}"#).status == .notFound)
    }

    @Test(
        arguments: StoreKind.served,
        [
            "", "'", "''", "\"", "\\", "\u{0}", "\u{1F}", "a\u{0}b", "😀", "e\u{301}", "\u{2028}",
            "'; DROP TABLE Item; --", "%_*?[]", "2026-11-21T09:00:00Z", "{}", "null",
            String(repeating: "x'\"😀", count: 150_000),
        ])
    func `any text comes back byte for byte, by id, filter and as an id`(_ stores: StoreKind, _ text: String) throws {
        let fixture = try ServiceFixture(stores)
        let dialect = ZUMODialect()
        let row: Row = ["id": "1", "text": .string(text)]
        #expect(fixture.send(try dialect.insert(row, into: "Item")).status == .created)
        #expect(try fixture.send(.get, "/tables/Item/1").row()["text"] == .string(text))
        guard text.utf8.count < 1_000 else { return }
        let query = TableQuery("Item").filter(.column("text") == .literal(.string(text)))
        let page = fixture.send(try dialect.read(query, schema: ServiceFixture.schema, options: ReadOptions()))
        #expect(try fixture.rows(page).rows.map { $0["text"] } == [.string(text)])
        guard (try? ItemID.validate(text)) != nil else { return }
        #expect(fixture.send(try dialect.insert(["id": .string(text)], into: "Item")).status == .created)
        #expect(try fixture.send(try dialect.lookup(text, in: "Item")).row().id == .string(text))
    }

    @Test(arguments: StoreKind.served)
    func `every type comes back as it was sent`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let row: Row = [
            "id": "1", "count": .int(.min), "price": 0.1, "done": true, "due": .timestamp(.max),
            "photo": .bytes([0, 255]), "extra": .json("[{},\"a\"]"), "text": "t",
        ]
        #expect(fixture.send(try ZUMODialect().insert(row, into: "Item")).status == .created)
        let found = try #require(try fixture.rows(fixture.send(.get, "/tables/Item")).rows.first)
        for (name, value) in row.values { #expect(found[name] == value) }
    }
}

struct UpdateTests {
    @Test(arguments: StoreKind.served)
    func `only the columns sent are changed, with a new version and a later stamp`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a","count":1,"due":"2026-01-01"}"#)
        let answer = fixture.send(.patch, "/tables/Item/1", #"{"count":2,"due":null}"#)
        #expect(answer.status == .ok)
        let row = try answer.row()
        #expect(row["text"] == "a" && row["count"] == 2 && row["due"] == .null)
        #expect(row["createdAt"] == first["createdAt"] && row["version"] != first["version"])
        #expect(try #require(row.updatedAt) > #require(first.updatedAt))
        #expect(answer.eTag == ETag.quote(row["version"]?.string ?? ""))
    }

    @Test(arguments: StoreKind.served)
    func `If-Match of the current version is taken, another is 412 with the server's row`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a"}"#)
        let version = try #require(first["version"]?.string)
        let dialect = ZUMODialect()
        let taken = fixture.send(try dialect.update(["id": "1", "text": "b"], in: "Item", version: version))
        #expect(taken.status == .ok)
        let stale = fixture.send(try dialect.update(["id": "1", "text": "c"], in: "Item", version: version))
        #expect(stale.status == .preconditionFailed)
        #expect(try stale.row() == taken.row())
        #expect(stale.eTag == taken.eTag)
        #expect(fixture.send(.patch, "/tables/Item/1", #"{"text":"d"}"#, ifMatch: "*").status == .ok)
        let weak = fixture.send(.patch, "/tables/Item/1", #"{"text":"d"}"#, ifMatch: "W/\(taken.eTag ?? "")")
        #expect(weak.status == .preconditionFailed)
    }

    @Test(arguments: StoreKind.served)
    func `a stale version in the body without If-Match is 409 with the server's row`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a"}"#)
        let version = try #require(first["version"]?.string)
        #expect(fixture.send(.patch, "/tables/Item/1", #"{"text":"b","version":"\#(version)"}"#).status == .ok)
        let stale = fixture.send(.patch, "/tables/Item/1", #"{"text":"c","version":"\#(version)"}"#)
        #expect(stale.status == .conflict)
        #expect(try stale.row()["text"] == "b")
    }

    @Test(
        arguments: StoreKind.served,
        [
            "{}", #"{"id":"1"}"#, #"{"version":"x"}"#, "", #"{"id":"2","text":"a"}"#, #"{"nope":1}"#, #"{"nope":null}"#,
        ])
    func `an update of no column, another id or an unknown column is 400`(_ stores: StoreKind, _ body: String) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a"}"#)
        #expect(fixture.send(.patch, "/tables/Item/1", body).status == .badRequest)
        #expect(try fixture.send(.get, "/tables/Item/1").row() == first)
    }

    @Test(arguments: StoreKind.served)
    func `the id in the body may be spelled in another case`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        _ = try fixture.insert(#"{"id":"Ab"}"#)
        let answer = fixture.send(.patch, "/tables/Item/aB", #"{"id":"AB","text":"a"}"#)
        #expect(answer.status == .ok)
        #expect(try answer.row().id == "Ab")
    }

    @Test(
        arguments: StoreKind.served,
        ["/tables/Item/none", "/tables/Other/1", "/tables/Item/\(String(repeating: "x", count: 5_000))"])
    func `update and delete of what is not there are 404`(_ stores: StoreKind, _ path: String) throws {
        let fixture = try ServiceFixture(stores)
        #expect(fixture.send(.patch, path, #"{"text":"a"}"#).status == .notFound)
        #expect(fixture.send(.delete, path).status == .notFound)
        #expect(fixture.send(.post, path).status == .notFound)
        #expect(fixture.send(.get, path).status == .notFound)
    }
}

struct DeleteTests {
    @Test(arguments: StoreKind.served)
    func `a delete keeps the row, marked, with a new version`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a"}"#)
        let answer = fixture.send(.delete, "/tables/Item/1")
        #expect(answer.status == .ok)
        let row = try answer.row()
        #expect(row["deleted"] == true && row["text"] == "a" && row["version"] != first["version"])
        #expect(fixture.send(.get, "/tables/Item/1").status == .notFound)
        #expect(try fixture.send(.get, "/tables/Item/1?__includeDeleted=true").row() == row)
    }

    @Test(arguments: StoreKind.served)
    func `a delete of a stale version is 412 with the server's row`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        let first = try fixture.insert(#"{"id":"1","text":"a"}"#)
        let answer = fixture.send(try ZUMODialect().delete("1", from: "Item", version: "old"))
        #expect(answer.status == .preconditionFailed)
        #expect(try answer.row() == first)
        #expect(
            fixture.send(try ZUMODialect().delete("1", from: "Item", version: first["version"]?.string)).status == .ok)
    }

    @Test(arguments: StoreKind.served, [nil, "old"])
    func `update and delete of a deleted row are 404 without a row`(_ stores: StoreKind, _ version: String?) throws {
        let fixture = try ServiceFixture(stores)
        _ = try fixture.insert(#"{"id":"1","text":"a"}"#)
        _ = fixture.send(.delete, "/tables/Item/1")
        let dialect = ZUMODialect()
        let update = fixture.send(try dialect.update(["id": "1", "text": "b"], in: "Item", version: version))
        #expect(update.status == .notFound)
        #expect(try update.row().id == nil)
        #expect(fixture.send(try dialect.delete("1", from: "Item", version: version)).status == .notFound)
    }

    @Test(arguments: StoreKind.served)
    func `an undelete brings the row back, on its version only, and takes no body`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores)
        _ = try fixture.insert(#"{"id":"1","text":"a"}"#)
        let deleted = try fixture.send(.delete, "/tables/Item/1").row()
        let dialect = ZUMODialect()
        #expect(fixture.send(try dialect.undelete("1", in: "Item", version: "old")).status == .preconditionFailed)
        let answer = fixture.send(try dialect.undelete("1", in: "Item", version: deleted["version"]?.string))
        #expect(answer.status == .ok)
        let row = try answer.row()
        #expect(row["deleted"] == false && row["text"] == "a" && row["version"] != deleted["version"])
        #expect(try #require(row.updatedAt) > #require(deleted.updatedAt))
        #expect(try fixture.send(.get, "/tables/Item/1").row() == row)
        #expect(try fixture.send(.post, "/tables/Item/1").row() == row)
        #expect(fixture.send(.post, "/tables/Item/1", "{}").status == .badRequest)
    }
}
