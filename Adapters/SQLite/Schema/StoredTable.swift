internal import TidelineStore

/// A table as it is stored: its definition, and what follows from it once for all statements.
final class StoredTable: Sendable {
    let name: String
    let schema: TableSchema
    /// Columns that the definition no longer names. They stay in the table with their values.
    let retired: [ColumnSchema]
    /// The columns of a row that is read in full.
    let shape: RowShape
    /// The columns of `shape`, for who may also meet some that the table does not have.
    let everyColumn: [ColumnSchema?]
    /// A bit for each raw value of a tag that a column of `shape` takes.
    let acceptedTags: [UInt32]
    /// The list of `id` and all columns, in the order of `shape`.
    let columnList: String
    /// The row of an id.
    let selectRow: String
    /// Deletes the row of an id.
    let deleteRow: String
    /// Inserts a row that names every column, or updates the one there is.
    let upsertWholeRow: String
    /// The same for so many rows as ``groupSize`` says; nil where their values are more than a statement takes.
    let upsertGroup: String?

    /// A row of a group takes a quarter less than one alone, as SQLite begins and ends one statement for all. Larger groups
    /// bring little more.
    static let groupSize = 8
    /// SQLite takes at least so many parameters, unless it was built for less than it is by default.
    private static let maximumGroupParameters = 999

    init(_ schema: TableSchema, retired: [ColumnSchema] = []) {
        name = schema.name
        self.schema = schema
        self.retired = retired
        shape = schema.makeShape()
        everyColumn = shape.columns.map(Optional.some)
        acceptedTags = shape.columns.map(Self.acceptedTags)
        columnList = Self.columnList(shape.columns)
        let table = schema.name.sqlName
        selectRow = "SELECT \(columnList) FROM \(table) WHERE \"id\" = ?1"
        deleteRow = "DELETE FROM \(table) WHERE \"id\" = ?1"
        let names = shape.columns.map(\.name.sqlName)
        upsertWholeRow = Self.upsert(names, into: table)
        let hasGroup = (names.count + 1) * Self.groupSize <= Self.maximumGroupParameters
        upsertGroup = hasGroup ? Self.upsert(names, into: table, rows: Self.groupSize) : nil
    }

    /// `id` and these columns, as a list of SQL.
    static func columnList(_ columns: [ColumnSchema]) -> String {
        (["\"id\""] + columns.map(\.name.sqlName)).joined(separator: ", ")
    }

    /// Inserts a row that names these columns, given as SQL, or updates the one there is.
    func upsert(_ names: [String]) -> String { Self.upsert(names, into: schema.name.sqlName) }

    /// Updates the row there is with these columns, given as SQL. Naming none, it still tells whether there is one.
    func update(_ names: [String]) -> String {
        let changes = names.enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
        let list = names.isEmpty ? "\"id\" = \"id\"" : changes
        return "UPDATE \(schema.name.sqlName) SET \(list) WHERE \"id\" = ?1"
    }

    /// Several rows `OR FAIL`: to take those before one that is refused back, SQLite would copy every page it changes. Who
    /// writes rolls the transaction back then.
    private static func upsert(_ names: [String], into table: String, rows: Int = 1) -> String {
        let list = (["\"id\""] + names).joined(separator: ", ")
        let row = "(\(Array(repeating: "?", count: names.count + 1).joined(separator: ", ")))"
        let values = Array(repeating: row, count: rows).joined(separator: ", ")
        let changes = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let action = names.isEmpty ? "NOTHING" : "UPDATE SET \(changes)"
        let verb = rows > 1 ? "INSERT OR FAIL INTO" : "INSERT INTO"
        return "\(verb) \(table) (\(list)) VALUES \(values) ON CONFLICT (\"id\") DO \(action)"
    }

    private static func acceptedTags(_ column: ColumnSchema) -> UInt32 {
        (0...RowTag.json.rawValue).compactMap(RowTag.init(rawValue:)).reduce(0) { tags, tag in
            let isAccepted = tag != .absent && tag.fits(column.type) && (tag != .null || column.isOptional)
            return isAccepted ? tags | 1 << UInt32(tag.rawValue) : tags
        }
    }

    /// Whether textual ids compare without regard to ASCII case.
    var foldsID: Bool { schema.idType == .string && schema.idMatching == .asciiCaseInsensitive }
}

/// What is written of a table into the table of definitions, as JSON.
struct StoredDefinition: Codable {
    var schema: TableSchema
    var retired: [ColumnSchema]
}
