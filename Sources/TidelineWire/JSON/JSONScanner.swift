/// A scanner for JSON text (RFC 8259). It checks everything that it skips.
///
/// Unsafe pointers: the caller of the public function that created the scanner owns the bytes, which outlive the
/// scanner. Each load follows a comparison with `bytes.count`. Eight bytes are loaded only if at least eight bytes are
/// left.
struct JSONScanner {
    let bytes: ByteView
    var position = 0
    /// The number of arrays and objects that enclose the position. Within a row, they are counted from the row.
    var depth = 0
    /// Whether a skipped value has an escaped half of a surrogate pair, until this is reset.
    var hasHalfOfPair = false

    /// The maximum nesting depth of arrays and objects. Exceeding it is an error instead of a stack overflow.
    static let maximumDepth = 512

    /// Creates a scanner at the first byte. Skips a byte order mark, which some servers send although RFC 8259 forbids
    /// it.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = ByteView(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Whether `bytes` are the JSON of a value that a row can contain.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(bytes)
        scanner.position = 0
        scanner.depth = 1
        do {
            try scanner.skipValue()
            try scanner.expectEnd()
            return !scanner.hasHalfOfPair
        } catch {
            return false
        }
    }

    func fault(_ kind: JSONFault.Kind) -> JSONFault { JSONFault(kind: kind, offset: position) }

    /// Returns the error for an unexpected byte or the end of the input.
    func unexpected() -> JSONFault { fault(position < bytes.count ? .unexpectedByte : .unexpectedEnd) }

    func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        bytes.slice(start, end)
    }

    /// Moves to the next byte that is not white space, and returns it.
    @inline(__always)
    mutating func token() throws(JSONFault) -> UInt8 {
        guard position < bytes.count else { throw fault(.unexpectedEnd) }
        let byte = bytes[position]
        return byte > 0x20 ? byte : try tokenAfterSpace()
    }

    private mutating func tokenAfterSpace() throws(JSONFault) -> UInt8 {
        skipSpace()
        guard position < bytes.count else { throw fault(.unexpectedEnd) }
        return bytes[position]
    }

    mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    @inline(__always)
    mutating func expect(_ byte: UInt8) throws(JSONFault) {
        guard try token() == byte else { throw fault(.unexpectedByte) }
        position += 1
    }

    /// Skips one of the JSON keywords, which have four or five letters.
    @inline(__always)
    mutating func expect(word: StaticString) throws(JSONFault) {
        let extra = word.utf8CodeUnitCount - 4
        // Compare the last four letters as one number, and the letter before them separately.
        if extra <= 1, bytes.count - position >= 4 + extra,
            bytes.loadUnaligned(fromByteOffset: position + extra, as: UInt32.self)
                == UnsafeRawPointer(word.utf8Start).loadUnaligned(fromByteOffset: extra, as: UInt32.self),
            bytes[position] == word.utf8Start[0]
        {
            position += 4 + extra
        } else {
            try expectLetters(of: word)
        }
    }

    private mutating func expectLetters(of word: StaticString) throws(JSONFault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[index] else { throw unexpected() }
            position += 1
        }
    }

    /// Checks that only white space follows the last value.
    mutating func expectEnd() throws(JSONFault) {
        skipSpace()
        guard position == bytes.count else { throw fault(.trailingBytes) }
    }

    // MARK: Arrays and objects

    /// Skips the `[` or `{` here.
    mutating func open() throws(JSONFault) {
        guard depth < Self.maximumDepth else { throw fault(.tooDeep) }
        depth += 1
        position += 1
    }

    /// After the opening byte, returns whether there is a first element. If not, skips `closer`.
    mutating func hasFirst(before closer: UInt8) throws(JSONFault) -> Bool {
        guard try token() == closer else { return true }
        close()
        return false
    }

    /// After an element, skips a comma and returns `true`, or skips `closer` and returns `false`.
    @inline(__always)
    mutating func hasNext(before closer: UInt8) throws(JSONFault) -> Bool {
        let byte = try token()
        if byte == UInt8(ascii: ",") {
            position += 1
            return true
        }
        guard byte == closer else { throw fault(.unexpectedByte) }
        close()
        return false
    }

    private mutating func close() {
        depth -= 1
        position += 1
    }

    /// Reads the name of a member, and skips the colon after it.
    mutating func name() throws(JSONFault) -> ScannedText {
        guard try token() == UInt8(ascii: "\"") else { throw fault(.unexpectedByte) }
        let name = try string()
        try expect(UInt8(ascii: ":"))
        return name
    }

    /// Skips a value of any type, and checks that it is valid JSON.
    mutating func skipValue() throws(JSONFault) {
        switch try token() {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "{"):
            try open()
            guard try hasFirst(before: UInt8(ascii: "}")) else { return }
            repeat {
                _ = try name()
                try skipValue()
            } while try hasNext(before: UInt8(ascii: "}"))
        case UInt8(ascii: "["):
            try open()
            guard try hasFirst(before: UInt8(ascii: "]")) else { return }
            repeat { try skipValue() } while try hasNext(before: UInt8(ascii: "]"))
        case UInt8(ascii: "t"): try expect(word: "true")
        case UInt8(ascii: "f"): try expect(word: "false")
        case UInt8(ascii: "n"): try expect(word: "null")
        default: _ = try number()
        }
    }

    /// Moves to the first member of the object here that has a name and a value that begins with a byte.
    ///
    /// - Returns: Whether the position is that of the value. If not, the object was skipped.
    mutating func find(_ name: String, before first: UInt8) throws(JSONFault) -> Bool {
        guard try token() == UInt8(ascii: "{") else { throw fault(.notARow) }
        try open()
        guard try hasFirst(before: UInt8(ascii: "}")) else { return false }
        repeat {
            let member = try self.name()
            if try token() == first, withContent(of: member, { $0.elementsEqual(name.utf8) }) { return true }
            try skipValue()
        } while try hasNext(before: UInt8(ascii: "}"))
        return false
    }

    /// Returns an error for a value of the wrong kind, after checking that the value is valid JSON.
    mutating func misplaced(
        _ kind: JSONFault.Kind, place: JSONFault.Place = .none
    ) throws(JSONFault) -> JSONFault {
        let start = position
        try skipValue()
        return JSONFault(kind: kind, offset: start, place: place)
    }
}
