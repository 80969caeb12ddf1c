internal import TidelineStore

/// Reads the timestamps of one answer, most of which fall on few days: a date is computed once as long as it is
/// remembered.
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

    /// The instant that ISO 8601 text names; nil when there is none.
    ///
    /// Unsafe pointers: in the form `YYYY-MM-DDThh:mm:ss[.f]Z`, told by its length, all loads lie within the first twenty
    /// bytes and the fraction within the length.
    mutating func read(_ text: UnsafeRawBufferPointer) -> Timestamp? {
        guard text.count >= 20, text.count <= 28, let time = timeOfDay(text) else { return Timestamp(utf8: text) }
        let head = text.loadUnaligned(as: UInt64.self)
        let tail = text.loadUnaligned(fromByteOffset: 8, as: UInt16.self)
        let place = Int(((head ^ UInt64(tail) << 32) &* 0x9E37_79B9_7F4A_7C15) >> 58)
        if days[place].head != head || days[place].tail != tail {
            // Also checks the date, so that only a good one is remembered.
            guard let midnight = Timestamp(utf8: UnsafeRawBufferPointer(rebasing: text[..<10])) else { return nil }
            days[place] = Day(head: head, tail: tail, start: midnight.ticks)
        }
        return Timestamp(ticks: days[place].start + time)
    }

    /// The ticks since midnight that `Thh:mm:ss[.f]Z` after the date names; nil when the text has another form.
    private func timeOfDay(_ text: UnsafeRawBufferPointer) -> Int64? {
        // "hh:mm:ss": every byte less the least it may be, none of which may then be past nine; colons become zero.
        let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: 11, as: UInt64.self))
        let parts = word ^ 0x3030_3A30_303A_3030
        let tooLarge = (parts &+ 0x7676_7F76_767F_7676 | parts) & 0x8080_8080_8080_8080
        guard text[10] == UInt8(ascii: "T"), tooLarge == 0 else { return nil }
        let hour = Int64(parts & 0xFF) * 10 + Int64(parts >> 8 & 0xFF)
        let minute = Int64(parts >> 24 & 0xFF) * 10 + Int64(parts >> 32 & 0xFF)
        let second = Int64(parts >> 48 & 0xFF) * 10 + Int64(parts >> 56)
        guard hour < 24, minute < 60, second < 60, let fraction = fraction(text) else { return nil }
        return (hour * 3600 + minute * 60 + second) * Timestamp.ticksPerSecond + fraction
    }

    /// The ticks that `[.f]Z` after the seconds names: `Z` alone, or a point, one to seven digits and `Z`.
    private func fraction(_ text: UnsafeRawBufferPointer) -> Int64? {
        let last = text.count - 1
        guard text[last] == UInt8(ascii: "Z") else { return nil }
        if last == 19 { return 0 }
        guard text[19] == UInt8(ascii: "."), last > 20 else { return nil }
        var ticks: Int64 = 0
        for index in 20..<27 {
            let digit = index < last ? text[index] &- 0x30 : 0
            guard digit < 10 else { return nil }
            ticks = ticks * 10 + Int64(digit)
        }
        return ticks
    }
}
