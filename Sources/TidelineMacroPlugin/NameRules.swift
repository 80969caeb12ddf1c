#if Macros
/// The rules for names of tables and columns that `TableSchema.validate()` checks when a table is defined.
///
/// They are repeated here, because a macro that links TidelineStore would make the compiler build it twice. A test
/// compares them.
enum NameRules {
    /// Returns why a name cannot be that of a table, or `nil` if it can.
    static func problem(withTable name: String) -> String? {
        if let problem = problem(with: name) { return "the table name \(name.debugDescription) \(problem)" }
        let folded = folded(name)
        guard !["sqlite_", "tideline_"].contains(where: { folded.utf8.starts(with: $0.utf8) }) else {
            return "table names beginning with sqlite_ or tideline_ are reserved"
        }
        return nil
    }

    /// Returns why a name cannot be that of a column, or `nil` if it can.
    static func problem(withColumn name: String) -> String? {
        let folded = folded(name)
        if reserved.contains(folded) {
            let isReadable = ["createdat", "updatedat", "version"].contains(folded)
            let hint = isReadable ? ", and that a record without @Table can read" : ""
            return "the column name \(name.debugDescription) is reserved for a column that every table has\(hint)"
        }
        return problem(with: name).map { "the column name \(name.debugDescription) \($0)" }
    }

    /// Returns a name in the form in which two names must differ.
    static func folded(_ name: String) -> String {
        String(decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    /// The names of `id` and the system columns in lower case.
    private static let reserved: Set<String> = ["id", "createdat", "updatedat", "version", "deleted", "__extra"]

    private static func problem(with name: String) -> String? {
        let isValid =
            !name.isEmpty && name.unicodeScalars.count <= 128 && !name.utf8.starts(with: "__".utf8)
            && !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        guard isValid else { return "must have 1 to 128 characters, no control characters, and not begin with __" }
        var form: [UInt8] = []
        name._withNFCCodeUnits { form.append($0) }
        return name.utf8.elementsEqual(form) ? nil : "is not in Unicode's normalization form C"
    }
}
#endif
