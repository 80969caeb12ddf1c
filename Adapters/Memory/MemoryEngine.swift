public import TidelineKeyValue
public import TidelineStore

/// An engine that keeps its entries in memory, in an ordered map.
///
/// A snapshot of the map costs nothing, so readers keep theirs for as long as they like while a writer goes on; what
/// only they still see is let go of with them.
public final class MemoryEngine: OrderedKeyValueEngine {
    public let capabilities = StoreCapabilities(name: "memory", isPersistent: false, durability: .none)
    public let maximumKeyLength = Int.max
    private let committed = LockedValue(OrderedMap())

    /// An engine without entries.
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

    /// Forgets all entries.
    public func close() { replaceCommitted(by: OrderedMap()) }

    /// Lets go of the map there was outside of the lock: that takes time when nobody else holds it.
    private func replaceCommitted(by map: OrderedMap) {
        let old = committed.withLock { committed in
            let old = committed
            committed = map
            return old
        }
        withExtendedLifetime(old) {}
    }
}
