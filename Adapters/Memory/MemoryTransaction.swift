public import TidelineKeyValue
public import TidelineStore

/// Reads and writes within one transaction of a ``MemoryEngine``, on a copy of the map.
public final class MemoryTransaction: KeyValueTransaction {
    /// Exclusivity is unchecked because no access overlaps another.
    @exclusivity(unchecked)
    private(set) var map: OrderedMap

    init(map: OrderedMap) { self.map = map }

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try map.get(key, body) != nil
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try map.scan(range, descending: descending, body)
    }

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) { map.put(key, value) }

    public func delete(_ key: UnsafeRawBufferPointer) -> Bool { map.delete(key) }

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        try map.put(key, value, over: replaces)
    }
}
