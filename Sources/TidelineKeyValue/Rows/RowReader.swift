internal import TidelineStore

/// Reads single stored rows of one table; who reads many keeps a ``RowCursor``.
struct RowReader {
    let table: StoredTable

    init(_ table: StoredTable) { self.table = table }

    /// Calls `body` with a stored row.
    ///
    /// - Parameters:
    ///   - key: The row's key, its space included.
    ///   - value: What is stored under it.
    /// - Throws: ``StoreError/Code/corrupt``, naming the table and the id; what `body` throws.
    func withRow<T>(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, _ body: (borrowing RowView) throws -> T
    ) throws -> T {
        var cursor = RowCursor(table)
        try cursor.point(key: key, value: value)
        return try body(cursor.view)
    }
}
