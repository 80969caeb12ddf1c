internal import TidelineStore

/// Compiles a query to one statement.
struct CompiledQuery {
    let sql: String
    let parameters: [Value]
}

extension StoredTable {
    /// The query's rows, with `columns` (a list of SQL) of each.
    func select(_ columns: String, for query: Query) throws(StoreError) -> CompiledQuery {
        var compiler = PredicateCompiler(self)
        var sql = "SELECT \(columns) FROM \(schema.name.sqlName)"
        sql += try Self.filter(query, &compiler) + orderBy(query.order)
        var parameters = compiler.parameters
        if query.isWindow {
            parameters += query.windowParameters
            sql += " LIMIT ?\(parameters.count - 1) OFFSET ?\(parameters.count)"
        }
        return CompiledQuery(sql: sql, parameters: parameters)
    }

    /// How many rows match the query's predicate.
    func selectCount(_ query: Query) throws(StoreError) -> CompiledQuery {
        try unordered("SELECT count(*)", query)
    }

    /// Deletes the query's rows.
    func delete(_ query: Query) throws(StoreError) -> CompiledQuery {
        guard query.isWindow else { return try unordered("DELETE", query) }
        let window = try select("\"id\"", for: query)
        return CompiledQuery(
            sql: "DELETE FROM \(schema.name.sqlName) WHERE \"id\" IN (\(window.sql))", parameters: window.parameters)
    }

    private func unordered(_ verb: String, _ query: Query) throws(StoreError) -> CompiledQuery {
        var compiler = PredicateCompiler(self)
        let sql = "\(verb) FROM \(schema.name.sqlName)" + (try Self.filter(query, &compiler))
        return CompiledQuery(sql: sql, parameters: compiler.parameters)
    }

    private static func filter(_ query: Query, _ compiler: inout PredicateCompiler) throws(StoreError) -> String {
        guard let predicate = query.predicate else { return "" }
        return " WHERE \(try compiler.compile(predicate))"
    }

    /// Ties come by id, which is unique: what follows it decides nothing.
    private func orderBy(_ terms: [OrderTerm]) -> String {
        var keys = Array(terms.prefix { $0.column != "id" })
        keys.append(terms.first { $0.column == "id" } ?? OrderTerm("id"))
        let list = keys.map { $0.column.sqlName + ($0.isDescending ? " DESC" : "") }
        return " ORDER BY \(list.joined(separator: ", "))"
    }
}
