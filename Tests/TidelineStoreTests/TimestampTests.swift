import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

import struct Foundation.Date

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "ISO 8601 is read exactly",
        arguments: [
            ("1970-01-01", 0), ("1970-01-01T00:00Z", 0), ("1970-01-01 00:00:00", 0), ("1970-01-01t00:00:00z", 0),
            ("1970-01-01T00:00:00.1234567Z", 1_234_567), ("1970-01-01T00:00:00.12345670000Z", 1_234_567),
            ("1969-12-31T23:59:59.9999999Z", -1), ("1970-01-01T01:00:00+01:00", 0),
            ("1970-01-01T00:00:00-0030", 18_000_000_000),
            ("1969-12-31T16:00-08", 0), ("0001-01-01T00:00:00Z", Timestamp.min.ticks),
            ("9999-12-31T23:59:59.9999999Z", Timestamp.max.ticks), ("0001-01-01T01:00:00+01:00", Timestamp.min.ticks),
            ("2000-02-29T00:00:00Z", 9_517_824_000_000_000),
        ] as [(String, Int64)])
    func reading(_ text: String, _ ticks: Int64) {
        #expect(Timestamp(text)?.ticks == ticks)
    }

    @Test(
        "Text that is not an exactly representable instant is refused",
        arguments: [
            "", "1970", "1970-1-1", "1970-01-01T", "1970-01-01T00", "1970-01-01T00:00:00.",
            "1970-01-01T00:00:00.12345671Z",
            "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z", "1970-01-01T23:59:60Z", "1970-02-29", "1900-02-29",
            "1970-00-01", "1970-13-01", "1970-01-00", "1970-01-32", "0000-01-01", "+1970-01-01", "-001-01-01",
            "1970-01-01T00:00:00Zx", "1970-01-01Z", " 1970-01-01", "1970-01-01T00:00:00+24:00", "1970-01-01T00:00:00+1",
            "1970-01-01T00:00:00+01:", "1970-01-01T00:00:00+01:60", "1970-01-01T00:00:00 Z", "１970-01-01",
            "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "1970-01-01T00:00:00\0", "now",
        ])
    func refusing(_ text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Text has as many fractional digits as the instant needs")
    func writing() {
        let second = Timestamp(clampingTicks: 0)
        #expect(second.iso8601() == "1970-01-01T00:00:00.000Z")
        #expect(second.iso8601(minimumFractionDigits: 0) == "1970-01-01T00:00:00Z")
        #expect(second.iso8601(minimumFractionDigits: -5) == "1970-01-01T00:00:00Z")
        #expect(second.iso8601(minimumFractionDigits: 99) == "1970-01-01T00:00:00.0000000Z")
        #expect(Timestamp(clampingTicks: -1).iso8601() == "1969-12-31T23:59:59.9999999Z")
        #expect(Timestamp(clampingTicks: 1_200_000).iso8601(minimumFractionDigits: 1) == "1970-01-01T00:00:00.12Z")
        #expect(Timestamp.min.iso8601() == "0001-01-01T00:00:00.000Z")
        #expect(Timestamp.max.iso8601() == "9999-12-31T23:59:59.9999999Z")
    }

    @Test("Text and parts give the same instant back", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let instant = RandomValues().timestamp(using: &random)
            for digits in 0...7 { #expect(Timestamp(instant.iso8601(minimumFractionDigits: digits)) == instant) }
            #expect(Timestamp(instant.parts) == instant)
            #expect(abs(Timestamp(instant.date).ticks - instant.ticks) < 100_000)
        }
    }

    @Test(
        "Any Date is clamped to the years 1 to 9999",
        arguments: [
            (0, 0), (-0.5, -5_000_000), (1.23456789, 12_345_679), (.nan, 0), (.infinity, Timestamp.max.ticks),
            (-.infinity, Timestamp.min.ticks), (1e12, Timestamp.max.ticks), (-1e12, Timestamp.min.ticks),
            (5e11, Timestamp.max.ticks), (1e18, Timestamp.max.ticks), (-0x1p63, Timestamp.min.ticks),
            (0x1p63, Timestamp.max.ticks), (.greatestFiniteMagnitude, Timestamp.max.ticks),
            (253_402_300_800, Timestamp.max.ticks),
        ] as [(Double, Int64)])
    func dates(_ seconds: Double, _ ticks: Int64) {
        let found = Timestamp(Date(timeIntervalSince1970: seconds)).ticks
        #expect(abs(found - ticks) <= 1)
    }

    @Test("Instants of whole milliseconds and microseconds are the same after a conversion to Date and back")
    func wholeMicroseconds() {
        var random = SplitMix64(seed: 1)
        // The years 1900 to 2100.
        for _ in 0..<10_000 {
            let microseconds = Int64.random(in: -2_208_988_800_000_000...4_102_444_800_000_000, using: &random)
            for ticks in [microseconds * 10, microseconds / 1000 * Timestamp.ticksPerMillisecond] {
                let instant = Timestamp(clampingTicks: ticks)
                #expect(Timestamp(instant.date) == instant)
            }
        }
    }

    @Test("A current Date is the same after a conversion to an instant and back")
    func currentDates() {
        var random = SplitMix64(seed: 2)
        for _ in 0..<10_000 {
            // The years 2019 to 2034, in which a date has fewer digits than an instant.
            let date = Date(timeIntervalSinceReferenceDate: .random(in: 568_000_000...1_072_000_000, using: &random))
            #expect(Timestamp(date).date == date)
        }
    }

    @Test("Addition and rounding down stay in range")
    func moving() {
        #expect(Timestamp.max.advanced(byTicks: .max) == .max)
        #expect(Timestamp.min.advanced(byTicks: .min) == .min)
        for (duration, ticks) in [(.nanoseconds(250), 2), (.seconds(-1.5), -15_000_000)] as [(Duration, Int64)] {
            #expect(Timestamp(clampingTicks: 0).advanced(by: duration).ticks == ticks)
        }
        let longest = Duration.seconds(Int64.max)
        #expect(Timestamp.min.advanced(by: longest) == .max && Timestamp.max.advanced(by: .zero - longest) == .min)
        #expect(Timestamp(clampingTicks: -1).milliseconds == -1 && Timestamp(clampingTicks: 19_999).milliseconds == 1)
        #expect(Timestamp(clampingTicks: -1).flooredToMillisecond.ticks == -10_000)
        #expect(Timestamp(clampingTicks: 19_999).flooredToMillisecond.ticks == 10_000)
        #expect(Timestamp.min.flooredToMillisecond == .min)
        #expect(Timestamp(ticks: Timestamp.max.ticks + 1) == nil)
        #expect(Timestamp(ticks: Timestamp.min.ticks - 1) == nil)
    }
}
