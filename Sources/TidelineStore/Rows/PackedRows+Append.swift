extension PackedRows {
    /// Adds a row, finding its columns by name.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidValue``, naming table, column and id: the row has no
    ///   id or one of the wrong type, names a column that the shape lacks, or holds a value of another type than the
    ///   column. The batch stays as it was then.
    public mutating func append(_ row: Row) throws(StoreError) {
        guard let key = row.key else {
            throw StoreError(.invalidValue, "a row has no id", table: shape.table, column: "id")
        }
        guard key.type == shape.idType else {
            throw StoreError(
                .invalidValue, "the id must be of type \(shape.idType.rawValue)", table: shape.table, column: "id",
                id: key.text)
        }
        beginRow()
        do {
            try row.forEachColumn { (name, value) throws(StoreError) in
                try set(value, named: name, id: key)
            }
        } catch {
            cancelRow()
            throw error
        }
        setID(key)
        try endRow()
    }

    /// Adds a copy of a borrowed row, finding its columns by name unless the shapes are the same.
    ///
    /// - Throws: As ``append(_:)``.
    public mutating func append(copying view: borrowing RowView) throws(StoreError) {
        beginRow()
        let isSame = view.shape.hasSameColumns(as: shape)
        do {
            for index in 0..<view.shape.count {
                guard let value = view.value(at: index) else { continue }
                if isSame {
                    set(value, at: index)
                } else {
                    try set(value, named: view.shape.columns[index].name, id: view.key)
                }
            }
        } catch {
            cancelRow()
            throw error
        }
        view.withIDBytes { setID(bytes: $0) }
        try endRow()
    }

    private mutating func set(_ value: Value, named name: String, id: RowID) throws(StoreError) {
        guard let index = shape.index(of: name) else {
            throw StoreError(
                .invalidValue, "the table does not define this column", table: shape.table, column: name, id: id.text)
        }
        let column = shape.columns[index]
        guard value.isNull || value.type == column.type else {
            throw StoreError(
                .invalidValue,
                "the value \(value) does not fit a column of type \(column.type.rawValue)", table: shape.table,
                column: name, id: id.text)
        }
        set(value, at: index)
    }
}
