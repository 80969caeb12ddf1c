import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

@Suite("Served definitions")
struct ServedDefinitionTests {
    private static let newer = TableSchema("Item", columns: [.string("text"), .int("count")])
    private static let older = TableSchema("Item", columns: [.string("text")])
    private static let requiringCount = TableServiceOptions(
        schemas: [TableSchema("Item", columns: [ColumnSchema("count", .int, isOptional: false)])])

    /// Returns the changes that a service with these options makes to a store.
    private func changes(_ options: TableServiceOptions, to store: TestStore) throws -> [String] {
        try ServedSchemas.changes(by: options, over: store.tables(), hasRows: store.hasRows(in:))
    }

    @Test(
        "L11 an older definition of a served table hides no column, whether or not tables can grow",
        arguments: StoreKind.served, [true, false])
    func older(_ stores: StoreKind, grows: Bool) throws {
        let store = try stores.makeStore()
        for schema in [Self.newer, Self.older] {
            let options = TableServiceOptions(schemas: [schema], createsTablesOnFirstInsert: grows)
            _ = try TableService(store: store, options: options)
        }
        let schema = try store.read { try $0.schema(of: "Item") }
        #expect(schema.columns == Self.newer.columns && schema.systemColumns == .all)
    }

    @Test("A served column that may be null cannot be required, and the message names it", arguments: StoreKind.served)
    func required(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        _ = try TableService(store: store, options: TableServiceOptions(schemas: [Self.newer]))
        let errors = [
            expectError(.schemaMismatch) { _ = try TableService(store: store, options: Self.requiringCount) },
            expectError(.schemaMismatch) { _ = try changes(Self.requiringCount, to: store) },
        ]
        for error in errors { #expect(error?.table == "Item" && error?.column == "count") }
        // A required column that becomes optional is not required again.
        let empty = try stores.makeStore()
        for isOptional in [false, false, true] {
            let schema = TableSchema("Item", columns: [ColumnSchema("count", .int, isOptional: isOptional)])
            _ = try TableService(store: empty, options: TableServiceOptions(schemas: [schema]))
        }
        expectError(.schemaMismatch) { _ = try TableService(store: empty, options: Self.requiringCount) }
    }

    @Test("A column of a table without rows that no service has served can be required", arguments: StoreKind.served)
    func requiredLater(_ stores: StoreKind) throws {
        for hasRow in [false, true] {
            let store = try stores.makeStore()
            try store.define([TableSchema("Item", columns: [.int("count")]), ServedTableRecord.schema])
            guard !hasRow else {
                try store.write { try $0.upsert(["id": "a"], into: "Item") }
                expectError(.schemaMismatch) { _ = try changes(Self.requiringCount, to: store) }
                continue
            }
            let change = try changes(Self.requiringCount, to: store).first
            #expect(change == #"table "Item": column "count" is required from now on"#)
            for _ in 1...2 { _ = try TableService(store: store, options: Self.requiringCount) }
            #expect(try store.read { try $0.schema(of: "Item") }.column("count")?.isOptional == false)
        }
    }

    @Test("A required column is added only while the table has no rows", arguments: StoreKind.served)
    func newRequired(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        func options(_ required: String...) -> TableServiceOptions {
            var schema = TableSchema("Item", columns: [.string("text")])
            schema.columns += required.map { ColumnSchema($0, .int, isOptional: false) }
            return TableServiceOptions(schemas: [schema])
        }
        _ = try TableService(store: store, options: options())
        #expect(try changes(options("a"), to: store) == [#"table "Item": add column "a", int, required"#])
        let service = try TableService(store: store, options: options("a"))
        #expect(service.send(.post, "/tables/Item", #"{"id":"1","a":1}"#).status == .created)
        let before = try store.tables()
        let errors = [
            expectError(.schemaMismatch) { _ = try TableService(store: store, options: options("a", "b")) },
            expectError(.schemaMismatch) { _ = try changes(options("a", "b"), to: store) },
        ]
        for error in errors { #expect(error?.table == "Item" && error?.column == "b") }
        #expect(try store.tables() == before)
        #expect(try changes(options("a"), to: store).isEmpty)
    }

    @Test("A table with the name of the service's own is refused, also by a check", arguments: StoreKind.served)
    func ownTable(_ stores: StoreKind) throws {
        let own = ServedTableRecord.schema.name
        for name in [own, own.lowercased()] {
            let store = try stores.makeStore()
            let options = TableServiceOptions(schemas: [TableSchema(name, columns: [.string("text")])])
            expectError(.schemaMismatch) { _ = try changes(options, to: store) }
            expectError(.schemaMismatch) { _ = try TableService(store: store, options: options) }
        }
    }

    @Test("L11 a served column of another type is refused, naming table and column", arguments: StoreKind.served)
    func otherType(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        _ = try TableService(store: store, options: TableServiceOptions(schemas: [Self.newer]))
        let changed = TableSchema("Item", columns: [.string("count")])
        let error = expectError(.schemaMismatch) {
            _ = try TableService(store: store, options: TableServiceOptions(schemas: [changed]))
        }
        #expect(error?.table == "Item" && error?.column == "count")
    }
}
