public import TidelineKeyValue
public import TidelineStore

/// Reads and writes within one transaction of a ``LevelDBEngine``. The changes stay in memory until they are committed.
public struct LevelDBTransaction: KeyValueTransaction {
    let changes: OverlayTransaction<LevelDBSnapshot>
    private let cache: LookupCache

    init(over snapshot: LevelDBSnapshot, _ cache: LookupCache) {
        changes = OverlayTransaction(over: snapshot)
        self.cache = cache
    }

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try changes.get(key, body)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try changes.scan(range, descending: descending, body)
    }

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) { changes.put(key, value) }

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        try changes.put(key, value, over: replaces)
    }

    public func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        cache.remove(key)
        return try changes.delete(key)
    }

    public var remembersKeys: Bool { true }

    public func remembers(_ key: UnsafeRawBufferPointer) -> Bool { cache.contains(key) }

    public func remember(_ key: UnsafeRawBufferPointer) { cache.insert(key) }
}
