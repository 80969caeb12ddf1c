public import TidelineKeyValue
public import TidelineStore

/// An engine that keeps its entries in memory, in an ordered map.
///
/// A snapshot of the map is free, so readers can keep theirs for any time while a writer continues. Data that only a
/// snapshot still uses is freed with the snapshot.
public final class MemoryEngine: OrderedKeyValueEngine {
    public let capabilities = StoreCapabilities(name: "memory", isPersistent: false, durability: .none)
    public let maximumKeyLength = Int.max
    private let committed = LockedValue(OrderedMap())

    /// Creates an engine without entries.
    public init() {}

    public func read<T>(_ body: (MemorySnapshot) throws -> T) throws -> T {
        try body(MemorySnapshot(map: committed.withLock { $0 }))
    }

    public func write<T>(_ body: (MemoryTransaction) throws -> T) throws -> T {
        let transaction = MemoryTransaction(map: committed.withLock { $0 })
        let result = try body(transaction)
        replaceCommitted(by: transaction.map)
        return result
    }

    /// Removes all entries.
    public func close() { replaceCommitted(by: OrderedMap()) }

    /// Replaces the map. Frees the old map outside the lock, because that takes time if no snapshot uses it.
    private func replaceCommitted(by map: OrderedMap) {
        var map = map
        committed.withLock { swap(&$0, &map) }
        withExtendedLifetime(map) {}
    }
}
