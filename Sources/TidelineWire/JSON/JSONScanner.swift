/// A position in JSON text, and the steps over its grammar (RFC 8259); nothing is skipped that is not checked.
///
/// Unsafe pointers: the bytes belong to the caller of the public function that made the scanner and outlive it. Every
/// load is preceded by a comparison with `bytes.count`; a load of eight bytes with eight bytes left.
struct JSONScanner {
    let bytes: ByteView
    var position = 0
    /// How many arrays and objects enclose the position, from the row on where there are rows.
    var depth = 0

    /// How deep arrays and objects may lie in each other; more is a fault, not an overflow of the stack.
    static let maximumDepth = 512

    /// At the first byte, past a byte order mark, which some servers send though RFC 8259 does not allow it.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = ByteView(bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Whether `bytes` are the JSON of a value that may stand in a row.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var scanner = JSONScanner(bytes)
        scanner.position = 0
        scanner.depth = 1
        do {
            try scanner.skipValue()
            try scanner.expectEnd()
            return true
        } catch {
            return false
        }
    }

    func fault(_ kind: JSONFault.Kind) -> JSONFault { JSONFault(kind: kind, offset: position) }

    /// What is wrong with the byte here, or with its absence.
    func unexpected() -> JSONFault { fault(position < bytes.count ? .unexpectedByte : .unexpectedEnd) }

    func slice(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
        bytes.slice(start, end)
    }

    /// The next byte that is not white space, which becomes the position.
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

    /// Steps over one of the words of JSON, each of which has four letters or five.
    @inline(__always)
    mutating func expect(word: StaticString) throws(JSONFault) {
        let extra = word.utf8CodeUnitCount - 4
        // The last four letters are compared as one number, and one before them by itself.
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

    /// After the last value: nothing but white space may follow.
    mutating func expectEnd() throws(JSONFault) {
        skipSpace()
        guard position == bytes.count else { throw fault(.trailingBytes) }
    }

    // MARK: Arrays and objects

    /// Steps over the `[` or `{` here.
    mutating func open() throws(JSONFault) {
        guard depth < Self.maximumDepth else { throw fault(.tooDeep) }
        depth += 1
        position += 1
    }

    /// After the opening byte: whether there is a first element. If not, steps over `closer`.
    mutating func hasFirst(before closer: UInt8) throws(JSONFault) -> Bool {
        guard try token() == closer else { return true }
        close()
        return false
    }

    /// After an element: whether a comma, stepped over, promises another. If not, steps over `closer`.
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

    /// Reads the name of a member and the colon after it.
    mutating func name() throws(JSONFault) -> ScannedText {
        guard try token() == UInt8(ascii: "\"") else { throw fault(.unexpectedByte) }
        let name = try string()
        try expect(UInt8(ascii: ":"))
        return name
    }

    /// Steps over a value of any kind, checking all of it.
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
}
