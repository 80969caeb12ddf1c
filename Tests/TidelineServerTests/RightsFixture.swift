import Foundation
import HTTPTypes
import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineWire

/// A service with a table whose rows have owners, and requests of its users in a dialect.
struct RightsFixture {
    let store: TestStore
    let service: TableService<TestStore>
    var dialect: DialectName

    static let schema = TableSchema("Note", columns: [.string("text"), .int("count"), .string("userId")])

    init(
        _ stores: StoreKind, _ dialect: DialectName = .zumo2, rights: [String: TableRights]? = nil,
        defaultRights: TableRights = .open, schemas: [TableSchema] = [schema], store: TestStore? = nil,
        growing: Bool = false, quirks: ServerQuirks = []
    ) throws {
        let store = try store ?? stores.makeStore()
        self.store = store
        self.dialect = dialect
        var options = TableServiceOptions(
            schemas: schemas, createsTablesOnFirstInsert: growing, rights: rights ?? ["Note": .owned(by: "userId")],
            defaultRights: defaultRights)
        options.reproduce(quirks)
        service = try TableService(store: store, options: options)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", as user: String?, ifMatch: String? = nil
    ) -> TableResponse {
        service.send(
            method, path, body, version: dialect == .datasync3 ? "3.0.0" : "2.0.0", ifMatch: ifMatch,
            caller: Caller(userID: user))
    }

    func page(_ query: String = "", of table: String = "Note", as user: String?) -> TableResponse {
        send(.get, "/tables/\(table)?\(query.replacing(" ", with: "%20"))", as: user)
    }

    func lookup(_ id: String, in table: String = "Note", withDeleted: Bool = false, as user: String?) -> TableResponse {
        send(.get, "/tables/\(table)/\(id)\(withDeleted ? "?__includeDeleted=true" : "")", as: user)
    }

    func insert(_ row: String, into table: String = "Note", as user: String?) -> TableResponse {
        send(.post, "/tables/\(table)", row, as: user)
    }

    /// Changes a row: a PATCH in ZUMO 2, a PUT in Datasync 3.
    func change(
        _ id: String, _ columns: String, in table: String = "Note", as user: String?, ifMatch: String? = nil
    ) -> TableResponse {
        send(dialect == .datasync3 ? .put : .patch, "/tables/\(table)/\(id)", columns, as: user, ifMatch: ifMatch)
    }

    func delete(_ id: String, from table: String = "Note", as user: String?, ifMatch: String? = nil) -> TableResponse {
        send(.delete, "/tables/\(table)/\(id)", as: user, ifMatch: ifMatch)
    }

    func undelete(_ id: String, in table: String = "Note", as user: String?, ifMatch: String? = nil) -> TableResponse {
        dialect == .datasync3
            ? send(
                .put, "/tables/\(table)/\(id)?__includedeleted=true", #"{"id":"\#(id)","text":"restored","count":0}"#,
                as: user,
                ifMatch: ifMatch)
            : send(.post, "/tables/\(table)/\(id)", as: user, ifMatch: ifMatch)
    }

    /// The parameter that asks for the number of all matching rows.
    var countOption: String { dialect == .datasync3 ? "$count=true" : "$inlinecount=allpages" }

    /// Returns the row with the given id from the store, whoever owns it.
    func stored(_ id: String, in table: String = "Note") throws -> Row? {
        try store.read { try $0.row(in: table, id: id) }
    }
}

extension TableResponse {
    /// The rows of a page, and their total number if the request asked for it.
    func page() throws -> (rows: [[String: Any]], count: Int?) {
        #expect(status == .ok, "\(text)")
        let json = try JSONSerialization.jsonObject(with: Data(body))
        if let rows = json as? [[String: Any]] { return (rows, nil) }
        let object = try #require(json as? [String: Any])
        let rows = object["items"] ?? object["results"]
        return (try #require(rows as? [[String: Any]]), object["count"] as? Int)
    }

    func pageIDs() throws -> [String] { try page().rows.map { try #require($0["id"] as? String) } }
}
