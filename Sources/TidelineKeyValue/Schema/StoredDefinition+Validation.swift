internal import TidelineStore

extension StoredDefinition {
    /// Checks what was read from a file: what follows from a definition relies on it.
    ///
    /// - Throws: ``StoreError``, naming the table.
    func validate() throws(StoreError) {
        try schema.validate()
        guard hasUsableColumns, hasUsableLayouts, hasUsableIndexes else {
            throw StoreError(.corrupt, "the definition contradicts itself", table: schema.name)
        }
    }

    /// The columns that are stored: those of the definition, then those that it no longer names.
    private var columns: [ColumnSchema] { schema.allColumns + retired }

    private var hasUsableColumns: Bool {
        columns.count <= TableEvolution.maximumStoredColumnCount && Self.types(of: columns) != nil
    }

    /// The last layout is that of the columns there are; earlier ones have columns of that name and type, as none is
    /// ever forgotten.
    private var hasUsableLayouts: Bool {
        guard let last = layouts.last, last.count == columns.count, let types = Self.types(of: columns) else {
            return false
        }
        return zip(last, columns).allSatisfy { $0.isStoredAs($1) }
            && layouts.allSatisfy { layout in
                Self.types(of: layout) != nil && layout.allSatisfy { types[Array($0.name.utf8)] == $0.type }
            }
    }

    /// Each index of the schema has one space.
    private var hasUsableIndexes: Bool {
        let names = schema.distinctIndexes
        return indexes.count == names.count && Set(spaces).count == spaces.count
            && zip(indexes, names).allSatisfy { $0.columns.hasSameNames(as: $1) }
    }

    /// The types by the bytes of the names; nil when a name is there twice.
    private static func types(of columns: [ColumnSchema]) -> [[UInt8]: ColumnType]? {
        let types = Dictionary(columns.map { (Array($0.name.utf8), $0.type) }) { first, _ in first }
        return types.count == columns.count ? types : nil
    }
}

extension StoredDefinition {
    /// All key spaces of the table.
    var spaces: [KeySpace] { [rows] + indexes.map(\.space) }
}

extension TableSchema {
    /// The columns of the indexes, each list once.
    var distinctIndexes: [[String]] {
        var distinct: [[String]] = []
        for index in indexes where !distinct.contains(where: { $0.hasSameNames(as: index.columns) }) {
            distinct.append(index.columns)
        }
        return distinct
    }
}

extension [String] {
    /// Whether both are the same names, byte for byte.
    func hasSameNames(as other: [String]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.isSameBytes(as: $1) }
    }
}
