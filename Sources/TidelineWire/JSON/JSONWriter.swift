package import TidelineStore

/// Writes rows as JSON in the format of the wire protocol, and appends them to ``bytes``.
///
/// Only the characters that JSON requires to be escaped are escaped: the quote, the backslash, and the characters below
/// U+0020. A double is written as the shortest text that reads back as the same double; NaN and infinities, which JSON
/// cannot represent, are written as null. A timestamp is written in ISO 8601 format in UTC with at least three
/// fractional digits, and bytes as padded base64. A JSON value is written unchanged, or as a string if it is not valid
/// JSON. The output is always valid JSON.
package struct JSONWriter: Sendable {
    /// The JSON written so far.
    package var bytes: [UInt8] = []
    /// The column names of the shape written last, in a form that is ready to copy.
    var names = ShapeNames()

    /// Creates an empty writer.
    package init() {}

    // MARK: Elements

    /// Writes the beginning of an array.
    package mutating func beginArray() { bytes.append(UInt8(ascii: "[")) }

    /// Writes the end of an array.
    package mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// Writes the comma between two elements.
    package mutating func separator() { bytes.append(UInt8(ascii: ",")) }

    /// Writes a text as a JSON string.
    package mutating func append(string: String) {
        var string = string
        string.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a value in the wire format of its type.
    package mutating func append(_ value: Value) {
        switch value {
        case .null: append(word: "null")
        case .bool(let value): append(word: value ? "true" : "false")
        case .int(let value): append(int: value)
        case .double(let value): append(double: value)
        case .string(let value): append(string: value)
        case .timestamp(let value): append(timestamp: value)
        case .bytes(let value): value.withUnsafeBytes { appendBase64($0) }
        case .json(var value): value.withUTF8 { appendJSON(UnsafeRawBufferPointer($0)) }
        }
    }

    // MARK: Rows

    /// Writes a row as an object: its `id`, if it has one, then its columns in their order.
    ///
    /// - Parameter columns: Returns whether to write a column, or `nil` to write all columns. Not called for `id`.
    package mutating func append(_ row: Row, columns: ((String) -> Bool)? = nil) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        if let key = row.id {
            append(word: "\"id\":")
            append(key.value)
            isFirst = false
        }
        defer { bytes.append(UInt8(ascii: "}")) }
        if columns == nil, row.withPackedColumns({ append(columnsOf: $0, isFirst: isFirst) }) != nil { return }
        for (name, value) in row.values where columns?(name) ?? true {
            if !isFirst { separator() }
            isFirst = false
            append(string: name)
            bytes.append(UInt8(ascii: ":"))
            append(value)
        }
    }
}
