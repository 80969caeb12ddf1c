internal import TidelineStore

/// Converts string literals to the type of the column that they are compared with. See ``OData``.
struct LiteralTypes {
    private let types: [String: ColumnType]?

    init(_ schema: TableSchema?) {
        types = schema.map { schema in
            var types = ["id": schema.idType == .int ? ColumnType.int : .string]
            for column in schema.allColumns where types[column.name] == nil { types[column.name] = column.type }
            return types
        }
    }

    /// Whether the table has the column, or `true` if there is no definition of the table.
    func allows(_ column: String) -> Bool { types.map { $0[column] != nil } ?? true }

    /// Returns the end of a message about a column that the table does not define: a similar name, or nothing.
    func suggestion(for column: String) -> String {
        closestName(to: column, among: (types ?? [:]).keys.sorted()).map { "; did you mean \($0.debugDescription)?" }
            ?? ""
    }

    /// Returns the operands of a comparison, with a string literal converted to the type of the column.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, with the name of the column, if the literal does not fit it.
    func converted(_ a: RowPredicate, _ b: RowPredicate) throws(WireError) -> (RowPredicate, RowPredicate) {
        switch (a, b) {
        case (.column(let name), .literal(.string(let text))): return (a, .literal(try value(text, in: name)))
        case (.literal(.string(let text)), .column(let name)): return (.literal(try value(text, in: name)), b)
        default: return (a, b)
        }
    }

    /// Checks that a JSON or bytes literal is not compared with a column of another type. Such a literal is written as
    /// a string and would be read as something else. No row can equal it.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, with the name of the column.
    func requireSayable(_ a: RowPredicate, _ b: RowPredicate) throws(WireError) {
        switch (a, b) {
        case (.column(let name), .literal(let value)), (.literal(let value), .column(let name)):
            guard value.type == .json || value.type == .bytes, let type = types?[name], type != value.type else {
                return
            }
            throw WireError(
                .invalidFilter, "a column of type \(type.rawValue) cannot be compared with \(value)", column: name)
        default: return
        }
    }

    private func value(_ text: String, in column: String) throws(WireError) -> Value {
        switch types?[column] {
        case .timestamp:
            guard let timestamp = Timestamp(text) else { throw Self.mismatch(text, column, "an ISO 8601 date") }
            return .timestamp(timestamp)
        case .bytes:
            guard let bytes = Self.bytes(base64: text) else { throw Self.mismatch(text, column, "base64") }
            return .bytes(bytes)
        case .json:
            return .json(text)
        default:
            return .string(text)
        }
    }

    /// Returns the error for a text that does not have the form of the values of a column.
    static func mismatch(_ text: String, _ column: String, _ form: String) -> WireError {
        WireError(
            .invalidFilter,
            "the column is compared with \(String(text.prefix(100)).debugDescription), which is not \(form)",
            column: column)
    }

    private static func bytes(base64 text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        return Array(text.utf8).withUnsafeBytes { Base64.decode($0, into: &bytes) } ? bytes : nil
    }
}
