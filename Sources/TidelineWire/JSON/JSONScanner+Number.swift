/// The parts of a JSON number. Its value is `mantissa` × 10^`exponent`, except for digits after the nineteenth.
struct ScannedNumber {
    var start: Int
    var end: Int
    var isNegative = false
    /// The first nineteen significant digits, which fit 64 bits.
    var mantissa: UInt64 = 0
    var exponent = 0
    /// Whether a nonzero digit did not fit the mantissa.
    var isInexact = false
    private var significantDigits = 0

    init(start: Int) {
        self.start = start
        end = start
    }

    @inline(__always)
    fileprivate mutating func add(_ digit: UInt8, isFraction: Bool) {
        if significantDigits < 19 {
            mantissa = mantissa &* 10 &+ UInt64(digit)
            if mantissa != 0 { significantDigits += 1 }
            if isFraction { exponent -= 1 }
        } else {
            if digit != 0 { isInexact = true }
            if !isFraction { exponent += 1 }
        }
    }

    /// The value if it is whole and fits 64 bits, regardless of the notation: `1000`, `1000.0`, `1e3`. Otherwise `nil`.
    var int: Int64? {
        // A nonzero twentieth digit makes the number too large, or leaves a fraction.
        if mantissa == 0 { return 0 }
        guard !isInexact, exponent >= -19, exponent <= 19 else { return nil }
        var magnitude = mantissa
        for _ in 0..<max(0, -exponent) {
            let (quotient, remainder) = magnitude.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { return nil }
            magnitude = quotient
        }
        for _ in 0..<max(0, exponent) {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            magnitude = product
        }
        if isNegative { return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
        return Int64(exactly: magnitude)
    }

    /// The nearest double if two exact doubles produce it (Clinger's fast path), which covers nearly all usual numbers.
    fileprivate var exactDouble: Double? {
        let value: Double
        if mantissa == 0 {
            value = 0
        } else if isInexact || mantissa > 1 << 53 || exponent < -22 || exponent > 22 {
            return nil
        } else {
            let power = powersOfTen[abs(exponent)]
            value = exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
        }
        return isNegative ? -value : value
    }
}

/// The powers of ten that a double represents exactly.
private let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]

/// A number with up to nineteen digits and no exponent: `mantissa` / 10^`fractionDigits`.
struct ShortNumber {
    var mantissa: UInt64
    var fractionDigits: Int
    var isNegative: Bool

    /// The value if it is written as a whole number and fits 64 bits, otherwise `nil`.
    var int: Int64? {
        guard fractionDigits == 0, mantissa <= UInt64(Int64.max) else { return nil }
        return isNegative ? -Int64(mantissa) : Int64(mantissa)
    }

    /// The nearest double if two exact doubles produce it, otherwise `nil`.
    var double: Double? {
        guard mantissa <= 1 << 53 else { return nil }
        let value = Double(mantissa) / powersOfTen[fractionDigits]
        return isNegative ? -value : value
    }
}

extension JSONScanner {
    /// Reads the number here if it is short and not at the end of the input. Otherwise returns `nil` and reads nothing.
    @inline(__always)
    mutating func shortNumber() -> ShortNumber? {
        var offset = position
        let isNegative = offset < bytes.count && bytes[offset] == UInt8(ascii: "-")
        if isNegative { offset += 1 }
        let first = offset
        var mantissa: UInt64 = 0
        skipDigits(from: &offset, into: &mantissa)
        // No digit or a leading zero: the general function reports the error.
        guard offset > first, offset == first + 1 || bytes[first] != 0x30 else { return nil }
        var digits = offset - first
        var fractionDigits = 0
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            let point = offset
            skipDigits(from: &offset, into: &mantissa)
            fractionDigits = offset - point
            digits += fractionDigits
            guard fractionDigits > 0 else { return nil }
        }
        guard digits <= 19, offset < bytes.count, bytes[offset] | 0x20 != UInt8(ascii: "e") else { return nil }
        position = offset
        return ShortNumber(mantissa: mantissa, fractionDigits: fractionDigits, isNegative: isNegative)
    }

    /// Skips digits and adds them to a mantissa, which holds nineteen digits. The caller rejects longer numbers.
    ///
    /// Unsafe pointers: eight bytes are loaded only if at least eight bytes are left.
    @inline(__always)
    private func skipDigits(from offset: inout Int, into mantissa: inout UInt64) {
        while bytes.count - offset >= 8 {
            let run = DigitRun(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            mantissa = mantissa &* run.scale &+ run.value
            offset += run.count
            if run.count < 8 { return }
        }
        while offset < bytes.count, bytes[offset] &- 0x30 < 10 {
            mantissa = mantissa &* 10 &+ UInt64(bytes[offset] &- 0x30)
            offset += 1
        }
    }

    /// Reads the number here. The grammar is strict: no plus sign, no leading zero, digits on both sides of the point.
    mutating func number() throws(JSONFault) -> ScannedNumber {
        var number = ScannedNumber(start: position)
        if byteHere == UInt8(ascii: "-") {
            number.isNegative = true
            position += 1
        } else if byteHere.map({ $0 &- 0x30 >= 10 }) ?? true {
            throw unexpected()
        }
        let first = position
        try digits(of: &number, isFraction: false)
        if bytes[first] == 0x30, position > first + 1 {
            position = first
            throw fault(.invalidNumber)
        }
        if byteHere == UInt8(ascii: ".") {
            position += 1
            try digits(of: &number, isFraction: true)
        }
        if byteHere == UInt8(ascii: "e") || byteHere == UInt8(ascii: "E") {
            position += 1
            number.exponent += try exponent()
        }
        number.end = position
        return number
    }

    /// Returns the double nearest to a number, or `nil` if it is an infinity.
    func double(_ number: ScannedNumber) -> Double? {
        if let value = number.exactDouble { return value }
        // This conversion always rounds correctly and does not depend on the locale.
        let value = Double(String(decoding: slice(number.start, number.end), as: UTF8.self))
        return value.flatMap { $0.isFinite ? $0 : nil }
    }

    private var byteHere: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Reads one or more digits.
    @inline(__always)
    private mutating func digits(of number: inout ScannedNumber, isFraction: Bool) throws(JSONFault) {
        let first = position
        while position < bytes.count, bytes[position] &- 0x30 < 10 {
            number.add(bytes[position] &- 0x30, isFraction: isFraction)
            position += 1
        }
        guard position > first else { throw position < bytes.count ? fault(.invalidNumber) : fault(.unexpectedEnd) }
    }

    /// Reads the exponent after the letter `e`. Limits it to a number that exceeds the digits of any input.
    private mutating func exponent() throws(JSONFault) -> Int {
        let isNegative = byteHere == UInt8(ascii: "-")
        if isNegative || byteHere == UInt8(ascii: "+") { position += 1 }
        let first = position
        var value = 0
        while let byte = byteHere, byte &- 0x30 < 10 {
            value = min(value * 10 + Int(byte &- 0x30), Int.max / 16)
            position += 1
        }
        guard position > first else { throw position < bytes.count ? fault(.invalidNumber) : fault(.unexpectedEnd) }
        return isNegative ? -value : value
    }
}
