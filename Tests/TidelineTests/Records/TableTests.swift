import Foundation
import Testing
import Tideline
import TidelineStore
import TidelineTestStores

/// Typed tables: changes, queries, and pulls of records.
@Suite("Typed tables", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct TableTests {
    private struct AppError: Error {}

    private let date = Date(timeIntervalSince1970: 1_790_000_000)

    @Test(
        "A record is inserted, fetched, updated, counted, and deleted, and each change reaches the server",
        arguments: StoreKind.perEngine)
    func changes(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        let todo = Todo(id: "a", text: "Buy milk", due: date, priority: 3)
        #expect(try await client.todos.insert(todo) == todo)
        #expect(try await client.todos.fetch("a") == todo)
        try await client.client.push()
        let updated = try await client.todos.update("a") { $0.text = "Buy oat milk" }
        #expect(updated.text == "Buy oat milk" && updated.due == date && updated.priority == 3)
        #expect(try await client.todos.fetch() == [updated])
        #expect(try await client.todos.count(Todo.where { $0.priority == 3 }) == 1)
        #expect(try await client.queue() == ["update a"])
        try await client.client.push()
        let server = try #require(try world.world.serverRow("a"))
        #expect(server["text"] == "Buy oat milk" && server["priority"] == 3 && server["complete"] == false)
        try await client.todos.delete("a")
        #expect(try await client.todos.fetch("a") == nil)
        try await client.client.push()
        #expect(try await client.todos.count() == 0)
        #expect(try world.world.serverRow("a")?["deleted"] == true)
    }

    @Test("A record by hand reads a system column, which its schema omits", arguments: StoreKind.perEngine)
    func systemColumn(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        let table = client.client.table(DatedTodo.self)
        try await table.insert(DatedTodo(id: "a", text: "one"))
        let unsent = try #require(try await table.fetch("a"))
        #expect(unsent.updatedAt == nil)
        try await client.client.push()
        try await table.update("a") { $0.text = "two" }
        let sent = try #require(try await table.fetch("a"))
        let row = try #require(try client.row("a"))
        #expect(sent.text == "two" && sent.updatedAt != nil && sent.updatedAt == row["updatedAt"]?.timestamp)
    }

    @Test("A new record has a UUID in lower case", arguments: StoreKind.perEngine)
    func newID(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        let todo = try await client.todos.insert(Todo(text: "x"))
        #expect(UUID(uuidString: todo.id.text) != nil)
        #expect(try await client.queue() == ["insert \(todo.id)"])
    }

    @Test("An update sends the columns that the closure changed, no others", .zumoOnly, arguments: StoreKind.perEngine)
    func changedColumns(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        try await client.todos.insert(Todo(id: "a", text: "one", due: date, priority: 1))
        try await client.client.push()
        client.transport.clear()
        try await client.todos.update("a") { $0.priority = 2 }
        try await client.client.push()
        try await client.todos.update("a") { $0.due = nil }
        try await client.client.push()
        let found = try client.transport.sent.filter { $0.request.method == .patch }.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.body.utf8)) as? [String: Any]).keys.sorted()
        }
        #expect(found == [["id", "priority"], ["due", "id"]] || found == [["priority"], ["due"]], "\(found)")
    }

    @Test(
        "An update of one column changes no digit of the others, and a null stays null where the record has a default",
        arguments: StoreKind.perEngine)
    func untouchedColumns(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        // 100 ns that a Date cannot represent, and columns without a value.
        let exact = Timestamp(clampingTicks: 17_900_000_000_000_001)
        try world.world.plant([World.row("a", at: 0).merging(["due": .timestamp(exact), "effort": 1.5])])
        try await client.todos.pull(id: "all")
        let todo = try #require(try await client.todos.fetch("a"))
        #expect(todo.complete == false && todo.priority == 0)
        try await client.todos.update("a") { $0.text = "changed" }
        let row = try #require(try client.row("a"))
        #expect(row["due"] == .timestamp(exact) && row["effort"] == 1.5)
        #expect(row["complete"] == .null && row["priority"] == .null && row["text"] == "changed")
    }

    @Test("A closure that changes nothing or the identifier, or throws, queues nothing", arguments: StoreKind.perEngine)
    func refusedUpdates(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        try await client.todos.insert(Todo(id: "a", text: "one"))
        try await client.client.push()
        try await client.todos.update("a") { $0.text = "one" }
        #expect(await syncErrorCode { try await client.todos.update("a") { $0.id = "b" } } == .invalidArgument)
        await #expect(throws: AppError.self) { try await client.todos.update("a") { _ in throw AppError() } }
        #expect(await syncErrorCode { try await client.todos.update("none") { $0.text = "x" } } == .noSuchRow)
        #expect(await syncErrorCode { _ = try await client.todos.fetch("") } == .invalidArgument)
        #expect(await syncErrorCode { try await client.todos.insert(Todo(id: "a", text: "x")) } == .rowExists)
        #expect(try await client.queue().isEmpty)
    }

    @Test("One query value fetches, counts, and pulls", arguments: StoreKind.perEngine)
    func oneQuery(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        try world.world.plant(
            (0..<6).map { (number: Int64) in
                World.row("r\(number)", at: number * 10_000, text: number < 5 ? "B\(number)" : "C")
                    .merging(["complete": .bool(number == 1), "due": .timestamp(World.instant(-number))])
            })
        let open = Todo.where { !$0.complete && $0.text.hasPrefix("B") }.order { $0.due }.limit(2)
        // An incremental pull takes the condition of the query, and a pull without a name also order and limit.
        #expect(try await client.todos.pull(open, id: "open").rowsStored == 4)
        #expect(try await client.todos.fetch(open).map(\.text) == ["B4", "B3"])
        #expect(try await client.todos.fetch(open.skip(1)).map(\.text) == ["B3", "B2"])
        #expect(try await client.todos.count(open) == 4)
        let other = try await world.makeClient()
        #expect(try await other.todos.pull(open).rowsStored == 2)
        #expect(try await other.todos.fetch(Todo.order { $0.text }).map(\.text) == ["B3", "B4"])
        let third = try await world.makeClient()
        try await third.client.pull([SyncSubscription(open, queryID: "open")])
        #expect(try await third.todos.count() == 4)
    }

    @Test("Typed changes of several tables are one transaction, which sees its changes", arguments: StoreKind.perEngine)
    func transactions(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        let list = try await client.client.transaction { transaction in
            let list = try transaction.insert(TodoList(id: "l", name: "Groceries"))
            try transaction.insert(Todo(id: "a", text: "one", list: list.id))
            try transaction.insert(Todo(id: "b", text: "two"))
            try transaction.update("b" as Todo.ID) { $0.list = list.id }
            #expect(try transaction.count(Todo.where { $0.list == list.id }) == 2)
            try transaction.delete("a" as Todo.ID)
            #expect(try transaction.fetch("a" as Todo.ID) == nil)
            #expect(try transaction.fetch(Todo.all).map(\.text) == ["two"])
            return list
        }
        #expect(try await client.todos.fetch() == [Todo(id: "b", text: "two", list: list.id)])
        await #expect(throws: AppError.self) {
            try await client.client.transaction { transaction in
                try transaction.insert(Todo(id: "c", text: "three"))
                try transaction.update("b" as Todo.ID) { $0.text = "lost" }
                throw AppError()
            }
        }
        #expect(try await client.todos.fetch().map(\.text) == ["two"])
        #expect(try await client.queue() == ["insert l", "insert b"])
    }

    @Test("A UUID and a float are found in the form that servers write", arguments: StoreKind.perEngine)
    func storedForms(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        let (uuid, share) = (UUID(), Float(0.1))
        try await client.items.insert(["id": "a", "text": .string(uuid.uuidString.lowercased()), "effort": 0.1])
        try await client.items.insert(["id": "b", "text": "x", "effort": 0.2])
        for condition in [Column<UUID>("text") == uuid, Column<Float>("effort") == share] {
            #expect(try await client.todos.fetch(Todo.where { _ in condition }).map(\.id) == ["a"])
        }
    }

    @Test("A transaction continues after a record that cannot be read or stored", arguments: StoreKind.perEngine)
    func caughtErrors(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        try world.world.plant([World.row("a", at: 0), World.row("b", at: 1).merging(["text": .null])])
        try await client.todos.pull()
        let found = try await client.client.transaction { transaction in
            let ids: [ID<Todo>] = ["a", "b"]
            let found = ids.compactMap { try? transaction.fetch($0) }
            #expect(throws: SyncError.self) { try transaction.fetch(Todo.all) }
            #expect(throws: SyncError.self) { try transaction.insert(Large(priority: .max)) }
            try transaction.insert(Todo(id: "c", text: "new"))
            return found
        }
        #expect(found.map(\.id) == ["a"])
        #expect(try await client.queue() == ["insert c"])
    }

    @Test("References are followed in both directions", arguments: StoreKind.perEngine)
    func related(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        let lists = [TodoList(id: "l1", name: "one"), TodoList(id: "l2", name: "two")]
        for list in lists { try await client.lists.insert(list) }
        let todos = [
            Todo(id: "a", text: "a", list: "l1"), Todo(id: "b", text: "b", list: "L1"),
            Todo(id: "c", text: "c", list: "gone"), Todo(id: "d", text: "d"),
        ]
        for todo in todos { try await client.todos.insert(todo) }
        // Identifiers match as the table's do.
        let parents = try await client.lists.fetch(related: todos) { $0.list }
        #expect(parents == ["l1": lists[0], "L1": lists[0]])
        let children = try await client.todos.fetch(referencing: lists) { $0.list }
        #expect(children == ["l1": [todos[0], todos[1]]])
        #expect(try await client.lists.fetch(related: [Todo]()) { $0.list }.isEmpty)
    }

    @Test(
        "References match identifiers as their table does, with and without an index", arguments: StoreKind.perEngine,
        [
            (false, TableSchema.IDMatching.asciiCaseInsensitive), (true, .asciiCaseInsensitive), (false, .exact),
            (true, .exact),
        ])
    func referenceMatching(_ stores: StoreKind, _ table: (isIndexed: Bool, matching: TableSchema.IDMatching))
        async throws
    {
        let (isIndexed, matching) = table
        let client = try await World(stores).makeClient()
        try await client.client.define([
            TableSchema("TodoList", columns: [.column(TodoList.columns.name)], idMatching: matching),
            TableSchema("TodoItem", columns: Todo.schema.columns, indexes: isIndexed ? [["list"]] : []),
        ])
        let todos = client.client.table(Todo.self)
        let texts = ["List-\u{E9}", "LIST-\u{E9}", "list-\u{C9}", "lisT-\u{E9}", "list-e\u{301}", "other"]
        for (number, text) in texts.enumerated() {
            try await todos.insert(Todo(id: ID("\(number)"), text: text, list: ID(text)))
        }
        try await todos.insert(Todo(id: "none", text: "none"))
        let list = TodoList(id: "list-\u{E9}", name: "x")
        let second = TodoList(id: "LIST-\u{E9}", name: "x")
        let found = try await todos.fetch(referencing: [list, second, TodoList(id: "absent", name: "x")]) { $0.list }
        let isExact = matching == .exact
        #expect(found[list.id]?.map(\.id.text) == (isExact ? nil : ["0", "1", "3"]))
        #expect(found[second.id]?.map(\.id.text) == (isExact ? ["1"] : ["0", "1", "3"]))
        #expect(found.count == (isExact ? 1 : 2))
        // More references than are sought one after another.
        let many = (0..<600).map { Todo(id: ID("m\($0)"), text: "", list: ID("L\($0)")) }
        try await client.client.transaction { for todo in many { try $0.insert(todo) } }
        let last = try await todos.fetch(referencing: [TodoList(id: "l599", name: "")]) { $0.list }
        #expect(last == (isExact ? [:] : ["l599": [many[599]]]))
    }

    @Test("A row that does not fit its type is never fetched, but named beside others", arguments: StoreKind.perEngine)
    func unreadable(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        let rows = [World.row("a", at: 0), World.row("b", at: 1).merging(["text": .null])]
        try world.world.plant(rows.map { $0.merging(["list": "l"]) })
        try await client.todos.pull()
        var failures: [StoreError] = []
        #expect(try await client.todos.fetch { failures.append($0) }.map(\.id) == ["a"])
        #expect(
            failures.map { [$0.code.rawValue, $0.table, $0.column, $0.id] } == [
                ["unreadableRecord", "TodoItem", "text", "b"]
            ])
        #expect(failures.first?.message.contains("String") == true)
        let list = TodoList(id: "l", name: "")
        #expect(
            try await client.todos.fetch(referencing: [list]) { $0.list }.mapValues { $0.map(\.id) } == ["l": ["a"]])
        let links = ["a", "b"].map { Link(id: ID($0), item: ID($0)) }
        #expect(try await client.todos.fetch(related: links) { $0.item }.keys.map(\.self) == ["a"])
        // Nothing is decided without the row.
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await client.todos.fetch("b") }, { try await client.todos.update("b") { $0.text = "x" } },
            { try await client.client.transaction { _ = try $0.fetch(Todo.all) } },
        ]
        for call in calls {
            let error = try await #require(throws: SyncError.self) { try await call() }
            #expect(error.code == .store && [error.table, error.column, error.id] == ["TodoItem", "text", "b"])
            #expect((error.cause as? StoreError)?.code == .unreadableRecord)
        }
        #expect(try await client.queue().isEmpty)
    }

    @Test("Rows that do not fit their type do not count for skip and limit", arguments: StoreKind.perEngine)
    func unreadablePages(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        let rows = (0..<9).map { number in
            let row = World.row("r\(number)", at: Int64(number))
            return number % 3 == 0 ? row.merging(["text": .null]) : row
        }
        try world.world.plant(rows)
        try await client.todos.pull()
        let readable = ["r1", "r2", "r4", "r5", "r7", "r8"]
        for skip in 0...7 {
            #expect(try await client.todos.fetch(Todo.all.skip(skip)).map(\.id.text) == Array(readable.dropFirst(skip)))
            for limit in 0...7 {
                let page = try await client.todos.fetch(Todo.all.skip(skip).limit(limit))
                #expect(page.map(\.id.text) == Array(readable.dropFirst(skip).prefix(limit)))
            }
        }
        // Only the rows before the last record of the page are reported.
        var failures: [String?] = []
        _ = try await client.todos.fetch(Todo.all.skip(2).limit(2)) { failures.append($0.id) }
        #expect(failures == ["r3"])
    }

    @Test("An unknown case reads as its substitute; an edit of another column keeps it", arguments: StoreKind.perEngine)
    func unknownCase(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let client = try await world.makeClient()
        try world.world.plant([
            World.row("known", at: 0).merging(["text": "open"]), World.row("new", at: 1).merging(["text": "archived"]),
            World.row("null", at: 2).merging(["text": .null]),
        ])
        let links = client.client.table(Link.self)
        try await links.pull()
        #expect(try await links.fetch(Link.all.order { $0.state }).map(\.state) == [.none, .other, .open])
        #expect(try await links.fetch(Link.where { $0.state == .other }).isEmpty)
        try await links.update("new") { $0.priority = 7 }
        try await client.client.push()
        let row = try #require(try world.world.serverRow("new"))
        #expect(row["text"] == "archived" && row["priority"] == 7)
    }

    @Test("A query that the store refuses is an error of the argument", arguments: StoreKind.perEngine)
    func invalidQuery(_ stores: StoreKind) async throws {
        let client = try await RecordWorld(stores).makeClient()
        #expect(await syncErrorCode { _ = try await client.todos.fetch(Todo.all.limit(-1)) } == .invalidArgument)
        let unknown = Todo.where { _ in Column<Int>("absent") == 1 }
        #expect(await syncErrorCode { _ = try await client.todos.count(unknown) } == .invalidArgument)
    }
}

/// A record of the table `TodoItem` by an app that knows two states.
private struct Link: TableRecord {
    enum State: String, ColumnValue { case none, open, other }

    var id: ID<Link>
    var item: Todo.ID?
    var state = State.none
    var priority = 0

    struct Columns: Sendable {
        let item = Column<Todo.ID?>("list")
        let state = Column<State>("text")
        let priority = Column<Int>("priority")
    }
    static let columns = Columns()
    static let tableName = "TodoItem"
    static let schema = TableSchema(
        tableName,
        columns: [
            .column(columns.item), .column(columns.state, optional: true), .column(columns.priority, optional: true),
        ])

    init(id: ID<Link>, item: Todo.ID?) { (self.id, self.item) = (id, item) }
    init(from row: inout RecordReader) throws {
        id = row.id()
        item = try row.read(Self.columns.item, unknown: nil)
        state = try row.read(Self.columns.state, default: .none, unknown: .other)
        priority = try row.read(Self.columns.priority, default: 0)
    }
    func write(to row: inout RecordWriter) throws {
        try row.write(item, to: Self.columns.item)
        try row.write(state, to: Self.columns.state)
        try row.write(priority, to: Self.columns.priority)
    }
}

/// A record of the table `TodoItem` whose numbers may not fit its column.
private struct Large: TableRecord {
    var id: ID<Large> = .new
    var priority: UInt64

    struct Columns: Sendable { let priority = Column<UInt64>("priority") }
    static let columns = Columns()
    static let tableName = "TodoItem"
    static let schema = TableSchema(tableName, columns: [.column(columns.priority)])

    init(priority: UInt64) { self.priority = priority }
    init(from row: inout RecordReader) throws {
        id = row.id()
        priority = try row.read(Self.columns.priority)
    }
    func write(to row: inout RecordWriter) throws { try row.write(priority, to: Self.columns.priority) }
}

/// A record of the table `TodoItem` with the time at which the server last changed the row.
private struct DatedTodo: TableRecord {
    var id: ID<DatedTodo> = .new
    var text: String
    var updatedAt: Timestamp?

    struct Columns: Sendable {
        let text = Column<String>("text")
        let updatedAt = Column<Timestamp?>("updatedAt")
    }
    static let columns = Columns()
    static let tableName = "TodoItem"
    static let schema = TableSchema(tableName, columns: [.column(columns.text)])
}

extension DatedTodo {
    init(from row: inout RecordReader) throws {
        id = row.id()
        text = try row.read(Self.columns.text)
        updatedAt = try row.read(Self.columns.updatedAt)
    }

    func write(to row: inout RecordWriter) throws { try row.write(text, to: Self.columns.text) }
}
