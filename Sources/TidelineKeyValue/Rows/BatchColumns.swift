internal import TidelineStore

/// The mapping between the columns of a batch and those of the table that it is written to, resolved once.
struct BatchColumns {
    private let table: StoredTable
    private let rules: BatchRules

    /// For each stored column of the table, its position in the batch.
    var positions: [Int?] { rules.positions }

    /// - Throws: ``StoreError/Code/invalidValue`` if the identifiers are of another type than the table's.
    init(of shape: RowShape, in table: StoredTable) throws(StoreError) {
        guard shape.idType == table.schema.idType else { throw .wrongIDType(in: table.schema) }
        self.table = table
        rules = table.rules(for: shape)
    }

    /// Checks the identifier and values of a row.
    ///
    /// - Parameter bytes: The bytes of the row.
    /// - Returns: Whether the row contains every column of the table.
    /// - Throws: ``StoreError/Code/invalidValue``, naming the table, column, and identifier.
    func check(_ row: borrowing RowView, _ bytes: RowBytes) throws(StoreError) -> Bool {
        guard row.hasUsableID else { throw invalidID(row) }
        var isWhole = rules.isWhole
        for index in 0..<rules.tags.count {
            let tag = bytes.tag(at: index)
            guard !rules.tags[index].contains(tag: tag) else { continue }
            guard tag == RowTag.absent.rawValue else { throw invalidValue(at: index, row) }
            isWhole = false
        }
        return isWhole
    }

    /// Returns a required column for a new row that a row lacks, or `nil` if the row lacks none.
    func missing(in row: borrowing RowView) -> String? {
        for (name, position) in rules.required {
            guard let position, row.tag(at: position) != .absent else { return name }
        }
        return nil
    }

    /// Returns the bytes to store for a row that contains every column, without copying, or `nil` if they cannot be
    /// stored unchanged.
    ///
    /// Unsafe pointers: the bytes belong to the batch, which is borrowed during the upsert. In a batch the identifier
    /// follows its row, so both are contiguous.
    func stored(_ row: borrowing RowView, _ header: RowHeader, withID: Bool) -> UnsafeRawBufferPointer? {
        guard !table.hasRetiredColumns, header.layout == table.currentLayout, header.columns == rules.tags.count
        else {
            return nil
        }
        let bytes = unsafe row.withPackedBytes { unsafe $0 }
        guard withID else { return unsafe bytes }
        return unsafe row.withIDBytes { id in
            guard let start = bytes.baseAddress, unsafe start + bytes.count == id.baseAddress else { return nil }
            return unsafe UnsafeRawBufferPointer(start: start, count: bytes.count + id.count)
        }
    }

    // MARK: Errors

    private func invalidValue(at index: Int, _ row: borrowing RowView) -> StoreError {
        let name = rules.shape.columns[index].name
        guard let column = table.shape.index(of: name).map({ table.shape.columns[$0] }) else {
            return invalid("the table does not define this column", name, row)
        }
        return row.tag(at: index) == .null
            ? invalid("the column must not be null", name, row)
            : invalid("the value does not fit a column of type \(column.type.rawValue)", name, row)
    }

    func invalidID(_ row: borrowing RowView) -> StoreError {
        invalid("an id must have 1 to 255 characters", "id", row)
    }

    func invalid(_ message: String, _ column: String, _ row: borrowing RowView) -> StoreError {
        StoreError(.invalidValue, message, table: table.name, column: column, id: row.idText)
    }
}

/// The rules of a table for batches of one shape.
final class BatchRules: Sendable {
    let shape: RowShape
    /// Whether the shape is that of the table.
    let isWhole: Bool
    /// For each column of the batch, the valid tags of its values; empty if the table does not define the column.
    let tags: [TagSet]
    /// For each stored column of the table, its position in the batch.
    let positions: [Int?]
    /// The columns that a new row must contain, with their positions in the batch, or `nil` for a column that the batch
    /// lacks.
    let required: [(name: String, position: Int?)]

    /// Creates the rules.
    ///
    /// - Parameters:
    ///   - shape: The shape of the batch.
    ///   - target: The shape of the table.
    ///   - stored: The shape of the table, including the columns no longer defined.
    init(of shape: RowShape, in target: RowShape, stored: RowShape) {
        self.shape = shape
        isWhole = shape === target
        tags = shape.columns.map { column in
            target.index(of: column.name).map { TagSet(storedIn: target.columns[$0]) } ?? []
        }
        positions = stored.columns.enumerated().map { index, column in
            index < target.count ? shape.index(of: column.name) : nil
        }
        required = target.columns.filter { !$0.isOptional }.map { ($0.name, shape.index(of: $0.name)) }
    }
}
