internal import TidelineStore

/// The columns of a batch beside those of the table it is written to, resolved once.
struct BatchColumns {
    private let shape: RowShape
    private let table: StoredTable
    /// Whether the batch has the table's columns in the table's order.
    private let isWhole: Bool
    /// For each column of the batch, whether the table has it, its type there and whether it may be null.
    private let columns: [(isDefined: Bool, type: ColumnType, isOptional: Bool)]
    /// For each stored column of the table, where the batch has it.
    let positions: [Int?]
    /// The columns that a new row must name, as positions in the batch; nil for one that the batch lacks.
    private let required: [(name: String, position: Int?)]

    /// What a row names.
    struct Named {
        /// Every column of the table.
        var isWhole: Bool
        /// A column that a new row must name and this row does not.
        var missing: String?
    }

    /// - Throws: ``StoreError/Code/invalidValue`` when the ids are of another type than the table's.
    init(of shape: RowShape, in table: StoredTable) throws(StoreError) {
        guard shape.idType == table.schema.idType else {
            throw StoreError(
                .invalidValue, "the ids must be of type \(table.schema.idType.rawValue)", table: table.name,
                column: "id")
        }
        self.shape = shape
        self.table = table
        isWhole = shape.hasSameColumns(as: table.shape)
        columns = shape.columns.map { column in
            let known = table.shape.index(of: column.name).map { table.shape.columns[$0] }
            return (known != nil, known?.type ?? column.type, known?.isOptional ?? true)
        }
        positions = table.storedShape.columns.enumerated().map { index, column in
            index < table.shape.count ? shape.index(of: column.name) : nil
        }
        required = table.shape.columns.filter { !$0.isOptional }.map { ($0.name, shape.index(of: $0.name)) }
    }

    /// Checks id and values of a row.
    /// - Throws: ``StoreError/Code/invalidValue``, naming table, column and id.
    func check(_ row: borrowing RowView) throws(StoreError) -> Named {
        guard row.hasUsableID else { throw invalid("an id must have 1 to 255 characters", "id", row) }
        var isWhole = isWhole
        for index in 0..<columns.count {
            let tag = row.tag(at: index)
            guard tag != .absent else {
                isWhole = false
                continue
            }
            let column = columns[index]
            guard column.isDefined else {
                throw invalid("the table does not define this column", shape.columns[index].name, row)
            }
            guard tag.fits(column.type) else {
                throw invalid(
                    "the value does not fit a column of type \(column.type.rawValue)", shape.columns[index].name, row)
            }
            if tag == .null, !column.isOptional {
                throw invalid("the column must not be null", shape.columns[index].name, row)
            }
        }
        return Named(isWhole: isWhole, missing: isWhole ? nil : missing(in: row))
    }

    private func missing(in row: borrowing RowView) -> String? {
        for (name, position) in required {
            guard let position, row.tag(at: position) != .absent else { return name }
        }
        return nil
    }

    /// What is to be stored of a row that names every column, where it lies in the batch; nil where it cannot be stored
    /// as it is.
    ///
    /// Unsafe pointers: the bytes belong to the batch, which is borrowed during the upsert. In a batch the id lies behind
    /// its row, so that both are one stretch of memory.
    func stored(_ row: borrowing RowView, withID: Bool) -> UnsafeRawBufferPointer? {
        row.withPackedBytes { bytes in
            guard table.definition.retired.isEmpty, RowFormat.layout(ofRowAt: bytes) == table.currentLayout,
                RowFormat.columnCount(ofRowAt: bytes) == columns.count
            else { return nil }
            guard withID else { return bytes }
            return row.withIDBytes { id in
                guard let start = bytes.baseAddress, start + bytes.count == id.baseAddress else { return nil }
                return UnsafeRawBufferPointer(start: start, count: bytes.count + id.count)
            }
        }
    }

    func invalid(_ message: String, _ column: String, _ row: borrowing RowView) -> StoreError {
        StoreError(.invalidValue, message, table: table.name, column: column, id: row.id)
    }
}
