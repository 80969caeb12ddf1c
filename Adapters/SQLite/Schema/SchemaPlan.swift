internal import TidelineStore

/// The changes that lead from the existing tables to the requested ones. Making a plan changes nothing.
struct SchemaPlan {
    /// The SQL that changes tables and indexes, in order, each with the name of its table.
    private(set) var statements: [(sql: String, table: String)] = []
    /// The definitions to store afterwards.
    private(set) var definitions: [StoredDefinition] = []
    private let columnLimit: Int

    /// Whether all tables already match their requested definitions.
    var isEmpty: Bool { definitions.isEmpty }

    /// - Parameter columnLimit: The maximum number of columns in a table of the engine.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming table and column.
    init(defining schemas: [TableSchema], over catalog: Catalog, columnLimit: Int) throws(StoreError) {
        self.columnLimit = columnLimit
        for schema in try TableEvolution.checked(schemas, beside: catalog.schemas.map(\.name)) {
            if let existing = catalog.table(named: schema.name) {
                try evolve(existing, to: schema)
            } else {
                try create(schema)
            }
        }
    }

    private mutating func add(_ sql: String, _ schema: TableSchema) { statements.append((sql, schema.name)) }

    // MARK: Tables

    private mutating func create(_ schema: TableSchema) throws(StoreError) {
        try requireRoom(for: schema.allColumns.count, in: schema)
        let columns = [Self.keyColumn(of: schema)] + schema.allColumns.map(Self.column)
        add("CREATE TABLE \(schema.name.sqlName) (\(columns.joined(separator: ", ")))", schema)
        for index in Self.indexes(of: schema) { add(index.creation, schema) }
        definitions.append(StoredDefinition(schema: schema, retired: []))
    }

    private mutating func evolve(_ table: StoredTable, to schema: TableSchema) throws(StoreError) {
        guard table.schema != schema else { return }
        let evolution = try TableEvolution(from: table.schema, retired: table.retired, to: schema)
        for column in evolution.added {
            add("ALTER TABLE \(schema.name.sqlName) ADD COLUMN \(Self.column(column))", schema)
        }
        let retired = evolution.retired
        try requireRoom(for: schema.allColumns.count + retired.count, in: schema)
        let (before, after) = (Self.indexes(of: table.schema), Self.indexes(of: schema))
        for index in before where !after.contains(index) { add(index.removal, schema) }
        for index in after where !before.contains(index) { add(index.creation, schema) }
        definitions.append(StoredDefinition(schema: schema, retired: retired))
    }

    private func requireRoom(for columns: Int, in schema: TableSchema) throws(StoreError) {
        guard columns < columnLimit else {
            throw StoreError(
                .schemaMismatch,
                "the table has \(columns) columns, including retired ones; SQLite allows \(columnLimit - 1)",
                table: schema.name)
        }
    }

    // MARK: Columns

    private static func keyColumn(of schema: TableSchema) -> String {
        switch (schema.idType, schema.idMatching) {
        case (.int, _): "\"id\" INTEGER PRIMARY KEY"
        case (.string, .exact): "\"id\" TEXT NOT NULL PRIMARY KEY"
        case (.string, .asciiCaseInsensitive): "\"id\" TEXT NOT NULL COLLATE NOCASE PRIMARY KEY"
        }
    }

    /// Returns the SQL of a column. Never NOT NULL: a column that is added later is null in existing rows, optional or
    /// not.
    private static func column(_ column: ColumnSchema) -> String { "\(column.name.sqlName) \(typeName(column.type))" }

    /// Returns a type name whose affinity does not convert stored values. With numeric affinity, SQLite would store a
    /// double without a fraction as an integer and lose the sign of -0.0.
    private static func typeName(_ type: ColumnType) -> String {
        switch type {
        case .bool: "BOOLEAN"
        case .int: "INTEGER"
        case .double: "REAL BLOB"
        case .string: "TEXT"
        case .timestamp: "TIMESTAMP"
        case .bytes: "BLOB"
        case .json: "JSON TEXT"
        }
    }

    // MARK: Indexes

    private static func indexes(of schema: TableSchema) -> [StoredIndex] {
        schema.indexes.map { StoredIndex($0, of: schema) }.reduce(into: []) { distinct, index in
            if !distinct.contains(index) { distinct.append(index) }
        }
    }
}

/// An index as it is stored. Its name consists of its table and columns, so equal indexes have equal names.
private struct StoredIndex: Equatable {
    let creation: String
    let removal: String

    init(_ index: IndexSchema, of schema: TableSchema) {
        // Rows that are equal in an index are ordered by id. With the id in the index, SQLite does not have to sort.
        var columns = index.columns
        if !columns.contains("id") { columns.append("id") }
        let list = "\(schema.name.sqlName) (\(columns.map(\.sqlName).joined(separator: ", ")))"
        let name = "tideline_index_\(list)".sqlName
        creation = "CREATE INDEX \(name) ON \(list)"
        removal = "DROP INDEX IF EXISTS \(name)"
    }
}
