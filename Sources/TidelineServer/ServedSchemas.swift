package import TidelineStore
internal import TidelineWire

/// The definitions of served tables.
package struct ServedSchemas: Sendable {
    /// Returns the column with the owner of a table's rows, or `nil`. All indexes begin with it.
    let owner: @Sendable (_ table: String) -> String?

    static func isServed(_ schema: TableSchema) -> Bool {
        !schema.isSystem && schema.systemColumns == .all && schema.idType == .string
    }

    /// Returns the definitions of tables merged with the existing ones: a column that was ever served remains. Includes
    /// other existing tables that need an index.
    ///
    /// - Parameter hasRows: Returns whether an existing table has rows.
    func merged(
        _ schemas: [TableSchema], over existing: [TableSchema], hasRows: (String) throws -> Bool
    ) throws -> [TableSchema] {
        let records = ServedTableRecord.schema.name
        let hasRecords = try existing.contains { $0.name == records } && hasRows(records)
        let definitions = try schemas.map { schema in
            guard schema.idType == .string else {
                throw StoreError(
                    .schemaMismatch, "the table protocol requires string ids", table: schema.name, column: "id")
            }
            let stored = try existing.first { $0.name == schema.name && !$0.isSystem }
                .map { try Self.requiring(schema, of: $0, hasRecords: hasRecords, hasRows: hasRows) }
            return served(try stored?.union(schema) ?? schema, keeping: [])
        }
        let others = existing.filter { table in
            owner(table.name) != nil && Self.isServed(table)
                && !definitions.contains { $0.name == table.name }
        }
        return definitions + others.map { served($0, keeping: []) }
    }

    /// Returns a stored definition with the columns that another one requires as required.
    ///
    /// A column that may be null is required only in a table that no service has served, such as one without rows that
    /// an interrupted restoration left.
    /// - Parameter hasRecords: Whether a service has recorded its tables in the store.
    /// - Throws: `StoreError` with code `schemaMismatch` for a required column in which the existing rows have, or may
    ///   have, nulls.
    private static func requiring(
        _ schema: TableSchema, of stored: TableSchema, hasRecords: Bool, hasRows: (String) throws -> Bool
    ) throws -> TableSchema {
        var result = stored
        for column in schema.columns where !column.isOptional {
            let index = stored.columns.firstIndex { $0.name == column.name }
            if let index, !stored.columns[index].isOptional { continue }
            let isServed = index != nil && hasRecords
            guard try !isServed && !hasRows(stored.name) else {
                throw StoreError(
                    .schemaMismatch,
                    (index == nil ? "the column is new and the table has rows" : "the column exists and may be null")
                        + ", so it cannot be required; define it without the requirement",
                    table: schema.name, column: column.name)
            }
            if let index { result.columns[index].isOptional = false }
        }
        return result
    }

    /// Returns the definition with further columns, all system columns, and the indexes that pulls use.
    func served(_ schema: TableSchema, keeping columns: [ColumnSchema]) -> TableSchema {
        var served = schema
        let names = Set(schema.allColumns.map(\.name))
        served.columns += columns.filter { !names.contains($0.name) }
        served.systemColumns = .all
        if !served.indexes.contains(where: { $0.columns.first == "updatedAt" }) {
            served.indexes.append(["updatedAt"])
        }
        return ownerFirst(served)
    }

    /// Returns the definition with indexes that begin with the owner, if the rows have one: a query of a user then
    /// never walks through the rows of others.
    func ownerFirst(_ schema: TableSchema) -> TableSchema {
        guard let owner = owner(schema.name), schema.column(owner)?.type == .string else { return schema }
        var result = schema
        result.indexes = []
        for index in schema.indexes {
            let index = IndexSchema([owner] + index.columns.filter { $0 != owner })
            if !result.indexes.contains(index) { result.indexes.append(index) }
        }
        return result
    }

    // MARK: Changes

    /// Returns the changes that a service makes to a store when it is created, each as a line of text.
    ///
    /// - Parameters:
    ///   - options: The options of the service.
    ///   - existing: All tables of the store; none if it does not exist.
    ///   - hasRows: Returns whether one of these tables has rows.
    /// - Throws: The errors of creating the service.
    package static func changes(
        by options: TableServiceOptions, over existing: [TableSchema] = [],
        hasRows: (String) throws -> Bool = { _ in false }
    ) throws -> [String] {
        try StoreRole.requireServer(existing)
        let definitions = try options.servedSchemas.merged(options.schemas, over: existing, hasRows: hasRows)
        try options.validateRights(of: definitions + existing.filter(isServed))
        let checked = try TableEvolution.checked(
            definitions + [ServedTableRecord.schema], beside: existing.map(\.name))
        return try checked.dropLast().flatMap { definition -> [String] in
            guard let stored = existing.first(where: { $0.name == definition.name }) else {
                return [creation(of: definition)]
            }
            _ = try TableEvolution(from: stored, retired: [], to: definition)
            return changes(from: stored, to: definition)
        }
    }

    private static func creation(of schema: TableSchema) -> String {
        let parts =
            schema.columns.map { "\($0.name) \(typeText($0))" }
            + schema.indexes.map { "index on \($0.columns.joined(separator: ", "))" }
        return "create table \(schema.name.debugDescription): \(parts.joined(separator: "; "))"
    }

    private static func typeText(_ column: ColumnSchema) -> String {
        column.type.rawValue + (column.isOptional ? "" : ", required")
    }

    private static func changes(from stored: TableSchema, to schema: TableSchema) -> [String] {
        let table = "table \(schema.name.debugDescription): "
        let columns = schema.allColumns.compactMap { column -> String? in
            let name = "column \(column.name.debugDescription)"
            guard let known = stored.column(column.name) else { return "add \(name), \(typeText(column))" }
            guard known.isOptional != column.isOptional else { return nil }
            return name + (column.isOptional ? " may be null" : " is required") + " from now on"
        }
        let indexes = schema.indexes.filter { !stored.indexes.contains($0) }
            .map { "add an index on \($0.columns.joined(separator: ", "))" }
        let references = schema.references.filter { !stored.references.contains($0) }
            .map { "column \($0.column.debugDescription) refers to table \($0.table.debugDescription)" }
        return (columns + indexes + references).map { table + $0 }
    }
}

extension LocalStore {
    /// Returns whether a table has rows.
    package func hasRows(in table: String) throws -> Bool {
        try read { reader in
            var hasRows = false
            try reader.scan(TableQuery(table).limit(1)) { _ in
                hasRows = true
                return .stop
            }
            return hasRows
        }
    }
}
