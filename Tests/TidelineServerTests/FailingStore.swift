import Synchronization
import TidelineStore
import TidelineTestStores

/// A store in which every transaction fails with the same error, from the first call of ``fail(with:)``.
final class FailingStore: LocalStore {
    let base: TestStore
    private let error = Mutex<StoreError?>(nil)

    init(base: TestStore) { self.base = base }

    /// Makes every later transaction fail.
    func fail(with error: StoreError) { self.error.withLock { $0 = error } }

    var capabilities: StoreCapabilities { base.capabilities }
    func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    func tables() throws -> [TableSchema] { try base.tables() }
    func close() throws { try base.close() }

    func read<T>(_ body: (AnyReader) throws -> T) throws -> T {
        if let error = error.withLock({ $0 }) { throw error }
        return try base.read(body)
    }

    func write<T>(_ body: (AnyWriter) throws -> T) throws -> T {
        if let error = error.withLock({ $0 }) { throw error }
        return try base.write(body)
    }
}
