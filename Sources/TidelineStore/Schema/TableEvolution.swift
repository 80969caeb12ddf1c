/// What becomes of the columns of a table that is defined again: the rules of ``LocalStore/define(_:)``, which are the
/// same in every store so that an app can move from one to another.
package struct TableEvolution {
    /// The columns that are new.
    package let added: [ColumnSchema]
    /// The columns that are stored and that the new definition does not name.
    package let retired: [ColumnSchema]

    /// The way from a table to its new definition.
    ///
    /// - Parameters:
    ///   - stored: The definition there is.
    ///   - retired: Columns that are stored and that it no longer names.
    ///   - schema: The new definition.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming table and column: another id type or matching, a column of
    ///   another type than it is stored with, or one that differs from a stored one in ASCII case only; more columns
    ///   than ``maximumStoredColumnCount``.
    package init(
        from stored: TableSchema, retired: [ColumnSchema], to schema: TableSchema
    ) throws(StoreError) {
        guard stored.idType == schema.idType, stored.idMatching == schema.idMatching else {
            throw StoreError.mismatch("the type or matching of ids cannot be changed", schema.name, column: "id")
        }
        let columns = stored.allColumns + retired
        var added: [ColumnSchema] = []
        for column in schema.allColumns {
            guard let known = columns.first(where: { $0.name.isSameFolded(as: column.name) }) else {
                added.append(column)
                continue
            }
            guard known.name.isSameBytes(as: column.name) else {
                throw StoreError.mismatch(
                    "the column differs from the stored \(known.name.debugDescription) in ASCII case only", schema.name,
                    column: column.name)
            }
            guard known.type == column.type else {
                throw StoreError.mismatch(
                    "the column is stored with type \(known.type.rawValue), not \(column.type.rawValue)", schema.name,
                    column: column.name)
            }
        }
        self.added = added
        self.retired = columns.filter { column in
            !schema.allColumns.contains { $0.name.isSameBytes(as: column.name) }
        }
        let count = schema.allColumns.count + self.retired.count
        guard count <= Self.maximumStoredColumnCount else {
            throw StoreError.mismatch(
                "the table has \(count) columns, those no longer named included; at most "
                    + "\(Self.maximumStoredColumnCount) are stored", schema.name)
        }
    }

    /// How many columns of a table are stored, those no longer named included; what every engine can hold.
    package static let maximumStoredColumnCount = 1_999

    /// Checks the definitions of one call, each by itself, against each other and against the tables there are.
    ///
    /// - Returns: The definitions, each once.
    /// - Throws: ``StoreError/Code/schemaMismatch``: an invalid definition, a table that is defined in two ways, or
    ///   tables whose names differ in ASCII case only, which not every engine keeps apart.
    package static func checked(
        _ schemas: [TableSchema], beside stored: [String]
    ) throws(StoreError) -> [TableSchema] {
        var checked: [TableSchema] = []
        for schema in schemas {
            try schema.validate()
            let names = checked.map(\.name) + stored
            if let other = names.first(where: { $0.isSameFolded(as: schema.name) && !$0.isSameBytes(as: schema.name) })
            {
                throw StoreError.mismatch(
                    "the names of the tables \(other.debugDescription) and \(schema.name.debugDescription) differ in ASCII "
                        + "case only", schema.name)
            }
            let earlier = checked.first { $0.name.isSameBytes(as: schema.name) }
            guard earlier == nil || earlier == schema else {
                throw StoreError.mismatch("the table is defined twice, in two ways", schema.name)
            }
            if earlier == nil { checked.append(schema) }
        }
        return checked
    }
}

extension StoreError {
    fileprivate static func mismatch(_ message: String, _ table: String, column: String? = nil) -> StoreError {
        StoreError(.schemaMismatch, message, table: table, column: column)
    }
}

extension String {
    /// Whether both texts are the same bytes; `==` holds canonically equivalent ones to be equal.
    package func isSameBytes(as other: String) -> Bool {
        if isRepresented(as: other) { return true }
        guard utf8.count == other.utf8.count else { return false }
        // Both in one piece, as strings of Swift are, they are compared eight bytes at a time.
        let isSame = utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { b in
                UnsafeRawBufferPointer(a).isSame(as: UnsafeRawBufferPointer(b))
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether both are one string in memory, or the same short one: then they need not be compared.
    ///
    /// Unsafe: where a string is two words, it is looked at as two. A short one consists of its bytes, a long one of their
    /// place and number, so that equal words are equal texts.
    private func isRepresented(as other: String) -> Bool {
        guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
        let a = unsafeBitCast(self, to: (UInt64, UInt64).self)
        let b = unsafeBitCast(other, to: (UInt64, UInt64).self)
        return a.0 == b.0 && a.1 == b.1
    }

    /// Whether both texts are the same bytes but for ASCII case.
    package func isSameFolded(as other: String) -> Bool { asciiLowercased.isSameBytes(as: other.asciiLowercased) }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are those.
    package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        var place = 0
        while place + 8 <= count {
            let a = loadUnaligned(fromByteOffset: place, as: UInt64.self)
            guard a == other.loadUnaligned(fromByteOffset: place, as: UInt64.self) else { return false }
            place += 8
        }
        while place < count {
            guard self[place] == other[place] else { return false }
            place += 1
        }
        return true
    }
}

extension ColumnSchema {
    /// Whether both are stored alike: optional or not is a matter of the definition only.
    package func isStoredAs(_ other: ColumnSchema) -> Bool { type == other.type && name.isSameBytes(as: other.name) }
}
