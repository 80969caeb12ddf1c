import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// L11: definitions of synchronized tables only add columns.
@Suite("Definitions", .timeLimit(.minutes(15)), .releasesClients)
struct DefinitionTests {
    private static let older = TableSchema("Note", columns: [.string("text")], indexes: [["text"]])
    private static let newer = TableSchema("Note", columns: [.string("note"), .string("text")], indexes: [["note"]])

    /// Makes a client with its own definition, of a store that is shared with other clients.
    private func makeClient<Store: LocalStore>(
        _ schema: TableSchema, over store: Store, in world: World
    ) async throws -> SyncClient<Store> {
        try await world.makeClient(over: store, tables: [schema]).client
    }

    /// Makes a world, and a client with the newer definition.
    private static func withNewer(_ stores: StoreKind) async throws -> (World, TestStore, SyncClient<TestStore>) {
        let (world, store) = (try World(stores), try stores.makeStore())
        return (world, store, try await world.makeClient(over: store, tables: [newer]).client)
    }

    private func serverNote(_ world: World, _ id: String) throws -> Row? {
        try world.serverStore.read { try $0.row(in: "Note", id: id) }
    }

    @Test("The text by which stored tokens recognize the columns of a table never changes")
    func fingerprint() {
        let schema = TableSchema("T", columns: [.string("text"), .int("count", optional: false)])
        #expect(schema.columnFingerprint == "32fba3b1f15f8a7f")
    }

    @Test("L11 an older definition hides no column, and its push sends every column", arguments: StoreKind.perEngine)
    func olderDefinition(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        let newer = try await makeClient(Self.newer, over: store, in: world)
        try await newer.table("Note").insert(["id": "a", "text": "one", "note": "first"])
        try await newer.context.push()
        try await newer.table("Note").update(["id": "a", "note": "edited"])
        let older = try await makeClient(Self.older, over: store, in: world)
        try await newer.table("Note").insert(["id": "b", "text": "two", "note": "second"])
        try await older.table("Note").insert(["id": "c", "text": "three"])
        try await older.context.push()
        #expect(try serverNote(world, "a")?["note"] == "edited")
        #expect(try serverNote(world, "b")?["note"] == "second")
        #expect(try await older.table("Note").row(id: "a")?["note"] == "edited")
        let schema = try store.read { try $0.schema(of: "Note") }
        #expect(schema.columns.map(\.name) == ["note", "text"] && schema.indexes == [["note"], ["text"]])
    }

    @Test("L11 a column that is added after a push is sent by the next push", arguments: StoreKind.perEngine)
    func grownAfterPush(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        let client = try await makeClient(Self.older, over: store, in: world)
        try await client.table("Note").insert(["id": "a", "text": "one"])
        try await client.context.push()
        try await client.define([Self.newer])
        try await client.table("Note").insert(["id": "b", "text": "two", "note": "second"])
        try await client.context.push()
        #expect(try serverNote(world, "b")?["note"] == "second")
        #expect(try await client.table("Note").row(id: "b")?["note"] == "second")
    }

    @Test("L11 defining the same table again writes nothing", arguments: StoreKind.perEngine)
    func atRest(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        _ = try await makeClient(Self.newer, over: store, in: world)
        store.beforeDefinition { Issue.record("nothing is left to define") }
        store.onWrite(nil)
        let again = try await makeClient(Self.newer, over: store, in: world)
        try await again.define([TableSchema("Note", columns: [.string("text")])])
        #expect(store.writes == 0)
    }

    @Test("L11 two processes that define a table at once both keep their columns", arguments: StoreKind.perEngine)
    func atOnce(_ stores: StoreKind) async throws {
        let base = try stores.makeStore()
        let store = HookedStore(base)
        let definitions = DefinitionStore(tables: SystemTables())
        try definitions.defineSystemTables(in: base)
        // The other process defines its columns after this process has read the tables and before it defines them.
        store.beforeDefinition {
            try definitions.define([TableSchema("Note", columns: [.string("text"), .int("other")])], in: base)
        }
        try definitions.define([TableSchema("Note", columns: [.string("text"), .int("own")])], in: store)
        let names = try base.read { try $0.schema(of: "Note").columns.map(\.name) }
        #expect(Set(names) == ["text", "own", "other"])
    }

    @Test(
        "L11 a definition made directly in the store hides a column only until the next one of the client",
        arguments: StoreKind.perEngine)
    func repaired(_ stores: StoreKind) async throws {
        let (_, store, client) = try await Self.withNewer(stores)
        try await client.table("Note").insert(["id": "a", "note": "kept"])
        try store.define([Self.older])
        try await client.define([Self.older])
        #expect(try await client.table("Note").row(id: "a")?["note"] == "kept")
    }

    @Test("L11 a column of another type is refused, naming table, column and types", arguments: StoreKind.perEngine)
    func otherType(_ stores: StoreKind) async throws {
        let (_, store, client) = try await Self.withNewer(stores)
        let changed = TableSchema("Note", columns: [.int("note"), .int("new")])
        let error = await #expect(throws: SyncError.self) { try await client.define([changed]) }
        #expect(error?.code == .store && error?.table == "Note" && error?.column == "note")
        #expect(error?.message.contains("string") == true && error?.message.contains("int") == true)
        #expect(try store.read { try $0.schema(of: "Note").column("new") } == nil)
        try await client.define([Self.older])
    }

    @Test("L11 a column that is optional in one definition can be null", arguments: StoreKind.perEngine)
    func optional(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        let required = TableSchema("Note", columns: [.string("text", optional: false)])
        let client = try await makeClient(required, over: store, in: world)
        #expect(await syncErrorCode { try await client.table("Note").insert(["id": "a"]) } == .store)
        try await client.define([Self.older])
        try await client.define([required])
        try await client.table("Note").insert(["id": "a"])
    }

    // MARK: Dropping

    @Test("L11 a dropped column is removed, and returns when it is defined again", arguments: StoreKind.perEngine)
    func drop(_ stores: StoreKind) async throws {
        let (_, store, client) = try await Self.withNewer(stores)
        try await client.drop(columns: ["note"], from: "Note")
        #expect(try store.read { try $0.schema(of: "Note") }.columns == [.string("text")])
        try await client.define([Self.older])
        let schema = try store.read { try $0.schema(of: "Note") }
        #expect(schema.columns == [.string("text")] && schema.indexes == [["text"]])
        try await client.define([Self.newer])
        #expect(try store.read { try $0.schema(of: "Note").column("note") } != nil)
    }

    @Test("L11 a column that a pending operation would send is not dropped", arguments: StoreKind.perEngine)
    func dropRefused(_ stores: StoreKind) async throws {
        let (world, _, client) = try await Self.withNewer(stores)
        let notes = client.table("Note")
        func drop(_ column: String) async -> SyncError? {
            await #expect(throws: SyncError.self) { try await client.drop(columns: [column], from: "Note") }
        }
        try await notes.insert(["id": "a", "text": "one", "note": "first"])
        let inserted = await drop("note")
        #expect(inserted?.code == .operationsPending && inserted?.column == "note" && inserted?.id == "a")
        try await client.context.push()
        try await notes.update(["id": "a", "note": .null])
        #expect(await drop("note")?.code == .operationsPending)
        #expect(await drop("nothing")?.code == .invalidArgument)
        #expect(await drop("version")?.code == .invalidArgument)
        try await client.context.push()
        try await notes.update(["id": "a", "text": "two"])
        try await client.drop(columns: ["note"], from: "Note")
        try await client.context.push()
        #expect(try serverNote(world, "a")?["text"] == "two")
    }

    @Test("L11 an edit by another process during a drop cancels the drop", arguments: StoreKind.perEngine)
    func dropRace(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = HookedStore(try stores.makeStore())
        let client = try await makeClient(Self.newer, over: store, in: world)
        let operations = client.context.queue.operations
        store.beforeDefinition {
            let other = LocalChanges(
                operations: operations, schema: Self.newer, epoch: nil, writesRows: true,
                rejectsInsertOverPendingDelete: false, inFlight: [])
            try store.base.write { _ = try other.insert(["id": "a", "note": "kept"], in: $0) }
        }
        #expect(await syncErrorCode { try await client.drop(columns: ["note"], from: "Note") } == .operationsPending)
        try await client.context.push()
        #expect(try serverNote(world, "a")?["note"] == "kept")
    }

    // MARK: References

    private static func schema(
        _ name: String, _ columns: [ColumnSchema] = [.string("ref")], references: [(column: String, table: String)] = []
    ) -> TableSchema {
        TableSchema(
            name, columns: columns, references: references.map { ForeignKey(column: $0.column, table: $0.table) })
    }

    private static let unfit: [(schemas: [TableSchema], table: String, column: String, text: String)] = [
        ([schema("A", references: [("ref", "Nowhere")])], "A", "ref", "\"Nowhere\", which is not defined; define it"),
        ([schema("A", references: [("ref", "Nite")])], "A", "ref", "did you mean \"Note\"?"),
        ([schema("A", references: [("rev", "Note")])], "A", "rev", "does not define; did you mean \"ref\"?"),
        ([schema("A", references: [("version", "Note")])], "A", "version", "does not define"),
        ([schema("A", [.int("ref")], references: [("ref", "Note")])], "A", "ref", "type int; give it the type string"),
        (
            [schema("A", references: [("ref", "B")]), schema("B", references: [("ref", "A")])], "A", "ref",
            "\"A\" -> \"B\" -> \"A\"; remove one"
        ),
        (
            [
                schema("C", references: [("ref", "C"), ("ref", "D")]), schema("D", references: [("ref", "E")]),
                schema("E", references: [("ref", "Note"), ("ref", "D")]),
            ], "D", "ref", "\"D\" -> \"E\" -> \"D\""
        ),
    ]

    @Test("Q3 a reference that cannot be followed is an error that names table and column", arguments: unfit.indices)
    func wrongReferences(_ index: Int) async throws {
        let (world, store) = (try World(.simplest), try StoreKind.simplest.makeStore())
        let client = try await makeClient(Self.older, over: store, in: world)
        let (schemas, table, column, text) = Self.unfit[index]
        let error = await #expect(throws: SyncError.self) { try await client.define(schemas) }
        #expect(error?.code == .invalidArgument && error?.table == table && error?.column == column)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        #expect(try store.tables().filter { !$0.isSystem }.map(\.name) == ["Note"])
    }

    @Test("Q3 tables of a call reference each other in any order, and existing ones", arguments: StoreKind.perEngine)
    func definedTogether(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), HookedStore(try stores.makeStore()))
        let tables = [
            Self.schema("C", references: [("ref", "B"), ("ref", "C")]), Self.schema("B", references: [("ref", "A")]),
            Self.schema("A"),
        ]
        let client = try await world.makeClient(over: store, tables: tables).client
        try await client.define([Self.schema("D", references: [("ref", "C"), ("id", "B")])])
        let later = Self.schema("A", references: [("ref", "D")])
        let error = await #expect(throws: SyncError.self) { try await client.define([later]) }
        #expect(error?.message.contains("cycle") == true)
        // The same definitions again write nothing.
        store.onWrite(nil)
        try await client.define(tables)
        #expect(store.writes == 0)
        #expect(try store.tables().first { $0.name == "C" }?.references.count == 2)
    }

    @Test("L11 an older definition hides no reference from the pushes of any process", arguments: StoreKind.perEngine)
    func olderReferences(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores) { $0.schemas = [] }, try stores.makeStore())
        let parent = Self.schema("Parent")
        let made = try await world.makeClient(over: store, tables: [parent, Self.schema("Child")])
        let older = made.client
        let newer = try await makeClient(parent, over: store, in: world)
        try await newer.define([Self.schema("Child", references: [("ref", "Parent")])])
        try await older.define([parent, Self.schema("Child")])
        try await older.table("Child").insert(["id": "c", "ref": "p"])
        try await older.table("Parent").insert(["id": "p"])
        try await older.push(settings: PushSettings(maxInFlight: 1))
        #expect(made.transport.requests.map { $0.contains("/Parent") } == [true, false])
        // The reference is dropped with its column.
        try await newer.drop(columns: ["ref"], from: "Child")
        #expect(try store.read { try $0.schema(of: "Child").references.isEmpty })
        try await newer.define([Self.schema("Child"), Self.schema("Parent", references: [("ref", "Child")])])
    }

    @Test("an older version of the core keeps the columns that a newer version added to the system tables")
    func systemTables() async throws {
        let (world, store) = (try World(.simplest), try StoreKind.simplest.makeStore())
        var newer = SystemTables().operationsSchema
        newer.columns.append(.string("later"))
        try store.define([newer])
        _ = try await makeClient(Self.older, over: store, in: world)
        #expect(try store.read { try $0.schema(of: "MS_TableOperations").column("later") } != nil)
    }
}
