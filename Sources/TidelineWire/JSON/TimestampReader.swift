internal import TidelineStore

/// Reads timestamps in the form in which servers write nearly all, `YYYY-MM-DDThh:mm:ss[.f]Z`.
///
/// Those of one answer fall on few days: a date is computed once as long as it is remembered.
struct TimestampReader {
    /// The days last computed, each in the place that its hash says.
    private var days = Array(repeating: Day(), count: 64)

    private struct Day {
        /// The bytes `YYYY-MM-DD` as two words.
        var head: UInt64 = 0
        var tail: UInt16 = 0
        /// The first tick.
        var start: Int64 = 0
    }

    /// The longest text of the form with its quotes.
    private static let maximumLength = 30

    /// The instant in the JSON string that begins at `start`, and the offset behind the string; nil when it is of
    /// another form, right or wrong, or near the end of the input.
    ///
    /// Unsafe pointers: as many bytes are left as the longest text of the form has; no load goes past those.
    @inline(__always)
    mutating func read(_ bytes: ByteView, at start: Int) -> (timestamp: Timestamp, end: Int)? {
        guard bytes.count - start >= Self.maximumLength, bytes[start + 11] == UInt8(ascii: "T"),
            let time = Self.timeOfDay(bytes.loadUnaligned(fromByteOffset: start + 12, as: UInt64.self)),
            let (fraction, end) = Self.fraction(bytes, at: start + 20),
            let midnight = startOfDay(bytes, at: start + 1),
            let timestamp = Timestamp(ticks: midnight + time + fraction)
        else { return nil }
        return (timestamp, end)
    }

    /// The first tick of the day `YYYY-MM-DD` at `start`.
    @inline(__always)
    private mutating func startOfDay(_ bytes: ByteView, at start: Int) -> Int64? {
        let head = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        let tail = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt16.self)
        let place = Int(((head ^ UInt64(tail) << 32) &* 0x9E37_79B9_7F4A_7C15) >> 58)
        let day = days[place]
        if day.head == head, day.tail == tail { return day.start }
        // Also checks the date, so that only a good one is remembered.
        guard let midnight = Timestamp(utf8: bytes.slice(start, start + 10)) else { return nil }
        days[place] = Day(head: head, tail: tail, start: midnight.ticks)
        return midnight.ticks
    }

    /// The ticks since midnight that the eight bytes `hh:mm:ss` name.
    @inline(__always)
    private static func timeOfDay(_ text: UInt64) -> Int64? {
        // Digits become their values, of which none may be past nine, and colons zero, which nothing else becomes.
        let parts = UInt64(littleEndian: text) ^ 0x3030_3A30_303A_3030
        let tooLarge = (parts &+ 0x7676_7F76_767F_7676 | parts) & 0x8080_8080_8080_8080
        let hour = Int64(parts & 0xFF) &* 10 &+ Int64(parts >> 8 & 0xFF)
        let minute = Int64(parts >> 24 & 0xFF) &* 10 &+ Int64(parts >> 32 & 0xFF)
        let second = Int64(parts >> 48 & 0xFF) &* 10 &+ Int64(parts >> 56)
        guard tooLarge == 0, hour < 24, minute < 60, second < 60 else { return nil }
        return (hour &* 3600 &+ minute &* 60 &+ second) &* Timestamp.ticksPerSecond
    }

    /// The ticks that `[.f]Z"` at `start` names, with one to seven digits, and the offset behind it.
    @inline(__always)
    private static func fraction(_ bytes: ByteView, at start: Int) -> (ticks: Int64, end: Int)? {
        var ticks: Int64 = 0
        var position = start
        if bytes[position] == UInt8(ascii: ".") {
            var unit = Timestamp.ticksPerSecond
            position += 1
            while position < start + 8, bytes[position] &- 0x30 < 10 {
                unit /= 10
                ticks &+= Int64(bytes[position] &- 0x30) &* unit
                position += 1
            }
            guard position > start + 1 else { return nil }
        }
        guard bytes[position] == UInt8(ascii: "Z"), bytes[position + 1] == UInt8(ascii: "\"") else { return nil }
        return (ticks, position + 2)
    }
}
