/// The changes to a table's columns when the table is defined again.
///
/// These are the rules of ``LocalStore/define(_:)``. They are the same in every store, so that an app can move from one
/// store to another. A store checks the definitions of a call with ``checked(_:beside:)``, compares each one with the
/// stored table, and then adds the columns and builds the indexes:
///
/// ```swift
/// for schema in try TableEvolution.checked(schemas, beside: stored.map(\.name)) {
///     guard let table = stored.first(where: { $0.name == schema.name }) else { continue }
///     let evolution = try TableEvolution(from: table, retired: retiredColumns(of: table), to: schema)
///     for column in evolution.added { try addColumn(column, to: table) }
///     try setRetiredColumns(evolution.retired, of: table)
/// }
/// ```
public struct TableEvolution: Sendable {
    /// The columns that are new.
    public let added: [ColumnSchema]
    /// The columns that are stored but absent from the new definition.
    public let retired: [ColumnSchema]

    /// Compares a stored table with its new definition.
    ///
    /// - Parameters:
    ///   - stored: The existing definition.
    ///   - retired: Columns that are stored but absent from the existing definition.
    ///   - schema: The new definition.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming the table and column, if the identifier's type or matching
    ///   changed, a column has another type than its stored one, a column's name differs from a stored one only in
    ///   ASCII case, or there are more columns than ``maximumStoredColumnCount``.
    public init(
        from stored: TableSchema, retired: [ColumnSchema], to schema: TableSchema
    ) throws(StoreError) {
        guard stored.idType == schema.idType, stored.idMatching == schema.idMatching else {
            throw schema.mismatch("the type and matching of ids cannot be changed", column: "id")
        }
        let columns = stored.allColumns + retired
        var added: [ColumnSchema] = []
        for column in schema.allColumns {
            guard let known = columns.first(where: { $0.name.isSameFolded(as: column.name) }) else {
                added.append(column)
                continue
            }
            guard known.name == column.name else {
                throw schema.mismatch(
                    "the column's name differs from the stored \(known.name.debugDescription) only in ASCII case",
                    column: column.name)
            }
            guard known.type == column.type else {
                throw schema.mismatch(
                    "the column is stored with type \(known.type.rawValue), not \(column.type.rawValue)",
                    column: column.name)
            }
        }
        self.added = added
        self.retired = columns.filter { column in
            !schema.allColumns.contains { $0.name == column.name }
        }
        let count = schema.allColumns.count + self.retired.count
        guard count <= Self.maximumStoredColumnCount else {
            throw schema.mismatch(
                "the table has \(count) columns, including those no longer defined; at most "
                    + "\(Self.maximumStoredColumnCount) are stored")
        }
    }

    /// The maximum number of stored columns of a table, including those no longer defined. PostgreSQL has a smaller
    /// maximum: 1,598, each indexed column of type string, JSON, or bytes counted twice.
    public static let maximumStoredColumnCount = 1_999

    /// Checks the definitions of one call individually, against each other, and against the existing tables.
    ///
    /// - Returns: The definitions without duplicates.
    /// - Throws: ``StoreError/Code/schemaMismatch`` if a definition is invalid, a table has two different definitions,
    ///   or the names of two tables differ only in ASCII case, which not every engine can distinguish.
    public static func checked(
        _ schemas: [TableSchema], beside stored: [String]
    ) throws(StoreError) -> [TableSchema] {
        var checked: [TableSchema] = []
        for schema in schemas {
            try schema.validate()
            let names = checked.map(\.name) + stored
            if let other = names.first(where: { $0.isSameFolded(as: schema.name) && $0 != schema.name }) {
                throw schema.mismatch(
                    "the names of the tables \(other.debugDescription) and \(schema.name.debugDescription) "
                        + "differ only in ASCII case")
            }
            let earlier = checked.first { $0.name == schema.name }
            guard earlier == nil || earlier == schema else {
                throw schema.mismatch("the table has two different definitions")
            }
            if earlier == nil { checked.append(schema) }
        }
        return checked
    }
}

extension String {
    /// Whether both strings have the same bytes, as texts and identifiers compare. In contrast, `==`, by which names
    /// compare, treats canonically equivalent strings as equal.
    package func isSameBytes(as other: String) -> Bool {
        if isRepresented(as: other) { return true }
        guard utf8.count == other.utf8.count else { return false }
        // Both strings are usually contiguous, and then compared eight bytes at a time.
        let isSame = unsafe utf8.withContiguousStorageIfAvailable { a in
            unsafe other.utf8.withContiguousStorageIfAvailable { b in
                unsafe UnsafeRawBufferPointer(a).isSame(as: UnsafeRawBufferPointer(b))
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether both strings have the same representation in memory, so that their bytes need not be compared.
    ///
    /// This relies on the layout of `String` as two words. A short string contains its bytes, and a long one their
    /// address and count, so equal words imply equal strings.
    @inlinable
    @inline(__always)
    func isRepresented(as other: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
        let a = unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
        let b = unsafe unsafeBitCast(other, to: (UInt64, UInt64).self)
        return a.0 == b.0 && a.1 == b.1
    }

    /// Whether both names are equal, ignoring ASCII case.
    package func isSameFolded(as other: String) -> Bool { asciiLowercased == other.asciiLowercased }
}

extension UnsafeRawBufferPointer {
    /// Whether both buffers have the same bytes.
    package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while place + 8 <= count {
            let a = unsafe loadUnaligned(fromByteOffset: place, as: UInt64.self)
            guard unsafe a == other.loadUnaligned(fromByteOffset: place, as: UInt64.self) else { return false }
            place += 8
        }
        while place < count {
            guard unsafe self[place] == other[place] else { return false }
            place += 1
        }
        return true
    }
}

extension ColumnSchema {
    /// Whether both columns are stored the same way. ``isOptional`` does not affect storage.
    package func isStoredAs(_ other: ColumnSchema) -> Bool { type == other.type && name == other.name }
}
