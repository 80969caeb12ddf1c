import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport
import TidelineWire

@Suite struct TimestampTextTests {
    /// Parses a text far from the end of the input, where the parser takes the fast path for the usual format.
    private func parsed(_ text: String) throws(WireError) -> Timestamp? {
        let schema = TableSchema("T", columns: [.timestamp("at")], systemColumns: [])
        let json = #"{"at":"\#(text)","id":"a","x":"\#(String(repeating: "x", count: 40))"}"#
        do {
            return try PageParser(schema: schema).row(json)["at"]?.timestamp
        } catch {
            guard error.code == .invalidValue else { throw error }
            return nil
        }
    }

    @Test(arguments: [
        "2026-11-21T09:12:49Z", "2026-11-21T09:12:49.4Z", "2026-11-21T09:12:49.4031234Z", "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.9999999Z", "2024-02-29T00:00:00.000Z", "2026-11-21T09:12:49.40312340Z",
        "2023-02-29T00:00:00.000Z", "2026-11-21T24:00:00.000Z", "2026-11-21T09:60:00.000Z", "2026-11-21T09:12:60.000Z",
        "2026-11-21T09:12:49.Z", "2026-11-21T09:12:49.12345678Z", "2026-11-21T09.12:49.000Z", "2026-11-21T09:12:49.000",
        "2026-11-21T09:12:49.000+01:00", "2026-11-21t09:12:49z", "2026-11-21 09:12:49Z", "2026-11-21T/9:12:49.000Z",
        "2026-11-21T0::12:49.000Z", "2026-11-21T09:12:4:.000Z", "+026-11-21T09:12:49.000Z", "2026-11-21T09:12:49.000ZZ",
        "2026-11-21T09:12:49,000Z", "0000-01-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-21",
    ])
    func aTextIsTheInstantThatTimestampSaysOrNone(text: String) throws {
        #expect(try parsed(text) == Timestamp(text))
    }

    @Test(arguments: [UInt64](1...4))
    func everyInstantAndEveryChangeOfItsTextAreReadAsTimestampReadsThem(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let values = RandomValues()
        for _ in 0..<(fuzzIterations / 4) {
            let timestamp = values.timestamp(using: &random)
            var text = Array(timestamp.iso8601(minimumFractionDigits: Int.random(in: 0...7, using: &random)).utf8)
            #expect(try parsed(String(decoding: text, as: UTF8.self)) == timestamp)
            let place = Int.random(in: 0..<text.count, using: &random)
            text[place] = Array("0123456789:.-TZ/;+ tz".utf8).randomElement(using: &random) ?? 0
            let changed = String(decoding: text, as: UTF8.self)
            #expect(try parsed(changed) == Timestamp(changed), "\(changed)")
        }
    }
}
