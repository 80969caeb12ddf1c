/// The positions of the columns that a record reads or writes, in the order in which it does so.
///
/// The first row of a shape looks each column up by its name. Each further row compares two words, which are those of the
/// same name unless the record reads its columns in another order.
struct ColumnPositions: Sendable {
    var known: [(name: String, index: Int)] = []
    var next = 0

    init() {}

    /// Returns the position of the next column, or `nil` if the shape has no column with this name.
    @inline(__always)
    mutating func position(of name: String, in shape: RowShape) -> Int? {
        let step = next
        next &+= 1
        if step < known.count, known[step].name.isRepresented(as: name) { return known[step].index }
        return resolve(name, at: step, in: shape)
    }

    mutating func resolve(_ name: String, at step: Int, in shape: RowShape) -> Int? {
        guard let index = shape.index(of: name) else { return nil }
        if step < known.count {
            known[step] = (name, index)
        } else if step == known.count {
            known.append((name, index))
        }
        return index
    }

    /// Forgets all positions, for rows of another shape.
    mutating func reset() { known.removeAll(keepingCapacity: true) }
}

extension StoreError {
    /// An error for a column that a record names and its table does not define.
    static func undefinedColumn(_ column: String, of shape: RowShape) -> StoreError {
        let names = shape.columns.map(\.name)
        let hint = closestName(to: column, among: names).map { "; did you mean \($0.debugDescription)?" }
        return StoreError(
            .schemaMismatch,
            "the table does not define this column; define the table with the record's schema" + (hint ?? ""),
            table: shape.table, column: column)
    }
}
