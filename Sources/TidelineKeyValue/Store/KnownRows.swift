internal import TidelineStore

/// A cache of the keys of existing rows that transactions encountered.
///
/// It avoids looking up a row that is replaced completely, for engines in which lookups are slow. It contains a key
/// only if the row is stored without a separate original identifier, that is, with the identifier exactly as in the
/// key; see ``RowCursor``. A key is added when its row is found and removed before the row is deleted. ``forget()``
/// empties the cache when a transaction is rolled back.
///
/// `@unchecked Sendable`: it is used within transactions only, and a store runs one at a time (``ReadWriteLock``).
final class KnownRows: @unchecked Sendable {
    /// The maximum size in bytes, after which the cache is emptied.
    private let maximumSize: Int
    /// Unchecked: nothing that is called during a change accesses the cache.
    @exclusivity(unchecked)
    private var keys = OverlayChanges()

    init(maximumSize: Int = 8 << 20) { self.maximumSize = maximumSize }

    /// Whether the row with the given key is known to be stored with the identifier exactly as in the key.
    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        unsafe keys.count > 0 && contains(key, hash: KeyHash.of(key))
    }

    private func contains(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        if case .stored = unsafe keys.change(of: key, hash: hash) { true } else { false }
    }

    /// Adds the key of a row that was found.
    func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        guard unsafe RowHeader(of: value)?.length == value.count else { return }
        if unsafe keys.size > maximumSize { forget() }
        unsafe keys.put(key, UnsafeRawBufferPointer(start: nil, count: 0), hash: KeyHash.of(key))
    }

    /// Removes the key of a row that is about to be deleted.
    func forget(_ key: UnsafeRawBufferPointer) {
        guard unsafe keys.count > 0 else { return }
        let hash = unsafe KeyHash.of(key)
        if unsafe contains(key, hash: hash) { unsafe keys.remove(key, hash: hash) }
    }

    func forget() { unsafe keys = OverlayChanges() }
}
