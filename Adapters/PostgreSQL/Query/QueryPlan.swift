internal import TidelineStore

/// A query compiled to SQL for as far as SQL has the evaluator's meaning, and the part that is evaluated in the
/// process.
struct QueryPlan {
    let table: StoredTable
    private let query: TableQuery
    /// The condition as a `WHERE` clause, or an empty string.
    private let condition: String
    private let parameters: Parameters
    /// The condition that is evaluated for the rows that SQL finds, on rows of ``residualColumns``.
    let residual: CompiledFilter?
    /// The positions of the columns that the residual predicate reads.
    let residualColumns: [Int]

    /// - Throws: The errors of ``TableQuery/validate(against:)``.
    init(_ query: TableQuery, _ table: StoredTable) throws(StoreError) {
        try table.evaluator.validate(query)
        self.table = table
        self.query = query
        var compiler = PredicateCompiler(table)
        let (sql, rest) = query.predicate.map { compiler.compile($0) } ?? (nil, [])
        condition = sql.map { " WHERE \($0)" } ?? ""
        parameters = compiler.parameters
        let residual = rest.count == 1 ? rest[0] : .and(rest)
        residualColumns = Set(residual.columnNames).compactMap { table.shape.index(of: $0) }.sorted()
        let shape = table.shape(of: residualColumns)
        self.residual = rest.isEmpty ? nil : try CompiledFilter(residual, of: table.evaluator, for: shape)
    }

    /// The window that SQL applies. If rows are left to be evaluated, the window applies to those that match.
    var window: Window { residual == nil ? Window(skip: query.skip, limit: query.limit) : Window() }

    /// The window that remains to be applied to the rows that match.
    var residualWindow: Window { residual == nil ? Window() : Window(skip: query.skip, limit: query.limit) }

    struct Window {
        var skip = 0
        var limit: Int?
    }

    struct Statement {
        var sql: String
        var parameters: Parameters
    }

    /// Returns a statement that selects the id and the columns at these positions, in the query's order if `isOrdered`.
    func select(_ columns: [Int], isOrdered: Bool, _ window: Window) -> Statement {
        var parameters = parameters
        let list = (["\"id\""] + columns.map { table.columns[$0].sqlName }).joined(separator: ", ")
        var sql = "SELECT \(list) FROM \(table.sqlName)\(condition)\(isOrdered ? orderBy : "")"
        if let limit = window.limit { sql += " LIMIT \(parameters.append(.int(Int64(limit)), as: .bigint))" }
        if window.skip > 0 { sql += " OFFSET \(parameters.append(.int(Int64(window.skip)), as: .bigint))" }
        return Statement(sql: sql, parameters: parameters)
    }

    var count: Statement {
        Statement(sql: "SELECT count(*) FROM \(table.sqlName)\(condition)", parameters: parameters)
    }

    var delete: Statement { Statement(sql: "DELETE FROM \(table.sqlName)\(condition)", parameters: parameters) }

    /// Orders ties by id. The id is unique, so any terms after it have no effect.
    private var orderBy: String {
        var keys: [String] = []
        for term in query.order {
            let direction = term.isDescending ? "DESC NULLS LAST" : "NULLS FIRST"
            guard term.column != "id", let index = table.shape.index(of: term.column) else {
                return Self.orderBy(keys + ["\(table.key)\(term.isDescending ? " DESC" : "")"])
            }
            let column = table.columns[index]
            // The order of the beginnings is that of an index.
            if let prefix = column.prefix { keys.append("\(prefix) \(direction)") }
            keys.append("\(column.sqlName) \(direction)")
        }
        return Self.orderBy(keys + [table.key])
    }

    private static func orderBy(_ keys: [String]) -> String { " ORDER BY \(keys.joined(separator: ", "))" }
}

extension StoredTable {
    /// Returns the shape of rows with the columns at these positions.
    func shape(of positions: [Int]) -> RowShape {
        positions.count == shape.count
            ? shape
            : RowShape(table: name, idType: schema.idType, columns: positions.map { shape.columns[$0] })
    }
}
