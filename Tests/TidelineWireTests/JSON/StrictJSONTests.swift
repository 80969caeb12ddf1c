import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineWire

@Suite struct StrictJSONTests {
    let parser = PageParser(schema: everyTypeSchema)

    /// The errors of a value that is skipped, that has a defined column, and that has no definition.
    private func errors(ofValue value: [UInt8], column: String) -> [WireError?] {
        let before = Array(#"[{"id":"a","\#(column)":"#.utf8)
        let skipped = Array(#"[{"id":"a","xxxxx":"#.utf8)
        let loose = [UInt8](#"{"x":"#.utf8) + value + [UInt8]("}".utf8)
        return [
            wireError { () throws(WireError) in try parser.page(before + value + Array("}]".utf8)) },
            wireError { () throws(WireError) in try parser.page(skipped + value + Array("}]".utf8)) },
            wireError { () throws(WireError) in try JSONRow.parse(loose) },
        ]
    }

    @Test(arguments: [
        (
            ["int", "double"],
            [
                "01", "-01", "00", "+1", ".5", "1.", "1.e1", "-", "--1", "1e", "1e+", "1e1.5", "0x10", "1_000", "NaN",
                "-NaN", "Infinity", "-Infinity", "1a", "1 2", "٣", "1,5",
            ]
        ),
        (["bool"], ["tru", "True", "truex", "nul", "NULL", "nulL", "fals", "none", "undefined", ""]),
        (
            ["string"],
            [
                #""\x""#, #""\u12""#, #""\u12G4""#, #""\U0041""#, #""\ud800\u12""#, #""\ud800\uG""#, "\"\n\"",
                "\"\t\"", "\"\0\"", "\"\u{1F}\"", "'a'", #""a"#, #""\""#, #""\u+041""#, #""\u 041""#,
            ]
        ),
    ])
    func valuesFollowTheGrammar(columns: [String], texts: [String]) {
        for column in columns {
            for text in texts {
                for error in errors(ofValue: Array(text.utf8), column: column) {
                    #expect(error?.code == .malformedJSON && error?.offset != nil, "\(column) \(text)")
                }
            }
        }
    }

    @Test(arguments: [
        #"\ud800"#, #"\udc00"#, #"\ud800\n"#, #"\ud800x"#, #"\ud800\ud800"#, #"\udbff\ue000"#, #"\ud83d \ude00"#,
        #"\ud800\\udc00"#, #"\ude00\ud83d"#, #"\ud83d\ud83d\ude00"#, #"\ud83d\ude00\ude00"#,
    ])
    func halfOfASurrogatePairIsRefusedInAColumnAndSkippedElsewhere(half: String) throws {
        let errors = errors(ofValue: Array("\"\(half)\"".utf8), column: "string")
        let codes: [WireError.Code?] = [.invalidValue, nil, .invalidValue]
        #expect(errors.map { $0?.code } == codes)
        #expect(errors[0]?.column == "string" && errors[0]?.id == "a" && errors[0]?.offset == 20)
        expectError(.invalidValue, column: "id") { try parser.page(#"[{"id":"\#(half)"}]"#) }
        expectError(.malformedJSON) { try parser.page(#"{"items":[],"nextLink":"\#(half)"}"#) }
        let row = try parser.row(#"{"id":"a","\#(half)":1,"string":"b","json":["\ud83d\ude00"]}"#)
        #expect(row["string"] == "b" && row["json"] == .json(#"["\ud83d\ude00"]"#))
        expectError(.invalidValue, column: "json") { try parser.page(#"[{"id":"a","json":["\#(half)"]}]"#) }
        expectError(.invalidValue) { try looseRow(#"{"\#(half)":1}"#) }
        #expect(try looseRow(#"{"a":["\#(half)"]}"#)["a"] == .json(#"["\#(half)"]"#))
        #expect(!JSONRow.isArrayOrObject(#"["\#(half)"]"#))
    }

    @Test func aNameWithHalfOfASurrogatePairIsNoColumn() throws {
        let parser = PageParser(schema: TableSchema("T", columns: [.int("\u{FFFD}")]))
        #expect(try parser.row(#"{"id":"a","\ud800":1}"#)["\u{FFFD}"] == nil)
        #expect(try parser.row(#"{"id":"a","\ufffd":1}"#)["\u{FFFD}"] == 1)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE],
            [0xFF], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xEF, 0xBF, 0xBF, 0xBF],
        ] as [[UInt8]])
    func textIsUTF8AndItsFaultIsFoundWhereItIs(bytes: [UInt8]) {
        let valid = bytes.first == 0xEF ? 3 : 0
        for prefix in 0..<20 {
            let text = [0x22] + Array(repeating: 0x61, count: prefix) + bytes + Array("aaaaaaaaaaaaaaaa\"".utf8)
            let errors = errors(ofValue: text, column: "string")
            for (error, start) in zip(errors, [20, 19, 5]) {
                #expect(error?.code == .malformedJSON)
                #expect(error?.offset == start + 1 + prefix + valid)
            }
            #expect(!UTF8Check.isValid(Array(repeating: 0x61, count: prefix) + bytes))
        }
    }

    @Test func everyCharacterIsReadAsItIs() throws {
        let all = (UInt32(0x20)...0x10FFFF).lazy.filter { $0 % 61 == 0 || $0 < 0x900 || $0 > 0x10FFF0 }
        let scalars = all.compactMap { Unicode.Scalar($0) }.filter { $0 != "\"" && $0 != "\\" }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        #expect(try parser.row("{\"id\":\"a\",\"string\":\"\(String(text))\"}")["string"] == .string(String(text)))
        #expect(UTF8Check.isValid(Array(String(text).utf8)))
    }

    @Test(arguments: [
        "", " ", "[", "]", "[,]", "[{", #"[{"id":"a"}"#, #"[{"id":"a"},]"#, #"[{"id":"a",}]"#, #"[{"id" "a"}]"#,
        #"[{"id":"a" "b":1}]"#,
        #"[{id:"a"}]"#, #"[{"id":"a"}}"#, #"[{"id":"a"]"#, #"[{"id":"a"}] x"#, #"[{"id":"a"}]]"#, #"[{"id":"a"}][]"#,
        #"[{"id":"a"}]\#u{0}"#, #"{"results":[]"#, #"{"results":[]}}"#, "[{\"id\":\"a\"}]\u{A0}", #"[{"id":"a"}/**/]"#,
        #"[{"id":"a","x":[1 2]}]"#, #"[{"id":"a","x":[1,]}]"#, #"[{"id":"a","x":{"a"}}]"#, #"[{"id":"a","x":{,}}]"#,
        #"[{"id":"a","x":{"a":1,}}]"#, #"[{"id":"a","x":[}]}]"#, #"[{"id":"a","json":[1,}]"#, "<html></html>",
        "\u{FEFF}\u{FEFF}[]",
    ])
    func structureFollowsTheGrammar(json: String) {
        let error = expectError(.malformedJSON) { try parser.page(json) }
        #expect(error?.offset != nil)
    }

    @Test func deepNestingIsAnErrorAndNotAnOverflow() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let limit = nested(511, open, close)
            for column in ["json", "unknown"] {
                #expect(try parser.page(#"{"results":[{"id":"a","\#(column)":\#(limit)}]}"#).rows.count == 1)
                for depth in [512, 100_000] {
                    let deep = nested(depth, open, close)
                    expectError(.malformedJSON) { try parser.page(#"[{"id":"a","\#(column)":\#(deep)}]"#) }
                }
            }
            #expect(JSONScanner.isValid(Array(limit.utf8)))
            #expect(!JSONScanner.isValid(Array(nested(512, open, close).utf8)))
        }
        #expect(wireError { () throws(WireError) in try parser.page(nested(100_000, "[", "]")) } != nil)
    }

    // MARK: Invalid input

    static let page: [UInt8] = Array(
        #"""
        {"results":[{"id":"a-1","string":"plain, é, 😀 and \u00e9\ud83d\ude00\n","bool":true,"int":-12,"double":1.5e1,
        "timestamp":"2026-11-21T09:12:49.403Z","bytes":"AAEC","json":{"a":[1,2.5,"x"],"b":null},"other":[{}],
        "createdAt":null,"updatedAt":"2026-11-21T09:12:49Z","version":"AAAA=","deleted":false},
        {"id":"b","deleted":true,"json":[]}],"count":120}
        """#.utf8)

    @Test func anAnswerCutAnywhereIsMalformedAndChangesNothing() throws {
        #expect(try parser.page(Self.page).rows.count == 2)
        var rows = PackedRows(shape: parser.shape)
        _ = try parser.parsePage(Array(#"[{"id":"kept","int":1}]"#.utf8), into: &rows)
        let byteCount = rows.byteCount
        for length in 0..<Self.page.count {
            // A copy of exactly this length, so that a read past its end is outside the allocation.
            let cut = Array(Self.page[..<length])
            let error = expectError(.malformedJSON, "cut to \(length)") { try parser.parsePage(cut, into: &rows) }
            #expect((0...length).contains(error?.offset ?? -1), "cut to \(length)")
            #expect(rows.count == 1 && rows.byteCount == byteCount)
        }
        #expect(rows.withRow(at: 0) { $0.owned() } == ["id": "kept", "int": 1])
    }

    @Test func aSingleRowCutAnywhereIsMalformed() throws {
        let row = Array(#"{"id":"a","x":[1,{"y":"é\n"}],"d":1.5e10,"t":true,"n":null}"#.utf8)
        for length in 0..<row.count {
            let cut = String(decoding: row[..<length], as: UTF8.self)
            expectError(.malformedJSON) { try looseRow(cut) }
            expectError(.malformedJSON) { try parser.row(cut) }
        }
    }

    @Test(arguments: [UInt64(1), 2])
    func noChangeOfBytesMakesTheParserTrapOrAcceptWhatIsNotJSON(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let pieces = Array("{}[],:\"\\u0123456789eE+-.truefalsn \n\u{7F}é😀".utf8) + [0, 0x1F, 0x80, 0xC0, 0xED, 0xFF]
        for _ in 0..<fuzzIterations {
            var bytes = Self.page
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[index] = pieces.randomElement(using: &random) ?? 0
                case 2: bytes.remove(at: index)
                default: bytes.insert(pieces.randomElement(using: &random) ?? 0, at: index)
                }
            }
            let error = wireError { () throws(WireError) in try parser.page(bytes) }
            if error == nil {
                let isJSON = (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
                #expect(isJSON || hasHalfOfPair(bytes), "accepted: \(String(decoding: bytes, as: UTF8.self))")
            } else if error?.code == .malformedJSON, !JSONScanner.isValid(bytes) {
                #expect((0...bytes.count).contains(error?.offset ?? -1))
            }
        }
    }
}

extension JSONScanner {
    static func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isValid($0) } }
}

extension UTF8Check {
    static func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isValid($0) } }
}
