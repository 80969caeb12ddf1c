internal import TidelineStore

/// The expected contents of a store, in plain Swift.
struct StoreModel: Sendable {
    /// The maximum length of an identifier.
    let maximumIDLength: Int
    private(set) var tables: [String: TableModel] = [:]

    init(maximumIDLength: Int) { self.maximumIDLength = maximumIDLength }

    /// The definitions, sorted by name.
    var schemas: [TableSchema] {
        let schemas = tables.values.map(\.schema)
        return schemas.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the rows of a table, sorted by identifier.
    func rows(_ table: String) -> [Row] { tables[table]?.rows ?? [] }

    /// Creates and evolves tables, all or none.
    mutating func define(_ schemas: [TableSchema]) throws(Refusal) {
        var copy = tables
        for schema in schemas {
            if copy[schema.name] == nil { copy[schema.name] = try TableModel(schema) }
            try copy[schema.name]?.evolve(to: schema)
        }
        tables = copy
    }

    /// Applies a change and returns its result.
    mutating func apply(_ change: Script.Change) throws(Refusal) -> Script.Result {
        guard let table = tables[change.table] else { throw Refusal(code: .noSuchTable) }
        switch change {
        case .upsert(let rows, let name), .attempt(let rows, let name):
            try tables[name]?.upsert(rows, maximumIDLength: maximumIDLength)
            return .done
        case .delete(let ids, let name): return .deletion(tables[name]?.delete(ids) ?? 0, ids)
        case .deleteMatching(let query):
            let ids = try table.answer(to: query).rows.compactMap(\.id)
            return .deletion(tables[query.table]?.delete(ids) ?? 0, ids)
        case .look(let query): return .answer(try table.answer(to: query))
        }
    }
}

extension Script {
    /// The result of a change that is not refused.
    enum Result {
        case done
        /// The number of deleted rows and the identifiers by which they can be deleted.
        case deletion(Int, [RowID])
        case answer(Answer)
    }
}

extension Script.Change {
    /// The table that the change concerns.
    var table: String {
        switch self {
        case .upsert(_, let table), .attempt(_, let table), .delete(_, let table): table
        case .deleteMatching(let query), .look(let query): query.table
        }
    }
}

/// A change that every store must refuse.
struct Refusal: Error {
    var code: StoreError.Code
}

/// The expected contents of a table, in plain Swift: values by column by identifier, including those of hidden columns.
struct TableModel: Sendable {
    private struct Entry {
        var id: RowID
        var values: [String: Value] = [:]
    }

    private(set) var schema: TableSchema
    /// The types of all columns that were ever defined.
    private var types: [String: ColumnType] = [:]
    private var entries: [[UInt8]: Entry] = [:]

    init(_ schema: TableSchema) throws(Refusal) {
        self.schema = schema
        try evolve(to: schema)
    }

    /// The rows sorted by identifier, each with all columns of the current definition.
    var rows: [Row] {
        let unordered = entries.values.map { entry in
            schema.allColumns.reduce(into: Row(id: entry.id)) { $0[$1.name] = entry.values[$1.name] ?? .null }
        }
        let found = try? Evaluator(schema: schema).result(of: TableQuery(schema.name), over: schema.packed(unordered))
            .rows
        return found ?? unordered
    }

    /// Applies another definition.
    mutating func evolve(to schema: TableSchema) throws(Refusal) {
        guard (try? schema.validate()) != nil, schema.idType == self.schema.idType,
            schema.idMatching == self.schema.idMatching,
            schema.allColumns.allSatisfy({ types[$0.name] ?? $0.type == $0.type })
        else { throw Refusal(code: .schemaMismatch) }
        for column in schema.allColumns { types[column.name] = column.type }
        self.schema = schema
    }

    /// Inserts or merges rows, all or none.
    mutating func upsert(_ rows: [Row], maximumIDLength: Int) throws(Refusal) {
        var copy = self
        for row in rows { try copy.upsert(row, maximumIDLength: maximumIDLength) }
        self = copy
    }

    /// - Returns: The number of deleted rows.
    mutating func delete(_ ids: [RowID]) -> Int {
        ids.count { entries.removeValue(forKey: key($0)) != nil }
    }

    /// Returns the answer to a query.
    func answer(to query: TableQuery) throws(Refusal) -> Answer {
        do {
            return try Answer.expected(query, schema, try schema.packed(rows))
        } catch {
            throw Refusal(code: (error as? StoreError)?.code ?? .unsupportedQuery)
        }
    }

    private mutating func upsert(_ row: Row, maximumIDLength: Int) throws(Refusal) {
        guard let id = row.id, id.type == schema.idType, !id.text.isEmpty,
            id.type == .int || id.text.unicodeScalars.count <= maximumIDLength
        else { throw Refusal(code: .invalidValue) }
        let key = key(id)
        let isNew = entries[key] == nil
        for (name, value) in row.values {
            guard let column = schema.allColumns.first(where: { $0.name == name }),
                value.isNull ? column.isOptional : value.type == column.type
            else { throw Refusal(code: .invalidValue) }
        }
        for column in schema.allColumns where isNew && !column.isOptional && row[column.name] == nil {
            throw Refusal(code: .invalidValue)
        }
        var entry = entries[key] ?? Entry(id: id)
        for (name, value) in row.values { entry.values[name] = value }
        entries[key] = entry
    }

    private func key(_ id: RowID) -> [UInt8] {
        switch id {
        case .string(let text):
            Array((schema.idMatching == .asciiCaseInsensitive ? text.asciiLowercased : text).utf8)
        // No text consists of these bytes, so a lookup by an identifier of the other type finds nothing.
        case .int(let number): [0xFF] + Array("\(number)".utf8)
        }
    }
}
