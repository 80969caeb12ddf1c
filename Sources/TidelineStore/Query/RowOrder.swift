/// The order of a query's rows: its terms, then the identifier according to the table's matching.
public struct RowOrder: Sendable {
    private let terms: [(column: Int?, isDescending: Bool, isID: Bool)]
    private let foldsID: Bool

    /// The sort key of a row, to be compared with ``RowOrder/precedes(_:_:)`` of the order that created it.
    public struct Key: Sendable {
        fileprivate let values: [Value]
        fileprivate let id: Value

        /// The identifier of the row as identifiers of the table compare: equal for the same row only.
        package var identity: Value { id }
    }

    /// Creates the order for rows of `shape`.
    init(_ terms: [OrderTerm], schema: TableSchema, shape: RowShape) {
        self.terms = terms.map { (shape.index(of: $0.column), $0.isDescending, $0.column == "id") }
        foldsID = schema.foldsID
    }

    /// Returns the sort key of a row.
    public func key(of row: borrowing RowView) -> Key {
        let id = foldsID ? Value.string(row.idText.asciiLowercased) : row.id.value
        var values: [Value] = []
        values.reserveCapacity(terms.count)
        for term in terms {
            values.append(term.isID ? id : term.column.flatMap { row.value(at: $0) } ?? .null)
        }
        return Key(values: values, id: id)
    }

    /// Returns whether the row with key `a` is ordered before the row with key `b`.
    public func precedes(_ a: Key, _ b: Key) -> Bool {
        for (index, term) in terms.enumerated() {
            let ordering = Value.sortOrdering(a.values[index], b.values[index])
            if ordering != .equal { return ordering == (term.isDescending ? .greater : .less) }
        }
        return Value.sortOrdering(a.id, b.id) == .less
    }
}
