internal import TidelineStore

/// The entries of one row in all indexes of its table: keys without values, which map columns to the identifier.
///
/// The key of an entry consists of the index's space, the columns as components, and the identifier as in the row's
/// key.
///
/// This is a class because most tables have no indexes, so an upsert stores only a pointer for it.
final class IndexEntries {
    // Unchecked, because nothing that is called during a change accesses these properties.
    let table: StoredTable
    @exclusivity(unchecked)
    private var cursor: RowCursor
    /// Empty until a row is replaced or removed, which an insert does not need.
    @exclusivity(unchecked)
    private var old: [KeyBuilder] = []
    @exclusivity(unchecked)
    private var new: [KeyBuilder]

    init(of table: StoredTable) {
        self.table = table
        unsafe cursor = RowCursor(table)
        unsafe new = table.indexes.map { KeyBuilder($0.space) }
    }

    /// Records the entries of a row as it is stored now.
    func noteOld(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        try unsafe cursor.point(key: key, value: value)
        if unsafe old.isEmpty { unsafe old = table.indexes.map { KeyBuilder($0.space) } }
        for (number, index) in table.indexes.enumerated() {
            unsafe old[number].begin(index, of: cursor.view, ids: table.ids)
        }
    }

    /// Records the entries of a row as it will be stored.
    func noteNew(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws {
        try unsafe cursor.point(key: key, value: value)
        for (number, index) in table.indexes.enumerated() {
            unsafe new[number].begin(index, of: cursor.view, ids: table.ids)
        }
    }

    /// Stores the new entries of a row that did not exist.
    func insert(into store: any KeyStore) throws {
        for entry in unsafe new { try entry.put(into: store) }
    }

    /// Removes the old entries of the row with the given key.
    func remove(from store: any KeyStore, ofRowAt key: UnsafeRawBufferPointer) throws {
        for number in unsafe old.indices { try unsafe removeOld(number, from: store, ofRowAt: key) }
    }

    /// Replaces the old entries of the row with the given key by the new ones where they differ.
    func replace(in store: any KeyStore, ofRowAt key: UnsafeRawBufferPointer) throws {
        for number in unsafe old.indices where unsafe old[number].bytes != new[number].bytes {
            try unsafe removeOld(number, from: store, ofRowAt: key)
            try unsafe new[number].put(into: store)
        }
    }

    private func removeOld(
        _ number: Int, from store: any KeyStore, ofRowAt key: UnsafeRawBufferPointer
    ) throws {
        guard try unsafe !old[number].bytes.withUnsafeBytes({ try unsafe store.delete($0) }) else { return }
        throw StoreError(
            .corrupt,
            "the index over \(table.indexes[number].columns.joined(separator: ", ")) lacks the entry of a row; restore "
                + "the store from a backup, or delete it and pull again",
            table: table.name, id: unsafe table.ids.text(ofKey: key))
    }
}

extension KeyBuilder {
    /// Begins the entry of a row in an index.
    mutating func begin(_ index: StoredIndex, of row: borrowing RowView, ids: IDRule) {
        begin(index.space)
        for position in index.positions {
            if let position {
                append(column: position, of: row)
            } else {
                unsafe row.withIDBytes { unsafe append(idComponent: $0, of: ids) }
            }
        }
        unsafe row.withIDBytes { unsafe append(id: $0, of: ids) }
    }

    func put(into store: any KeyStore) throws {
        try unsafe bytes.withUnsafeBytes { try unsafe store.put($0, UnsafeRawBufferPointer(start: nil, count: 0)) }
    }
}
