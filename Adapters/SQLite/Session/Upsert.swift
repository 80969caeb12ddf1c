internal import CSQLite
internal import TidelineStore

/// An upsert of one batch: checks each row, binds its values and runs the statement for the columns that it names.
///
/// A pull writes thousands of rows that name every column of the table, in its order. Each of their values is examined
/// only once, and several rows go through one execution of a statement. Other rows go through ``PartialUpsert``.
///
/// Unsafe pointers: text and bytes are bound in place in the batch, which is borrowed and does not move until the
/// statements have run. The rows of a batch were validated or packed by this process.
struct Upsert: ~Copyable {
    private let connection: Connection
    private let statements: TableStatements
    private let table: StoredTable
    private let shape: RowShape
    /// The statement for rows that name every column; `nil` if the batch has other columns than the table.
    private var whole: Statement?
    /// The statement for a group of rows that name every column; `nil` if the batch has too few rows for a group.
    private var group: Statement?
    private var partial: PartialUpsert?

    /// - Parameter count: The number of rows in the batch.
    init(
        _ statements: TableStatements, of shape: RowShape, count: Int, on connection: Connection
    ) throws(StoreError) {
        self.connection = connection
        self.table = statements.table
        self.shape = shape
        self.statements = statements
        guard shape.idType == table.schema.idType else { throw .wrongIDType(in: table.schema) }
        guard statements.hasColumns(of: shape) else { return }
        whole = try statements.upsertWholeRow.take(from: connection.statements)
        if count >= StoredTable.groupSize { group = try statements.upsertGroup?.take(from: connection.statements) }
    }

    /// Returns the statements to their caches.
    mutating func finish() {
        if let whole { statements.upsertWholeRow.putBack(whole, to: connection.statements) }
        if let group { statements.upsertGroup?.putBack(group, to: connection.statements) }
        (whole, group) = (nil, nil)
        partial?.finish()
    }

    /// Upserts all rows, in their order.
    mutating func run(_ rows: borrowing PackedRows) throws {
        let (group, size) = (group, StoredTable.groupSize)
        var grouped = group == nil ? 0 : rows.count - rows.count % size
        var position = 0
        // The number of rows that are bound to the group's statement but not yet written.
        var bound = 0
        try rows.forEachRow { row in
            if position < grouped, let group {
                if bind(row, to: group.handle, from: bound * (shape.count + 1)) {
                    position += 1
                    bound += 1
                    if bound == size {
                        bound = 0
                        try runGroup(group, of: rows, upTo: position)
                    }
                    return
                }
                // After a row that cannot be part of a group, the rest of the batch is written row by row.
                grouped = 0
                for index in position - bound..<position { try rows.withRow(at: index) { try run($0) } }
            }
            position += 1
            try run(row)
        }
    }

    /// Runs the group's statement for the rows before a position. An error names the rejected row, which follows the
    /// rows that were written.
    private func runGroup(_ group: Statement, of rows: borrowing PackedRows, upTo end: Int) throws {
        do throws(StoreError) {
            try group.run()
        } catch {
            let refused = end - StoredTable.groupSize + connection.changes
            guard connection.isInTransaction, refused < end else { throw error }
            throw rows.withRow(at: refused) { error.naming($0, in: table) }
        }
    }

    private mutating func run(_ row: borrowing RowView) throws(StoreError) {
        guard row.hasUsableID else {
            throw StoreError(
                .invalidValue, "an id must have 1 to 255 characters", table: table.name, column: "id", id: row.idText)
        }
        if let whole, bind(row, to: whole.handle, from: 0) { return try whole.run(for: row, in: table) }
        if partial == nil {
            partial = PartialUpsert(into: table, of: shape, isWhole: whole != nil, statements, on: connection)
        }
        try partial?.run(row)
    }

    /// Binds a row that names every column to the parameters after `before`. Returns `false` if the row does not name
    /// every column, or if a value is not accepted.
    @inline(__always)
    private func bind(_ row: borrowing RowView, to handle: OpaquePointer, from before: Int) -> Bool {
        guard row.hasUsableID,
            handle.bindID(row.packedID, shape.idType, to: Int32(truncatingIfNeeded: before + 1)) == SQLITE_OK
        else { return false }
        let tags = table.acceptedTags
        return row.allValues(tags.count) { index, tag, bytes in
            tags[index] >> UInt32(tag) & 1 == 1
                && handle.bind(RowTag(known: tag), bytes, to: Int32(truncatingIfNeeded: before + 2 + index))
                    == SQLITE_OK
        }
    }
}
