/// Writes the properties of a record to the columns of one row; see ``TableRecord``.
public struct RecordWriter: ~Copyable {
    var rows: PackedRows
    var positions = ColumnPositions()
    var idText = ""

    init(_ rows: consuming PackedRows) { self.rows = rows }

    /// Appends a record as a row.
    ///
    /// - Throws: The errors of ``write(_:to:)`` and of ``PackedRows/endRow()``. The batch is then unchanged.
    mutating func append<Record: TableRecord>(_ record: Record) throws {
        rows.beginRow()
        positions.next = 0
        idText = record.id.text
        do {
            try record.write(to: &self)
            rows.setID(record.id.rowID)
            try rows.endRow()
        } catch {
            rows.cancelRow()
            throw error
        }
    }

    /// Sets a column. `nil` is stored as null. A column that is not written is absent.
    ///
    /// - Throws: ``StoreError``, with table, column, and identifier: code ``StoreError/Code/invalidValue`` if the column
    ///   cannot store the value; code ``StoreError/Code/schemaMismatch`` if the table does not define the column.
    public mutating func write<T: ColumnValue>(_ value: T, to column: Column<T>) throws {
        guard let index = positions.position(of: column.name, in: rows.shape) else { throw undefined(column.name) }
        try set(value, at: index)
    }

    /// Sets the column at a position; specialized like ``RecordReader/value(at:)``.
    @_specialize(where T == String)
    @_specialize(where T == String?)
    @_specialize(where T == Bool)
    @_specialize(where T == Bool?)
    @_specialize(where T == Int)
    @_specialize(where T == Int?)
    @_specialize(where T == Int64)
    @_specialize(where T == Int64?)
    @_specialize(where T == Double)
    @_specialize(where T == Double?)
    @_specialize(where T == Timestamp)
    @_specialize(where T == Timestamp?)
    mutating func set<T: ColumnValue>(_ value: T, at index: Int) throws {
        do {
            try value.writeColumn(to: &rows, at: index)
        } catch {
            throw invalid(String(describing: value), at: index, cause: error)
        }
        guard rows.isValid(at: index) else { throw invalid(String(describing: value), at: index) }
    }

    func undefined(_ column: String) -> StoreError {
        var error = StoreError.undefinedColumn(column, of: rows.shape)
        error.id = idText
        return error
    }

    func invalid(_ value: String, at index: Int, cause: (any Error)? = nil) -> StoreError {
        StoreError(
            .invalidValue, "the value \(value) does not fit a column of type \(rows.shape.types[index].rawValue)",
            table: rows.shape.table, column: rows.shape.columns[index].name, id: idText, cause: cause)
    }
}

extension PackedRows {
    /// Appends records as rows.
    ///
    /// - Throws: ``StoreError`` for a record with an invalid value or identifier. The batch is then unchanged.
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
    func isValid(at index: Int) -> Bool { shape.tagRules[index].allows(builder.slots[index].tag) }
}
