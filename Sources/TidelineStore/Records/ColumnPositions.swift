/// The positions of the columns that a record reads or writes, in the order in which it does so.
///
/// A column that a record reads in the order of the table is where it is expected, which takes a comparison of two
/// words to see. Any other is looked up by its name in the first row of a shape, and compared likewise in each further
/// row.
@usableFromInline
struct ColumnPositions: Sendable {
    @usableFromInline var known: [(name: String, index: Int)] = []
    @usableFromInline var next = 0

    /// Returns the position of the next column, or `nil` if the shape has no column with this name.
    @inlinable
    @inline(__always)
    mutating func position(of name: String, in shape: RowShape) -> Int? {
        let step = next
        next &+= 1
        if step < shape.columns.count, shape.columns[step].name.isRepresented(as: name) { return step }
        if step < known.count, known[step].name.isRepresented(as: name) { return known[step].index }
        return resolve(name, at: step, in: shape)
    }

    @usableFromInline
    mutating func resolve(_ name: String, at step: Int, in shape: RowShape) -> Int? {
        guard let index = shape.index(of: name, guess: step) else { return nil }
        // Steps without an entry get one that is true of the shape.
        while step >= known.count { known.append((shape.columns[0].name, 0)) }
        known[step] = (name, index)
        return index
    }

    /// Forgets all positions, for rows of another shape.
    mutating func reset() { known.removeAll(keepingCapacity: true) }
}

extension StoreError {
    /// An error for a column that a record names and its table does not define.
    static func undefinedColumn(_ column: String, of shape: RowShape, id: String) -> StoreError {
        let names = shape.columns.map(\.name)
        let hint = closestName(to: column, among: names).map { "; did you mean \($0.debugDescription)?" }
        return StoreError(
            .schemaMismatch,
            "the table does not define this column; define the table with the record's schema" + (hint ?? ""),
            table: shape.table, column: column, id: id)
    }
}
