extension PackedRows {
    /// Appends a row. Columns are found by name unless the row was read from a table with the same columns.
    ///
    /// - Throws: ``StoreError/Code/invalidValue``, naming the table, column, and identifier, if the row has no
    ///   identifier or one of the wrong type, has a column that the shape lacks, or has a value that does not fit its
    ///   column. The batch is then unchanged.
    public mutating func append(_ row: Row) throws(StoreError) { try append(row, completing: false) }

    /// Appends a row as a store keeps it when it is new: the optional columns that it lacks are null.
    ///
    /// - Throws: The errors of ``append(_:)``.
    package mutating func append(completing row: Row) throws(StoreError) { try append(row, completing: true) }

    private mutating func append(_ row: Row, completing: Bool) throws(StoreError) {
        guard let key = row.id else {
            throw StoreError(.invalidValue, "a row has no id", table: shape.table, column: "id")
        }
        guard key.type == shape.idType else { throw wrongIDType(key) }
        if !completing, let (source, bytes) = row.packed, hasSameColumns(as: source) {
            unsafe bytes.withUnsafeBytes { bytes in unsafe key.withBytes { unsafe append(packed: bytes, id: $0) } }
            return
        }
        beginRow()
        let values = row.values
        var guess = 0
        do {
            for index in values.indices {
                guess = try set(values[index].value, named: values[index].name, guess: guess, id: key) + 1
            }
        } catch {
            cancelRow()
            throw error
        }
        if completing { completeRow() }
        setID(key)
        try endRow()
    }

    /// Sets the optional columns that are absent from the row under construction to null.
    package mutating func completeRow() {
        builder.skip(to: shape.count, end: buffer.count - builder.payloadStart)
        builder.nextIndex = shape.count
        for index in 0..<shape.count where builder.slots[index].tag == .absent && shape.columns[index].isOptional {
            builder.slots[index].tag = .null
        }
    }

    /// Appends a copy of a borrowed row. Columns are found by name unless the shapes are the same.
    ///
    /// - Throws: The errors of ``append(_:)``.
    public mutating func append(copying view: borrowing RowView) throws(StoreError) {
        guard view.shape.idType == shape.idType else { throw wrongIDType(view.id) }
        if hasSameColumns(as: view.shape) {
            unsafe view.withPackedBytes { bytes in unsafe view.withIDBytes { unsafe append(packed: bytes, id: $0) } }
            return
        }
        beginRow()
        do {
            for index in 0..<view.shape.count {
                guard let value = view.value(at: index) else { continue }
                _ = try set(value, named: view.shape.columns[index].name, guess: index, id: view.id)
            }
        } catch {
            cancelRow()
            throw error
        }
        unsafe view.withIDBytes { unsafe setID(bytes: $0) }
        try endRow()
    }

    /// Appends copies of successive rows of a batch with the same shape.
    package mutating func append(copying rows: borrowing PackedRows, _ range: Range<Int>) {
        precondition(rows.shape === shape && !builder.isOpen, "the rows do not have this shape, or a row is not ended")
        guard let first = rows.entries[range].first, let last = rows.entries[range].last else { return }
        let distance = buffer.count - first.rowOffset
        let end = last.idOffset + last.idLength
        unsafe buffer.append(rows.buffer[first.rowOffset, end - first.rowOffset])
        entries += rows.entries[range].lazy.map {
            Entry(
                rowOffset: $0.rowOffset + distance, rowLength: $0.rowLength, idOffset: $0.idOffset + distance,
                idLength: $0.idLength)
        }
    }

    private mutating func hasSameColumns(as other: RowShape) -> Bool {
        if other === shape { return true }
        if let comparedShape, comparedShape.shape === other { return comparedShape.isSame }
        let isSame = other.hasSameColumns(as: shape)
        comparedShape = (other, isSame)
        return isSame
    }

    func wrongIDType(_ key: RowID? = nil) -> StoreError {
        StoreError(
            .invalidValue, "the id must be of type \(shape.idType.rawValue)", table: shape.table, column: "id",
            id: key?.text)
    }

    /// Sets a column and returns its position.
    private mutating func set(_ value: Value, named name: String, guess: Int, id: RowID) throws(StoreError) -> Int {
        guard let index = shape.index(of: name, guess: guess) else {
            throw StoreError(
                .invalidValue, "the table does not define this column", table: shape.table, column: name, id: id.text)
        }
        set(value, at: index)
        guard shape.tagRules[index].allows(builder.slots[index].tag) else {
            throw invalid(value, at: index, id: id.text)
        }
        return index
    }
}
