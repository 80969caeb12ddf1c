internal import TidelineStore

extension PageReader {
    /// Reads the value of a column of the shape, by its type.
    mutating func readColumn(_ column: Int, into rows: inout PackedRows) throws(JSONFault) {
        let first = try scanner.token()
        switch (types[column], first) {
        case (_, UInt8(ascii: "n")):
            try scanner.expect(word: "null")
            rows.setNull(at: column)
        case (.string, UInt8(ascii: "\"")):
            let text = try scanner.string()
            withContent(of: text) { rows.setBytes($0, as: .string, at: column) }
        case (.timestamp, UInt8(ascii: "\"")): try readTimestamp(column, into: &rows)
        case (.bool, UInt8(ascii: "t")):
            try scanner.expect(word: "true")
            rows.setBool(true, at: column)
        case (.bool, UInt8(ascii: "f")):
            try scanner.expect(word: "false")
            rows.setBool(false, at: column)
        case (.int, UInt8(ascii: "-")), (.int, 0x30...0x39):
            rows.setInt(try readInt(place: .column(column)), at: column)
        case (.double, UInt8(ascii: "-")), (.double, 0x30...0x39): try readDouble(column, into: &rows)
        case (.bytes, UInt8(ascii: "\"")): try readBytes(column, into: &rows)
        case (.json, UInt8(ascii: "{")), (.json, UInt8(ascii: "[")):
            let start = scanner.position
            try scanner.skipValue()
            rows.setBytes(scanner.slice(start, scanner.position), as: .json, at: column)
        default: throw try misplaced(.wrongType, place: .column(column))
        }
    }

    private mutating func readTimestamp(_ column: Int, into rows: inout PackedRows) throws(JSONFault) {
        let text = try scanner.string()
        guard let timestamp = withContent(of: text, { Timestamp(utf8: $0) }) else {
            throw JSONFault(kind: .invalidTimestamp, offset: text.start - 1, place: .column(column))
        }
        rows.setTimestamp(timestamp, at: column)
    }

    private mutating func readInt(place: JSONFault.Place) throws(JSONFault) -> Int64 {
        let number = try completeNumber()
        guard let value = number.int else { throw JSONFault(kind: .notAnInt, offset: number.start, place: place) }
        return value
    }

    private mutating func readDouble(_ column: Int, into rows: inout PackedRows) throws(JSONFault) {
        let number = try completeNumber()
        guard let value = scanner.double(number) else {
            throw JSONFault(kind: .doubleOutOfRange, offset: number.start, place: .column(column))
        }
        rows.setDouble(value, at: column)
    }

    /// A number within an array or object: at the end of the input its last digits are missing.
    private mutating func completeNumber() throws(JSONFault) -> ScannedNumber {
        let number = try scanner.number()
        _ = try scanner.token()
        return number
    }

    private mutating func readBytes(_ column: Int, into rows: inout PackedRows) throws(JSONFault) {
        let text = try scanner.string()
        var decoded: [UInt8] = []
        guard withContent(of: text, { Base64.decode($0, into: &decoded) }) else {
            throw JSONFault(kind: .invalidBase64, offset: text.start - 1, place: .column(column))
        }
        decoded.withUnsafeBytes { rows.setBytes($0, as: .bytes, at: column) }
    }

    /// Reads `id`: text, or a whole number in a table whose ids are such. Null and an empty text are no id.
    mutating func readID(into rows: inout PackedRows) throws(JSONFault) {
        let first = try scanner.token()
        row.idOffset = scanner.position
        row.hasID = false
        switch (idType, first) {
        case (_, UInt8(ascii: "n")): try scanner.expect(word: "null")
        case (.string, UInt8(ascii: "\"")):
            let text = try scanner.string()
            row.hasID = text.end > text.start
            if row.hasID { setID(text, of: &rows) }
        case (.int, UInt8(ascii: "-")), (.int, 0x30...0x39):
            let number = try readInt(place: .id)
            withUnsafeBytes(of: number.littleEndian) { row.idHash = ids.hash($0) }
            rows.setID(.int(number))
            row.hasID = true
        default: throw try misplaced(.wrongType, place: .id)
        }
    }

    private mutating func setID(_ text: ScannedText, of rows: inout PackedRows) {
        row.idHash = withContent(of: text) { [ids] id in
            rows.setID(bytes: id)
            return ids.hash(id)
        }
    }

    /// Reads `deleted` for a shape without such a column; null is not deleted.
    mutating func readDeleted() throws(JSONFault) {
        switch try scanner.token() {
        case UInt8(ascii: "t"):
            try scanner.expect(word: "true")
            row.isDeleted = true
        case UInt8(ascii: "f"):
            try scanner.expect(word: "false")
            row.isDeleted = false
        case UInt8(ascii: "n"):
            try scanner.expect(word: "null")
            row.isDeleted = false
        default: throw try misplaced(.wrongType, place: .deleted)
        }
    }

    /// Calls `body` with the text's bytes, unescaped.
    @inline(__always)
    mutating func withContent<T>(of text: ScannedText, _ body: (UnsafeRawBufferPointer) -> T) -> T {
        guard text.hasEscapes else { return body(scanner.slice(text.start, text.end)) }
        scratch.removeAll(keepingCapacity: true)
        scanner.unescape(text, into: &scratch)
        return scratch.withUnsafeBytes { body($0) }
    }
}
