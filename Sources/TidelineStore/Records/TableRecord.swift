/// A Swift type whose values are the rows of one table.
///
/// The macro `@Table` of the product `TidelineMacros` writes the conformance. By hand, it names each column once, as a
/// typed ``Column`` in the type ``Columns``:
///
/// ```swift
/// struct TodoItem: TableRecord {
///     var id: ID<TodoItem> = .new
///     var text: String
///     var due: Date?
///     var complete = false
///
///     struct Columns: Sendable {
///         let text = Column<String>("text")
///         let due = Column<Date?>("due")
///         let complete = Column<Bool>("complete")
///     }
///     static let columns = Columns()
///     static let tableName = "TodoItem"
///     static let schema = TableSchema(
///         tableName,
///         columns: [.column(columns.text), .column(columns.due), .column(columns.complete, optional: true)])
/// }
///
/// extension TodoItem {
///     init(from row: inout RecordReader) throws {
///         id = row.id()
///         text = try row.read(Self.columns.text)
///         due = try row.read(Self.columns.due)
///         complete = try row.read(Self.columns.complete, default: false)
///     }
///
///     func write(to row: inout RecordWriter) throws {
///         try row.write(text, to: Self.columns.text)
///         try row.write(due, to: Self.columns.due)
///         try row.write(complete, to: Self.columns.complete)
///     }
/// }
/// ```
///
/// A column of an optional property, and one whose property has a default value, should be optional in the schema. Rows
/// from an older version of the app, or from a server that does not know the column, do not have a value for it.
public protocol TableRecord: Identifiable, Sendable where ID == TidelineStore.ID<Self> {
    /// The typed columns, as closures of queries receive them: `TodoItem.where { !$0.complete }`.
    associatedtype Columns: Sendable

    /// The columns.
    static var columns: Columns { get }

    /// The name of the table, locally and on the server.
    ///
    /// It is separate from ``schema``, so that the definitions of two tables can reference each other.
    static var tableName: String { get }

    /// The definition of the table.
    static var schema: TableSchema { get }

    /// Creates a record from a row.
    ///
    /// Read every column with the methods of `row`, in the same order for each row. The positions of the columns are
    /// then resolved once for all rows of a query. It is fastest to pass the values to the memberwise initializer, as
    /// `@Table` does: if the properties are set one by one, the compiler copies the record once more.
    /// - Throws: The errors of the reader's methods; rethrow them.
    init(from row: inout RecordReader) throws

    /// Writes each property to its column, except `id`.
    ///
    /// - Throws: The errors of the writer's methods; rethrow them.
    func write(to row: inout RecordWriter) throws
}

extension ColumnSchema {
    /// Creates a column from a typed column.
    ///
    /// - Parameters:
    ///   - column: The name and the type.
    ///   - optional: Whether the column may be null; by default, whether the type is an optional.
    public static func column<T>(_ column: Column<T>, optional: Bool? = nil) -> Self {
        .init(column.name, T.columnType, isOptional: optional ?? (T.self is any OptionalColumnValue.Type))
    }
}

extension ForeignKey {
    /// Creates a declaration that a column holds identifiers of another record's table.
    public init<Record: TableRecord>(_ column: Column<ID<Record>>) {
        self.init(column: column.name, table: Record.tableName)
    }

    /// Creates a declaration that an optional column holds identifiers of another record's table.
    public init<Record: TableRecord>(_ column: Column<ID<Record>?>) {
        self.init(column: column.name, table: Record.tableName)
    }
}

/// An optional of a column value.
private protocol OptionalColumnValue {}
extension Optional: OptionalColumnValue where Wrapped: ColumnValue {}
