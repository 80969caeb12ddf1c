internal import TidelineStore

/// Removes rows of one table and their entries in its indexes.
struct Removal: ~Copyable {
    private let store: any KeyStore
    private let entries: IndexEntries?
    /// The number of removed rows.
    private(set) var count = 0

    /// - Parameter entries: The object that maintains the table's indexes, or `nil` if there are none.
    init(_ entries: IndexEntries?, in store: any KeyStore) {
        self.store = store
        self.entries = entries
    }

    /// Removes the row with the given key, if it exists.
    /// - Returns: Whether the row existed.
    mutating func remove(key: UnsafeRawBufferPointer) throws -> Bool {
        if let entries {
            guard try unsafe store.find(key, { try unsafe entries.noteOld(key: key, value: $0) }) else { return false }
            try unsafe entries.remove(from: store, ofRowAt: key)
        }
        guard try unsafe store.delete(key) else { return false }
        count += 1
        return true
    }
}
