#if Macros
import Foundation
import Testing
import TidelineMacros
import TidelineMemory
import TidelineServer

// The examples of the article *Typed tables*, compiled verbatim. The records are nested because another file of this
// target has types of the same names.

private enum Records {
    @Table("TodoItem")
    struct Todo: Identifiable, Sendable {
        var id: ID<Todo> = .new
        var text: String
        var due: Date?
        var complete = false
        @Merge(.greatest) var priority = 0
        @References(TodoList.self) var list: TodoList.ID?
    }

    struct TodoList: TableRecord {
        var id: ID<TodoList> = .new
        var name: String

        struct Columns: Sendable {
            let name = Column<String>("name")
        }
        static let columns = Columns()
        static let tableName = "TodoList"
        static let schema = TableSchema(tableName, columns: [.column(columns.name)])
    }

    enum Effort: String, ColumnValue { case low, high }
    struct Place: JSONColumnValue { var street: String }

    @Table("Errand")
    struct Errand: Identifiable, Sendable {
        var id: ID<Errand> = .new
        @Column("text") var title: String
        @Index("due") var done = false
        var due: Date?
        var effort: Effort = .low
        var place: Place?
        var tags: [String] = []
        var isUrgent: Bool { effort == .high && !done }
    }

    @Table("TodoItem")
    struct RenamedTodo: Identifiable, Sendable {
        var id: ID<RenamedTodo> = .new
        @Column("text") var title: String
        @Index var due: Date?
        var notes = ""
    }
}

private typealias TodoList = Records.TodoList

extension TodoList {
    init(from row: inout RecordReader) throws {
        id = row.id()
        name = try row.read(Self.columns.name)
    }

    func write(to row: inout RecordWriter) throws {
        try row.write(name, to: Self.columns.name)
    }
}

/// A view of an app.
private struct ListView {
    func apply(_ changes: LiveChanges) {}
}

private typealias Todo = Records.Todo
private typealias Errand = Records.Errand

private func overview(_ client: SyncClient<MemoryStore>, _ list: ListView) async throws {
    // swift-format-ignore
    do {
        try await client.define(Todo.self, TodoList.self)              // schema, indexes, foreign keys from the types
        let todos = client.table(Todo.self)                            // RecordTable<Todo>: no store parameter
        let milk = try await todos.insert(.init(text: "Buy milk"))
        try await todos.update(milk.id) { $0.text = "Buy oat milk" }   // sends only the columns that were set
        let open = Todo.where { !$0.complete && $0.text.hasPrefix("B") }.order { $0.due }.limit(50)   // one value for fetch, pull and observe
        let now = try await todos.fetch(open)
        try await todos.pull(open, id: "open")
        for try await update in todos.observe(open) { list.apply(update.changes) }
        print(now)
    }
}

private func queries(_ errands: RecordTable<Errand>, _ tomorrow: Date) async throws {
    let urgent = Errand.where { $0.effort == .high && $0.due < tomorrow }.order(descending: true) { $0.due }
    let count = try await errands.count(urgent)
    let next = try await errands.fetch(urgent.limit(1)).first
    print(count, next?.title as Any)
}

private func changes(_ client: SyncClient<MemoryStore>, _ milk: Todo) async throws {
    try await client.transaction { transaction in
        let groceries = try transaction.insert(TodoList(name: "Groceries"))
        try transaction.update(milk.id) { $0.list = groceries.id }
    }
}

private func references(
    _ lists: RecordTable<TodoList>, _ todos: RecordTable<Todo>, _ items: [Todo], _ groceries: TodoList
) async throws {
    // swift-format-ignore
    do {
        let parents = try await lists.fetch(related: items) { $0.list }       // [TodoList.ID: TodoList]
        let children = try await todos.fetch(referencing: [groceries]) { $0.list }   // [TodoList.ID: [Todo]]
        print(parents, children)
    }
}

private func migrate(_ client: SyncClient<MemoryStore>) async throws {
    try await client.migrate("minutes-from-hours") { step in
        try step.rewrite("TodoItem") { row in
            if row["minutes"]?.int == nil, let hours = row["hours"]?.double { row["minutes"] = .int(Int64(hours * 60)) }
        }
    }
}

@Suite("Article: Typed tables")
struct TypedTableArticleTests {
    @Test("The records of the macro and by hand work in one client, and a later version renames a property")
    func records() async throws {
        let service = try TableService(
            store: MemoryStore(), options: TableServiceOptions(schemas: [Todo.schema, TodoList.schema]))
        let (store, transport) = (try MemoryStore(), ServiceTransport(service: service))
        let client = try SyncClient(url: "http://server.test", store: store, transport: transport)
        try await client.define(Todo.self, TodoList.self, Errand.self)
        let (todos, lists) = (client.table(Todo.self), client.table(TodoList.self))
        let milk = try await todos.insert(.init(text: "Buy milk"))
        try await changes(client, milk)
        let items = try await todos.fetch(Todo.where { $0.list != nil })
        #expect(items.map(\.id) == [milk.id])
        #expect(try await lists.fetch(related: items) { $0.list }.values.map(\.name) == ["Groceries"])

        try await client.push()
        try await todos.pull(Todo.where { !$0.complete }, id: "open")
        #expect(try await todos.fetch().map(\.text) == ["Buy milk"])

        let newer = try SyncClient(url: "http://server.test", store: store, transport: transport)
        try await newer.define(Records.RenamedTodo.self)
        let renamed = newer.table(Records.RenamedTodo.self)
        let found = try #require(try await renamed.fetch().first)
        #expect(found.title == "Buy milk" && found.notes.isEmpty)
        try await renamed.update(found.id) { $0.title = "Buy oat milk" }
        #expect(try await todos.fetch(milk.id)?.text == "Buy oat milk")

        try await client.define([TableSchema("TodoItem", columns: [.double("hours")])])
        try store.write { try $0.upsert(["id": .string(milk.id.text), "hours": 1.5], into: "TodoItem") }
        try await client.define([TableSchema("TodoItem", columns: [.int("minutes")])])
        try await migrate(client)
        #expect(try store.read { try $0.row(in: "TodoItem", id: milk.id.text)?["minutes"] } == 90)
    }
}
#endif
