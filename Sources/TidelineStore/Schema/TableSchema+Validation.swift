extension TableSchema {
    /// The greatest number of columns beside `id`, the system's included; what every engine can hold.
    public static let maximumColumnCount = 1_000

    /// Checks names and consistency.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/schemaMismatch``, naming the table and column: a name that
    ///   is empty, over 128 characters, has control characters or begins with `__`; a table name that begins with
    ///   `sqlite_` or `tideline_`, in whatever case, which engines and stores keep for themselves; a column twice (also when the
    ///   names differ in ASCII case only) or named like `id` or a system column; an index or reference over a column
    ///   that does not exist; an index without columns; more columns than ``maximumColumnCount``.
    public func validate() throws(StoreError) {
        guard Self.isValidName(name) else {
            throw StoreError(
                .schemaMismatch, "the table name \(name.debugDescription) \(Self.nameRule)", table: name)
        }
        guard !name.asciiLowercased.hasPrefix("sqlite_"), !name.asciiLowercased.hasPrefix("tideline_") else {
            throw StoreError(
                .schemaMismatch, "table names beginning with sqlite_ or tideline_ are taken", table: name)
        }
        guard allColumns.count <= Self.maximumColumnCount else {
            throw StoreError(
                .schemaMismatch, "a table has at most \(Self.maximumColumnCount) columns", table: name)
        }
        var seen: Set<String> = ["id"]
        seen.formUnion(SystemColumns.names.map(\.asciiLowercased))
        for column in columns {
            guard Self.isValidName(column.name) else {
                throw StoreError(
                    .schemaMismatch, "the column name \(column.name.debugDescription) \(Self.nameRule)", table: name,
                    column: column.name)
            }
            guard seen.insert(column.name.asciiLowercased).inserted else {
                throw StoreError(
                    .schemaMismatch,
                    "the column name is used twice, or is one of id, \(SystemColumns.names.joined(separator: ", "))",
                    table: name, column: column.name)
            }
        }
        for index in indexes {
            guard !index.columns.isEmpty, Set(index.columns.map { Array($0.utf8) }).count == index.columns.count else {
                throw StoreError(.schemaMismatch, "an index needs columns, each once", table: name)
            }
            try requireColumns(index.columns, for: "an index")
        }
        try requireColumns(references.map(\.column), for: "a reference")
    }

    private static let nameRule = "must have 1 to 128 characters, no control characters, and not begin with __"

    private func requireColumns(_ names: [String], for user: String) throws(StoreError) {
        for column in names where self.column(column) == nil {
            throw StoreError(
                .schemaMismatch, "\(user) names a column that the table does not define", table: name, column: column)
        }
    }

    static func isValidName(_ name: String) -> Bool {
        !name.isEmpty && name.unicodeScalars.count <= 128 && !name.hasPrefix("__")
            && !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }
}
