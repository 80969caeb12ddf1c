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
