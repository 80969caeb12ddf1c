internal import TidelineStore

/// What a connection keeps ready for one table.
final class TableStatements {
    let table: StoredTable
    /// The definitions that the table was last found in.
    var catalog: Catalog?
    /// The row of an id.
    let selectRow: KeptStatement
    /// Deletes the row of an id.
    let deleteRow: KeptStatement
    /// Inserts a row that names every column, or updates the one there is.
    let upsertWholeRow: KeptStatement
    /// The same for ``StoredTable/groupSize`` rows.
    let upsertGroup: KeptStatement?
    /// Those for rows that name some columns only, the one used last at the end.
    private var upserts: [PartialUpsert.Variant] = []
    /// The queries asked last, the latest at the end.
    private var queries: [KeptQuery] = []

    private static let maximumUpserts = 8
    private static let maximumQueries = 8

    init(_ table: StoredTable) {
        self.table = table
        selectRow = KeptStatement(table.selectRow)
        deleteRow = KeptStatement(table.deleteRow)
        upsertWholeRow = KeptStatement(table.upsertWholeRow)
        upsertGroup = table.upsertGroup.map { KeptStatement($0) }
    }

    /// Gives all up.
    func leave(to connection: Connection) {
        for statement in [selectRow, deleteRow, upsertWholeRow] { statement.leave(to: connection) }
        upsertGroup?.leave(to: connection)
        for query in queries { query.statement.leave(to: connection) }
        for upsert in upserts { upsert.statement.leave(to: connection) }
        queries = []
        upserts = []
    }

    // MARK: Upserts

    /// The statement for rows of the table's shape that name these columns, if it was used lately.
    func upsert(naming named: [Bool]) -> PartialUpsert.Variant? {
        guard let index = upserts.lastIndex(where: { $0.named == named }) else { return nil }
        return moveToEnd(index, of: &upserts)
    }

    func keep(_ upsert: PartialUpsert.Variant, on connection: Connection) {
        upserts.append(upsert)
        if upserts.count > Self.maximumUpserts { upserts.removeFirst().statement.leave(to: connection) }
    }

    // MARK: Queries

    /// The query with its statement and the values of its parameters: compiled, unless one that differs only in its values
    /// was lately.
    func query(
        _ query: Query, for purpose: KeptQuery.Purpose, on connection: Connection
    ) throws(StoreError) -> (query: KeptQuery, parameters: [Value]) {
        for index in queries.indices.reversed() {
            guard let parameters = queries[index].parameters(of: query, for: purpose) else { continue }
            return (moveToEnd(index, of: &queries), parameters)
        }
        try query.validate(against: table.schema)
        let (new, parameters) = try KeptQuery.compile(query, for: purpose, of: table)
        queries.append(new)
        if queries.count > Self.maximumQueries { queries.removeFirst().statement.leave(to: connection) }
        return (new, parameters)
    }

    private func moveToEnd<Element>(_ index: Int, of list: inout [Element]) -> Element {
        let element = list[index]
        if index != list.count - 1 { list.append(list.remove(at: index)) }
        return element
    }
}
