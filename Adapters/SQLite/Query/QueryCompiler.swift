internal import TidelineStore

/// A query compiled to one statement.
struct CompiledQuery {
    fileprivate(set) var sql: String
    let parameters: [Value]
    /// The index in the query's values of each parameter; `nil` if all parameters are in the query's order.
    let places: [Int]?

    /// - Parameters:
    ///   - places: The index in `values` of each parameter of the text.
    ///   - values: The query's values, in its order.
    init(sql: String, places: [Int], of values: [Value]) {
        self.sql = sql
        self.places = places.elementsEqual(values.indices) ? nil : places
        parameters = Self.arrange(values, self.places)
    }

    /// Returns the parameters for the values of a query with the same text.
    static func arrange(_ values: [Value], _ places: [Int]?) -> [Value] {
        places.map { $0.map { values[$0] } } ?? values
    }
}

extension StoredTable {
    /// Returns a statement for the query's rows, with `columns`, a list in SQL, of each.
    func select(_ columns: String, for query: TableQuery) throws(StoreError) -> CompiledQuery {
        try compile("SELECT \(columns)", query, end: orderBy(query.order), window: query.isWindow)
    }

    /// Returns a statement that counts the rows that match the query's predicate.
    func selectCount(_ query: TableQuery) throws(StoreError) -> CompiledQuery { try compile("SELECT count(*)", query) }

    /// Returns a statement that deletes the query's rows.
    func delete(_ query: TableQuery) throws(StoreError) -> CompiledQuery {
        guard query.isWindow else { return try compile("DELETE", query) }
        var rows = try select("\"id\"", for: query)
        rows.sql = "DELETE FROM \(schema.name.sqlName) WHERE \"id\" IN (\(rows.sql))"
        return rows
    }

    private func compile(
        _ verb: String, _ query: TableQuery, end: String = "", window: Bool = false
    ) throws(StoreError) -> CompiledQuery {
        var compiler = PredicateCompiler(self)
        var sql = "\(verb) FROM \(schema.name.sqlName)"
        var places: [Int] = []
        if let predicate = query.predicate {
            let condition = try compiler.compile(predicate)
            sql += " WHERE \(condition.text)"
            places = condition.places
        }
        sql += end
        guard window else { return CompiledQuery(sql: sql, places: places, of: compiler.values) }
        let values = compiler.values + query.windowParameters
        return CompiledQuery(
            sql: sql + " LIMIT ? OFFSET ?", places: places + values.indices.suffix(2), of: values)
    }

    /// Orders ties by id. The id is unique, so any terms after it have no effect.
    private func orderBy(_ terms: [OrderTerm]) -> String {
        var keys = Array(terms.prefix { $0.column != "id" })
        keys.append(terms.first { $0.column == "id" } ?? OrderTerm("id"))
        let list = keys.map { key in
            // A name may be in another normalization form than that of the definition.
            (schema.column(key.column)?.name ?? key.column).sqlName + (key.isDescending ? " DESC" : "")
        }
        return " ORDER BY \(list.joined(separator: ", "))"
    }
}

extension TableQuery {
    /// The parameters for limit and offset: a negative limit means no limit, and an offset requires a limit.
    var windowParameters: [Value] { [.int(Int64(limit ?? -1)), .int(Int64(skip))] }
}
