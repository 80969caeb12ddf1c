internal import TidelineStore

extension StoredDefinition {
    /// Checks a definition that was read from a file, because other code relies on its consistency.
    ///
    /// - Throws: ``StoreError``, naming the table.
    func validate() throws(StoreError) {
        try schema.validateStored()
        guard hasUsableColumns, hasUsableLayouts, hasUsableIndexes else {
            throw StoreError(.corrupt, "the stored definition is inconsistent", table: schema.name)
        }
    }

    /// The stored columns: those of the definition, then those no longer defined.
    private var columns: [ColumnSchema] { schema.allColumns + retired }

    private var hasUsableColumns: Bool {
        columns.count <= TableEvolution.maximumStoredColumnCount && Self.types(of: columns) != nil
    }

    /// Whether the current layout matches the stored columns, and the others contain only columns with the same names
    /// and types. No column is ever removed.
    private var hasUsableLayouts: Bool {
        guard layouts.indices.contains(currentLayout), let types = Self.types(of: columns) else { return false }
        return Self.isStored(columns, as: layouts[currentLayout])
            && layouts.allSatisfy { layout in
                Self.types(of: layout) != nil && layout.allSatisfy { types[$0.name] == $0.type }
            }
    }

    /// Whether each index of the schema has exactly one space.
    private var hasUsableIndexes: Bool {
        let names = schema.distinctIndexes
        return indexes.count == names.count && Set(spaces).count == spaces.count
            && zip(indexes, names).allSatisfy { $0.columns == $1 }
    }

    /// Returns the types by the names, or `nil` if a name occurs twice.
    private static func types(of columns: [ColumnSchema]) -> [String: ColumnType]? {
        let types = Dictionary(columns.map { ($0.name, $0.type) }) { first, _ in first }
        return types.count == columns.count ? types : nil
    }

    /// The number of the current layout.
    var currentLayout: Int { layout ?? layouts.count - 1 }

    /// Returns whether rows with these columns have the given layout.
    static func isStored(_ columns: [ColumnSchema], as layout: [ColumnSchema]) -> Bool {
        layout.count == columns.count && zip(layout, columns).allSatisfy { $0.isStoredAs($1) }
    }

    var spaces: [KeySpace] { [rows] + indexes.map(\.space) }
}

extension TableSchema {
    /// The columns of the indexes, without duplicates.
    var distinctIndexes: [[String]] {
        indexes.map(\.columns).reduce(into: []) { distinct, columns in
            if !distinct.contains(columns) { distinct.append(columns) }
        }
    }
}
