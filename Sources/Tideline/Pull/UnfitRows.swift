internal import TidelineStore

/// Which rows of a pull the store does not take, so that they can be left out.
struct UnfitRows: Sendable {
    private let table: String
    /// The columns that must have a value, and where.
    private let required: [(index: Int, name: String)]
    /// The rows that the store refused.
    private var refused: [RowID: SkippedRow] = [:]

    init(schema: TableSchema) {
        table = schema.name
        let shape = schema.makeShape()
        required = schema.columns.filter { !$0.isOptional }.compactMap { column in
            shape.index(of: column.name).map { ($0, column.name) }
        }
    }

    /// Whether every row fits, as far as is known.
    var isEmpty: Bool { required.isEmpty && refused.isEmpty }

    /// Takes note of a row that the store refused; false when the error names none, or one that was left out already.
    mutating func insert(_ error: SyncError) -> Bool {
        guard let id = error.id, let cause = error.cause as? StoreError, refused[.string(id)] == nil else {
            return false
        }
        refused[.string(id)] = SkippedRow(table: table, id: id, column: error.column, message: cause.message)
        return true
    }

    /// Why the store does not take a row; nil when it does.
    ///
    /// - Parameter isNew: Whether the row is not stored yet: then a column that it does not name has no value.
    func misfit(_ view: borrowing RowView, isNew: Bool) -> SkippedRow? {
        for (index, name) in required {
            let tag = view.tag(at: index)
            guard tag == .null || isNew && tag == .absent else { continue }
            return SkippedRow(table: table, id: view.id, column: name, message: "the column must not be null")
        }
        return refused.isEmpty ? nil : refused[view.key]
    }
}
