internal import TidelineStore

/// The keys of one index, and the rows they are of.
///
/// A class, as it keeps the memory in which keys are put together from one row to the next.
final class IndexLookup {
    private let table: StoredTable
    private let index: StoredIndex
    private var rowKey: RowKey
    private var expected: KeyBuilder
    /// How long the id is in the key whose row was asked for last.
    private var idCount = 0

    init(_ number: Int, of table: StoredTable) {
        self.table = table
        index = table.indexes[number]
        rowKey = RowKey(of: table)
        expected = KeyBuilder(index.space)
    }

    /// Where the id begins in a key.
    func idOffset(in key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
        var offset = KeySpace.length
        for type in index.types {
            guard let length = KeyBuilder.componentLength(in: key, at: offset, type: type) else {
                throw damage("holds a key that is none")
            }
            offset += length
        }
        return offset
    }

    /// The key of the row that a key of the index is of; valid until the next is asked for.
    func rowKey(of key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeRawBufferPointer {
        let id = UnsafeRawBufferPointer(rebasing: key[try idOffset(in: key)...])
        idCount = id.count
        // The id stands in both keys alike.
        guard let rowKey = rowKey.set(id: id, of: .exact) else { throw damage("holds a key that is none") }
        return rowKey
    }

    /// Checks that the row that was found by ``rowKey(of:)`` has the values under which the index has it: where rows are
    /// not asked for what the index answers, damage to it would pass for an answer.
    func check(_ key: UnsafeRawBufferPointer, isOf row: borrowing RowView) throws(StoreError) {
        guard !index.isPlainly(key, idCount: idCount, of: row) else { return }
        expected.begin(index, of: row, ids: table.ids)
        guard expected.bytes.withUnsafeBytes({ $0.compare(key) == 0 }) else {
            throw damage("holds an entry that its row contradicts", id: row.id)
        }
    }

    /// The error of an index that cannot be as it is.
    func damage(_ what: String, id: String? = nil) -> StoreError {
        let columns = index.columns.joined(separator: ", ")
        return StoreError(
            .corrupt, "the index (\(columns)) \(what); restore the store, or begin it anew", table: table.name, id: id)
    }
}
