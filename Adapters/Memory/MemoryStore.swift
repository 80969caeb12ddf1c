public import TidelineKeyValue

/// A ``LocalStore`` in memory, which is gone when it is closed.
///
/// Its rows are encoded as in the other stores over ordered keys; it is the store for tests, previews and caches.
public typealias MemoryStore = KeyValueStore<MemoryEngine>

extension KeyValueStore where Engine == MemoryEngine {
    /// An empty store.
    ///
    /// - Throws: ``StoreError``, as the key-value layer declares it for all engines; memory gives no reason for one.
    public convenience init() throws { try self.init(engine: MemoryEngine()) }
}
