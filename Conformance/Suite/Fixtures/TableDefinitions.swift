internal import TidelineStore

extension TableSchema {
    /// Returns a table called `t`, used by checks of definitions.
    static func t(
        _ columns: ColumnSchema..., systemColumns: SystemColumns = .standard, indexes: [IndexSchema] = []
    ) -> TableSchema {
        TableSchema("t", columns: columns, systemColumns: systemColumns, indexes: indexes)
    }
}

extension TableQuery {
    /// Returns queries that depend on one column: comparisons, null tests, membership, and both orders.
    static func about(_ column: String, like value: RowPredicate, in table: String = "t") -> [TableQuery] {
        let operand = RowPredicate.column(column)
        let conditions: [RowPredicate] = [
            operand == value, operand != value, .not(operand == value), operand < value, operand >= value,
            operand.isNull, operand.isNotNull, operand.isIn([.null]), operand == value || operand.isNull,
        ]
        let orders = [false, true].map { TableQuery(table).order(by: column, descending: $0) }
        return conditions.map { TableQuery(table, predicate: $0, includesTotalCount: true) } + orders
    }
}

extension CheckContext {
    /// Returns rows generated from the seed, with values that the store accepts.
    func randomRows(offset: Int = 0, nullShare: Double = 0.15) -> RandomRows {
        let values = RandomValues(
            includesNaN: capabilities.storesNaN, includesInfinity: capabilities.storesInfinity, nullShare: nullShare)
        return RandomRows(seed: seed &+ UInt64(offset), values: values)
    }

    /// Fails unless definitions are refused with an error that names the problem, and the previous ones stay.
    func expectRefused(
        _ tables: TableSchema..., by store: TracedStore, _ what: String, table: String? = nil, column: String? = nil
    ) throws {
        let before = try store.tables()
        try expectError(.schemaMismatch, what, table: table, column: column) { try store.define(tables) }
        try expect(store.tables(), is: before, "the definitions after this was refused: \(what)")
    }

    /// Fails unless the answers to queries equal the evaluator's in a read, in a write, and after reopening.
    ///
    /// - Parameter rows: All rows of the table; columns that they do not name are null.
    /// - Returns: The store that is open afterwards.
    @discardableResult
    func expectAnswers(
        _ queries: [TableQuery], in store: TracedStore, over rows: [Row], of schema: TableSchema, _ what: String = ""
    ) throws -> TracedStore {
        let packed = try schema.packed(schema.completing(rows))
        func compare(_ reader: some StoreReader, _ place: String) throws {
            let place = what.isEmpty ? place : "\(what), \(place)"
            for query in queries { try expect(query, in: reader, over: packed, of: schema, place) }
        }
        try store.read { try compare($0, "in a read") }
        try store.write { try compare($0, "in a write") }
        let reopened = try reopened(store)
        if reopened !== store { try reopened.read { try compare($0, "after reopening") } }
        return reopened
    }
}
