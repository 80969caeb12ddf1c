internal import CSQLite
internal import TidelineStore

/// One upsert of a batch: checks each row, binds its values and runs the statement for the columns that it names.
///
/// Rows that name every column of the table, in its order, are what a pull writes by the thousand, and need no more than one
/// look at each value; the others go through ``PartialUpsert``.
///
/// Unsafe pointers: text and bytes are bound where they lie in the batch, which is borrowed and does not move until the
/// statements are run. Rows of a batch were validated or packed by this process.
struct Upsert {
    private let connection: Connection
    private let statements: TableStatements
    private let table: StoredTable
    private let shape: RowShape
    /// The statement for rows that name every column; nil for a batch of other columns than the table's.
    private var whole: Statement?
    private var partial: PartialUpsert?

    init(_ statements: TableStatements, of shape: RowShape, on connection: Connection) throws(StoreError) {
        let table = statements.table
        guard shape.idType == table.schema.idType else {
            throw StoreError(
                .invalidValue, "the ids must be of type \(table.schema.idType.rawValue)", table: table.name,
                column: "id")
        }
        self.connection = connection
        self.table = table
        self.shape = shape
        self.statements = statements
        if connection.hasColumns(of: table, shape) { whole = try statements.upsertWholeRow.take(from: connection) }
    }

    /// Gives the statements back.
    mutating func finish() {
        if let whole { statements.upsertWholeRow.putBack(whole, to: connection) }
        whole = nil
        partial?.finish()
    }

    mutating func run(_ row: borrowing RowView) throws(StoreError) {
        guard row.hasUsableID else {
            throw StoreError(
                .invalidValue, "an id must have 1 to 255 characters", table: table.name, column: "id", id: row.id)
        }
        if let whole, bind(row, to: whole.handle) { return try whole.run(for: row, in: table) }
        try runPartial(row)
    }

    private mutating func runPartial(_ row: borrowing RowView) throws(StoreError) {
        if partial == nil {
            partial = PartialUpsert(into: table, of: shape, isWhole: whole != nil, statements, on: connection)
        }
        try partial?.run(row)
    }

    /// Binds a row that names every column; false when it does not, or when there is something to say against a value.
    @inline(__always)
    private func bind(_ row: borrowing RowView, to handle: OpaquePointer) -> Bool {
        let packed = row.packed
        guard let base = packed.baseAddress, handle.bindID(row.packedID, shape.idType) == SQLITE_OK else {
            return false
        }
        return base.load(as: UInt8.self) == RowFormat.wide
            ? bind(packed, base, to: handle, ends: UInt32.self) : bind(packed, base, to: handle, ends: UInt16.self)
    }

    @inline(__always)
    private func bind<End: FixedWidthInteger>(
        _ packed: UnsafeRawBufferPointer, _ base: UnsafeRawPointer, to handle: OpaquePointer, ends: End.Type
    ) -> Bool {
        let tags = table.acceptedTags
        guard UInt16(littleEndian: packed.loadUnaligned(fromByteOffset: 2, as: UInt16.self)) == tags.count else {
            return false
        }
        let places = RowFormat.headerSize + tags.count
        let payload = base + places + tags.count * MemoryLayout<End>.size
        var start = 0
        for index in 0..<tags.count {
            let tag = base.load(fromByteOffset: RowFormat.headerSize + index, as: UInt8.self)
            guard tags[index] >> UInt32(tag) & 1 == 1 else { return false }
            let place = base.loadUnaligned(fromByteOffset: places + index * MemoryLayout<End>.size, as: End.self)
            let end = Int(truncatingIfNeeded: End(littleEndian: place))
            let bytes = UnsafeRawBufferPointer(start: payload + start, count: end - start)
            let parameter = Int32(truncatingIfNeeded: index + 2)
            guard handle.bind(RowTag(known: tag), bytes, to: parameter) == SQLITE_OK else { return false }
            start = end
        }
        return true
    }
}

extension OpaquePointer {
    /// Binds an id where it lies to the first parameter of this statement.
    @inline(__always)
    func bindID(_ bytes: UnsafeRawBufferPointer, _ type: IDType) -> Int32 {
        type == .string
            ? tideline_bind_static_text(self, 1, bytes.baseAddress, UInt64(bytes.count))
            : sqlite3_bind_int64(self, 1, Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
    }

    /// Binds a value where it lies to a parameter of this statement. NaN, which SQLite would make null, is refused.
    @inline(__always)
    func bind(_ tag: RowTag, _ bytes: UnsafeRawBufferPointer, to parameter: Int32) -> Int32 {
        switch tag {
        case .absent, .null: return sqlite3_bind_null(self, parameter)
        case .false: return sqlite3_bind_int64(self, parameter, 0)
        case .true: return sqlite3_bind_int64(self, parameter, 1)
        case .int, .timestamp:
            return sqlite3_bind_int64(self, parameter, Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
        case .double:
            let double = Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)))
            return double.isNaN ? SQLITE_MISMATCH : sqlite3_bind_double(self, parameter, double)
        case .string, .json:
            return tideline_bind_static_text(self, parameter, bytes.baseAddress, UInt64(bytes.count))
        case .bytes: return tideline_bind_static_blob(self, parameter, bytes.baseAddress, UInt64(bytes.count))
        }
    }
}

extension Statement {
    /// Runs a statement that writes a row, which an error names.
    @inline(__always)
    func run(for row: borrowing RowView, in table: StoredTable) throws(StoreError) {
        do throws(StoreError) {
            try run()
        } catch {
            var error = error
            (error.table, error.id) = (table.name, row.id)
            throw error
        }
    }
}
