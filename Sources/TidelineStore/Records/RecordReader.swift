/// Reads the columns of one row into the properties of a record; see ``TableRecord``.
///
/// Unsafe pointers: the reader contains a view that points at a row, which the store keeps valid for the duration of a
/// closure. It is noncopyable and passed `inout`, so that no initializer can keep it.
public struct RecordReader: ~Copyable {
    @usableFromInline var view = RowView(shape: RecordReader.emptyShape)
    @usableFromInline var positions = ColumnPositions()

    private static let emptyShape = RowShape(columns: [])

    /// Creates a reader, which can read any number of rows.
    @usableFromInline
    package init() {}

    /// Reads the record of a row.
    @inlinable
    package mutating func record<Record: TableRecord>(_ type: Record.Type, of row: borrowing RowView) throws -> Record {
        point(at: row)
        return try Record(from: &self)
    }

    @usableFromInline
    mutating func point(at row: borrowing RowView) {
        if row.shape !== view.shape {
            view = RowView(shape: row.shape)
            positions.reset()
        }
        unsafe view.packedID = row.packedID
        unsafe view.packed = row.packed
        view.header = row.header
        positions.next = 0
    }

    /// Returns the identifier of the row.
    @inlinable
    public func id<Record>() -> ID<Record> { ID(view.idText) }

    /// Returns the value of a column. A column of an optional type is `nil` if it is null or absent.
    ///
    /// - Throws: ``StoreError``, with table, column, and identifier: code ``StoreError/Code/unreadableRecord`` if the
    ///   value is null or absent and `T` is not an optional, or if `T` cannot hold it; code
    ///   ``StoreError/Code/schemaMismatch`` if the table does not define the column.
    @inlinable
    @inline(__always)
    public mutating func read<T: ColumnValue>(_ column: Column<T>) throws -> T {
        guard let index = positions.position(of: column.name, in: view.shape) else { throw undefined(column.name) }
        return try value(at: index)
    }

    /// Returns the value of a column, or a default value if the column is null or absent.
    ///
    /// - Throws: As ``read(_:)``, except for null.
    @inlinable
    public mutating func read<T: ColumnValue>(
        _ column: Column<T>, default defaultValue: @autoclosure () throws -> T
    ) throws -> T {
        guard let index = positions.position(of: column.name, in: view.shape) else { throw undefined(column.name) }
        if view.isNull(at: index) { return try defaultValue() }
        return try value(at: index)
    }

    /// Returns the value of a column, or a substitute if `T` cannot hold it, as a case of an enumeration that only a
    /// later version of the app has.
    ///
    /// - Throws: As ``read(_:)``, except for a value that `T` cannot hold.
    @inlinable
    public mutating func read<T: ColumnValue>(
        _ column: Column<T>, unknown substitute: @autoclosure () throws -> T
    ) throws -> T {
        guard let index = positions.position(of: column.name, in: view.shape) else { throw undefined(column.name) }
        if let value = T.readColumn(view, at: index) { return value }
        return view.isNull(at: index) ? try value(at: index) : try substitute()
    }

    /// Returns the value of a column, a default value if the column is null or absent, or a substitute if `T` cannot
    /// hold it.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` if the table does not define the column.
    @inlinable
    public mutating func read<T: ColumnValue>(
        _ column: Column<T>, default defaultValue: @autoclosure () throws -> T,
        unknown substitute: @autoclosure () throws -> T
    ) throws -> T {
        guard let index = positions.position(of: column.name, in: view.shape) else { throw undefined(column.name) }
        if view.isNull(at: index) { return try defaultValue() }
        return try T.readColumn(view, at: index) ?? substitute()
    }

    @inlinable
    @inline(__always)
    mutating func value<T: ColumnValue>(at index: Int) throws -> T {
        guard let value = T.readColumn(view, at: index) else { throw unreadable(T.self, at: index) }
        return value
    }

    // The errors are made by mutating functions, because the compiler copies a reader that it passes to others.

    @usableFromInline
    mutating func undefined(_ column: String) -> StoreError {
        .undefinedColumn(column, of: view.shape, id: view.idText)
    }

    @usableFromInline
    mutating func unreadable<T: ColumnValue>(_ type: T.Type, at index: Int) -> StoreError {
        var failure = StoreError(
            .unreadableRecord, "", table: view.shape.table, column: view.shape.columns[index].name, id: view.idText)
        guard let value = view.value(at: index), let found = value.type else {
            failure.message =
                "the row has no value for this column; make the property of type \(type) optional, or give it a default"
            return failure
        }
        failure.message = "the value \(value) of type \(found.rawValue) is not a valid \(type)"
        if case .json(let text) = value, let type = type as? any Decodable.Type {
            do {
                _ = try NestedJSON.decode(type, from: text)
            } catch {
                failure.cause = error
            }
        }
        return failure
    }
}
