internal import TidelineStore

extension PageReader {
    /// Reads the value of a column of the shape, according to its type.
    @inline(__always)
    mutating func readColumn(_ column: Int) throws(JSONFault) {
        let first = try scanner.token()
        let isText = first == UInt8(ascii: "\"")
        switch parser.types[column] {
        case .string where isText: try setText(scanner.string(), at: column, place: .column(column))
        case .timestamp where isText: try readTimestamp(column)
        case .bool where first == UInt8(ascii: "t"):
            try scanner.expect(word: "true")
            values.set(.true, at: column)
        case .bool where first == UInt8(ascii: "f"):
            try scanner.expect(word: "false")
            values.set(.false, at: column)
        case .int where isNumber(first):
            let int = try readInt(place: .column(column))
            values.set(UInt64(bitPattern: int), as: .int, at: column)
        case .double where isNumber(first): try readDouble(column)
        case .bytes where isText: try readBytes(column)
        case .json where first == UInt8(ascii: "{") || first == UInt8(ascii: "["):
            try readJSON(column)
        default: try readOther(column, first)
        }
    }

    private func isNumber(_ first: UInt8) -> Bool { first == UInt8(ascii: "-") || first &- 0x30 < 10 }

    private mutating func readJSON(_ column: Int) throws(JSONFault) {
        let start = scanner.position
        do throws(JSONFault) {
            try scanner.skipWholeValue()
        } catch {
            throw error.kind == .loneSurrogate
                ? JSONFault(kind: .loneSurrogate, offset: error.offset, place: .column(column)) : error
        }
        values.set(scanner.slice(start, scanner.position), as: .json, at: column)
    }

    /// Reads null, or a value that the type does not accept.
    private mutating func readOther(_ column: Int, _ first: UInt8) throws(JSONFault) {
        guard first == UInt8(ascii: "n") else {
            if parser.acceptsAnyJSON, parser.types[column] == .json { return try readJSON(column) }
            if column == numberedColumn, isNumber(first) {
                let start = scanner.position
                _ = try scanner.number()
                return values.set(scanner.slice(start, scanner.position), as: .string, at: column)
            }
            throw try scanner.misplaced(.wrongType, place: .column(column))
        }
        try scanner.expect(word: "null")
        values.set(.null, at: column)
    }

    private mutating func readTimestamp(_ column: Int) throws(JSONFault) {
        if let (timestamp, end) = TimestampReader.read(scanner.bytes, at: scanner.position) {
            scanner.position = end
            values.set(UInt64(bitPattern: timestamp.ticks), as: .timestamp, at: column)
            return
        }
        let text = try scanner.string()
        guard let timestamp = scanner.withContent(of: text, { Timestamp(utf8: $0) }) else {
            throw JSONFault(kind: .invalidTimestamp, offset: text.start - 1, place: .column(column))
        }
        values.set(UInt64(bitPattern: timestamp.ticks), as: .timestamp, at: column)
    }

    private mutating func readInt(place: JSONFault.Place) throws(JSONFault) -> Int64 {
        let start = scanner.position
        if let int = scanner.shortNumber()?.int { return int }
        scanner.position = start
        let number = try completeNumber()
        guard let value = number.int else { throw JSONFault(kind: .notAnInt, offset: number.start, place: place) }
        return value
    }

    private mutating func readDouble(_ column: Int) throws(JSONFault) {
        let start = scanner.position
        if let double = scanner.shortNumber()?.double {
            values.set(double.bitPattern, as: .double, at: column)
            return
        }
        scanner.position = start
        let number = try completeNumber()
        guard let value = scanner.double(number) else {
            throw JSONFault(kind: .doubleOutOfRange, offset: number.start, place: .column(column))
        }
        values.set(value.bitPattern, as: .double, at: column)
    }

    /// Reads a number within an array or object, and checks that it does not end at the end of the input, where digits
    /// may be missing.
    private mutating func completeNumber() throws(JSONFault) -> ScannedNumber {
        let number = try scanner.number()
        _ = try scanner.token()
        return number
    }

    private mutating func readBytes(_ column: Int) throws(JSONFault) {
        let text = try scanner.string()
        let isValid = values.setScratch(as: .bytes, at: column) { [scanner] scratch in
            scanner.withContent(of: text) { Base64.decode($0, into: &scratch) }
        }
        guard isValid else { throw JSONFault(kind: .invalidBase64, offset: text.start - 1, place: .column(column)) }
    }

    /// Reads `id`: text, or a whole number in a table with integer ids. Null and empty text count as no id.
    mutating func readID() throws(JSONFault) {
        let first = try scanner.token()
        row.idOffset = scanner.position
        row.hasID = false
        switch (idType, first) {
        case (_, UInt8(ascii: "n")): try scanner.expect(word: "null")
        case (.string, UInt8(ascii: "\"")):
            let text = try scanner.string()
            row.hasID = text.end > text.start
            try setText(text, at: values.id, place: .id)
        case (.int, UInt8(ascii: "-")), (.int, 0x30...0x39):
            setID(try readInt(place: .id))
            row.hasID = true
        default: throw try scanner.misplaced(.wrongType, place: .id)
        }
    }

    mutating func setID(_ number: Int64) {
        values.setScratch(as: .int, at: values.id) { scratch in
            withUnsafeBytes(of: number.littleEndian) { scratch.append(contentsOf: $0) }
        }
    }

    @inline(__always)
    private mutating func setText(_ text: ScannedText, at index: Int, place: JSONFault.Place) throws(JSONFault) {
        guard text.hasEscapes else {
            return values.set(scanner.slice(text.start, text.end), as: .string, at: index)
        }
        let isText = values.setScratch(as: .string, at: index) { [scanner] in scanner.unescape(text, into: &$0) }
        guard isText else { throw JSONFault(kind: .loneSurrogate, offset: text.start - 1, place: place) }
    }

    /// Reads `deleted` for a shape without this column. Null is treated as not deleted.
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
        default: throw try scanner.misplaced(.wrongType, place: .deleted)
        }
    }
}
