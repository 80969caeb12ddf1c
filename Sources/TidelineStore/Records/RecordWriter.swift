/// Writes the properties of a record to the columns of one row; see ``TableRecord``.
public struct RecordWriter: ~Copyable {
    @usableFromInline var rows: PackedRows
    @usableFromInline var positions = ColumnPositions()
    @usableFromInline var idText = ""

    @usableFromInline
    init(_ rows: consuming PackedRows) { self.rows = rows }

    /// Appends a record as a row.
    ///
    /// - Throws: The errors of ``write(_:to:)`` and of ``PackedRows/endRow()``. The batch is then unchanged.
    @inlinable
    mutating func append<Record: TableRecord>(_ record: Record) throws {
        rows.beginRow()
        positions.next = 0
        idText = record.id.text
        do {
            try record.write(to: &self)
            rows.setID(.string(idText))
            try rows.endRow()
        } catch {
            rows.cancelRow()
            throw error
        }
    }

    /// Sets a column. `nil` is stored as null. A column that is not written is absent.
    ///
    /// - Throws: ``StoreError``, with table, column, and identifier: code ``StoreError/Code/invalidValue`` if the
    ///   column cannot store the value; code ``StoreError/Code/schemaMismatch`` if the table does not define the
    ///   column.
    @inlinable
    public mutating func write<T: ColumnValue>(_ value: T, to column: Column<T>) throws {
        guard let index = positions.position(of: column.name, in: rows.shape) else { throw undefined(column.name) }
        try rows.write(value, at: index, id: idText)
    }

    // These functions are mutating, because the compiler copies a writer or a batch that it passes to others.

    @usableFromInline
    mutating func undefined(_ column: String) -> StoreError {
        var error = StoreError.undefinedColumn(column, of: rows.shape)
        error.id = idText
        return error
    }
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

    /// Sets the column at a position.
    @inlinable
    mutating func write<T: ColumnValue>(_ value: T, at index: Int, id: String) throws {
        do {
            try value.writeColumn(to: &self, at: index)
        } catch {
            throw invalid(value, at: index, id: id, cause: error)
        }
        guard isValid(at: index) else { throw invalid(value, at: index, id: id) }
    }

    /// Returns whether the value just set at a position is valid for its column.
    @usableFromInline
    mutating func isValid(at index: Int) -> Bool { shape.tagRules[index].allows(builder.slots[index].tag) }

    @usableFromInline
    mutating func invalid<T>(_ value: T, at index: Int, id: String, cause: (any Error)? = nil) -> StoreError {
        StoreError(
            .invalidValue, "the value \(value) does not fit a column of type \(shape.types[index].rawValue)",
            table: shape.table, column: shape.columns[index].name, id: id, cause: cause)
    }
}
