package import TidelineStore

/// Reads rows without a table definition: for servers that create a table when its first row arrives, and for copies of
/// rows that are stored as text.
package enum JSONRow {
    /// Reads one JSON object as a row, with types that follow from the JSON.
    ///
    /// Text is a string, even if it looks like a date. A number that is whole and fits 64 bits is an int, regardless of
    /// its notation. Other numbers are doubles, including -0, which an int cannot represent. Arrays and objects are
    /// kept as JSON text. Text in the member `id` becomes the key; null and empty text do not. If a member is repeated,
    /// the last one is used; names repeat if they are equal (`==`), also in different normalization forms.
    ///
    /// - Parameters:
    ///   - allowsIntegerID: Whether a whole number in the member `id` also becomes the key.
    ///   - keepsNotation: Whether a number with a point or an exponent is a double, also if it is whole.
    ///   - checksText: Whether half of a surrogate pair is an error also within an array or object.
    /// - Throws: ``WireError`` with the offset of the error: ``WireError/Code/malformedJSON``;
    ///   ``WireError/Code/wrongShape`` if the JSON is not an object; ``WireError/Code/invalidValue`` for an id of
    ///   another type, a number out of the range of a double, or a name or text with an escaped half of a surrogate
    ///   pair.
    package static func parse(
        _ bytes: UnsafeRawBufferPointer, allowsIntegerID: Bool = false, keepsNotation: Bool = false,
        checksText: Bool = false
    ) throws(WireError) -> Row {
        var reader = LooseReader(
            scanner: JSONScanner(bytes), allowsIntegerID: allowsIntegerID, keepsNotation: keepsNotation,
            checksText: checksText)
        do {
            return try reader.readRow()
        } catch {
            throw WireError(
                error.kind.code, error.kind.message(expecting: .string), offset: error.offset, column: reader.column)
        }
    }

    /// Reads one JSON object as a row. See ``parse(_:allowsIntegerID:keepsNotation:)``.
    package static func parse(_ bytes: [UInt8], allowsIntegerID: Bool = false) throws(WireError) -> Row {
        try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
            try parse(UnsafeRawBufferPointer(buffer), allowsIntegerID: allowsIntegerID)
        }
    }

    /// Whether a text is exactly one JSON array or object, as in a column of type `json`.
    ///
    /// The text must conform to RFC 8259, without extensions. It may be nested up to 511 levels deep, so that it fits
    /// in a row.
    package static func isArrayOrObject(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            let first = bytes.first { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }
            return (first == UInt8(ascii: "{") || first == UInt8(ascii: "[")) && JSONScanner.isValid(bytes)
        }
    }
}

/// Reads one row, with types that follow from the JSON.
private struct LooseReader {
    var scanner: JSONScanner
    /// The column whose value is being read.
    var column: String?
    var key: RowID?
    var columns: [(name: String, value: Value)] = []
    /// The positions of the columns.
    var positions: [String: Int] = [:]
    let allowsIntegerID: Bool
    let keepsNotation: Bool
    let checksText: Bool

    mutating func readRow() throws(JSONFault) -> Row {
        guard try scanner.token() == UInt8(ascii: "{") else { throw try scanner.misplaced(.notARow) }
        try scanner.open()
        if try scanner.hasFirst(before: UInt8(ascii: "}")) {
            repeat { try readMember() } while try scanner.hasNext(before: UInt8(ascii: "}"))
        }
        try scanner.expectEnd()
        return Row(id: key, distinctColumns: columns)
    }

    private mutating func readMember() throws(JSONFault) {
        let name = try scanner.wholeText(scanner.name())
        column = name
        _ = try scanner.token()
        let offset = scanner.position
        let value = try readValue()
        column = nil
        if name == "id" {
            try setKey(value, offset: offset)
        } else if let position = positions[name] {
            columns[position].value = value
        } else {
            positions[name] = columns.count
            columns.append((name, value))
        }
    }

    private mutating func setKey(_ value: Value, offset: Int) throws(JSONFault) {
        switch value {
        case .null, .string(""): key = nil
        case .string(let text): key = .string(text)
        case .int(let number) where allowsIntegerID: key = .int(number)
        default:
            column = "id"
            throw JSONFault(kind: .wrongType, offset: offset, place: .id)
        }
    }

    private mutating func readValue() throws(JSONFault) -> Value {
        switch try scanner.token() {
        case UInt8(ascii: "\""): return .string(try scanner.wholeText(scanner.string()))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let start = scanner.position
            if checksText { try scanner.skipWholeValue() } else { try scanner.skipValue() }
            return .json(String(decoding: scanner.slice(start, scanner.position), as: UTF8.self))
        case UInt8(ascii: "t"):
            try scanner.expect(word: "true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try scanner.expect(word: "false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try scanner.expect(word: "null")
            return .null
        default: return try readNumber()
        }
    }

    private mutating func readNumber() throws(JSONFault) -> Value {
        let number = try scanner.number()
        _ = try scanner.token()
        let isDouble = keepsNotation && scanner.slice(number.start, number.end).contains { ".eE".utf8.contains($0) }
        if !isDouble, let int = number.int, !(int == 0 && number.isNegative) { return .int(int) }
        guard let double = scanner.double(number) else {
            throw JSONFault(kind: .doubleOutOfRange, offset: number.start)
        }
        return .double(double)
    }
}
