extension TableSchema {
    /// The maximum number of columns in addition to `id`, including system columns. Every embedded engine supports this
    /// number.
    public static let maximumColumnCount = 1_000

    /// Checks names and consistency.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/schemaMismatch``, naming the table and column:
    ///   - A name is empty, has more than 128 Unicode scalars, contains control characters, begins with `__`, or is not
    ///     in Unicode's normalization form C. Names in this form are equal (`==`) only if their bytes are, which
    ///     servers and engines compare.
    ///   - A table name begins with `sqlite_` or `tideline_` in any case; these prefixes are reserved for engines and
    ///     stores.
    ///   - A column occurs twice, also if the names differ only in ASCII case, or is named like `id` or a system
    ///     column.
    ///   - An index or reference names a column that does not exist, or an index has no columns or one twice.
    ///   - There are more columns than ``maximumColumnCount``.
    public func validate() throws(StoreError) {
        try requireFormC()
        try validateStored()
    }

    /// Checks a definition as ``validate()`` does, but not the normalization form of its names, which earlier versions
    /// did not require; see ``requireStoredFormC(retired:path:)``.
    package func validateStored() throws(StoreError) {
        guard Self.isValidName(name) else {
            throw mismatch("the table name \(name.debugDescription) \(Self.nameRule)")
        }
        guard !["sqlite_", "tideline_"].contains(where: { name.asciiLowercased.utf8.starts(with: $0.utf8) }) else {
            throw mismatch("table names beginning with sqlite_ or tideline_ are reserved")
        }
        guard allColumns.count <= Self.maximumColumnCount else {
            throw mismatch("a table has at most \(Self.maximumColumnCount) columns")
        }
        try requireDistinctColumns()
        for index in indexes {
            guard !index.columns.isEmpty, Set(index.columns).count == index.columns.count else {
                throw mismatch("an index needs at least one column, and each column only once")
            }
            try requireColumns(index.columns, for: "an index")
        }
        try requireColumns(references.map(\.column), for: "a reference")
    }

    private func requireDistinctColumns() throws(StoreError) {
        var seen: Set<String> = ["id"]
        seen.formUnion(SystemColumns.names.map(\.asciiLowercased))
        for column in columns {
            guard Self.isValidName(column.name) else {
                throw mismatch(
                    "the column name \(column.name.debugDescription) \(Self.nameRule)", column: column.name)
            }
            guard seen.insert(column.name.asciiLowercased).inserted else {
                throw mismatch(
                    "the column name is used twice, or is one of id, "
                        + SystemColumns.all.columns.map(\.name).joined(separator: ", "), column: column.name)
            }
        }
    }

    /// Checks that all names are in Unicode's normalization form C.
    private func requireFormC() throws(StoreError) {
        try requireFormC(of: name, "the table name")
        for column in columns.map(\.name) + indexes.flatMap(\.columns) + references.map(\.column) {
            try requireFormC(of: column, "the column name", column: column)
        }
        for reference in references {
            try requireFormC(of: reference.table, "a reference's table name", column: reference.column)
        }
    }

    private func requireFormC(of name: String, _ kind: String, column: String? = nil) throws(StoreError) {
        guard let form = name.differingFormC else { return }
        let rule = "is not in Unicode's normalization form C; write it \(form.escapedASCII)"
        throw mismatch("\(kind) \(name.escapedASCII) \(rule)", column: column)
    }

    private static let nameRule = "must have 1 to 128 characters, no control characters, and not begin with __"

    private func requireColumns(_ names: [String], for user: String) throws(StoreError) {
        for column in names where self.column(column) == nil {
            throw mismatch("\(user) names a column that the table does not define", column: column)
        }
    }

    /// Creates the error for this definition, which is inconsistent with itself or with another one.
    func mismatch(_ message: String, column: String? = nil) -> StoreError {
        StoreError(.schemaMismatch, message, table: name, column: column)
    }

    static func isValidName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 128 && !name.isReserved
            && !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}

extension String {
    /// Whether a name begins with `__`, which is reserved for columns of stores and parameters of the protocol.
    ///
    /// `hasPrefix` compares characters: with it, a name in which a combining mark follows `__` would not be reserved.
    package var isReserved: Bool { utf8.starts(with: "__".utf8) }
}
