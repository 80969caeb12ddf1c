/// The definition of a table: its columns, primary key, indexes, and references.
///
/// ```swift
/// let items = TableSchema("TodoItem", columns: [
///     .string("text"), .bool("complete"), .timestamp("due"),
/// ], indexes: [["complete", "due"]])
/// ```
///
/// Every table has a column `id`, its primary key, which is not listed. The columns that the server maintains
/// (`createdAt`, `updatedAt`, `version`, `deleted`) are selected by ``systemColumns``. Stores and queries treat them
/// like any other column.
public struct TableSchema: Sendable, Hashable, Codable {
    /// The name of the table, in Unicode's normalization form C.
    public var name: String
    /// The app's columns, without `id` and without the system columns.
    public var columns: [ColumnSchema]
    /// The columns maintained by the server that this table keeps.
    public var systemColumns: SystemColumns
    /// The type of `id`.
    public var idType: IDType
    /// How string identifiers compare.
    public var idMatching: IDMatching
    /// The indexes that the store maintains for queries.
    public var indexes: [IndexSchema]
    /// The columns that hold identifiers of rows in other tables, or in this one.
    ///
    /// Stores keep them and do not enforce them. A sync client orders the requests of a push by them.
    public var references: [ForeignKey]
    /// Whether the table belongs to the framework and is hidden from the app's list of tables.
    public var isSystem: Bool

    /// Creates a definition from the properties of the same names.
    ///
    /// Nothing is checked until ``validate()``, which ``LocalStore/define(_:)`` calls.
    public init(
        _ name: String, columns: [ColumnSchema], systemColumns: SystemColumns = .standard, idType: IDType = .string,
        idMatching: IDMatching = .asciiCaseInsensitive, indexes: [IndexSchema] = [], references: [ForeignKey] = [],
        isSystem: Bool = false
    ) {
        self.name = name
        self.columns = columns
        self.systemColumns = systemColumns
        self.idType = idType
        self.idMatching = idMatching
        self.indexes = indexes
        self.references = references
        self.isSystem = isSystem
    }

    /// All columns except `id`: the app's columns in their order, then the system columns.
    public var allColumns: [ColumnSchema] { columns + systemColumns.columns }

    /// Returns the column with the given name, including `id`, or `nil` if there is none.
    public func column(_ name: String) -> ColumnSchema? {
        if name == "id" { return ColumnSchema("id", idType == .int ? .int : .string, isOptional: false) }
        return columns.first { $0.name == name } ?? systemColumns.columns.first { $0.name == name }
    }

    /// Whether string identifiers compare without regard to ASCII case.
    package var foldsID: Bool { idType == .string && idMatching == .asciiCaseInsensitive }

    /// Returns the shape of this table's rows, which is needed to create ``PackedRows`` for the table.
    public func makeShape() -> RowShape { RowShape(table: name, idType: idType, columns: allColumns) }
}

extension TableSchema {
    /// The type of a table's primary key.
    public enum IDType: String, Sendable, Hashable, Codable {
        /// A string, the only type in the wire protocol.
        case string
        /// A 64-bit integer in numeric order, for tables that never leave the device.
        case int
    }

    /// How a table's string identifiers compare.
    public enum IDMatching: String, Sendable, Hashable, Codable {
        /// `A` and `a` are the same identifier; all other characters differ. The form that was stored first is kept.
        /// This is the rule of the original SDKs.
        case asciiCaseInsensitive
        /// Byte for byte.
        case exact
    }
}

/// The definition of one column.
public struct ColumnSchema: Sendable, Hashable, Codable {
    /// The name: 1 to 128 Unicode scalars in Unicode's normalization form C, without control characters, not beginning
    /// with `__`, and not `id`.
    public var name: String
    /// The type of its values.
    public var type: ColumnType
    /// Whether the column may be null. Every insert must provide a value for a column that may not.
    public var isOptional: Bool

    /// Creates a column with the given name and type.
    public init(_ name: String, _ type: ColumnType, isOptional: Bool = true) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
    }

    /// Creates a column of Boolean values.
    public static func bool(_ name: String, optional: Bool = true) -> Self { .init(name, .bool, isOptional: optional) }
    /// Creates a column of 64-bit integers.
    public static func int(_ name: String, optional: Bool = true) -> Self { .init(name, .int, isOptional: optional) }
    /// Creates a column of doubles.
    public static func double(_ name: String, optional: Bool = true) -> Self {
        .init(name, .double, isOptional: optional)
    }
    /// Creates a column of text.
    public static func string(_ name: String, optional: Bool = true) -> Self {
        .init(name, .string, isOptional: optional)
    }
    /// Creates a column of timestamps.
    public static func timestamp(_ name: String, optional: Bool = true) -> Self {
        .init(name, .timestamp, isOptional: optional)
    }
    /// Creates a column of bytes.
    public static func bytes(_ name: String, optional: Bool = true) -> Self {
        .init(name, .bytes, isOptional: optional)
    }
    /// Creates a column of JSON arrays and objects.
    public static func json(_ name: String, optional: Bool = true) -> Self { .init(name, .json, isOptional: optional) }
}

/// The columns that the remote table service maintains and the client only reads.
public struct SystemColumns: OptionSet, Sendable, Hashable, Codable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The time at which the server first stored the row.
    public static let createdAt = SystemColumns(rawValue: 1)
    /// The time at which the server last changed the row, which incremental pulls are based on.
    public static let updatedAt = SystemColumns(rawValue: 2)
    /// The opaque version that optimistic concurrency control compares.
    public static let version = SystemColumns(rawValue: 4)
    /// Whether the row is a tombstone. Servers keep this column; clients do not, because a pull removes such rows.
    public static let deleted = SystemColumns(rawValue: 8)
    /// The columns of the server's row that the table does not define, as a JSON object in the column `__extra`.
    ///
    /// A client adds it to the tables of a server whose updates replace whole rows, and sends these columns back. It
    /// also contains the texts of defined columns that a server writes differently, such as `0.10`. It is null if the
    /// columns are not known.
    public static let extra = SystemColumns(rawValue: 16)

    /// The columns that a client's table keeps: ``createdAt``, ``updatedAt``, and ``version``.
    public static let standard: SystemColumns = [.createdAt, .updatedAt, .version]
    /// The four columns that a server's table keeps: all but ``extra``.
    public static let all: SystemColumns = [.createdAt, .updatedAt, .version, .deleted]
    /// The names of all system columns, whether or not a table keeps them.
    public static let names: [String] = ["createdAt", "updatedAt", "version", "deleted", "__extra"]

    /// Returns whether a name is that of a system column. Compares lengths first, because most names differ in
    /// it.
    package static func contains(name: String) -> Bool {
        let length = name.utf8.count
        return (length == 7 || length == 9) && names.contains(name)
    }

    /// The definitions of the columns in this set, in the order createdAt, updatedAt, version, deleted, `__extra`.
    public var columns: [ColumnSchema] {
        var columns: [ColumnSchema] = []
        if contains(.createdAt) { columns.append(.timestamp("createdAt")) }
        if contains(.updatedAt) { columns.append(.timestamp("updatedAt")) }
        if contains(.version) { columns.append(.string("version")) }
        if contains(.deleted) { columns.append(.bool("deleted")) }
        if contains(.extra) { columns.append(.json("__extra")) }
        return columns
    }
}

/// An index over one or more columns of a table, in ascending order, with nulls first and ties ordered by identifier.
public struct IndexSchema: Sendable, Hashable, Codable, ExpressibleByArrayLiteral {
    /// The columns, the most significant first. `id` may be one of them.
    public var columns: [String]

    /// Creates an index over the given columns.
    public init(_ columns: [String]) { self.columns = columns }
    public init(arrayLiteral elements: String...) { columns = elements }
}

/// A declaration that a column holds the identifier of a row in another table, or in its own.
public struct ForeignKey: Sendable, Hashable, Codable {
    /// The column in this table.
    public var column: String
    /// The table whose identifiers the column holds.
    public var table: String

    /// Creates a declaration that `column` of this table holds identifiers of `table`.
    public init(column: String, table: String) {
        self.column = column
        self.table = table
    }
}
