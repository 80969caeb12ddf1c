import Foundation
import Tideline
import TidelineStore
import TidelineTestStores

/// A list of to-do items, with a conformance as an app writes it by hand.
struct TodoList: TableRecord, Equatable {
    var id: ID<TodoList> = .new
    var name: String

    struct Columns: Sendable { let name = Column<String>("name") }
    static let columns = Columns()
    static let tableName = "TodoList"
    static let schema = TableSchema(tableName, columns: [.column(columns.name)])

    init(id: TodoList.ID = .new, name: String) { (self.id, self.name) = (id, name) }
    init(from row: inout RecordReader) throws {
        id = row.id()
        name = try row.read(Self.columns.name)
    }
    func write(to row: inout RecordWriter) throws { try row.write(name, to: Self.columns.name) }
}

/// An item of a list, in the table `TodoItem` of ``World``.
struct Todo: Equatable {
    var id: ID<Todo> = .new
    var text: String
    var due: Date?
    var complete = false
    var priority = 0
    var list: TodoList.ID?
}

extension Todo: MergingRecord {
    struct Columns: Sendable {
        let text = Column<String>("text")
        let due = Column<Date?>("due")
        let complete = Column<Bool>("complete")
        let priority = Column<Int>("priority")
        let list = Column<TodoList.ID?>("list")
    }
    static let columns = Columns()
    static let tableName = "TodoItem"
    static let schema = TableSchema(
        tableName,
        columns: [
            .column(columns.text), .column(columns.due), .column(columns.complete, optional: true),
            .column(columns.priority, optional: true), .column(columns.list),
        ], indexes: [["complete", "due"]], references: [ForeignKey(columns.list)])
    static let mergeRules: [String: MergeRule] = ["priority": .greatest]

    init(from row: inout RecordReader) throws {
        id = row.id()
        text = try row.read(Self.columns.text)
        due = try row.read(Self.columns.due)
        complete = try row.read(Self.columns.complete, default: false)
        priority = try row.read(Self.columns.priority, default: 0)
        list = try row.read(Self.columns.list)
    }

    func write(to row: inout RecordWriter) throws {
        try row.write(text, to: Self.columns.text)
        try row.write(due, to: Self.columns.due)
        try row.write(complete, to: Self.columns.complete)
        try row.write(priority, to: Self.columns.priority)
        try row.write(list, to: Self.columns.list)
    }
}

/// A world whose server and clients have the tables of the records above.
struct RecordWorld {
    let world: World

    init(_ stores: StoreKind) throws {
        world = try World(stores) { options in
            options.schemas = [World.schema.completed(with: Todo.schema), TodoList.schema]
        }
    }

    func makeClient(_ configure: (inout SyncOptions) -> Void = { _ in }) async throws -> Client {
        let client = try await world.makeClient(configure: configure)
        try await client.client.define(Todo.self, TodoList.self)
        return client
    }
}

extension TableSchema {
    /// Returns this definition with the columns of `other` that it lacks.
    fileprivate func completed(with other: TableSchema) -> TableSchema {
        var result = self
        result.columns += other.columns.filter { column($0.name) == nil }
        return result
    }
}

extension Client {
    var todos: RecordTable<Todo> { client.table(Todo.self) }
    var lists: RecordTable<TodoList> { client.table(TodoList.self) }
}
