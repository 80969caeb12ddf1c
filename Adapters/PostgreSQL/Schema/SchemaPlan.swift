internal import TidelineStore

/// The statements and definitions that a call of `define` leads to.
struct SchemaPlan {
    private(set) var statements: [(sql: String, table: String)] = []
    private(set) var definitions: [StoredDefinition] = []
    private let namespace: String

    var isEmpty: Bool { definitions.isEmpty }

    /// - Throws: ``StoreError/Code/schemaMismatch``, naming table and column.
    init(defining schemas: [TableSchema], over catalog: Catalog, in namespace: String) throws(StoreError) {
        self.namespace = namespace
        let stored = catalog.schemas.map(\.name)
        let checked = try TableEvolution.checked(schemas, beside: stored)
        try Self.requireDistinct(stored + checked.map(\.name).filter { catalog.table(named: $0) == nil })
        for schema in checked {
            if let existing = catalog.table(named: schema.name) {
                try evolve(existing, to: schema)
            } else {
                try create(schema)
            }
        }
    }

    /// Checks that no two long names are stored under the same one.
    private static func requireDistinct(_ names: [String], in table: String? = nil) throws(StoreError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name.storedName).inserted {
            throw StoreError(
                .schemaMismatch, "PostgreSQL cannot distinguish the name from another one; choose another name",
                table: table ?? name, column: table == nil ? nil : name)
        }
    }

    private mutating func add(_ sql: String, _ schema: TableSchema) { statements.append((sql, schema.name)) }

    private func sqlName(_ schema: TableSchema) -> String { "\(namespace).\(schema.name.sqlName)" }

    // MARK: Tables

    private mutating func create(_ schema: TableSchema) throws(StoreError) {
        try requireRoom(for: schema.allColumns, in: schema)
        let prefixed = Self.indexedTexts(of: schema)
        var columns = [schema.foldsID ? "\"id\" text COLLATE \"C\" NOT NULL" : nil, Self.keyColumn(of: schema)]
            .compactMap { $0 }
        columns += schema.allColumns.map { Self.column($0.name.sqlName, $0.type) }
        columns += prefixed.map { Self.column(StoredColumn.prefix($0.name), $0.type) }
        add("CREATE TABLE \(sqlName(schema)) (\(columns.joined(separator: ", ")))", schema)
        for index in Self.indexes(of: schema) { add(index.creation(namespace), schema) }
        definitions.append(StoredDefinition(schema: schema, retired: [], prefixed: prefixed.map(\.name)))
    }

    private mutating func evolve(_ table: StoredTable, to schema: TableSchema) throws(StoreError) {
        guard table.schema != schema else { return }
        let evolution = try TableEvolution(from: table.schema, retired: table.definition.retired, to: schema)
        try requireRoom(for: schema.allColumns + evolution.retired, in: schema)
        for column in evolution.added {
            add("ALTER TABLE \(sqlName(schema)) ADD COLUMN \(Self.column(column.name.sqlName, column.type))", schema)
        }
        var prefixed = table.definition.prefixed
        for column in Self.indexedTexts(of: schema) where !prefixed.contains(column.name) {
            let prefix = StoredColumn.prefix(column.name)
            add("ALTER TABLE \(sqlName(schema)) ADD COLUMN \(Self.column(prefix, column.type))", schema)
            let name = column.name.sqlName
            add(
                "UPDATE \(sqlName(schema)) SET \(prefix) = \(StoredColumn.beginning(of: name)) WHERE \(name) IS NOT NULL",
                schema)
            prefixed.append(column.name)
        }
        let (before, after) = (Self.indexes(of: table.schema), Self.indexes(of: schema))
        for index in before where !after.contains(index) { add(index.removal(namespace), schema) }
        for index in after where !before.contains(index) { add(index.creation(namespace), schema) }
        definitions.append(StoredDefinition(schema: schema, retired: evolution.retired, prefixed: prefixed))
    }

    private func requireRoom(for columns: [ColumnSchema], in schema: TableSchema) throws(StoreError) {
        try Self.requireDistinct(columns.map(\.name), in: schema.name)
        let count = columns.count + Self.indexedTexts(of: schema).count
        guard count <= Self.maximumColumns else {
            throw StoreError(
                .schemaMismatch,
                "the table has \(count) columns, including retired ones; PostgreSQL allows \(Self.maximumColumns)",
                table: schema.name)
        }
    }

    /// PostgreSQL allows 1,600 columns in a table, two of which are the id and its folded form.
    private static let maximumColumns = 1_598

    // MARK: Columns

    private static func keyColumn(of schema: TableSchema) -> String {
        // The name of the index is explicit because PostgreSQL's would exclude a table of the same name.
        let name = "tideline_key_\(schema.name.nameHash)".sqlName
        let type = schema.idType == .int ? "bigint" : "text COLLATE \"C\""
        return "\(StoredTable.key(of: schema).sqlName) \(type) CONSTRAINT \(name) PRIMARY KEY"
    }

    /// Returns the SQL of a column. Never NOT NULL: a column that is added later is null in existing rows, optional or
    /// not.
    private static func column(_ name: String, _ type: ColumnType) -> String {
        let type = SQLType(type)
        return "\(name) \(type.name)\(type == .text ? " COLLATE \"C\"" : "")"
    }

    // MARK: Indexes

    private static func indexes(of schema: TableSchema) -> [StoredIndex] {
        schema.indexes.map { StoredIndex($0, of: schema) }.reduce(into: []) { distinct, index in
            if !distinct.contains(index) { distinct.append(index) }
        }
    }

    /// Returns the columns of which indexes contain only the beginning of each value.
    private static func indexedTexts(of schema: TableSchema) -> [ColumnSchema] {
        schema.allColumns.filter { column in
            StoredColumn.needsPrefix(column.type)
                && schema.indexes.contains { $0.columns.contains(column.name) }
        }
    }
}

/// An index as it is stored. Its name is a hash of its table and columns, so equal indexes have equal names.
private struct StoredIndex: Equatable {
    private let name: String
    private let table: String
    private let columns: String

    /// The number of columns that an index contains at most. With the beginnings of so many texts and the longest id,
    /// an entry is shorter than PostgreSQL's limit.
    private static let maximumColumns = 5

    init(_ index: IndexSchema, of schema: TableSchema) {
        let key = StoredTable.key(of: schema).sqlName
        var columns: [String] = []
        for name in index.columns.prefix(Self.maximumColumns) {
            guard name != "id", let column = schema.column(name) else { break }
            let sqlName = StoredColumn.needsPrefix(column.type) ? StoredColumn.prefix(name) : name.sqlName
            columns.append("\(sqlName) NULLS FIRST")
        }
        // Rows that are equal in an index are ordered by id.
        self.columns = (columns + [key]).joined(separator: ", ")
        table = schema.name.sqlName
        name = "tideline_index_\("\(table) (\(self.columns))".nameHash)".sqlName
    }

    func creation(_ namespace: String) -> String {
        "CREATE INDEX \(name) ON \(namespace).\(table) (\(columns))"
    }

    func removal(_ namespace: String) -> String { "DROP INDEX IF EXISTS \(namespace).\(name)" }
}
