extension TableSchema {
    /// Returns this definition with the columns, system columns, indexes, and references that `other` adds to it.
    ///
    /// The columns of this definition keep their positions. A column in both definitions is optional if it is optional
    /// in either. The result equals this definition if `other` adds nothing.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming the table and column, if a column's type or the
    ///   identifier's type or matching differs.
    package func union(_ other: TableSchema) throws(StoreError) -> TableSchema {
        guard idType == other.idType, idMatching == other.idMatching else {
            throw mismatch("another definition of the table has a different type or matching of ids", column: "id")
        }
        var result = self
        for column in other.columns {
            let index = columns.firstIndex { $0.name == column.name }
            guard let index else {
                result.columns.append(column)
                continue
            }
            let known = columns[index]
            guard known.type == column.type else {
                throw mismatch(
                    "the column has type \(known.type.rawValue) in another definition of the table, not "
                        + "\(column.type.rawValue); give the new column another name", column: column.name)
            }
            result.columns[index].isOptional = known.isOptional || column.isOptional
        }
        result.systemColumns.formUnion(other.systemColumns)
        result.indexes += other.indexes.filter { !indexes.contains($0) }
        result.references += other.references.filter { !references.contains($0) }
        return result
    }

    /// Returns whether `other` adds nothing to this definition.
    /// - Throws: ``StoreError/Code/schemaMismatch``, as ``union(_:)`` does.
    package func includes(_ other: TableSchema) throws(StoreError) -> Bool { try union(other) == self }

    /// Returns this definition without the given columns and without the indexes over them and the references in them.
    package func removing(columns names: [String]) -> TableSchema {
        var result = self
        result.columns.removeAll { names.contains($0.name) }
        result.indexes.removeAll { $0.columns.contains(where: names.contains) }
        result.references.removeAll { names.contains($0.column) }
        return result
    }
}
