internal import TidelineStore

/// All table definitions in one snapshot of the database.
typealias Catalog = StoredTables<StoredTable>

/// A table as it is stored: its definition, and values derived from it once for all statements.
final class StoredTable: StoredTableType {
    let name: String
    let schema: TableSchema
    /// Columns that are no longer part of the definition. They stay in the table with their values.
    let retired: [ColumnSchema]
    /// The columns of a complete row.
    let shape: RowShape
    /// The columns of `shape` as optionals, for code that also handles columns that the table does not have.
    let everyColumn: [ColumnSchema?]
    /// For each column of `shape`, a bit mask of the raw values of the tags that it accepts.
    let acceptedTags: [UInt32]
    /// The SQL list of `id` and all columns, in the order of `shape`.
    let columnList: String
    /// Selects the row with a given id.
    let selectRow: String
    /// Deletes the row with a given id.
    let deleteRow: String
    /// Inserts a row that names every column, or updates the existing one.
    let upsertWholeRow: String
    /// Upserts ``groupSize`` such rows; `nil` if their values exceed the parameter limit of a statement.
    let upsertGroup: String?

    /// The number of rows in a group. Each row in a group takes a quarter less time than a single row, because SQLite
    /// starts and ends one statement for all of them. Larger groups gain little more.
    static let groupSize = 8
    /// The number of parameters that SQLite accepts at least, unless it was built with a lower limit than the default.
    private static let maximumGroupParameters = 999

    init(_ schema: TableSchema, retired: [ColumnSchema] = []) {
        name = schema.name
        self.schema = schema
        self.retired = retired
        shape = schema.makeShape()
        everyColumn = shape.columns.map(Optional.some)
        acceptedTags = shape.columns.map { UInt32(TagSet(storedIn: $0).rawValue) }
        columnList = Self.columnList(shape.columns)
        let table = schema.name.sqlName
        selectRow = "SELECT \(columnList) FROM \(table) WHERE \"id\" = ?1"
        deleteRow = "DELETE FROM \(table) WHERE \"id\" = ?1"
        let names = shape.columns.map(\.name.sqlName)
        upsertWholeRow = Self.upsert(names, into: table)
        let hasGroup = (names.count + 1) * Self.groupSize <= Self.maximumGroupParameters
        upsertGroup = hasGroup ? Self.upsert(names, into: table, rows: Self.groupSize) : nil
    }

    /// Returns the SQL list of `id` and these columns.
    static func columnList(_ columns: [ColumnSchema]) -> String {
        (["\"id\""] + columns.map(\.name.sqlName)).joined(separator: ", ")
    }

    /// Returns a statement that inserts a row with these columns, named in SQL, or updates the existing one.
    func upsert(_ names: [String]) -> String { Self.upsert(names, into: schema.name.sqlName) }

    /// Returns a statement that updates these columns, named in SQL, of the existing row. Without columns, its number
    /// of changes still shows whether the row exists.
    func update(_ names: [String]) -> String {
        let changes = names.enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: ", ")
        let list = names.isEmpty ? "\"id\" = \"id\"" : changes
        return "UPDATE \(schema.name.sqlName) SET \(list) WHERE \"id\" = ?1"
    }

    /// Several rows are inserted `OR FAIL`: to undo the rows before a rejected one, SQLite would copy every page that
    /// it changes. The caller rolls back the transaction instead.
    ///
    /// The table has an alias: `excluded` would be the table itself if that is its name.
    private static func upsert(_ names: [String], into table: String, rows: Int = 1) -> String {
        let list = (["\"id\""] + names).joined(separator: ", ")
        let row = "(\(Array(repeating: "?", count: names.count + 1).joined(separator: ", ")))"
        let values = Array(repeating: row, count: rows).joined(separator: ", ")
        let changes = names.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let action = names.isEmpty ? "NOTHING" : "UPDATE SET \(changes)"
        let verb = rows > 1 ? "INSERT OR FAIL INTO" : "INSERT INTO"
        return "\(verb) \(table) AS \"old\" (\(list)) VALUES \(values) ON CONFLICT (\"id\") DO \(action)"
    }
}

/// The definition of a table as stored in the table of definitions.
struct StoredDefinition: StoredTableDefinition {
    var schema: TableSchema
    var retired: [ColumnSchema]
}

extension String {
    /// The text as a quoted SQL identifier, whatever characters it contains.
    var sqlName: String { "\"\(replacingUTF8("\"", with: "\"\""))\"" }
}
