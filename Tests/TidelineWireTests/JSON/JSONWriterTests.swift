import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineWire

@Suite struct JSONWriterTests {
    private func text(_ value: Value) -> String {
        var writer = JSONWriter()
        writer.append(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(arguments: [
        (Value.null, "null"), (.bool(true), "true"), (.bool(false), "false"), (.int(.min), "-9223372036854775808"),
        (.double(1), "1.0"), (.double(-0.0), "-0.0"), (.double(1e20), "1e+20"),
        (.double(.leastNonzeroMagnitude), "5e-324"),
        (.double(.nan), "null"), (.double(.infinity), "null"), (.double(-.infinity), "null"),
        (.string("a\"\\/\n\r\t\u{8}\0\u{1F}\u{7F}é😀\u{2028}"), #""a\"\\/\n\r\t\u0008\u0000\u001f\#u{7F}é😀\#u{2028}""#),
        (.timestamp(Timestamp(ticks: 0)!), #""1970-01-01T00:00:00.000Z""#),
        (.timestamp(Timestamp(ticks: 1)!), #""1970-01-01T00:00:00.0000001Z""#),
        (.bytes([]), #""""#), (.bytes([0, 1]), #""AAE=""#), (.bytes([0xFF, 0xEF, 0xFE]), #""/+/+""#),
        (.json(#"{ "a":1.50 }"#), #"{ "a":1.50 }"#), (.json("{"), #""{""#), (.json(""), #""""#),
        (.json("[1],2"), #""[1],2""#), (.json("\u{FEFF}[]"), "\"\u{FEFF}[]\""),
    ])
    func aValueHasTheFormOfTheWire(value: Value, json: String) {
        #expect(text(value) == json)
    }

    @Test func aRowBeginsWithItsIDAndHasTheChosenColumns() {
        let row: Row = ["b": 1, "id": "x", "a\"": .null]
        #expect(json(row) == #"{"id":"x","b":1,"a\"":null}"#)
        var writer = JSONWriter()
        writer.append(row, columns: { $0 == "b" })
        writer.append(["b": 1], columns: { _ in false })
        writer.append(["b": 1])
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"{"id":"x","b":1}{}{"b":1}"#)
    }

    @Test func aPageIsMadeOfItsPieces() {
        var writer = JSONWriter()
        writer.beginArray()
        writer.append(["id": "a"])
        writer.separator()
        writer.append(string: "x")
        writer.endArray()
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[{"id":"a"},"x"]"#)
    }

    @Test func aBorrowedRowIsWrittenAsAnOwnedOneWhateverShapeCameBefore() throws {
        var writer = JSONWriter()
        for schema in [everyTypeSchema, TableSchema("T", columns: [.int("n")], idType: .int), everyTypeSchema] {
            var rows = PackedRows(shape: schema.makeShape())
            let row: Row =
                schema.idType == .int
                ? ["id": 7, "n": 5] : ["id": "é\"", "bool": false, "int": 5, "json": .json("[]")]
            try rows.append(row)
            writer.bytes.removeAll()
            rows.withRow(at: 0) { writer.append($0) }
            #expect(String(decoding: writer.bytes, as: UTF8.self) == json(row))
        }
    }

    @Test func whatIsNotUTF8IsWrittenAsReplacementCharacters() throws {
        for (bytes, text) in [
            ([0x61, 0xFF, 0x62], "a\u{FFFD}b"), ([0xC2], "\u{FFFD}"), ([0xE2, 0x82, 0x22], "\u{FFFD}\u{FFFD}\\\""),
        ]
            as [([UInt8], String)]
        {
            var writer = JSONWriter()
            bytes.withUnsafeBytes { writer.appendText($0) }
            #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(text)\"")
        }
    }

    @Test func textOfEveryLengthIsEscapedWhereverTheByteStands() {
        for length in 0..<40 {
            for place in 0...length {
                for (character, escaped) in [
                    ("\"", "\\\""), ("\\", "\\\\"), ("\n", "\\n"), ("\u{1}", "\\u0001"), ("é", "é"),
                ] {
                    let before = String(repeating: "a", count: place)
                    let after = String(repeating: "b", count: length - place)
                    #expect(text(.string(before + character + after)) == "\"\(before)\(escaped)\(after)\"")
                }
            }
        }
    }

    @Test func base64IsThatOfFoundation() {
        var random = SplitMix64(seed: 5)
        for length in 0..<200 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            var encoded: [UInt8] = []
            bytes.withUnsafeBytes { Base64.encode($0, into: &encoded) }
            #expect(String(decoding: encoded, as: UTF8.self) == Data(bytes).base64EncodedString())
            var decoded: [UInt8] = []
            #expect(encoded.withUnsafeBytes { Base64.decode($0, into: &decoded) })
            #expect(decoded == bytes)
        }
    }
}
