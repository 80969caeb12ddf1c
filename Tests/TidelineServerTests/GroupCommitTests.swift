import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

/// Writes that wait for the same transaction.
struct GroupCommitTests {
    private static let schema = TableSchema("Item", columns: [.string("text"), .int("count", optional: false)])

    /// A service whose store holds the transaction of a first write while others arrive.
    final class World: Sendable {
        let store: ControlledStore
        let service: TableService<ControlledStore>
        private let answers = Mutex<[Int: TableResponse]>([:])
        private let sent = Mutex(0)

        init(
            _ stores: StoreKind, schema: TableSchema = schema, rights: [String: TableRights] = [:],
            quirks: ServerQuirks = []
        ) throws {
            store = ControlledStore(try stores.makeStore())
            var options = TableServiceOptions(schemas: [schema], createsTablesOnFirstInsert: false, rights: rights)
            options.reproduce(quirks)
            service = try TableService(store: store, options: options)
        }

        @discardableResult
        func insert(_ id: String, _ columns: String = #""count":1"#) -> Int {
            send(.post, "/tables/Item", #"{"id":"\#(id)",\#(columns)}"#)
        }

        /// Sends a request, and returns its number.
        @discardableResult
        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String = "", ifMatch: String? = nil,
            as user: String? = nil
        ) -> Int {
            let request = HTTPRequest(method, path, ifMatch: ifMatch)
            let number = sent.withLock { sent in
                sent += 1
                return sent
            }
            service.handle(request, body: Array(body.utf8), caller: Caller(userID: user)) { answer in
                self.answers.withLock { answers in
                    #expect(answers[number] == nil, "a request was answered twice")
                    answers[number] = answer
                }
            }
            return number
        }

        /// Sends requests while a first insert is in its transaction, and returns the response of each.
        ///
        /// - Parameters:
        ///   - place: The place of the transaction at that time.
        ///   - ends: The ends of transactions by their numbers; the others are committed.
        ///   - first: The first insert; by default, that of the row `first`.
        func whileWriting(
            at place: ControlledStore.Hold = .end, _ ends: [Int: ControlledStore.End] = [:],
            first: (path: String, row: String, user: String?) = ("/tables/Item", #"{"id":"first","count":1}"#, nil),
            _ send: () -> Void
        ) throws -> [TableResponse] {
            store.hold(at: place)
            store.end { ends[$0] ?? .commit }
            let group = DispatchGroup()
            let earlier = sent.withLock { $0 }
            DispatchQueue.global().async(group: group) { self.send(.post, first.path, first.row, as: first.user) }
            try waitUntil("the first write") { store.isHolding }
            send()
            let early = answers.withLock { $0.filter { $0.key > earlier && $0.value.status.kind == .successful } }
            #expect(early.isEmpty, "a write was answered before its commit")
            store.release()
            try group.finish()
            return try (earlier + 2...sent.withLock { $0 }).map { number in
                try #require(answers.withLock { $0[number] }, "request \(number) was not answered")
            }
        }

        func ids() throws -> [String] { try rows().map(\.idText).sorted() }

        func rows() throws -> [Row] {
            try store.read { try $0.rows(matching: TableQuery("Item").order(by: "updatedAt")).rows }
        }
    }

    @Test(arguments: StoreKind.served)
    func `writes that wait share a transaction, and each has its own response`(_ stores: StoreKind) throws {
        let world = try World(stores)
        world.insert("old")
        let version = try #require(try world.rows().first?["version"]?.string)
        let answers = try world.whileWriting {
            for number in 0..<5 { world.insert("\(number)") }
            world.insert("0", #""count":2"#)
            world.insert("null", #""count":null"#)
            world.insert("type", #""count":"x""#)
            world.insert("column", #""count":1,"other":1"#)
            world.send(.patch, "/tables/Item/old", #"{"count":2}"#, ifMatch: ETag.quote(version))
            world.send(.patch, "/tables/Item/old", #"{"count":3}"#, ifMatch: ETag.quote(version))
            world.send(.patch, "/tables/Item/none", #"{"count":3}"#)
            world.send(.delete, "/tables/Item/4")
            world.send(.patch, "/tables/Item/4", #"{"count":3}"#)
            world.insert("last")
        }
        #expect(
            answers.map(\.status.code) == [201, 201, 201, 201, 201, 409, 400, 400, 400, 200, 412, 404, 200, 404, 201])
        #expect(world.store.writes == 2)
        #expect(try answers[5].row()["count"] == 1)
        #expect(try answers[10].row()["count"] == 2, "the conflict shows the row of the earlier write")
        let rows = try world.rows()
        #expect(rows.map(\.idText) == ["first", "0", "1", "2", "3", "old", "4", "last"])
        #expect(Set(rows.compactMap(\.updatedAt)).count == rows.count)
        for (answer, id) in [(answers[0], "0"), (answers[9], "old"), (answers[14], "last")] {
            #expect(try answer.row()["version"] == rows.first { $0.idText == id }?["version"])
        }
    }

    @Test(arguments: StoreKind.served)
    func `a transaction that waits to begin commits the writes that arrive meanwhile`(_ stores: StoreKind) throws {
        let world = try World(stores)
        let answers = try world.whileWriting(at: .begin) { for id in ["a", "b", "first"] { world.insert(id) } }
        #expect(answers.map(\.status.code) == [201, 201, 409])
        #expect(world.store.writes == 1)
        #expect(try world.rows().map(\.idText) == ["first", "a", "b"])
        let refused = try world.whileWriting(at: .begin, [1: .failAtBegin(StoreError(.busy, "locked"))]) {
            world.insert("c")
        }
        #expect(refused.map(\.status.code) == [503])
        #expect(world.store.writes == 1)
    }

    @Test(arguments: StoreKind.served)
    func `each table of a transaction has its current definition`(_ stores: StoreKind) throws {
        let world = try World(stores)
        let other = try TableService(store: world.store.base)
        #expect(other.send(.post, "/tables/Other", #"{"id":"1","a":1}"#).status == .created)
        world.send(.get, "/tables/Other/1")
        let answers = try world.whileWriting(at: .begin) {
            #expect(other.send(.patch, "/tables/Other/1", #"{"b":2}"#).status == .ok)
            world.insert("a")
            world.send(.patch, "/tables/Other/1", #"{"a":3}"#)
            world.insert("b")
        }
        #expect(answers.map(\.status.code) == [201, 200, 201])
        // The change of the other table is repeated with its new definition, and does not affect the others.
        #expect(world.store.writes == 2)
        let row = try answers[1].row()
        #expect(row["a"] == 3 && row["b"] == 2, "\(row)")
    }

    @Test(arguments: StoreKind.served)
    func `writes of one row in a transaction follow each other`(_ stores: StoreKind) throws {
        let world = try World(stores)
        let answers = try world.whileWriting {
            world.insert("A", #""count":1,"text":"x""#)
            world.send(.patch, "/tables/Item/a", #"{"count":2}"#)
            world.send(.patch, "/tables/Item/A", #"{"text":null}"#)
            world.insert("a", #""count":5"#)
            world.send(.delete, "/tables/Item/a")
            world.send(.post, "/tables/Item/A")
        }
        #expect(answers.map(\.status.code) == [201, 200, 200, 409, 200, 200])
        #expect(world.store.writes == 2)
        let rows = try answers.map { try $0.row() }
        #expect(rows.map(\.idText) == Array(repeating: "A", count: 6))
        #expect(rows.map { $0["count"] } == [1, 2, 2, 2, 2, 2])
        #expect(rows.map { $0["text"] } == ["x", "x", .null, .null, .null, .null])
        #expect(rows.map { $0["deleted"] } == [false, false, false, false, true, false])
        #expect(Set(rows.compactMap { $0["version"]?.string }).count == 5)
        let stored = try #require(try world.rows().last)
        for column in ["version", "count", "text", "deleted"] { #expect(rows[5][column] == stored[column]) }
        #expect(rows[5]["createdAt"] == rows[0]["createdAt"])
    }

    @Test(arguments: StoreKind.served)
    func `small changes of large rows in a transaction are all made`(_ stores: StoreKind) throws {
        let world = try World(stores)
        let text = String(repeating: "x", count: 900_000)
        for id in 0..<24 { world.insert("\(id)", #""count":1,"text":"\#(text)""#) }
        let answers = try world.whileWriting {
            for id in 0..<24 { world.send(.patch, "/tables/Item/\(id)", #"{"count":2}"#) }
            for id in 0..<24 { world.send(.patch, "/tables/Item/\(id)", #"{"count":3}"#) }
            world.insert("0")
        }
        #expect(answers.map(\.status.code) == Array(repeating: 200, count: 48) + [409])
        #expect(world.store.writes == 2)
        let rows = try world.rows().filter { $0.idText != "first" }
        #expect(rows.map { $0["count"] } == Array(repeating: 3, count: 24))
        #expect(rows.allSatisfy { $0["text"]?.string?.utf8.count == text.utf8.count })
        #expect(try answers[47].row()["version"] == rows.first { $0.idText == "23" }?["version"])
    }

    @Test(arguments: StoreKind.served)
    func `a row that is deleted for good can be inserted again in the same transaction`(_ stores: StoreKind) throws {
        let world = try World(stores, quirks: .hardDelete)
        let answers = try world.whileWriting {
            world.insert("a")
            world.send(.delete, "/tables/Item/a")
            world.send(.delete, "/tables/Item/a")
            world.insert("a", #""count":2"#)
            world.insert("b")
            world.send(.delete, "/tables/Item/b")
        }
        #expect(answers.map(\.status.code) == [201, 200, 404, 201, 201, 200])
        #expect(world.store.writes == 2)
        #expect(try world.ids() == ["a", "first"])
        #expect(try world.rows().last?["count"] == 2)
    }

    @Test(arguments: StoreKind.served)
    func `a row that the store refuses does not affect the others`(_ stores: StoreKind) throws {
        let world = try World(stores)
        world.store.refuse(id: "bad")
        let answers = try world.whileWriting { for id in ["a", "bad", "b", "a"] { world.insert(id) } }
        #expect(answers.map(\.status.code) == [201, 400, 201, 409])
        #expect(try answers[1].error().contains("refused"))
        #expect(try world.ids() == ["a", "b", "first"])
        #expect(try answers[2].row()["version"] == world.rows().first { $0.idText == "b" }?["version"])
    }

    /// Transactions that fail, and the responses to the inserts in them.
    struct Failure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The ends of transactions by their numbers.
        let ends: [Int: ControlledStore.End]
        let ids: [String]
        let statuses: [Int]
        let writes: Int
        let stored: [String]
    }

    private static let full = ControlledStore.End.failAtCommit(StoreError(.full, "the disk is full"))

    static let failures = [
        // The transaction of all fails, then that of "b".
        Failure(
            testDescription: "after a failed commit each write runs alone", ends: [2: full, 4: full],
            ids: ["a", "b", "c", "a"], statuses: [201, 503, 201, 409], writes: 6, stored: ["a", "c", "first"]),
        Failure(
            testDescription: "a full disk refuses all writes", ends: [2: full, 3: full, 4: full],
            ids: ["a", "b"], statuses: [503, 503], writes: 4, stored: ["first"]),
        // The third one looks whether the second one has succeeded.
        Failure(
            testDescription: "a commit that fails after all is not repeated",
            ends: [2: .failAfterCommit(StoreError(.io, "gone"))],
            ids: ["a", "b", "a"], statuses: [201, 201, 409], writes: 3, stored: ["a", "b", "first"]),
        Failure(
            testDescription: "writes are not repeated one by one while the store cannot be written",
            ends: [2: full, 4: .failAtBegin(StoreError(.io, "no connection"))],
            ids: ["a", "b", "c", "d"], statuses: [201, 503, 503, 503], writes: 4, stored: ["a", "first"]),
        Failure(
            testDescription: "a transaction that cannot begin is not repeated for each write",
            ends: [2: .failAtBegin(StoreError(.busy, "locked"))],
            ids: ["a", "b", "c"], statuses: [503, 503, 503], writes: 2, stored: ["first"]),
    ]

    @Test(arguments: StoreKind.served, failures)
    func `after a failed transaction each write is answered as it was made, and later ones succeed`(
        _ stores: StoreKind, _ failure: Failure
    ) throws {
        let world = try World(stores)
        let answers = try world.whileWriting(failure.ends) { for id in failure.ids { world.insert(id) } }
        #expect(answers.map(\.status.code) == failure.statuses)
        #expect(world.store.writes == failure.writes)
        #expect(try world.ids() == failure.stored)
        let rows = try world.rows()
        #expect(Set(rows.compactMap(\.updatedAt)).count == rows.count)
        for (id, answer) in zip(failure.ids, answers) where answer.status == .created {
            #expect(try answer.row()["version"] == rows.first { $0.idText == id }?["version"])
        }
        world.store.end { _ in .commit }
        for id in failure.ids + ["later"] { world.insert(id) }
        #expect(try world.ids() == Set(failure.ids + ["first", "later"]).sorted())
    }

    @Test(arguments: StoreKind.served)
    func `a commit that may have succeeded is not repeated, even if its last row changed`(_ stores: StoreKind) throws {
        let world = try World(stores, quirks: .hardDelete)
        world.insert("old")
        let answers = try world.whileWriting([2: .failAfterCommit(StoreError(.io, "gone"))]) {
            world.send(.patch, "/tables/Item/old", #"{"count":2}"#)
            world.insert("a")
            world.send(.delete, "/tables/Item/a")
        }
        #expect(answers.map(\.status.code) == [503, 503, 503])
        #expect(world.store.writes == 3)
        #expect(try world.rows().map(\.idText) == ["first", "old"])
    }

    @Test(arguments: StoreKind.served)
    func `a transaction has at most 256 writes and 4 MiB`(_ stores: StoreKind) throws {
        let world = try World(stores)
        let many = try world.whileWriting { for number in 0..<600 { world.insert("\(number)") } }
        #expect(many.allSatisfy { $0.status == .created })
        #expect(world.store.writes == 4)
        let text = String(repeating: "x", count: 900_000)
        let other = try World(stores)
        let large = try other.whileWriting {
            for id in 0..<10 { other.insert("\(id)", #""count":1,"text":"\#(text)""#) }
        }
        #expect(large.allSatisfy { $0.status == .created })
        #expect(other.store.writes == 4)
        #expect(try other.ids().count == 11)
    }

    @Test(arguments: StoreKind.served)
    func `a lone write does not wait`(_ stores: StoreKind) throws {
        let world = try World(stores)
        world.store.end { _ in .commit }
        for number in 1...3 {
            world.insert("\(number)")
            #expect(world.store.writes == number)
            #expect(try world.ids().count == number)
        }
    }

    @Test(arguments: StoreKind.served)
    func `many threads: every write is answered once, with the row as it is stored`(_ stores: StoreKind) throws {
        let service = try TableService(store: stores.makeStore())
        let answers = Mutex<[String: TableResponse]>([:])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<40 {
                let id = "\(thread)-\(number)"
                let body = Array(#"{"id":"\#(id)","c\#(thread)":\#(number)}"#.utf8)
                service.handle(
                    HTTPRequest(.post, "/tables/New"), body: body,
                    schedule: { thread.isMultiple(of: 2) ? $0() : Thread.detachNewThread($0) }
                ) { answer in
                    answers.withLock { $0[id] = answer }
                }
            }
        }
        try waitUntil("all responses") { answers.withLock { $0.count } == 320 }
        let rows = try service.rows(of: "New")
        #expect(rows.count == 320 && Set(rows.compactMap(\.updatedAt)).count == 320)
        #expect(Set(rows.compactMap { $0["version"]?.string }).count == 320)
        for row in rows {
            let answer = try #require(answers.withLock { $0[row.idText] })
            #expect(answer.status == .created, "\(answer.text)")
            #expect(try answer.row()["version"] == row["version"])
        }
        for thread in 0..<8 {
            #expect(rows.compactMap { $0["c\(thread)"]?.int }.sorted() == (0..<40).map(Int64.init))
        }
    }
}

extension HTTPRequest {
    /// Makes a request of the dialect ZUMO 2, or of another version or none.
    init(
        _ method: Method, _ path: String, version: String? = "2.0.0", ifMatch: String? = nil,
        authority: String = "host:8080"
    ) {
        self.init(method: method, scheme: "http", authority: authority, path: path)
        headerFields[.zumoAPIVersion] = version
        headerFields[.ifMatch] = ifMatch
    }
}

extension TableService {
    /// Sends a request of the dialect ZUMO 2, or of another version or none.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", version: String? = "2.0.0",
        ifMatch: String? = nil, caller: Caller = .anonymous
    ) -> TableResponse {
        handle(HTTPRequest(method, path, version: version, ifMatch: ifMatch), body: Array(body.utf8), caller: caller)
    }

    /// Returns up to 1000 rows, in the order of their timestamps.
    func rows(of table: String) throws -> [Row] {
        try rows(path: "/tables/\(table)?$top=1000&$orderby=updatedAt&__includeDeleted=true")
    }

    /// Returns the rows of a page.
    func rows(path: String) throws -> [Row] {
        let answer = send(.get, path)
        #expect(answer.status == .ok, "\(answer.text)")
        return try JSONPage(answer.body).rows.map { try JSONRow.parse(Array(answer.body[$0])) }
    }
}
