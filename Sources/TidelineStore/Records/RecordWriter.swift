/// Writes the properties of a record to the columns of one row; see ``TableRecord``.
public struct RecordWriter: ~Copyable {
    @usableFromInline var rows: PackedRows
    @usableFromInline var positions = ColumnPositions()
    @usableFromInline var idText = ""
    /// Whether each column is checked when it is written. Usually, all are checked at the end of the row, and only a
    /// row with an invalid value is written again to find the value.
    @usableFromInline var checksColumns = false

    @usableFromInline
    init(_ rows: consuming PackedRows) { self.rows = rows }

    /// Appends a record as a row.
    ///
    /// - Throws: The errors of ``write(_:to:)`` and of ``PackedRows/endRow()``. The batch is then unchanged.
    @inlinable
    mutating func append<Record: TableRecord>(_ record: Record) throws {
        idText = record.id.text
        do {
            checksColumns = false
            try writeColumns(of: record)
            if !rows.hasValidColumns() {
                rows.cancelRow()
                checksColumns = true
                try writeColumns(of: record)
            }
            rows.setID(.string(idText))
            try rows.endRow()
        } catch {
            rows.cancelRow()
            throw error
        }
    }

    @inlinable
    mutating func writeColumns(of record: some TableRecord) throws {
        rows.beginRow()
        positions.next = 0
        try record.write(to: &self)
    }

    /// Sets a column. `nil` is stored as null. A column that is not written is absent.
    ///
    /// - Throws: ``StoreError``, with table, column, and identifier: code ``StoreError/Code/invalidValue`` if the
    ///   column cannot store the value; code ``StoreError/Code/schemaMismatch`` if the table does not define the
    ///   column.
    @inlinable
    public mutating func write<T: ColumnValue>(_ value: T, to column: Column<T>) throws {
        guard let index = positions.position(of: column.name, in: rows.shape) else { throw undefined(column.name) }
        do {
            try value.writeColumn(to: &rows, at: index)
        } catch {
            throw rows.invalid(value, at: index, id: idText, cause: error)
        }
        if checksColumns, !rows.isValid(at: index) { throw rows.invalid(value, at: index, id: idText) }
    }

    // These functions are mutating, because the compiler copies a writer or a batch that it passes to others.

    @usableFromInline
    mutating func undefined(_ column: String) -> StoreError { .undefinedColumn(column, of: rows.shape, id: idText) }
}

extension PackedRows {
    /// Appends records as rows.
    ///
    /// - Throws: ``StoreError`` for a record with an invalid value or identifier. The batch is then unchanged.
    @inlinable
    public mutating func append<Record: TableRecord>(_ records: some Sequence<Record>) throws {
        let previousCount = count
        var writer = RecordWriter(PackedRows(shape: shape))
        swap(&writer.rows, &self)
        defer { swap(&writer.rows, &self) }
        do {
            for record in records { try writer.append(record) }
        } catch {
            writer.rows.truncate(toCount: previousCount)
            throw error
        }
    }

    /// Returns whether the value just set at a position is valid for its column.
    @usableFromInline
    mutating func isValid(at index: Int) -> Bool { shape.tagRules[index].allows(builder.slots[index].tag) }

    /// Returns whether the values set so far in the row are valid for their columns.
    @usableFromInline
    mutating func hasValidColumns() -> Bool {
        for index in 0..<min(builder.nextIndex, shape.count) where !isValid(at: index) { return false }
        return true
    }

    @usableFromInline
    mutating func invalid<T>(_ value: T, at index: Int, id: String, cause: (any Error)? = nil) -> StoreError {
        StoreError(
            .invalidValue, "the value \(value) does not fit a column of type \(shape.types[index].rawValue)",
            table: shape.table, column: shape.columns[index].name, id: id, cause: cause)
    }
}
