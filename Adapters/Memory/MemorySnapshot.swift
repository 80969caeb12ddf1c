public import TidelineKeyValue
public import TidelineStore

/// Reads within one snapshot of a ``MemoryEngine``.
public struct MemorySnapshot: KeyValueSnapshot {
    let map: OrderedMap

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try map.get(key, body) != nil
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try map.scan(range, descending: descending, body)
    }
}
