internal import TidelineStore

/// Reads timestamps in the form in which servers write nearly all, `YYYY-MM-DDThh:mm:ss[.f]Z`.
enum TimestampReader {
    /// The longest text of the form with its quotes.
    private static let maximumLength = 30

    /// The instant in the JSON string that begins at `start`, and the offset behind the string; nil when it is of
    /// another form, right or wrong, or near the end of the input.
    ///
    /// Unsafe pointers: as many bytes are left as the longest text of the form has; no load goes past those.
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

    /// The days since 1970 of the bytes `YYYY-MM-` and `DD`.
    @inline(__always)
    private static func day(_ head: UInt64, _ tail: UInt16) -> Int64? {
        // Digits become their values, of which none may be past nine, and hyphens zero, which nothing else becomes.
        let parts = UInt64(littleEndian: head) ^ 0x2D30_302D_3030_3030
        let last = UInt16(littleEndian: tail) ^ 0x3030
        let tooLarge = (parts &+ 0x7F76_767F_7676_7676 | parts) & 0x8080_8080_8080_8080
        let lastTooLarge = (last &+ 0x7676 | last) & 0x8080
        guard tooLarge == 0, lastTooLarge == 0 else { return nil }
        return Timestamp.day(
            year: number(parts) &* 100 &+ number(parts >> 16), month: number(parts >> 40),
            day: number(UInt64(last)))
    }

    /// The number that two digits make, the first of which is the lowest byte.
    @inline(__always)
    private static func number(_ digits: UInt64) -> Int { Int(digits & 0xFF) &* 10 &+ Int(digits >> 8 & 0xFF) }

    /// The seconds since midnight that the eight bytes `hh:mm:ss` name.
    @inline(__always)
    private static func timeOfDay(_ text: UInt64) -> Int64? {
        // As the day's.
        let parts = UInt64(littleEndian: text) ^ 0x3030_3A30_303A_3030
        let tooLarge = (parts &+ 0x7676_7F76_767F_7676 | parts) & 0x8080_8080_8080_8080
        let (hour, minute, second) = (number(parts), number(parts >> 24), number(parts >> 48))
        guard tooLarge == 0, hour < 24, minute < 60, second < 60 else { return nil }
        return Int64(hour &* 3600 &+ minute &* 60 &+ second)
    }

    /// The ticks that `[.f]Z"` at `start` names, with one to seven digits, and the offset behind it.
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
