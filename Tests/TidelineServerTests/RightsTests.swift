import HTTPTypes
import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

/// The rows of one user, as seen by another.
@Suite("Rows with owners")
struct OwnedRowTests {
    /// Alice has the rows a1 and a2 and the deleted row a3; Bob has b1 and b2 and the deleted row b3.
    private func world(_ stores: StoreKind, _ dialect: DialectName = .zumo2, quirks: ServerQuirks = []) throws
        -> RightsFixture
    {
        let world = try RightsFixture(stores, dialect, quirks: quirks)
        for user in ["alice", "bob"] {
            for number in 1...3 {
                let id = "\(user.prefix(1))\(number)"
                let row = #"{"id":"\#(id)","text":"private of \#(user)","count":\#(number)}"#
                #expect(world.insert(row, as: user).status == .created)
            }
            #expect(world.delete("\(user.prefix(1))3", as: user).status.kind == .successful)
        }
        return world
    }

    @Test("No query returns or counts another user's rows", arguments: StoreKind.served, DialectName.allCases)
    func queries(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try world(stores, dialect)
        let filters = [
            "", "userId eq 'bob'", "id eq 'b1'", "id eq 'b1' or id eq 'a1'", "text eq 'private of bob'",
            "not (userId eq 'alice')", "userId ne 'alice' or count ge 0", "count ge 0", "true", "1 eq 1",
            "startswith(text,'private')", "endswith(text,'bob') or endswith(text,'alice')", "count add 1 gt 0",
            "replace(text,'bob','alice') eq 'private of alice'", "concat(userId,'x') ne 'alicex'",
            "userId eq null", "userId ne null", "length(userId) eq 3", "count div 0 eq 1 or count mod 0 eq 1",
            "indexof(userId,'b') eq 0", "userId lt 'bz'", "userId gt 'alice'",
        ]
        let own: Set = ["a1", "a2", "a3"]
        for filter in filters {
            for rest in [
                "", "$orderby=userId desc", "$orderby=text,count desc", "$select=text", "__includeDeleted=true",
            ] {
                let query = [filter.isEmpty ? "" : "$filter=\(filter)", rest, world.countOption]
                    .filter { !$0.isEmpty }.joined(separator: "&")
                let answer = world.page(query, as: "alice")
                let (rows, count) = try answer.page()
                let ids = rows.compactMap { $0["id"] as? String }
                #expect(own.isSuperset(of: ids) && count == ids.count, "\(query): \(answer.text)")
                #expect(!answer.text.contains("of bob"), "\(query)")
                #expect(rest == "__includeDeleted=true" || !ids.contains("a3"))
            }
        }
        #expect(try world.page("$filter=count ge 0&$orderby=id", as: "alice").pageIDs() == ["a1", "a2"])
        #expect(try world.page("$filter=count add 0 ge 0&$orderby=count desc", as: "bob").pageIDs() == ["b2", "b1"])
        #expect(try world.page("__includeDeleted=true", as: "bob").pageIDs() == ["b1", "b2", "b3"])
        #expect(try world.page(as: "carol").pageIDs().isEmpty)
    }

    @Test("Pages and links count only the caller's rows", arguments: StoreKind.served, DialectName.allCases)
    func pages(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try world(stores, dialect)
        let full = world.page("$top=2&$orderby=id", as: "alice")
        #expect(try full.pageIDs() == ["a1", "a2"])
        #expect(!full.text.contains("nextLink"))
        #expect(try world.page("$top=1&$skip=1&$orderby=id", as: "bob").pageIDs() == ["b2"])
        #expect(try world.page("$skip=2", as: "bob").pageIDs().isEmpty)
    }

    @Test("Another user's row is answered like a missing one", arguments: StoreKind.served, DialectName.allCases)
    func missing(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try world(stores, dialect)
        for id in ["b1", "B1", "b3"] {
            let version = ETag.quote(try #require(try world.stored(id)?["version"]?.string))
            let before = try world.stored(id)
            for ifMatch in [nil, version, "*", "\"none\""] {
                let requests: [(String) -> TableResponse] = [
                    { world.lookup($0, as: "alice") }, { world.lookup($0, withDeleted: true, as: "alice") },
                    { world.change($0, #"{"text":"x"}"#, as: "alice", ifMatch: ifMatch) },
                    { world.change($0, #"{"text":"x","userId":"alice"}"#, as: "alice", ifMatch: ifMatch) },
                    { world.delete($0, as: "alice", ifMatch: ifMatch) },
                    { world.undelete($0, as: "alice", ifMatch: ifMatch) },
                ]
                for request in requests {
                    let (other, none) = (request(id), request("nothing"))
                    #expect(other.status == .notFound && none.status == .notFound, "\(other.text) \(none.text)")
                    #expect(other.text == none.text.replacing("nothing", with: id))
                    #expect(other.response.headerFields[.eTag] == nil)
                }
            }
            #expect(try world.stored(id) == before)
        }
        #expect(world.lookup("b1", as: "bob").status == .ok)
        #expect(world.undelete("b3", as: "bob").status == .ok)
        #expect(world.change("b3", #"{"text":"y"}"#, as: "bob").status == .ok)
    }

    @Test("An insert of another user's id is 409 without the row", arguments: StoreKind.served, DialectName.allCases)
    func takenID(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try world(stores, dialect)
        for id in ["b1", "B1", "b3"] {
            let before = try world.stored(id)
            let answer = world.insert(#"{"id":"\#(id)","text":"x"}"#, as: "alice")
            #expect(answer.status == .conflict && answer.eTag == nil)
            #expect(try answer.error().contains(id) && !answer.text.contains("of bob"))
            #expect(try world.stored(id) == before)
        }
        let own = world.insert(#"{"id":"b1","text":"x"}"#, as: "bob")
        #expect(try own.status == .conflict && own.row()["text"] == "private of bob")
    }

    @Test("The service sets the owner, and refuses another", arguments: StoreKind.served, DialectName.allCases)
    func owner(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try RightsFixture(stores, dialect)
        for (id, column) in [("1", ""), ("2", #","userId":null"#), ("3", #","userId":"alice""#)] {
            let answer = world.insert(#"{"id":"\#(id)"\#(column)}"#, as: "alice")
            #expect(try answer.status == .created && answer.row()["userId"] == "alice", "\(answer.text)")
        }
        for other in [#""bob""#, #""Alice""#, #""""#, "1", "true", #"{"a":1}"#, #"["alice"]"#] {
            for answer in [
                world.insert(#"{"id":"4","userId":\#(other)}"#, as: "alice"),
                world.change("1", #"{"text":"x","userId":\#(other)}"#, as: "alice"),
            ] {
                #expect(answer.status == .forbidden, "\(other): \(answer.text)")
                #expect(try answer.error().contains(#"column "userId""#))
            }
        }
        #expect(try world.stored("4") == nil)
        for columns in [#"{"text":"x"}"#, #"{"text":"x","userId":null}"#, #"{"text":"x","userId":"alice"}"#] {
            let answer = world.change("1", columns, as: "alice")
            #expect(try answer.status == .ok && answer.row()["userId"] == "alice", "\(answer.text)")
        }
        #expect(world.delete("1", as: "alice").status.kind == .successful)
        #expect(try world.stored("1")?["userId"] == "alice")
        #expect(world.undelete("1", as: "alice").status == .ok)
        #expect(try world.stored("1")?["userId"] == "alice")
    }

    @Test("A column named twice does not change the owner", arguments: DialectName.allCases)
    func duplicateColumn(_ dialect: DialectName) throws {
        let world = try RightsFixture(.simplest, dialect, growing: true)
        for row in [
            #"{"id":"1","userId":"alice","userId":"bob"}"#, #"{"id":"1","userId":"bob","userId":"alice"}"#,
            #"{"id":"1","userid":"bob"}"#, #"{"id":"1","userId ":"bob"}"#, #"{"id":"1","user\u0049d":"bob"}"#,
        ] {
            _ = world.insert(row, as: "alice")
            let stored = try world.stored("1")
            #expect(stored == nil || stored?["userId"] == "alice", "\(row)")
            #expect(try world.page(as: "bob").pageIDs().isEmpty)
        }
    }

    @Test("A row without an owner belongs to nobody", arguments: StoreKind.served, DialectName.allCases)
    func withoutOwner(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try RightsFixture(stores, dialect, rights: [:])
        #expect(world.insert(#"{"id":"old","text":"x"}"#, as: nil).status == .created)
        let later = try RightsFixture(stores, dialect, store: world.store)
        for user in ["alice", "null", " "] {
            #expect(try later.page("__includeDeleted=true", as: user).pageIDs().isEmpty)
            #expect(later.lookup("old", as: user).status == .notFound)
            #expect(later.change("old", #"{"text":"y"}"#, as: user).status == .notFound)
            #expect(later.insert(#"{"id":"old"}"#, as: user).status == .conflict)
        }
        #expect(later.page(as: "").status == .unauthorized)
        #expect(try later.stored("old")?["text"] == "x")
    }

    @Test("Users are distinguished by the bytes of their identifiers", arguments: StoreKind.served)
    func equivalentUsers(_ stores: StoreKind) throws {
        let world = try RightsFixture(stores)
        let users = ["\u{E9}", "e\u{301}", "E\u{301}", "e", "e%", "_"]
        for (number, user) in users.enumerated() {
            #expect(world.insert(#"{"id":"\#(number)"}"#, as: user).status == .created)
        }
        for (number, user) in users.enumerated() {
            #expect(try world.page(as: user).pageIDs() == ["\(number)"])
            for other in users.indices {
                #expect((world.lookup("\(other)", as: user).status == .ok) == (other == number))
            }
        }
        #expect(world.insert(#"{"id":"x","userId":"e\#u{301}"}"#, as: "\u{E9}").status == .forbidden)
    }

    @Test("The quirks of the original server show no other user's rows", arguments: StoreKind.served)
    func quirks(_ stores: StoreKind) throws {
        let world = try world(stores, quirks: [.original, .hardDelete])
        #expect(world.delete("b1", as: "alice").status == .notFound)
        #expect(world.lookup("b1", as: "bob").status == .ok)
        let echo = world.insert(#"{"id":"b1","text":"mine"}"#, as: "alice")
        #expect(echo.status == .conflict && echo.text == #"{"id":"b1","text":"mine"}"#)
        #expect(try world.page("$filter=nothing eq 1 or userId eq 'bob'", as: "alice").pageIDs().isEmpty)
        #expect(try world.page("$filter=not (userId eq 'alice')", as: "alice").pageIDs().isEmpty)
        #expect(world.delete("b1", as: "bob").status == .ok)
        #expect(world.delete("b1", as: "bob").status == .notFound)
    }

    @Test("An index orders the rows of each user by their timestamps", arguments: StoreKind.served)
    func index(_ stores: StoreKind) throws {
        let wanted = IndexSchema(["userId", "updatedAt"])
        let world = try RightsFixture(stores, rights: [:])
        #expect(try world.store.tables().first { $0.name == "Note" }?.indexes.contains(wanted) == false)
        // The table is in the store only: the definition of another service has created it.
        let later = try RightsFixture(stores, schemas: [], store: world.store)
        #expect(try later.store.tables().first { $0.name == "Note" }?.indexes.contains(wanted) == true)
        let growing = try RightsFixture(
            stores, rights: [:], defaultRights: .owned(by: "userId"), schemas: [], growing: true)
        #expect(growing.insert(#"{"id":"1","text":"x"}"#, into: "New", as: "alice").status == .created)
        let made = try #require(try growing.store.tables().first { $0.name == "New" })
        #expect(made.column("userId")?.type == .string && made.indexes.contains(wanted))
    }

    @Test("The writes of one transaction have the rights of their own users", arguments: StoreKind.served)
    func groups(_ stores: StoreKind) throws {
        let world = try GroupCommitTests.World(
            stores, schema: RightsFixture.schema, rights: ["Note": .owned(by: "userId")])
        let requests: [(user: String, HTTPRequest.Method, path: String, body: String, status: Int)] = [
            ("alice", .post, "", #"{"id":"b1"}"#, 409), ("alice", .patch, "/b1", #"{"text":"x"}"#, 404),
            ("alice", .delete, "/b1", "", 404), ("alice", .post, "/b1", "", 404),
            ("bob", .patch, "/b1", #"{"text":"changed"}"#, 200),
            ("alice", .post, "", #"{"id":"a1","text":"of alice"}"#, 201),
            ("bob", .post, "", #"{"id":"a1"}"#, 409), ("alice", .post, "", #"{"id":"a2","userId":"bob"}"#, 403),
            ("", .post, "", #"{"id":"a3"}"#, 401), ("bob", .patch, "/b1", #"{"count":1}"#, 200),
            ("bob", .delete, "/b1", "", 200), ("bob", .post, "/b1", "", 200),
        ]
        let answers = try world.whileWriting(first: ("/tables/Note", #"{"id":"b1","text":"of bob"}"#, "bob")) {
            for request in requests {
                world.send(request.1, "/tables/Note\(request.path)", request.body, as: request.user)
            }
        }
        #expect(world.store.writes == 2)
        for (request, answer) in zip(requests, answers) {
            #expect(answer.status.code == request.status, "\(request): \(answer.text)")
            #expect(!answer.text.contains(request.user == "alice" ? "of bob" : "of alice"))
        }
        let stored = try world.store.read { try $0.row(in: "Note", id: "b1") }
        #expect(stored?["text"] == "changed" && stored?["count"] == 1 && stored?["userId"] == "bob")
    }

    @Test("A request for another user's row creates no column", arguments: StoreKind.served, DialectName.allCases)
    func growingTable(_ stores: StoreKind, _ dialect: DialectName) throws {
        let world = try RightsFixture(stores, dialect, growing: true)
        #expect(world.insert(#"{"id":"b1","text":"of bob"}"#, as: "bob").status == .created)
        #expect(world.change("b1", #"{"new":1}"#, as: "alice").status == .notFound)
        let taken = world.insert(#"{"id":"b1","new":1}"#, as: "alice")
        #expect(taken.status == .conflict && !taken.text.contains("of bob"))
        #expect(world.insert(#"{"id":"1","new":1,"userId":"bob"}"#, as: "alice").status == .forbidden)
        #expect(try world.store.tables().first { $0.name == "Note" }?.column("new") == nil)
        #expect(world.change("b1", #"{"new":1}"#, as: "bob").status == .ok)
        // A table whose name differs in case only, which has the rights of all other tables.
        _ = world.insert(#"{"id":"b1","text":"x"}"#, into: "note", as: nil)
        #expect(!world.page(of: "note", as: nil).text.contains("of bob"))
        #expect(try world.stored("b1")?["text"] == (dialect == .datasync3 ? Value.null : "of bob"))
    }
}

/// The rights of tables.
@Suite("Rights")
struct RightsTests {
    private static let open = TableSchema("Open", columns: [.string("text"), .int("count")])

    @Test("Each right is checked for each kind of caller", arguments: StoreKind.served, DialectName.allCases)
    func matrix(_ stores: StoreKind, _ dialect: DialectName) throws {
        let holders = TableRights.Holder.allCases
        for read in holders {
            for write in holders {
                let rights = TableRights(read: read, insert: write, update: write, delete: write)
                guard (try? rights.validate(for: "Open")) != nil else { continue }
                let world = try RightsFixture(stores, dialect, rights: ["Open": rights], schemas: [Self.open])
                try world.store.write { try $0.upsert(["id": "1", "text": "x", "deleted": false], into: "Open") }
                for user in [nil, "alice"] {
                    func expect(_ holder: TableRights.Holder, _ success: HTTPResponse.Status?, _ answer: TableResponse)
                    {
                        switch (holder, user) {
                        case (.nobody, _):
                            #expect(answer.status == .forbidden, "\(rights) \(answer.text)")
                        case (.signedIn, nil):
                            #expect(answer.status == .unauthorized, "\(rights) \(answer.text)")
                            #expect(answer.response.headerFields[.wwwAuthenticate] == "Bearer")
                        default:
                            #expect(answer.status == success ?? answer.status, "\(rights) \(answer.text)")
                            #expect(answer.status.kind == .successful)
                        }
                    }
                    expect(read, .ok, world.page(of: "Open", as: user))
                    expect(read, .ok, world.page("$filter=id eq '1'&\(world.countOption)", of: "Open", as: user))
                    expect(read, .ok, world.lookup("1", in: "Open", as: user))
                    expect(read, .ok, world.lookup("1", in: "Open", withDeleted: true, as: user))
                    expect(write, .created, world.insert(#"{"text":"y"}"#, into: "Open", as: user))
                    expect(write, .ok, world.change("1", #"{"text":"y"}"#, in: "Open", as: user))
                    expect(write, nil, world.delete("1", from: "Open", as: user))
                    expect(write, .ok, world.undelete("1", in: "Open", as: user))
                }
            }
        }
    }

    @Test("Each right is separate", arguments: DialectName.allCases)
    func separateRights(_ dialect: DialectName) throws {
        func statuses(_ rights: TableRights) throws -> [Int] {
            let world = try RightsFixture(.simplest, dialect, rights: ["Open": rights], schemas: [Self.open])
            try world.store.write { try $0.upsert(["id": "1", "text": "x", "deleted": false], into: "Open") }
            return [
                world.page(of: "Open", as: "a"), world.insert(#"{"id":"2"}"#, into: "Open", as: "a"),
                world.change("1", #"{"text":"y"}"#, in: "Open", as: "a"), world.delete("1", from: "Open", as: "a"),
            ].map { $0.status.kind == .successful ? 200 : $0.status.code }
        }
        #expect(try statuses(TableRights()) == [200, 200, 200, 200])
        #expect(try statuses(TableRights(read: .nobody, update: .nobody, delete: .nobody)) == [403, 200, 403, 403])
        #expect(try statuses(TableRights(insert: .nobody)) == [200, 403, 200, 200])
        #expect(try statuses(TableRights(update: .nobody)) == [200, 200, 403, 200])
        #expect(try statuses(TableRights(delete: .nobody)) == [200, 200, 200, 403])
    }

    @Test("Without the right to read, an insert of a taken id is 409 without the row", arguments: DialectName.allCases)
    func insertOnly(_ dialect: DialectName) throws {
        let rights = TableRights(read: .nobody, insert: .anyone, update: .nobody, delete: .nobody)
        let world = try RightsFixture(.simplest, dialect, rights: ["Open": rights], schemas: [Self.open])
        #expect(world.insert(#"{"id":"1","text":"secret"}"#, into: "Open", as: nil).status == .created)
        let again = world.insert(#"{"id":"1","text":"x"}"#, into: "Open", as: nil)
        #expect(again.status == .conflict && !again.text.contains("secret") && again.eTag == nil)
    }

    @Test("A missing table needs the right to read, and is not created by a read", arguments: DialectName.allCases)
    func unknownTable(_ dialect: DialectName) throws {
        let world = try RightsFixture(.simplest, dialect, defaultRights: .signedIn, growing: true)
        #expect(world.page(of: "None", as: nil).status == .unauthorized)
        #expect(world.insert(#"{"id":"1"}"#, into: "None", as: nil).status == .unauthorized)
        #expect(world.page(of: "None", as: "alice").status == .ok)
        #expect(try world.store.tables().allSatisfy { $0.name != "None" })
    }

    @Test("A service without rights is open, whoever sends a request")
    func open() throws {
        let service = try TableService(store: StoreKind.simplest.makeStore())
        #expect(service.send(.post, "/tables/Item", #"{"id":"1"}"#).status == .created)
    }

    @Test("The change signal is for those who may read the tables")
    func changeSignal() async throws {
        let rights = [
            "Note": TableRights.owned(by: "userId"),
            "Open": TableRights(read: .nobody, update: .nobody, delete: .nobody),
        ]
        let world = try RightsFixture(
            .simplest, rights: rights, defaultRights: .signedIn, schemas: [RightsFixture.schema, Self.open])
        let signal = ChangeSignal(world.service)
        let running = Task { await signal.run() }
        func status(_ tables: String, as user: String?) async throws -> HTTPResponse.Status {
            let request = HTTPRequest(.get, "/.changes?tables=\(tables)")
            while true {
                guard case .answer(let answer) = await signal.respond(to: request, caller: Caller(userID: user)) else {
                    throw WaitFailure("a complete answer")
                }
                // Until the signal runs.
                if answer.status != .serviceUnavailable { return answer.status }
                await Task.yield()
            }
        }
        #expect(try await status("Note", as: "alice") == .ok)
        #expect(try await status("Note", as: nil) == .unauthorized)
        #expect(try await status("Note,Open", as: "alice") == .forbidden)
        // Without the right, a table that does not exist is like one that does.
        #expect(try await status("None", as: nil) == .unauthorized)
        #expect(try await status("None", as: "alice") == .notFound)
        running.cancel()
        await running.value
    }

    @Test("Rights that have no effect, or that contradict each other, are an error")
    func invalidRights() throws {
        func refuse(_ rights: [String: TableRights], _ part: String, defaultRights: TableRights = .open) throws {
            let error = try #require(
                #expect(throws: StoreError.self) {
                    try RightsFixture(.simplest, rights: rights, defaultRights: defaultRights)
                })
            #expect(error.code == .schemaMismatch && error.description.contains(part), "\(error)")
        }
        try refuse(["note": .signedIn], "not served")
        try refuse(["Note": .owned(by: "user")], "user")
        try refuse(["Note": .owned(by: "count")], "string column")
        try refuse(["Note": .owned(by: "version")], "string column")
        try refuse(["Note": .owned(by: "id")], "string column")
        try refuse(["Note": TableRights(owner: "userId", read: .anyone)], "owner")
        try refuse(["Note": TableRights(owner: "userId", insert: .anyone)], "owner")
        try refuse(["Note": TableRights(read: .nobody)], "read")
        try refuse(["Note": TableRights(read: .signedIn, delete: .anyone)], "read")
        try refuse([:], "user", defaultRights: .owned(by: "user"))
        try refuse([:], "read", defaultRights: TableRights(read: .nobody))
    }
}
