internal import TidelineStore

/// Gives string literals the type of the column they are compared with; see ``OData``.
struct LiteralTypes {
    private let types: [String: ColumnType]?

    init(_ schema: TableSchema?) {
        guard let schema else {
            types = nil
            return
        }
        // A dictionary of strings holds canonically equivalent names to be one, so the first of them wins; such a pair
        // of columns costs at most a conversion.
        var types = ["id": schema.idType == .int ? ColumnType.int : .string]
        for column in schema.allColumns where types[column.name] == nil { types[column.name] = column.type }
        self.types = types
    }

    /// Whether the column is known, or nothing is known of the table.
    func allows(_ column: String) -> Bool { types.map { $0[column] != nil } ?? true }

    /// The comparison of two operands, with a string literal among them typed.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, naming the column that the literal does not fit.
    func comparison(
        _ comparison: Predicate.Comparison, _ a: Predicate, _ b: Predicate
    ) throws(WireError) -> Predicate {
        switch (a, b) {
        case (.column(let name), .literal(.string(let text))):
            .comparison(comparison, a, .literal(try value(text, in: name)))
        case (.literal(.string(let text)), .column(let name)):
            .comparison(comparison, .literal(try value(text, in: name)), b)
        default: .comparison(comparison, a, b)
        }
    }

    /// Checks that a literal which is written as a string would not be read as something else: JSON or bytes compared
    /// with a column of another type, which no row can equal.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``, naming the column.
    func requireSayable(_ a: Predicate, _ b: Predicate) throws(WireError) {
        switch (a, b) {
        case (.column(let name), .literal(let value)), (.literal(let value), .column(let name)):
            guard value.type == .json || value.type == .bytes, let type = types?[name], type != value.type else {
                return
            }
            throw WireError(
                .invalidFilter, "a column of type \(type.rawValue) is compared with \(value)", column: name)
        default: return
        }
    }

    private func value(_ text: String, in column: String) throws(WireError) -> Value {
        switch types?[column] {
        case .timestamp:
            guard let timestamp = Timestamp(text) else { throw misfit(text, column, "an ISO 8601 date") }
            return .timestamp(timestamp)
        case .bytes:
            guard let bytes = Self.bytes(base64: text) else { throw misfit(text, column, "base64") }
            return .bytes(bytes)
        case .json:
            return .json(text)
        default:
            return .string(text)
        }
    }

    private func misfit(_ text: String, _ column: String, _ form: String) -> WireError {
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
