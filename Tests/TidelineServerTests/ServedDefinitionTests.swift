import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

@Suite("Served definitions")
struct ServedDefinitionTests {
    private static let newer = TableSchema("Item", columns: [.string("text"), .int("count")])
    private static let older = TableSchema("Item", columns: [.string("text")])

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
