import Foundation
import Testing
import TidelineStore
import TidelineSupport

@testable import TidelineWire

/// Repeated members whose values are decoded into a buffer: strings with escapes, and base64.
@Suite struct RepeatedMemberTests {
    let parser = PageParser(schema: everyTypeSchema)

    @Test(arguments: [
        (#""\u00e9\u00e9\u00e9","string":"\n""#, "\n"), (#""\n","string":"\ud83d\ude00x""#, "\u{1F600}x"),
        (#""\u00e9","string":"plain""#, "plain"), (#""plain","string":"\t\u00e9""#, "\t\u{E9}"),
        (#""\u00e9","string":"","string":"\\""#, "\\"), (#""\u00e9","string":null,"string":"a\/b""#, "a/b"),
    ])
    func `of an escaped text given twice the last counts`(members: String, text: String) throws {
        let row = try parser.row(#"{"id":"a","string":\#(members),"bytes":"AAEC"}"#)
        #expect(row["string"] == .string(text))
        #expect(row["bytes"] == .bytes([0, 1, 2]))
    }

    @Test func `of base64 given twice the last counts`() throws {
        let row = try parser.row(#"{"id":"a","bytes":"////","string":"\n","bytes":"AA==","bytes":"AQID"}"#)
        #expect(row["bytes"] == .bytes([1, 2, 3]))
        #expect(row["string"] == "\n")
    }

    @Test func `of an escaped id given twice the last counts`() throws {
        #expect(try parser.page(#"[{"id":"\u00e9\u00e9","id":"\u0061","string":"\n"}]"#).rows[0].idText == "a")
    }

    @Test func `an integer id given twice leaves the last, and the texts beside it`() throws {
        let parser = PageParser(schema: TableSchema("T", columns: [.string("string")], idType: .int))
        let row = try parser.row(#"{"string":"\u00e9","id":1,"string":"\n\n","id":2}"#)
        #expect(row.id == .int(2))
        #expect(row["string"] == "\n\n")
    }

    @Test func `names that differ in their normal form only are one column`() throws {
        let row = try looseRow("{\"\u{E9}\":1,\"e\u{301}\":2,\"K\":3,\"\u{212A}\":4,\"\u{E9}\":5}")
        #expect(row.values.map { Array($0.name.utf8) } == ["\u{E9}", "K"].map { Array($0.utf8) })
        #expect(row.values.map(\.value) == [5, 4])
        let parser = PageParser(schema: TableSchema("T", columns: [.int("\u{E9}")]))
        #expect(try parser.row("{\"id\":\"a\",\"\u{E9}\":1,\"e\u{301}\":2}")["\u{E9}"] == 2)
        #expect(try parser.row("{\"id\":\"a\",\"e\\u0301\":3}")["\u{E9}"] == 3)
    }

    // MARK: Comparison with Foundation

    @Test(arguments: [UInt64(1), 2, 3])
    func `what is read is what Foundation reads`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var accepted = 0
        for _ in 0..<fuzzIterations {
            var bytes = Array(RandomPage.text(using: &random).utf8)
            if Bool.random(using: &random) { mutate(&bytes, using: &random) }
            guard let rows = try? parser.page(bytes).rows else { continue }
            accepted += 1
            let page = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [[String: Any]]
            let text = String(decoding: bytes, as: UTF8.self)
            guard let page else {
                if !hasHalfOfPair(bytes) { Issue.record("accepted what Foundation refuses: \(text)") }
                continue
            }
            #expect(rows.count == page.count)
            for (row, object) in zip(rows, page) { expect(row, toEqual: object, in: text) }
        }
        #expect(accepted > fuzzIterations / 3)
    }

    private func mutate(_ bytes: inout [UInt8], using random: inout SplitMix64) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: index)
        }
    }

    private func expect(_ row: Row, toEqual object: [String: Any], in text: String) {
        #expect(Array(row.idText.utf8) == Array((object["id"] as? String ?? "").utf8), "\(text)")
        for column in everyTypeSchema.columns {
            let value = row[column.name]
            #expect(value?.type == nil || value?.type == column.type, "\(column.name) of \(text)")
            // Foundation converts through a decimal and can be off in the last bits. Other tests check that our value
            // is exact.
            #expect(isSame(value, object[column.name], doublesWithin: 1e-12), "\(column.name) of \(text)")
        }
    }
}

/// Random pages of rows of ``everyTypeSchema``, with members in any order, often repeated, and with random escapes.
private enum RandomPage {
    static func text(using random: inout SplitMix64) -> String {
        let rows = (0..<Int.random(in: 1...3, using: &random)).map { row(number: $0, using: &random) }
        return "[\(rows.joined(separator: ","))]"
    }

    private static func row(number: Int, using random: inout SplitMix64) -> String {
        var members = [#""id":"\#(number)""#]
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            guard let column = everyTypeSchema.columns.randomElement(using: &random) else { continue }
            members.append("\(string(column.name, using: &random)):\(value(of: column.type, using: &random))")
        }
        return "{\(members.shuffled(using: &random).joined(separator: ","))}"
    }

    private static func value(of type: ColumnType, using random: inout SplitMix64) -> String {
        guard Int.random(in: 0..<8, using: &random) > 0 else { return "null" }
        switch type {
        case .bool: return Bool.random(using: &random) ? "true" : "false"
        case .int: return "\(Int64.random(in: -1 << 40...1 << 40, using: &random))"
        case .double: return "\(Double.random(in: -1e6...1e6, using: &random))"
        case .timestamp:
            return string("2026-11-21T09:12:49.\(Int.random(in: 100...999, using: &random))Z", using: &random)
        case .bytes:
            let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            return string(Data(bytes).base64EncodedString(), using: &random)
        case .string: return string(characters(using: &random), using: &random)
        case .json: return #"[\#(string(characters(using: &random), using: &random)),{"a":1}]"#
        }
    }

    private static func characters(using random: inout SplitMix64) -> String {
        let alphabet: [Character] = ["a", "b", " ", "\u{E9}", "\u{1F600}", "\n", "\"", "\\", "\u{7F}", "\u{20AC}"]
        return String(
            (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
    }

    /// Returns a JSON string in which any character can be escaped.
    private static func string(_ text: String, using random: inout SplitMix64) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" || scalar.value < 0x20 || Int.random(in: 0..<6, using: &random) == 0 {
                for unit in String(scalar).utf16 {
                    json += "\\u" + String(0x10000 + UInt32(unit), radix: 16).dropFirst()
                }
            } else {
                json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }
}
