extension Row {
    /// Creates a row with a column for each property of `value`.
    ///
    /// Example: `try Row(encoding: TodoItem(id: "1", text: "Buy milk"))`.
    ///
    /// The property `id`, a string or an integer, becomes the identifier. Integers become int, `Float` and `Double`
    /// double, `Date` and ``Timestamp`` timestamp, `Data` and `[UInt8]` bytes, and `UUID` (in lower case) and `URL`
    /// string. An enum or wrapper with a single value becomes that value. Arrays, dictionaries, and structures become
    /// JSON, with instants as ISO 8601 text. `nil` becomes ``Value/null``.
    /// - Throws: `EncodingError` with the path of the property if an integer exceeds `Int64`, a value has no JSON
    ///   representation, an identifier has another type, or `value` is not a structure of properties.
    public init(encoding value: some Encodable) throws {
        let encoder = RowEncoder()
        try value.encode(to: encoder)
        if let failure = encoder.failure { throw failure }
        self = encoder.row
    }

    /// Decodes a value whose properties are this row's columns: `let item = try row.decode(TodoItem.self)`.
    ///
    /// This is the inverse of ``init(encoding:)``. An optional property is `nil` if the column is null or absent.
    /// Columns without a property are ignored. An int is also decoded as a double if that is exact.
    /// - Throws: `DecodingError` with the path of the property if a column is missing, null, or of another type, the
    ///   property's type cannot hold an integer, or JSON has another structure.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try T(from: RowDecoder(row: self))
    }
}

/// A coding key identified by its name.
package struct ColumnKey: CodingKey {
    package let stringValue: String
    package var intValue: Int? { nil }
    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
}
