import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The definition of tables by records: evolution, and rules for conflicts.
@Suite("Definitions by records", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct RecordDefinitionTests {
    // MARK: Evolution

    /// The first version of a record.
    struct Note1: TableRecord {
        var id: ID<Note1> = .new
        var title: String
        var rank = 0

        struct Columns: Sendable {
            let title = Column<String>("title")
            let rank = Column<Int>("rank")
        }
        static let columns = Columns()
        static let tableName = "Note"
        static let schema = TableSchema(
            tableName, columns: [.column(columns.title), .column(columns.rank)], indexes: [["title"]])
        init(id: Note1.ID = .new, title: String) { (self.id, self.title) = (id, title) }
        init(from row: inout RecordReader) throws {
            id = row.id()
            title = try row.read(Self.columns.title)
            rank = try row.read(Self.columns.rank)
        }
        func write(to row: inout RecordWriter) throws {
            try row.write(title, to: Self.columns.title)
            try row.write(rank, to: Self.columns.rank)
        }
    }

    /// The next version: it renames `title`, loses `rank`, gains two properties, and has another index.
    struct Note2: TableRecord {
        var id: ID<Note2> = .new
        var heading: String
        var body: String?
        var pinned = false

        struct Columns: Sendable {
            let heading = Column<String>("title")
            let body = Column<String?>("body")
            let pinned = Column<Bool>("pinned")
        }
        static let columns = Columns()
        static let tableName = "Note"
        static let schema = TableSchema(
            tableName,
            columns: [.column(columns.heading), .column(columns.body), .column(columns.pinned, optional: true)],
            indexes: [["pinned", "title"]])
        init(id: Note2.ID = .new, heading: String) { (self.id, self.heading) = (id, heading) }
        init(from row: inout RecordReader) throws {
            id = row.id()
            heading = try row.read(Self.columns.heading)
            body = try row.read(Self.columns.body)
            pinned = try row.read(Self.columns.pinned, default: false)
        }
        func write(to row: inout RecordWriter) throws {
            try row.write(heading, to: Self.columns.heading)
            try row.write(body, to: Self.columns.body)
            try row.write(pinned, to: Self.columns.pinned)
        }
    }

    /// A version that cannot follow the first one where there are rows, because `author` has no value in them.
    struct Note3: TableRecord {
        var id: ID<Note3>
        static let columns: Void = ()
        static let tableName = "Note"
        static let schema = TableSchema(tableName, columns: [.string("author", optional: false)])
        init(from row: inout RecordReader) throws { id = row.id() }
        func write(to row: inout RecordWriter) throws {}
    }

    /// A version with another type of `rank`.
    struct Note4: TableRecord {
        var id: ID<Note4>
        static let columns: Void = ()
        static let tableName = "Note"
        static let schema = TableSchema(tableName, columns: [.string("rank")])
        init(from row: inout RecordReader) throws { id = row.id() }
        func write(to row: inout RecordWriter) throws {}
    }

    private func makeClient(_ store: TestStore) throws -> SyncClient<TestStore> {
        let service = try World(.simplest).service
        return try SyncClient(
            url: "http://server.test", store: store, transport: FaultyTransport(service: service), options: .inDialect)
    }

    @Test(
        "A record gains an optional and a defaulted property, loses one, renames one, and changes an index",
        arguments: StoreKind.perEngine)
    func evolution(_ stores: StoreKind) async throws {
        let store = try stores.makeStore()
        let older = try makeClient(store)
        try await older.define(Note1.self)
        try await older.table(Note1.self).insert(Note1(id: "1", title: "first"))

        let newer = try makeClient(store)
        try await newer.define(Note2.self)
        let notes = newer.table(Note2.self)
        let first = try #require(try await notes.fetch("1"))
        #expect(first.heading == "first" && first.body == nil && first.pinned == false)
        try await notes.insert(Note2(id: "2", heading: "second"))
        try await notes.update("1") { $0.pinned = true }
        #expect(try await notes.fetch(Note2.where { $0.pinned }).map(\.heading) == ["first"])
        let schema = try #require(try store.tables().first { $0.name == "Note" })
        #expect(schema.indexes.contains(["pinned", "title"]))
        #expect(schema.column("rank")?.isOptional == true)
        // The older version reads what it wrote; a row of the newer version has no rank, which it cannot read.
        let again = try makeClient(store)
        try await again.define(Note1.self)
        #expect(try await again.table(Note1.self).fetch("1")?.title == "first")
        let error = try await #require(throws: SyncError.self) { _ = try await again.table(Note1.self).fetch("2") }
        #expect(error.column == "rank" && error.id == "2")
        try await newer.define(Note2.self)
        #expect(try await notes.count() == 2)
    }

    @Test(
        "A new property without a value in existing rows is refused when it is defined, and accepted without rows",
        arguments: StoreKind.perEngine)
    func missingValues(_ stores: StoreKind) async throws {
        let store = try stores.makeStore()
        let client = try makeClient(store)
        try await client.define(Note1.self)
        try await client.table(Note1.self).insert(Note1(id: "1", title: "first"))
        let error = try await #require(throws: SyncError.self) { try await client.define(Note3.self) }
        #expect(error.code == .invalidArgument && error.table == "Note" && error.column == "author")
        #expect(error.message.contains("default") && error.message.contains("optional"))
        #expect(try store.tables().first { $0.name == "Note" }?.column("author") == nil)
        try await client.table(Note1.self).delete("1")
        try await client.define(Note3.self)
    }

    @Test("A property of another type is refused when it is defined, with what to do", arguments: StoreKind.perEngine)
    func changedType(_ stores: StoreKind) async throws {
        let client = try makeClient(try stores.makeStore())
        try await client.define(Note1.self)
        let error = try await #require(throws: SyncError.self) { try await client.define(Note4.self) }
        #expect(error.table == "Note" && error.column == "rank")
        #expect(error.message.contains("another name"), "\(error)")
    }

    // MARK: Rules for conflicts

    @Test("A record's rules merge conflicts of its table within the push", arguments: StoreKind.perEngine)
    func mergeRules(_ stores: StoreKind) async throws {
        let world = try RecordWorld(stores)
        let (first, second) = (try await world.makeClient(), try await world.makeClient())
        try await first.todos.insert(Todo(id: "a", text: "one", priority: 1))
        try await first.client.push()
        try await second.todos.pull(id: "all")
        try await first.todos.update("a") { ($0.priority, $0.text) = (3, "theirs") }
        try await first.client.push()
        try await second.todos.update("a") { ($0.priority, $0.complete) = (5, true) }
        try await second.client.push()
        #expect(try await second.todos.fetch("a") == Todo(id: "a", text: "theirs", complete: true, priority: 5))
        #expect(try world.world.serverRow("a")?["priority"] == 5)
        #expect(try await second.client.decisions().first?.rule.contains("greatest") == true)
    }

    /// Policies with the text that they choose, and whether they restore a deleted row; `nil` if they leave it to the
    /// app.
    static let others: [(policy: ConflictPolicy, text: String?, restores: Bool?)] = [
        (.manual, nil, nil), (.serverWins, "theirs", false), (.clientWins, "mine", true),
        (.custom { _ in .row(["text": "both"]) }, "both", true),
    ]

    @Test(
        "The policy of the options decides about columns without a rule, and about deleted rows",
        arguments: StoreKind.perEngine, 0..<others.count)
    func columnsWithoutRule(_ stores: StoreKind, _ index: Int) async throws {
        let (policy, text, restores) = Self.others[index]
        let world = try RecordWorld(stores)
        let first = try await world.makeClient()
        let second = try await world.makeClient { $0.conflictPolicy = policy }
        for id in ["a", "b"] { try await first.todos.insert(Todo(id: ID(id), text: "one", priority: 1)) }
        try await first.client.push()
        try await second.todos.pull(id: "all")
        try await first.todos.update("a") { ($0.priority, $0.text) = (3, "theirs") }
        try await first.todos.delete("b")
        try await first.client.push()
        try await second.todos.update("a") { ($0.priority, $0.text, $0.complete) = (5, "mine", true) }
        try await second.todos.update("b") { $0.complete = true }
        let left = try await pushErrors(second)
        #expect(left.map(\.itemID).sorted() == (text == nil ? ["a", "b"] : []))
        #expect(left.allSatisfy { $0.code == .conflict })
        let expected = Todo(id: "a", text: text ?? "mine", complete: true, priority: 5)
        #expect(try await second.todos.fetch("a") == expected)
        #expect(try await second.todos.fetch("b") != nil || restores == false)
        guard let text, let restores else { return }
        let row = try #require(try world.world.serverRow("a"))
        #expect(row["text"]?.string == text && row["priority"] == 5 && row["complete"] == true)
        let isDeleted = try world.world.serverRow("b")?["deleted"]?.bool == true
        #expect(isDeleted == !restores)
    }

    @Test("A policy of the options takes precedence over a record's rules, and a merge is completed by them")
    func precedence() throws {
        func rules(_ configure: (inout SyncOptions) -> Void) -> [String: String] {
            var options = SyncOptions()
            configure(&options)
            var policies = ConflictPolicies(options)
            policies.add(Todo.mergeRules, for: Todo.schema)
            let policy = policies.policy(for: "TodoItem")
            switch policy.kind {
            case .merge(let rules, let others, _):
                return rules.mapValues(\.name).merging(["others": others.name]) { $1 }
            case .record(let rules, let others):
                return rules.mapValues(\.name).merging(["others": others.name]) { $1 }
            default: return ["policy": policy.name]
            }
        }
        #expect(rules { _ in } == ["priority": "greatest", "others": "manual"])
        #expect(rules { $0.conflictPolicy = .clientWins } == ["priority": "greatest", "others": "clientWins"])
        #expect(
            rules { $0.conflictPolicy = .merge(["priority": .least, "text": .text, "absent": .sum], others: .client) }
                == ["priority": "greatest", "text": "text", "others": "client"])
        #expect(rules { $0.conflictPolicies["TodoItem"] = .serverWins } == ["policy": "serverWins"])
        #expect(
            rules { $0.conflictPolicies["TodoItem"] = .merge(["priority": .sum]) }
                == ["priority": "sum", "others": "server"])
        #expect(
            rules { $0.conflictPolicies["TodoItem"] = .merge(["text": .text]) }
                == ["priority": "greatest", "text": "text", "others": "server"])
    }

    @Test("A rule that does not fit its column is refused when the record is defined", arguments: StoreKind.perEngine)
    func unfitRule(_ stores: StoreKind) async throws {
        struct Tag: MergingRecord {
            var id: ID<Tag> = .new
            struct Columns: Sendable { let name = Column<String?>("name") }
            static let columns = Columns()
            static let tableName = "Tag"
            static let schema = TableSchema(tableName, columns: [.column(columns.name)])
            static let mergeRules: [String: MergeRule] = ["name": .sum]
            init(from row: inout RecordReader) throws { id = row.id() }
            func write(to row: inout RecordWriter) throws {}
        }
        let client = try makeClient(try stores.makeStore())
        let error = try await #require(throws: SyncError.self) { try await client.define(Tag.self) }
        #expect(error.code == .invalidArgument && error.table == "Tag" && error.column == "name")
    }
}
