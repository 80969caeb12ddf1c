internal import TidelineStore

/// Reads timestamps in the format that servers use for nearly all timestamps, `YYYY-MM-DDThh:mm:ss[.f]Z`.
enum TimestampReader {
    /// The maximum length of the text, including its quotes.
    private static let maximumLength = 30

    /// Returns the instant in the JSON string that begins at `start`, and the offset after the string. Returns `nil` if
    /// the string has another format, valid or not, or is near the end of the input.
    ///
    /// Unsafe pointers: a check ensures that the maximum length of the text is left, and no load exceeds it.
    @inline(__always)
    static func read(_ bytes: ByteView, at start: Int) -> (timestamp: Timestamp, end: Int)? {
        guard bytes.count - start >= maximumLength, bytes[start + 11] == UInt8(ascii: "T"),
            let day = day(
                bytes.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self),
                bytes.loadUnaligned(fromByteOffset: start + 9, as: UInt16.self)),
            let time = timeOfDay(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt64.self)),
            let (fraction, end) = fraction(bytes, at: start + 20),
            let timestamp = Timestamp(ticks: (day &* 86_400 &+ time) &* Timestamp.ticksPerSecond &+ fraction)
        else { return nil }
        return (timestamp, end)
    }

    /// Returns the days since 1970 for the bytes `YYYY-MM-` and `DD`.
    @inline(__always)
    private static func day(_ head: UInt64, _ tail: UInt16) -> Int64? {
        // Valid digits become values up to nine. Hyphens become zero, and no other byte does.
        let parts = UInt64(littleEndian: head) ^ 0x2D30_302D_3030_3030
        let last = UInt16(littleEndian: tail) ^ 0x3030
        let tooLarge = (parts &+ 0x7F76_767F_7676_7676 | parts) & 0x8080_8080_8080_8080
        let lastTooLarge = (last &+ 0x7676 | last) & 0x8080
        guard tooLarge == 0, lastTooLarge == 0 else { return nil }
        return Timestamp.day(
            year: number(parts) &* 100 &+ number(parts >> 16), month: number(parts >> 40),
            day: number(UInt64(last)))
    }

    /// Returns the number for two digits, with the first digit in the lowest byte.
    @inline(__always)
    private static func number(_ digits: UInt64) -> Int { Int(digits & 0xFF) &* 10 &+ Int(digits >> 8 & 0xFF) }

    /// Returns the seconds since midnight for the eight bytes `hh:mm:ss`.
    @inline(__always)
    private static func timeOfDay(_ text: UInt64) -> Int64? {
        // As in `day(_:_:)`.
        let parts = UInt64(littleEndian: text) ^ 0x3030_3A30_303A_3030
        let tooLarge = (parts &+ 0x7676_7F76_767F_7676 | parts) & 0x8080_8080_8080_8080
        let (hour, minute, second) = (number(parts), number(parts >> 24), number(parts >> 48))
        guard tooLarge == 0, hour < 24, minute < 60, second < 60 else { return nil }
        return Int64(hour &* 3600 &+ minute &* 60 &+ second)
    }

    /// Returns the ticks for `[.f]Z"` at `start`, with one to seven fractional digits, and the offset after it.
    @inline(__always)
    private static func fraction(_ bytes: ByteView, at start: Int) -> (ticks: Int64, end: Int)? {
        var ticks: Int64 = 0
        var position = start
        if bytes[position] == UInt8(ascii: ".") {
            let run = DigitRun(bytes.loadUnaligned(fromByteOffset: start + 1, as: UInt64.self))
            guard run.count > 0, run.count < 8 else { return nil }
            ticks = Int64(run.value &* DigitRun.powersOfTen[7 - run.count])
            position += 1 + run.count
        }
        guard bytes[position] == UInt8(ascii: "Z"), bytes[position + 1] == UInt8(ascii: "\"") else { return nil }
        return (ticks, position + 2)
    }
}
