internal import Synchronization
internal import TidelineStore

/// All table definitions in one snapshot of the database.
typealias Catalog = StoredTables<StoredTable>

/// A table as it is stored: its definition, and values derived from it once for all statements.
final class StoredTable: StoredTableType {
    let definition: StoredDefinition
    var schema: TableSchema { definition.schema }
    var name: String { schema.name }
    /// The columns of a complete row.
    let shape: RowShape
    /// Checks queries of the table.
    let evaluator: Evaluator
    /// The table, with its schema, quoted.
    let sqlName: String
    /// The primary key, quoted: the id, or its form with folded case.
    let key: String
    /// The columns of `shape`.
    let columns: [StoredColumn]
    /// Selects the row with a given key.
    let selectRow: String

    /// The approximate size in bytes of large rows of the table. The first read assumes large ones.
    private let rowSize = Atomic<Int>(StoredTable.unknownRowSize)
    private static let unknownRowSize = 512 << 10

    init(_ definition: StoredDefinition, in namespace: String) {
        self.definition = definition
        let schema = definition.schema
        shape = schema.makeShape()
        evaluator = Evaluator(schema: schema)
        sqlName = "\(namespace).\(schema.name.sqlName)"
        key = Self.key(of: schema).sqlName
        columns = schema.allColumns.map { StoredColumn($0, in: definition) }
        let list = (["\"id\""] + columns.map(\.sqlName)).joined(separator: ", ")
        selectRow = "SELECT \(list) FROM \(sqlName) WHERE \(key) = $1"
    }

    /// Returns the name of the primary key.
    static func key(of schema: TableSchema) -> String { schema.foldsID ? "__key" : "id" }

    /// Records the size of rows that were read. Large ones are remembered over many reads of small ones.
    func note(_ rows: QueryRows) {
        guard rows.count > 0 else { return }
        let known = rowSize.load(ordering: .relaxed)
        let kept = known == Self.unknownRowSize ? 0 : known - known / 64
        rowSize.store(max(rows.byteCount / rows.count, kept), ordering: .relaxed)
    }

    /// Returns the number of rows to read at once so that they use about this number of bytes: from 1 to the limit.
    func rowCount(in bytes: Int, limit: Int) -> Int {
        min(max(bytes / max(rowSize.load(ordering: .relaxed), 1), 1), limit)
    }

    /// Returns the value that the primary key has for an id.
    func keyValue(_ id: RowID) -> Value {
        if case .string(let text) = id, schema.foldsID { .string(text.asciiLowercased) } else { id.value }
    }
}

/// A column as it is stored.
struct StoredColumn: Sendable {
    let schema: ColumnSchema
    /// The name, quoted.
    let sqlName: String
    /// The column with the beginning of each value, quoted, if an index contains it.
    ///
    /// An index of PostgreSQL cannot contain values of more than about 2,700 bytes.
    let prefix: String?

    init(_ schema: ColumnSchema, in definition: StoredDefinition) {
        self.schema = schema
        sqlName = schema.name.sqlName
        prefix = definition.prefixed.contains(schema.name) ? Self.prefix(schema.name) : nil
    }

    var type: SQLType { SQLType(schema.type) }

    /// Whether indexes contain only the beginning of the column's values.
    static func needsPrefix(_ type: ColumnType) -> Bool { [.text, .bytea].contains(SQLType(type)) }

    /// Returns the name of the column with the beginnings of a column's values, quoted.
    static func prefix(_ name: String) -> String { "__prefix_\(name)".sqlName }

    /// Returns the beginning of a value: characters of a text, bytes otherwise.
    static func beginning(of sql: String) -> String { "substr(\(sql), 1, \(prefixLength))" }

    private static let prefixLength = 64
}

/// The definition of a table as stored in the table of definitions.
struct StoredDefinition: StoredTableDefinition, Sendable {
    var schema: TableSchema
    var retired: [ColumnSchema]
    /// The names of the columns that have a column with the beginnings of their values. It stays without its index.
    var prefixed: [String]
}
