public import TidelineKeyValue

/// A ``LocalStore`` in memory; closing it discards its content.
///
/// Rows are encoded as in the other key-value stores. Use it for tests, previews and caches.
public typealias MemoryStore = KeyValueStore<MemoryEngine>

extension KeyValueStore where Engine == MemoryEngine {
    /// Creates an empty store.
    ///
    /// - Throws: ``StoreError``, as declared by the key-value layer for all engines; the memory engine itself never
    ///   fails.
    public convenience init() throws { try self.init(engine: MemoryEngine()) }
}
