import HTTPTypes
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores
import TidelineWire

struct GrowingTableTests {
    @Test(arguments: StoreKind.served)
    func `the first row makes the table, typed by its JSON`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        #expect(fixture.send(.get, "/tables/New").text == "[]")
        let body = #"{"id":"1","s":"2026-11-21","i":9007199254740993,"d":1.5,"b":true,"a":[1],"o":{"x":null},"n":null}"#
        let row = try fixture.insert(body, into: "New")
        #expect(row["i"] == 9_007_199_254_740_993 && row["a"] == .json("[1]") && row["s"] == "2026-11-21")
        let schema = try #require(try fixture.store.appTables().first)
        #expect(schema.columns.map(\.name) == ["s", "i", "d", "b", "a", "o"])
        #expect(schema.columns.map(\.type) == [.string, .int, .double, .bool, .json, .json])
        #expect(schema.systemColumns == .all && schema.indexes == [["updatedAt"]])
    }

    @Test(arguments: StoreKind.served, ["10.0", "1e1", "-2E0", "0.0"])
    func `a number with a point or an exponent makes a column for fractions`(
        _ stores: StoreKind, _ number: String
    ) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        _ = try fixture.insert(#"{"id":"1","price":\#(number),"count":10}"#, into: "New")
        let schema = try #require(try fixture.store.appTables().first)
        #expect(schema.columns.map(\.type) == [.double, .int])
        _ = try fixture.insert(#"{"id":"2","price":9.99,"count":20.0}"#, into: "New")
        #expect(fixture.send(.patch, "/tables/New/1", #"{"price":3}"#).status == .ok)
        #expect(fixture.send(.patch, "/tables/New/1", #"{"count":1.5}"#).status == .badRequest)
    }

    @Test(arguments: StoreKind.served)
    func `a later row adds columns, of which earlier rows have null`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        _ = try fixture.insert(#"{"id":"1","a":1,"b":null}"#, into: "New")
        _ = try fixture.insert(#"{"id":"2","b":"x"}"#, into: "New")
        #expect(fixture.send(.patch, "/tables/New/2", #"{"c":true}"#).status == .ok)
        #expect(fixture.send(.patch, "/tables/New/2", #"{"z":null}"#).status == .ok)
        let first = try fixture.send(.get, "/tables/New/1").row()
        #expect(first["a"] == 1 && first["b"] == .null && first["c"] == .null && first["z"] == nil)
        #expect(try fixture.ids("/tables/New?$filter=c%20eq%20true", of: "New") == ["2"])
    }

    @Test(arguments: StoreKind.served, ["__x", "a%00b", String(repeating: "x", count: 129)])
    func `a name that no table may have is 400`(_ stores: StoreKind, _ name: String) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        #expect(fixture.send(.post, "/tables/\(name)", #"{"id":"1"}"#).status == .badRequest)
        #expect(try fixture.store.appTables().isEmpty)
    }

    @Test(
        arguments: StoreKind.served,
        [
            "", "a\\u0000", "ID", "DELETED", "\\ud83d\\ude00", "x\\\"\\u0301 \\\"\\u0301", "__\\u0301",
            "x\\u0600\\\" text; DROP TABLE \\u0600\\\"New\\u0600\\\"; --",
        ])
    func `hostile names of columns are refused or stored, never worse`(_ stores: StoreKind, _ name: String) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        let answer = fixture.send(.post, "/tables/New", #"{"id":"1","\#(name)":1}"#)
        #expect([.created, .badRequest].contains(answer.status))
        #expect(fixture.send(.post, "/tables/New", #"{"id":"2","a'\";--":1}"#).status == .created)
        #expect(try fixture.send(.get, "/tables/New/2").row()["a'\";--"] == 1)
    }

    @Test(arguments: StoreKind.served)
    func `a name that differs in its normal form only is the same column`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        #expect(fixture.send(.post, "/tables/New", "{\"id\":\"1\",\"\u{E9}\":1}").status == .created)
        let answer = fixture.send(.post, "/tables/New", "{\"id\":\"2\",\"e\u{301}\":1}")
        #expect(answer.status == .created)
        #expect(try answer.row()["\u{E9}"] == 1)
        #expect(try fixture.store.appTables()[0].columns.count == 1)
        #expect(fixture.send(.post, "/tables/Other", "{\"id\":\"1\",\"e\u{301}\":1}").status == .badRequest)
    }

    @Test(arguments: StoreKind.served)
    func `a table whose name is in another normal form is the same table, with one record`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        #expect(fixture.send(.post, "/tables/caf%C3%A9", #"{"id":"1","a":1}"#).status == .created)
        #expect(fixture.send(.post, "/tables/cafe%CC%81", #"{"id":"2","b":1}"#).status == .created)
        for path in ["caf%C3%A9/1", "caf%C3%A9/2", "cafe%CC%81/1", "cafe%CC%81/2"] {
            #expect(fixture.send(.get, "/tables/\(path)").status == .ok)
        }
        #expect(fixture.send(.post, "/tables/Te%CC%81", #"{"id":"1"}"#).status == .badRequest)
        #expect(try fixture.store.appTables().map { Array($0.name.utf8) } == [Array("caf\u{E9}".utf8)])
        #expect(try fixture.store.read { try $0.count(TableQuery(ServedTableRecord.schema.name)) } == 1)
    }

    @Test(arguments: StoreKind.served)
    func `a table does not grow without bound`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        let columns = (0..<70_000).map { "\"c\($0)\":1" }.joined(separator: ",")
        #expect(fixture.send(.post, "/tables/New", "{\(columns)}").status == .badRequest)
        #expect(fixture.send(.post, "/tables/New", #"{"id":"1","c0":1}"#).status == .created)
    }

    @Test(arguments: StoreKind.served)
    func `a refused request leaves no column behind, and names one of another type`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        _ = try fixture.insert(#"{"id":"1","a":1}"#, into: "New")
        _ = try fixture.insert(#"{"id":"2","a":1}"#, into: "New")
        #expect(fixture.send(.delete, "/tables/New/2").status == .ok)
        let refusals = [
            (fixture.send(.post, "/tables/New", #"{"id":"1","b":1}"#), HTTPResponse.Status.conflict),
            (fixture.send(.post, "/tables/New", #"{"id":"3","b":1,"a":"x"}"#), .badRequest),
            (fixture.send(.post, "/tables/New", #"{"id":"a/b","b":1}"#), .badRequest),
            (fixture.send(.post, "/tables/New", #"{"id":"3","b":1,"deleted":true}"#), .badRequest),
            (fixture.send(.post, "/tables/New", #"{"id":"3","b":1,"A":1}"#), .badRequest),
            (fixture.send(.patch, "/tables/New/1", #"{"b":1,"a":"x"}"#), .badRequest),
            (fixture.send(.patch, "/tables/New/1", #"{"b":1}"#, ifMatch: #""other""#), .preconditionFailed),
            (fixture.send(.patch, "/tables/New/1", #"{"b":1,"version":"other"}"#), .conflict),
            (fixture.send(.patch, "/tables/New/2", #"{"b":1}"#), .notFound),
            (fixture.send(.patch, "/tables/New/3", #"{"b":1}"#), .notFound),
        ]
        for (answer, status) in refusals { #expect(answer.status == status, "\(answer.text)") }
        #expect(try refusals[1].0.error().contains("\"a\""))
        #expect(try fixture.store.appTables()[0].columns.map(\.name) == ["a"])
        #expect(try fixture.ids("/tables/New", of: "New") == ["1"])
    }

    @Test(arguments: StoreKind.served)
    func `a required column that is missing leaves no other column behind`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let schema = TableSchema("New", columns: [.string("a", optional: false)])
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [schema]))
        #expect(service.send(.post, "/tables/New", #"{"id":"1","b":1}"#).status == .badRequest)
        #expect(try store.appTables()[0].columns.map(\.name) == ["a"])
        #expect(service.send(.post, "/tables/New", #"{"id":"1","a":"x","b":1}"#).status == .created)
        #expect(try store.appTables()[0].columns.map(\.name) == ["a", "b"])
    }

    @Test(arguments: StoreKind.served)
    func `a request that is refused leaves no table behind`(_ stores: StoreKind) throws {
        let fixture = try ServiceFixture(stores, schemas: nil)
        for body in ["", "[]", "{", #"{"id":"a/b","b":1}"#, #"{"id":5}"#, #"{"id":"1","__b":1}"#, #"{"a":1,"A":2}"#] {
            #expect(fixture.send(.post, "/tables/New", body).status == .badRequest, "\(body)")
        }
        #expect(fixture.send(.patch, "/tables/New/1", #"{"a":1}"#).status == .notFound)
        #expect(fixture.send(.get, "/tables/New").text == "[]")
        #expect(try fixture.store.appTables().isEmpty)
    }

    @Test(arguments: StoreKind.served)
    func `tables, rows and the order of stamps outlive the service`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let fixture = try ServiceFixture(stores, schemas: nil, store: store)
        let first = try fixture.insert(#"{"id":"1","a":1}"#, into: "New")
        let next = try ServiceFixture(stores, schemas: nil, store: store)
        next.clock.set("2020-01-01")
        let second = try next.insert(#"{"id":"2","a":1}"#, into: "New")
        #expect(try #require(second.updatedAt) > #require(first.updatedAt))
        #expect(try next.ids("/tables/New", of: "New") == ["1", "2"])
    }

    @Test(arguments: StoreKind.served)
    func `a table in the options keeps the columns that rows added before`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let schema = TableSchema("New", columns: [.string("a")])
        let options = TableServiceOptions(schemas: [schema])
        _ = try TableService(store: store, options: options)
        let fixture = try ServiceFixture(stores, schemas: nil, store: store)
        _ = try fixture.insert(#"{"id":"1","a":"x","b":1}"#, into: "New")
        _ = try TableService(store: store, options: options)
        #expect(try store.appTables()[0].columns.map(\.name) == ["a", "b"])
    }

    @Test(arguments: StoreKind.served)
    func `a table with integer ids is refused`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        let schema = TableSchema("New", columns: [], idType: .int)
        #expect(throws: StoreError.self) {
            try TableService(store: store, options: TableServiceOptions(schemas: [schema]))
        }
    }
}
