internal import TidelineStore

/// A table as it is stored: its definition, and what follows from it once for all statements.
final class StoredTable: Sendable {
    let schema: TableSchema
    /// Columns that the definition no longer names. They stay in the table with their values.
    let retired: [ColumnSchema]
    /// The columns of a row that is read in full.
    let shape: RowShape
    /// The list of `id` and all columns, in the order of `shape`.
    let columnList: String
    /// The row of an id.
    let selectRow: String
    /// Deletes the row of an id.
    let deleteRow: String

    init(_ schema: TableSchema, retired: [ColumnSchema] = []) {
        self.schema = schema
        self.retired = retired
        shape = schema.makeShape()
        columnList = Self.columnList(shape.columns)
        let name = schema.name.sqlName
        selectRow = "SELECT \(columnList) FROM \(name) WHERE \"id\" = ?1"
        deleteRow = "DELETE FROM \(name) WHERE \"id\" = ?1"
    }

    /// `id` and these columns, as a list of SQL.
    static func columnList(_ columns: [ColumnSchema]) -> String {
        (["\"id\""] + columns.map(\.name.sqlName)).joined(separator: ", ")
    }

    /// Whether textual ids compare without regard to ASCII case.
    var foldsID: Bool { schema.idType == .string && schema.idMatching == .asciiCaseInsensitive }
}

/// What is written of a table into the table of definitions, as JSON.
struct StoredDefinition: Codable {
    var schema: TableSchema
    var retired: [ColumnSchema]
}
