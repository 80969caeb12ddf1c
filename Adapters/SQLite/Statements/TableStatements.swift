internal import TidelineStore

/// The statements and queries that a connection keeps for one table.
final class TableStatements {
    let table: StoredTable
    /// The catalog in which the table was last found.
    var catalog: Catalog?
    /// The statements of ``StoredTable`` with the same names.
    let selectRow: KeptStatement
    let deleteRow: KeptStatement
    let upsertWholeRow: KeptStatement
    let upsertGroup: KeptStatement?
    /// The statements for rows that name only some columns, the most recently used at the end.
    private var upserts: [KeptUpsert] = []
    /// The most recently used queries, the latest at the end.
    private var queries: [KeptQuery] = []

    /// The shape of the last batch that had the table's columns.
    private var batch: RowShape?

    private static let maximumUpserts = 8
    private static let maximumQueries = 8

    init(_ table: StoredTable) {
        self.table = table
        selectRow = KeptStatement(table.selectRow)
        deleteRow = KeptStatement(table.deleteRow)
        upsertWholeRow = KeptStatement(table.upsertWholeRow)
        upsertGroup = table.upsertGroup.map { KeptStatement($0) }
    }

    func leave(to cache: StatementCache) {
        for statement in [selectRow, deleteRow, upsertWholeRow] { statement.leave(to: cache) }
        upsertGroup?.leave(to: cache)
        for query in queries { query.statement.leave(to: cache) }
        for upsert in upserts { upsert.statement.leave(to: cache) }
        queries = []
        upserts = []
    }

    // MARK: Upserts

    /// Returns whether a shape has the same columns as the table, in the same order. The result is kept for the next
    /// batch, which usually has the same shape.
    func hasColumns(of shape: RowShape) -> Bool {
        if let batch, batch === shape { return true }
        guard shape.hasSameColumns(as: table.shape) else { return false }
        batch = shape
        return true
    }

    /// Returns the statement for rows of the table's shape that name these columns, if it was used recently.
    func upsert(naming named: [Bool]) -> KeptUpsert? {
        guard let index = upserts.lastIndex(where: { $0.named == named }) else { return nil }
        return moveToEnd(index, of: &upserts)
    }

    func keep(_ upsert: KeptUpsert, evictingTo cache: StatementCache) {
        upserts.append(upsert)
        if upserts.count > Self.maximumUpserts { upserts.removeFirst().statement.leave(to: cache) }
    }

    // MARK: Queries

    /// Returns the compiled query and the values of its parameters. The query is compiled unless a recent one differs
    /// only in its values.
    func query(
        _ query: TableQuery, for purpose: KeptQuery.Purpose, evictingTo cache: StatementCache
    ) throws(StoreError) -> (query: KeptQuery, parameters: [Value]) {
        for index in queries.indices.reversed() {
            guard let parameters = queries[index].parameters(of: query, for: purpose) else { continue }
            return (moveToEnd(index, of: &queries), parameters)
        }
        try query.validate(against: table.schema)
        let (new, parameters) = try KeptQuery.compile(query, for: purpose, of: table)
        queries.append(new)
        if queries.count > Self.maximumQueries { queries.removeFirst().statement.leave(to: cache) }
        return (new, parameters)
    }

    private func moveToEnd<Element>(_ index: Int, of list: inout [Element]) -> Element {
        let element = list[index]
        if index != list.count - 1 { list.append(list.remove(at: index)) }
        return element
    }
}

/// The statement for rows that name the same columns.
final class KeptUpsert {
    let named: [Bool]
    let statement: KeptStatement
    /// A column that is not named but that a new row must name; with one, the statement only updates.
    let missing: String?

    init(named: [Bool], sql: String, missing: String?) {
        self.named = named
        statement = KeptStatement(sql)
        self.missing = missing
    }
}
