/// Text functions. Text is compared by its bytes; positions count Unicode scalars.
enum TextFunction {
    static func length(_ arguments: borrowing SQLArguments) -> SQLResult {
        .int(Int64(scalarCount(arguments.bytes(0))))
    }

    static func indexOf(_ arguments: borrowing SQLArguments) -> SQLResult {
        let text = arguments.bytes(0)
        guard let offset = firstOffset(of: arguments.bytes(1), in: text, from: 0) else { return .int(-1) }
        return .int(Int64(scalarCount(part(text, 0..<offset))))
    }

    static func substring(_ arguments: borrowing SQLArguments) -> SQLResult {
        let text = arguments.bytes(0)
        let start = byteOffset(ofScalar: position(arguments, 1), in: text)
        let tail = part(text, start..<text.count)
        guard arguments.count == 3 else { return .bytes(tail) }
        return .bytes(part(tail, 0..<byteOffset(ofScalar: position(arguments, 2), in: tail)))
    }

    static func startsWith(_ arguments: borrowing SQLArguments) -> SQLResult {
        let (text, prefix) = (arguments.bytes(0), arguments.bytes(1))
        return truth(prefix.count <= text.count && part(text, 0..<prefix.count).elementsEqual(prefix))
    }

    static func endsWith(_ arguments: borrowing SQLArguments) -> SQLResult {
        let (text, suffix) = (arguments.bytes(0), arguments.bytes(1))
        let start = text.count - suffix.count
        return truth(start >= 0 && part(text, start..<text.count).elementsEqual(suffix))
    }

    static func contains(_ arguments: borrowing SQLArguments) -> SQLResult {
        truth(firstOffset(of: arguments.bytes(1), in: arguments.bytes(0), from: 0) != nil)
    }

    static func lower(_ arguments: borrowing SQLArguments) -> SQLResult {
        .owned(arguments.bytes(0).map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 })
    }

    static func upper(_ arguments: borrowing SQLArguments) -> SQLResult {
        .owned(arguments.bytes(0).map { $0 &- 0x61 < 26 ? $0 & 0xDF : $0 })
    }

    static func trim(_ arguments: borrowing SQLArguments) -> SQLResult {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let text = arguments.bytes(0)
        guard let first = text.firstIndex(where: { !isSpace($0) }),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return .owned([]) }
        return .bytes(part(text, first..<(last + 1)))
    }

    static func replace(_ arguments: borrowing SQLArguments) -> SQLResult {
        let (text, search, replacement) = (arguments.bytes(0), arguments.bytes(1), arguments.bytes(2))
        guard !search.isEmpty else { return .bytes(text) }
        var result: [UInt8] = []
        var start = 0
        while let offset = firstOffset(of: search, in: text, from: start) {
            result.append(contentsOf: part(text, start..<offset))
            result.append(contentsOf: replacement)
            start = offset + search.count
        }
        result.append(contentsOf: part(text, start..<text.count))
        return .owned(result)
    }

    // MARK: Helpers

    private static func truth(_ value: Bool) -> SQLResult { .int(value ? 1 : 0) }

    private static func part(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[range])
    }

    private static func scalarCount(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count { $0 & 0xC0 != 0x80 } }

    /// Returns the offset of the scalar with the given number, or the end of the text; 0 for a negative number.
    private static func byteOffset(ofScalar number: Int64, in bytes: UnsafeRawBufferPointer) -> Int {
        if number <= 0 { return 0 }
        var rest = number
        for (offset, byte) in bytes.enumerated() where byte & 0xC0 != 0x80 {
            if rest == 0 { return offset }
            rest -= 1
        }
        return bytes.count
    }

    /// Returns a position. If integer arithmetic overflowed, the argument is a double, which is truncated and clamped
    /// to 64 bits.
    private static func position(_ arguments: borrowing SQLArguments, _ index: Int) -> Int64 {
        if arguments.isInt(index) { return arguments.int(index) }
        let double = arguments.double(index)
        if double >= 0x1p63 { return .max }
        return double < -0x1p63 ? .min : Int64(double)
    }

    private static func firstOffset(
        of needle: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, from start: Int
    ) -> Int? {
        guard let first = needle.first else { return start }
        var position = start
        while position + needle.count <= text.count {
            guard let found = text[position..<(text.count - needle.count + 1)].firstIndex(of: first) else { return nil }
            if part(text, found..<(found + needle.count)).elementsEqual(needle) { return found }
            position = found + 1
        }
        return nil
    }
}

/// Rounding and remainder functions. Integers give integers; SQLite turns a NaN result into null.
enum NumberFunction {
    static func rounded(
        _ arguments: borrowing SQLArguments, _ rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> SQLResult {
        arguments.isInt(0) ? .int(arguments.int(0)) : .double(arguments.double(0).rounded(rule))
    }

    /// Returns the remainder. SQLite's own `%` truncates doubles to integers first.
    static func modulo(_ arguments: borrowing SQLArguments) -> SQLResult {
        guard arguments.isInt(0), arguments.isInt(1) else {
            return .double(arguments.double(0).truncatingRemainder(dividingBy: arguments.double(1)))
        }
        let divisor = arguments.int(1)
        if divisor == 0 { return .null }
        return .int(divisor == -1 ? 0 : arguments.int(0) % divisor)
    }
}
