public import TidelineStore

/// Writes rows as JSON, in the form that the wire protocol has for each type, appending to ``bytes``.
///
/// Text is escaped only where JSON asks for it: the quote, the backslash, and the characters below U+0020. Doubles have
/// the shortest text that reads back as the same double; NaN and the infinities, which JSON lacks, are written as null.
/// Timestamps are ISO 8601 in UTC with at least three fractional digits, bytes are padded base64, and a JSON value is
/// written as it is; if it is not JSON after all, it is written as a string. What is written is JSON in every case.
public struct JSONWriter: Sendable {
    /// What has been written.
    public var bytes: [UInt8] = []
    /// The names of the columns of the shape written last, ready to be copied.
    var names = ShapeNames()

    /// A writer that has written nothing.
    public init() {}

    // MARK: Pieces

    /// Writes the beginning of an array.
    public mutating func beginArray() { bytes.append(UInt8(ascii: "[")) }

    /// Writes the end of an array.
    public mutating func endArray() { bytes.append(UInt8(ascii: "]")) }

    /// Writes the comma between two elements.
    public mutating func separator() { bytes.append(UInt8(ascii: ",")) }

    /// Writes a text as a JSON string.
    public mutating func append(string: String) {
        var string = string
        string.withUTF8 { appendText(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a value in the form that its type has on the wire.
    public mutating func append(_ value: Value) {
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

    /// Writes a row as an object: its `id`, when it has one, then its columns in their order.
    ///
    /// - Parameter columns: Which columns to write; nil for all. It is not asked about `id`.
    public mutating func append(_ row: Row, columns: ((String) -> Bool)? = nil) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        if let key = row.key {
            append(word: "\"id\":")
            append(key.value)
            isFirst = false
        }
        for (name, value) in row.values where columns?(name) ?? true {
            if !isFirst { separator() }
            isFirst = false
            append(string: name)
            bytes.append(UInt8(ascii: ":"))
            append(value)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
