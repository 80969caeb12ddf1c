extension Row {
    /// A row with a column per property of `value`: `try Row(encoding: TodoItem(id: "1", text: "Buy milk"))`.
    ///
    /// The property `id`, a text or an integer, becomes the key. Integers become int, `Float` and `Double` double,
    /// `Date` and ``Timestamp`` timestamp, `Data` and `[UInt8]` bytes, `UUID` (in lower case) and `URL` string; an enum
    /// or wrapper with a single value becomes that value; arrays, dictionaries and structures become JSON, in which
    /// instants are ISO 8601 text. Nil becomes ``Value/null``.
    /// - Throws: `EncodingError` with the path of the property: an integer beyond `Int64`, a value without a form in
    ///   JSON, an id of another type, or a `value` that is not a structure of properties.
    public init(encoding value: some Encodable) throws {
        let encoder = RowEncoder()
        try value.encode(to: encoder)
        if let failure = encoder.failure { throw failure }
        self = encoder.row
    }

    /// A value of a type whose properties are this row's columns: `let item = try row.decode(TodoItem.self)`.
    ///
    /// The reverse of ``init(encoding:)``. A property that is optional is nil where the row has null or does not name
    /// the column; columns without a property are passed over. An int is read as a double too when that is exact.
    /// - Throws: `DecodingError` with the path of the property: a column that is missing, null or of another type, an
    ///   integer that the property's type cannot hold, or JSON of another structure.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try T(from: RowDecoder(row: self))
    }
}

/// The key of a property, by name.
struct ColumnKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
