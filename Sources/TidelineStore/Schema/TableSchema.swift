/// The definition of a table: its columns with their types, its key, its indexes, its references.
///
/// ```swift
/// let items = TableSchema("TodoItem", columns: [
///     .string("text"), .bool("complete"), .timestamp("due"),
/// ], indexes: [["complete", "due"]])
/// ```
///
/// Every table has a column `id`, its primary key, which is not listed. The columns that the server makes
/// (`createdAt`, `updatedAt`, `version`, `deleted`) are named by ``systemColumns``; they are columns like others to a
/// store and to a query.
public struct TableSchema: Sendable, Hashable, Codable {
    /// The name of the table.
    public var name: String
    /// The columns of the app, without `id` and without the system columns.
    public var columns: [ColumnSchema]
    /// The columns made by the server that this table keeps.
    public var systemColumns: SystemColumns
    /// The type of `id`.
    public var idType: IDType
    /// How textual ids compare.
    public var idMatching: IDMatching
    /// Indexes that the store keeps for queries.
    public var indexes: [IndexSchema]
    /// Columns that hold the ids of rows in other tables.
    public var references: [Reference]
    /// Whether the table belongs to the framework and is hidden from the app's list of tables.
    public var isSystem: Bool

    /// Makes a definition; see the properties for what each parameter means. Nothing is checked until
    /// ``validate()``, which ``LocalStore/define(_:)`` calls.
    public init(
        _ name: String, columns: [ColumnSchema], systemColumns: SystemColumns = .standard, idType: IDType = .string,
        idMatching: IDMatching = .asciiCaseInsensitive, indexes: [IndexSchema] = [], references: [Reference] = [],
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

    /// All columns but `id`: those of the app in their order, then the system columns.
    public var allColumns: [ColumnSchema] { columns + systemColumns.columns }

    /// The column of that name, `id` included, or nil.
    public func column(_ name: String) -> ColumnSchema? {
        if name == "id" { return ColumnSchema("id", idType == .int ? .int : .string, isOptional: false) }
        return columns.first { $0.name.isSameBytes(as: name) }
            ?? systemColumns.columns.first { $0.name.isSameBytes(as: name) }
    }

    /// The shape of this table's rows: what ``PackedRows`` for this table are made with.
    public func makeShape() -> RowShape { RowShape(table: name, idType: idType, columns: allColumns) }
}

/// The definition of one column.
public struct ColumnSchema: Sendable, Hashable, Codable {
    /// The name: 1 to 128 characters, no control characters, not beginning with `__`, not `id`.
    public var name: String
    /// The type of its values.
    public var type: ColumnType
    /// Whether it may be null. A column that may not must be named in every insert.
    public var isOptional: Bool

    /// A column of that name and type.
    public init(_ name: String, _ type: ColumnType, isOptional: Bool = true) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
    }

    /// A column of truth values.
    public static func bool(_ name: String, optional: Bool = true) -> Self { .init(name, .bool, isOptional: optional) }
    /// A column of 64-bit integers.
    public static func int(_ name: String, optional: Bool = true) -> Self { .init(name, .int, isOptional: optional) }
    /// A column of doubles.
    public static func double(_ name: String, optional: Bool = true) -> Self {
        .init(name, .double, isOptional: optional)
    }
    /// A column of text.
    public static func string(_ name: String, optional: Bool = true) -> Self {
        .init(name, .string, isOptional: optional)
    }
    /// A column of instants.
    public static func timestamp(_ name: String, optional: Bool = true) -> Self {
        .init(name, .timestamp, isOptional: optional)
    }
    /// A column of bytes.
    public static func bytes(_ name: String, optional: Bool = true) -> Self {
        .init(name, .bytes, isOptional: optional)
    }
    /// A column of JSON arrays and objects.
    public static func json(_ name: String, optional: Bool = true) -> Self { .init(name, .json, isOptional: optional) }
}

/// The columns that the remote table service makes and the client only reads.
public struct SystemColumns: OptionSet, Sendable, Hashable, Codable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// When the server first stored the row.
    public static let createdAt = SystemColumns(rawValue: 1)
    /// When the server last changed the row; what an incremental pull goes by.
    public static let updatedAt = SystemColumns(rawValue: 2)
    /// The opaque version that optimistic concurrency compares.
    public static let version = SystemColumns(rawValue: 4)
    /// Whether the row is a tombstone; kept by servers, not by clients, whose pull removes such rows.
    public static let deleted = SystemColumns(rawValue: 8)

    /// What a client's table keeps: ``createdAt``, ``updatedAt``, ``version``.
    public static let standard: SystemColumns = [.createdAt, .updatedAt, .version]
    /// All four; what a server's table keeps.
    public static let all: SystemColumns = [.createdAt, .updatedAt, .version, .deleted]
    /// The names of all four, whether or not a table keeps them.
    public static let names: [String] = ["createdAt", "updatedAt", "version", "deleted"]

    /// The definitions of the columns in this set, in the order createdAt, updatedAt, version, deleted.
    public var columns: [ColumnSchema] {
        var columns: [ColumnSchema] = []
        if contains(.createdAt) { columns.append(.timestamp("createdAt")) }
        if contains(.updatedAt) { columns.append(.timestamp("updatedAt")) }
        if contains(.version) { columns.append(.string("version")) }
        if contains(.deleted) { columns.append(.bool("deleted")) }
        return columns
    }
}

/// An index over one or more columns of a table, ascending, nulls first, ties by id.
public struct IndexSchema: Sendable, Hashable, Codable, ExpressibleByArrayLiteral {
    /// The columns, the most significant first; `id` may be among them.
    public var columns: [String]

    /// An index over these columns.
    public init(_ columns: [String]) { self.columns = columns }
    public init(arrayLiteral elements: String...) { columns = elements }
}

/// A declaration that a column holds the id of a row in another table.
public struct Reference: Sendable, Hashable, Codable {
    /// The column in this table.
    public var column: String
    /// The table whose ids it holds.
    public var table: String

    /// `column` of this table holds ids of `table`.
    public init(column: String, table: String) {
        self.column = column
        self.table = table
    }
}
