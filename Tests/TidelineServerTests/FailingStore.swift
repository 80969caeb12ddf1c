import TidelineStore
import TidelineTestStores

/// A store in which every transaction fails with the same error.
struct FailingStore: LocalStore {
    let base: TestStore
    let error: StoreError

    var capabilities: StoreCapabilities { base.capabilities }
    func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    func tables() throws -> [TableSchema] { try base.tables() }
    func close() throws { try base.close() }
    func read<T>(_ body: (AnyReader) throws -> T) throws -> T { throw error }
    func write<T>(_ body: (AnyWriter) throws -> T) throws -> T { throw error }
}
