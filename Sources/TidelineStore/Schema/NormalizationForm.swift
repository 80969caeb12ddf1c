extension String {
    /// The text in Unicode's normalization form C, or `nil` if it is in this form already.
    package var differingFormC: String? {
        guard utf8.contains(where: { $0 >= 0x80 }) else { return nil }
        var form: [UInt8] = []
        // The only way to this form without Foundation in all versions of the standard library.
        _withNFCCodeUnits { form.append($0) }
        return utf8.elementsEqual(form) ? nil : String(decoding: form, as: UTF8.self)
    }

    /// The text as a Swift literal in ASCII, which distinguishes texts that look alike: `"cafe\u{301}"`.
    package var escapedASCII: String { "\"\(unicodeScalars.map { $0.escaped(asASCII: true) }.joined())\"" }
}

extension TableSchema {
    /// Checks that a definition that was read from a store has names that are valid now. Earlier versions accepted
    /// names in any normalization form.
    ///
    /// - Parameter retired: The stored columns that are no longer defined.
    /// - Throws: ``StoreError/Code/schemaMismatch``, naming the table and column.
    package func requireStoredFormC(retired: [ColumnSchema], path: String? = nil) throws(StoreError) {
        let columns = name.differingFormC == nil ? columns + retired : []
        let column = columns.first { $0.name.differingFormC != nil }?.name
        let found = column ?? name
        guard let form = found.differingFormC else { return }
        throw StoreError(
            .schemaMismatch,
            "an earlier version has stored the \(column == nil ? "table" : "column") name \(found.escapedASCII), which is "
                + "not in Unicode's normalization form C. To rename it to \(form.escapedASCII), open the store with the "
                + "version that wrote it, push pending changes, and copy or pull the rows into a new store",
            table: name, column: column, path: path)
    }
}
