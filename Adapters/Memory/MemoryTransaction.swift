public import TidelineKeyValue
public import TidelineStore

/// Reading and writing within one transaction of a ``MemoryEngine``: on a copy of the map.
public final class MemoryTransaction: KeyValueTransaction {
    private(set) var map: OrderedMap

    init(map: OrderedMap) { self.map = map }

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        try map.get(key, body)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try map.scan(range, descending: descending, body)
    }

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) { map.put(key, value) }

    public func delete(_ key: UnsafeRawBufferPointer) -> Bool { map.delete(key) }

    /// Stores a value under a key that has none, or calls `existing` with the value there is and stores nothing.
    /// - Returns: What `existing` returned, nil when the value was stored.
    public func insert<T>(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        orRead existing: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        map.insert(key, value) ? nil : try map.get(key, existing)
    }
}
