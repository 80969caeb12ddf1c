extension Timestamp {
    /// Creates the instant that ISO 8601 text represents, or `nil` if the text is not valid or not exact.
    ///
    /// The format is `YYYY-MM-DD`, then optionally a time: `T` (or a space) `hh:mm[:ss[.f]]` with 1 to 7 fractional
    /// digits, which `Z` or an offset `±hh:mm`, `±hhmm`, or `±hh` may follow. Text without a zone is UTC. More than
    /// seven digits are accepted if those after the seventh are zero, because others could not be represented exactly.
    /// Letters may be of either case.
    public init?(_ text: some StringProtocol) {
        let parsed = text.utf8.withContiguousStorageIfAvailable { unsafe Timestamp(utf8: UnsafeRawBufferPointer($0)) }
        guard let timestamp = unsafe parsed ?? Array(text.utf8).withUnsafeBytes({ unsafe Timestamp(utf8: $0) }) else {
            return nil
        }
        self = timestamp
    }

    /// Creates the instant that ISO 8601 text represents, given as its UTF-8 bytes; see ``init(_:)``.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        var scanner = unsafe DigitScanner(bytes: bytes)
        guard let year = scanner.number(digits: 4), scanner.skip(UInt8(ascii: "-")),
            let month = scanner.number(digits: 2), scanner.skip(UInt8(ascii: "-")),
            let day = scanner.number(digits: 2)
        else { return nil }
        var parts = TimestampParts(year: year, month: month, day: day)
        var offset = 0
        if !scanner.isAtEnd {
            guard scanner.skip(UInt8(ascii: "T")) || scanner.skip(UInt8(ascii: "t")) || scanner.skip(0x20),
                scanner.time(into: &parts), let seconds = scanner.offset(), scanner.isAtEnd
            else { return nil }
            offset = seconds
        }
        guard let local = Timestamp(parts) else { return nil }
        self.init(ticks: local.ticks - Int64(offset) * Self.ticksPerSecond)
    }

    /// Returns ISO 8601 text in UTC with as many fractional digits as needed, but at least `minimumFractionDigits`.
    ///
    /// - Parameter minimumFractionDigits: 0 to 7. The wire protocol's literals have at least 3.
    public func iso8601(minimumFractionDigits: Int = 3) -> String {
        unsafe String(unsafeUninitializedCapacity: 28) { buffer in
            unsafe writeISO8601(
                into: UnsafeMutableRawBufferPointer(buffer), minimumFractionDigits: minimumFractionDigits)
        }
    }

    /// Writes the text that ``iso8601(minimumFractionDigits:)`` returns into `buffer`, which must hold 28 bytes.
    ///
    /// - Returns: The number of bytes written, 20 to 28.
    package func writeISO8601(into buffer: UnsafeMutableRawBufferPointer, minimumFractionDigits: Int = 3) -> Int {
        precondition(buffer.count >= 28, "an ISO 8601 text needs 28 bytes")
        let parts = self.parts
        var position = 0
        func put(_ number: Int, digits: Int, then separator: UInt8) {
            var rest = number
            for index in stride(from: position + digits - 1, through: position, by: -1) {
                unsafe buffer[index] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            }
            unsafe buffer[position + digits] = separator
            position += digits + 1
        }
        put(parts.year, digits: 4, then: UInt8(ascii: "-"))
        put(parts.month, digits: 2, then: UInt8(ascii: "-"))
        put(parts.day, digits: 2, then: UInt8(ascii: "T"))
        put(parts.hour, digits: 2, then: UInt8(ascii: ":"))
        put(parts.minute, digits: 2, then: UInt8(ascii: ":"))
        put(parts.second, digits: 2, then: UInt8(ascii: "Z"))
        var digits = 7
        var fraction = parts.fraction
        while digits > minimumFractionDigits, fraction % 10 == 0, digits > 0 {
            fraction /= 10
            digits -= 1
        }
        guard digits > 0 else { return position }
        unsafe buffer[position - 1] = UInt8(ascii: ".")
        put(fraction, digits: digits, then: UInt8(ascii: "Z"))
        return position
    }
}

extension Timestamp: CustomStringConvertible, LosslessStringConvertible, Codable {
    /// ISO 8601 text in UTC with at least three fractional digits.
    public var description: String { iso8601() }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let timestamp = Timestamp(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(text.debugDescription) is not an ISO 8601 date")
        }
        self = timestamp
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Reads fixed-width numbers and separators from bytes without passing their end.
@safe
private struct DigitScanner {
    let bytes: UnsafeRawBufferPointer
    var position = 0

    init(bytes: UnsafeRawBufferPointer) { unsafe self.bytes = unsafe bytes }

    var isAtEnd: Bool { unsafe position == bytes.count }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard unsafe position < bytes.count, unsafe bytes[position] == byte else { return false }
        position += 1
        return true
    }

    mutating func digit() -> Int? {
        guard unsafe position < bytes.count, unsafe bytes[position] &- 0x30 < 10 else { return nil }
        defer { position += 1 }
        return unsafe Int(bytes[position] &- 0x30)
    }

    mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    mutating func time(into parts: inout TimestampParts) -> Bool {
        guard let hour = number(digits: 2), skip(UInt8(ascii: ":")), let minute = number(digits: 2) else {
            return false
        }
        (parts.hour, parts.minute) = (hour, minute)
        guard skip(UInt8(ascii: ":")) else { return true }
        guard let second = number(digits: 2) else { return false }
        parts.second = second
        guard skip(UInt8(ascii: ".")) else { return true }
        var unit = 1_000_000
        guard let first = digit() else { return false }
        parts.fraction = first * unit
        while let digit = digit() {
            unit /= 10
            if unit == 0, digit != 0 { return false }
            parts.fraction += digit * unit
        }
        return true
    }

    /// Reads a zone and returns its offset in seconds east of UTC.
    mutating func offset() -> Int? {
        if isAtEnd || skip(UInt8(ascii: "Z")) || skip(UInt8(ascii: "z")) { return 0 }
        let sign = skip(UInt8(ascii: "+")) ? 1 : skip(UInt8(ascii: "-")) ? -1 : 0
        guard sign != 0, let hours = number(digits: 2), hours <= 23 else { return nil }
        if isAtEnd { return sign * hours * 3600 }
        _ = skip(UInt8(ascii: ":"))
        guard let minutes = number(digits: 2), minutes <= 59 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
