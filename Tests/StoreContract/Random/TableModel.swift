import TidelineStore

/// What a table of a store must hold, in plain Swift: values by column by id, of columns out of sight, too.
struct TableModel {
    /// A step that every store must refuse.
    struct Refusal: Error { var code: StoreError.Code }

    private struct Entry {
        var id: RowID
        var values: [String: Value] = [:]
    }

    private(set) var schema: TableSchema?
    private var entries: [[UInt8]: Entry] = [:]

    /// The rows, each with all columns of the definition there is.
    var rows: [Row] {
        guard let schema else { return [] }
        return entries.values.map { entry in
            schema.allColumns.reduce(into: Row(id: entry.id)) { $0[$1.name] = entry.values[$1.name] ?? .null }
        }
    }

    /// Scripts give a column one type for ever, so that every definition fits.
    mutating func define(_ schema: TableSchema) { self.schema = schema }

    /// - Returns: How many rows a deletion deleted.
    mutating func apply(_ change: Script.Change) throws -> Int? {
        guard let schema else { throw Refusal(code: .noSuchTable) }
        switch change {
        case .upsert(let rows):
            for row in rows { try upsert(row, schema) }
            return nil
        case .delete(let ids):
            return ids.count { entries.removeValue(forKey: key($0, schema)) != nil }
        case .deleteMatching(let query):
            let packed = try schema.packed(rows)
            let found: [Row]
            do {
                found = try Evaluator(schema: schema).result(of: query, over: packed).rows
            } catch {
                throw Refusal(code: error.code)
            }
            for id in found.compactMap(\.key) { entries[key(id, schema)] = nil }
            return found.count
        }
    }

    private mutating func upsert(_ row: Row, _ schema: TableSchema) throws {
        guard let id = row.key else { throw Refusal(code: .invalidValue) }
        let key = key(id, schema)
        let isNew = entries[key] == nil
        for (name, value) in row.values {
            guard let column = schema.allColumns.first(where: { $0.name == name }),
                value.isNull ? column.isOptional : value.type == column.type
            else { throw Refusal(code: .invalidValue) }
        }
        for column in schema.allColumns where isNew && !column.isOptional && row[column.name] == nil {
            throw Refusal(code: .invalidValue)
        }
        for (name, value) in row.values { entries[key, default: Entry(id: id)].values[name] = value }
        if isNew, row.isEmpty { entries[key] = Entry(id: id) }
    }

    private func key(_ id: RowID, _ schema: TableSchema) -> [UInt8] {
        switch id {
        case .string(let text):
            Array((schema.idMatching == .asciiCaseInsensitive ? text.asciiLowercased : text).utf8)
        case .int(let number): Array("\(number)".utf8)
        }
    }
}
