import Foundation
import Testing
import TidelineStore
import TidelineSupport
import TidelineWire

/// Reading several bytes at once gives the same result as reading byte by byte, at every offset and every length of
/// input.
@Suite struct WordwiseReadingTests {
    private let parser = PageParser(schema: everyTypeSchema)

    /// Parses a row with the value twice: once with many bytes after it, and once near the end of the input.
    private func rows(_ column: String, _ value: String) throws(WireError) -> [Row] {
        let padding = String(repeating: "x", count: 40)
        return [
            try parser.row(#"{"id":"a","\#(column)":\#(value),"x":"\#(padding)"}"#),
            try parser.row(#"{"id":"a","\#(column)":\#(value)}"#),
        ]
    }

    @Test(arguments: [UInt64(1), 2])
    func numbersOfEveryLengthAreReadAsSwiftReadsThem(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for round in 0..<(fuzzIterations / 8) {
            let digits = (0..<(round % 22)).map { _ in String(Int.random(in: 0...9, using: &random)) }.joined()
            let whole = (Bool.random(using: &random) ? "-" : "") + "\(Int.random(in: 1...9, using: &random))" + digits
            for row in try rows("double", whole) { #expect(row["double"] == Double(whole).map { .double($0) }) }
            let error = wireError { () throws(WireError) in
                for row in try rows("int", whole) where row["int"] != Int64(whole).map({ .int($0) }) {
                    Issue.record("\(whole) is read as \(row)")
                }
            }
            #expect((error?.code == .invalidValue) == (Int64(whole) == nil), "\(whole)")
            let fraction = whole + "." + String(digits.reversed()) + "5"
            for row in try rows("double", fraction) { #expect(row["double"] == Double(fraction).map { .double($0) }) }
        }
    }

    @Test(arguments: 0...40)
    func aByteThatIsNotPlainIsFoundAtEveryPlace(place: Int) throws {
        let before = String(repeating: "x", count: place)
        for length in [0, 1, 7, 8, 15, 16, 17] {
            let behind = String(repeating: "y", count: length)
            for (json, text) in [
                ("", ""), ("é", "é"), ("\u{7F}", "\u{7F}"), (#"\n"#, "\n"), (#"\""#, "\""), (#"\\"#, "\\"),
            ] {
                for row in try rows("string", "\"\(before)\(json)\(behind)\"") {
                    #expect(row["string"] == .string(before + text + behind))
                }
            }
            for byte in [0, 0x1F, 0x80, 0xFF] as [UInt8] {
                let json = Array(#"{"id":"a","string":"\#(before)"#.utf8) + [byte] + Array("\(behind)\"}".utf8)
                expectError(.malformedJSON) { try parser.parseRow(json, requireID: true) }
            }
        }
    }

    @Test func namesThatTheTableLacksAreKnownFromRowToRowAndTakenForNoOthers() throws {
        let extras =
            (0..<40).map { "extra\($0)" } + ["madeSomewhat", "madeSomewhen", "strinh", "a_name_too_long_to_be_known"]
        let members = extras.map { #""\#($0)":[{"int":9}]"# }.joined(separator: ",")
        let rows = (0..<5).map { #"{\#(members),"id":"\#($0)","string":"s","integer":1,"int":\#($0)}"# }
        // Unknown and known names at swapped positions.
        let swapped = (5..<10).map { #"{"id":"\#($0)","madeSomewhat":0,"int":\#($0),"madeSomewhat":0,"string":"s"}"# }
        let page = try parser.page(
            "["
                + (rows + swapped + rows.map { $0.replacing("\"id\":\"", with: "\"id\":\"1") })
                .joined(separator: ",") + "]")
        #expect(page.rows.count == 15)
        for (index, row) in page.rows.enumerated() {
            let number = Int64(index < 10 ? index : index - 10)
            #expect(row["int"] == .int(number) && row["string"] == "s")
        }
    }

    @Test func aNameThatWasLearnedIsStillChecked() throws {
        for bad in [#"{"id":"b","x":tru}"#, #"{"id":"b","x":"1}"#, #"{"id":"b","x"1}"#, #"{"id":"b","x:1}"#] {
            expectError(.malformedJSON, "\(bad)") { try parser.page(#"[{"id":"a","x":1},{"id":"c","x":1},\#(bad)]"#) }
        }
    }
}
