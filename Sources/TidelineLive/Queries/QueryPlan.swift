internal import TidelineStore

/// A live query compiled for the rows of its table.
struct QueryPlan: Sendable {
    /// The condition under which the query is filed.
    let condition: IndexedCondition
    let order: RowOrder
    private let filter: CompiledFilter?
    /// The columns of the result, or `nil` for all.
    private let selection: [(name: String, position: Int?)]?

    /// Compiles a query.
    ///
    /// - Throws: The errors of ``TableQuery/validate(against:)``.
    init(_ query: TableQuery, _ definition: ObservedDefinition) throws(StoreError) {
        let (evaluator, shape) = (definition.evaluator, definition.shape)
        try evaluator.validate(query)
        if let predicate = query.predicate {
            filter = try CompiledFilter(predicate, of: evaluator, for: shape)
        } else {
            filter = nil
        }
        condition = IndexedCondition(query.predicate, in: evaluator)
        order = evaluator.order(query.order, for: shape)
        selection = query.selection.map { _ in
            query.resultColumns(of: definition.schema).map { ($0.name, shape.index(of: $0.name)) }
        }
    }

    /// Whether the result lacks columns of the table.
    var selects: Bool { selection != nil }

    func matches(_ row: borrowing RowView) throws(StoreError) -> Bool { try filter?.matches(row) ?? true }

    /// Returns the row with its place in the result.
    func entry(of row: borrowing RowView) -> KeyedList<Row>.Entry {
        let result = self.row(row)
        return .init(key: order.key(of: row), element: result, fingerprint: result.fingerprint)
    }

    /// Returns the row with the columns of the result.
    private func row(_ view: borrowing RowView) -> Row {
        guard let selection else { return view.owned() }
        return Row(view, columns: selection)
    }
}

/// The definition of a table under observation.
struct ObservedDefinition: Sendable {
    let schema: TableSchema
    let evaluator: Evaluator
    /// The columns of the recorded rows.
    let shape: RowShape
    /// The shape with which the store answered, which it usually returns until the definition changes.
    private let storeShape: RowShape

    init(of table: String, in reader: some StoreReader) throws {
        schema = try reader.schema(of: table)
        evaluator = Evaluator(schema: schema)
        storeShape = try reader.shape(of: table)
        shape = schema.makeShape()
    }

    /// Returns whether the table still has this definition.
    func isCurrent(in reader: some StoreReader) throws -> Bool {
        if try reader.shape(of: schema.name) === storeShape { return true }
        return try reader.schema(of: schema.name).allColumns == schema.allColumns
    }
}
