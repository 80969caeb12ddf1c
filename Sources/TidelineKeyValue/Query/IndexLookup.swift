internal import TidelineStore

/// The keys of one index, and the rows that they refer to.
///
/// This is a class because it reuses the memory in which keys are built from one row to the next.
final class IndexLookup {
    private let table: StoredTable
    private let index: StoredIndex
    private var rowKey: RowKey
    private var expected: KeyBuilder
    /// The length of the identifier in the key that was looked up last.
    private var idCount = 0

    init(_ number: Int, of table: StoredTable) {
        self.table = table
        index = table.indexes[number]
        rowKey = RowKey(of: table)
        expected = KeyBuilder(index.space)
    }

    func idOffset(in key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
        var offset = KeySpace.length
        for type in index.types {
            guard let length = unsafe KeyBuilder.componentLength(in: key, at: offset, type: type) else {
                throw damage("contains an invalid key")
            }
            offset += length
        }
        return offset
    }

    /// Returns the key of the row that an index key refers to. It is valid until the next call.
    func rowKey(of key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer {
        let id = unsafe UnsafeRawBufferPointer(rebasing: key[try idOffset(in: key)...])
        idCount = id.count
        // The identifier has the same form in both keys.
        guard let rowKey = unsafe rowKey.set(id: id, of: .exact) else { throw damage("contains an invalid key") }
        return unsafe rowKey
    }

    /// Checks that the row found by ``rowKey(of:)`` has the values under which the index contains it.
    ///
    /// Rows are not tested for conditions that the index already satisfies, so a damaged index would otherwise produce
    /// wrong results.
    func check(_ key: UnsafeRawBufferPointer, isOf row: borrowing RowView) throws(StoreError) {
        guard unsafe !index.matchesEntry(key, idCount: idCount, of: row) else { return }
        expected.begin(index, of: row, ids: table.ids)
        guard unsafe expected.bytes.withUnsafeBytes({ unsafe $0.compare(key) == 0 }) else {
            throw damage("contains an entry that contradicts its row", id: row.idText)
        }
    }

    /// Returns an error for a damaged index.
    func damage(_ what: String, id: String? = nil) -> StoreError {
        let columns = index.columns.joined(separator: ", ")
        return StoreError(
            .corrupt, "the index (\(columns)) \(what); restore the store from a backup, or delete it and pull again",
            table: table.name, id: id)
    }
}
