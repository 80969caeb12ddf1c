internal import TidelineStore

/// Removes rows of one table, and their entries in its indexes.
struct Removal<Transaction: KeyValueTransaction>: ~Copyable {
    private let map: KeyMap<Transaction>
    private var entries: IndexEntries
    /// How many rows were removed.
    private(set) var count = 0

    init(from table: StoredTable, in map: KeyMap<Transaction>) {
        self.map = map
        entries = IndexEntries(of: table)
    }

    /// Removes the row of a key, if there is one.
    mutating func remove(key: UnsafeRawBufferPointer) throws {
        if entries.areKept {
            guard try map.get(key, { try entries.noteOld(key: key, value: $0) }) != nil else { return }
            try entries.remove(from: map, ofRowAt: key)
        }
        if try map.delete(key) { count += 1 }
    }
}
