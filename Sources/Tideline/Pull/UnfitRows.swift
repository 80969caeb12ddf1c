internal import TidelineStore

/// The rows of a pull that the store rejects, so that the pull can skip them.
struct UnfitRows: Sendable {
    private let table: String
    /// The columns that must not be null, with their positions.
    private let required: [(index: Int, name: String)]
    /// The rows that the store rejected.
    private var refused: [RowID: SkippedRow] = [:]

    init(schema: TableSchema) {
        table = schema.name
        let shape = schema.makeShape()
        required = schema.columns.filter { !$0.isOptional }.compactMap { column in
            shape.index(of: column.name).map { ($0, column.name) }
        }
    }

    /// Whether all rows fit, as far as known.
    var isEmpty: Bool { required.isEmpty && refused.isEmpty }

    /// Records a row that the store rejected. Returns `false` if the error names no row or one that was already
    /// skipped.
    mutating func insert(_ error: SyncError) -> Bool {
        guard let id = error.id, let cause = error.cause as? StoreError, refused[.string(id)] == nil else {
            return false
        }
        refused[.string(id)] = SkippedRow(table: table, id: id, column: error.column, message: cause.message)
        return true
    }

    /// Returns the reason that the store rejects a row, or `nil` if it accepts the row.
    ///
    /// - Parameter isNew: Whether the row is not stored yet. A column that a new row does not name has no value.
    func misfit(_ view: borrowing RowView, isNew: Bool) -> SkippedRow? {
        for (index, name) in required {
            let tag = view.tag(at: index)
            guard tag == .null || isNew && tag == .absent else { continue }
            return SkippedRow(table: table, id: view.id, column: name, message: "the column must not be null")
        }
        return refused.isEmpty ? nil : refused[view.key]
    }
}
