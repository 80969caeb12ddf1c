import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineWire

@Suite struct JSONRoundTripTests {
    @Test(arguments: [UInt64](1...20))
    func rowsOfEveryTypeComeBackAsTheyWere(seed: UInt64) throws {
        var source = RandomRows(seed: seed, values: RandomValues(includesInfinity: false))
        let schema = source.schema()
        let parser = PageParser(schema: schema)
        let rows = source.rows(50, of: schema).filter { !$0.idText.isEmpty }
        var packed = PackedRows(shape: parser.shape)
        for row in rows { try packed.append(row) }

        var fromRows = JSONWriter()
        for (index, row) in rows.enumerated() {
            index == 0 ? fromRows.beginArray() : fromRows.separator()
            fromRows.append(row)
            #expect(try parser.row(json(row)) == row)
        }
        fromRows.endArray()
        var fromViews = JSONWriter()
        for index in 0..<packed.count {
            index == 0 ? fromViews.beginArray() : fromViews.separator()
            packed.withRow(at: index) { fromViews.append($0) }
        }
        fromViews.endArray()

        #expect(try parser.page(fromRows.bytes).rows == rows)
        #expect(try parser.page(fromViews.bytes).rows == rows)
        #expect((try JSONSerialization.jsonObject(with: Data(fromViews.bytes)) as? [Any])?.count == rows.count)
    }

    @Test(arguments: [UInt64](1...4))
    func doublesComeBackBitForBit(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let parser = PageParser(schema: everyTypeSchema)
        for _ in 0..<fuzzIterations {
            let double = Double(bitPattern: random.next())
            guard double.isFinite else { continue }
            let row = try parser.row(json(["id": "a", "double": .double(double)]))
            #expect(row["double"]?.double?.bitPattern == double.bitPattern)
        }
    }

    @Test(arguments: [UInt64](1...4))
    func decimalsAreRoundedAsTheCLibraryRoundsThem(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let parser = PageParser(schema: everyTypeSchema)
        func digits(_ count: Int) -> String {
            String((0..<count).map { _ in Character(String(Int.random(in: 0...9, using: &random))) })
        }
        for _ in 0..<fuzzIterations {
            var text = Bool.random(using: &random) ? "-" : ""
            text +=
                Bool.random(using: &random)
                ? "0" : "\(Int.random(in: 1...9, using: &random))\(digits(Int.random(in: 0...25, using: &random)))"
            if Bool.random(using: &random) { text += ".\(digits(Int.random(in: 1...25, using: &random)))" }
            if Bool.random(using: &random) { text += "e\(Int.random(in: -340...300, using: &random))" }
            let expected = strtod(text, nil)
            guard expected.isFinite else { continue }
            let value = try parser.row(#"{"id":"a","double":\#(text)}"#)["double"]?.double
            #expect(value?.bitPattern == expected.bitPattern, "\(text)")
        }
    }

    @Test(arguments: [UInt64](1...4))
    func documentsHaveTheValuesThatFoundationFinds(seed: UInt64) throws {
        var documents = RandomDocuments(seed: seed)
        for _ in 0..<(fuzzIterations / 10) {
            let json = documents.object(depth: 3)
            let row = try looseRow(json)
            let expected = try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            #expect(row.values.count == expected.count, "\(json)")
            for (name, value) in row.values {
                #expect(isSame(value, expected[name]), "\(name) in \(json)")
            }
        }
    }
}

/// Random JSON objects with distinct names and random whitespace.
private struct RandomDocuments {
    private var random: SplitMix64

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func object(depth: Int) -> String {
        let members = (0..<Int.random(in: 0...6, using: &random)).map { index in
            "\(space())\(string(prefix: "\(index)"))\(space()):\(value(depth: depth - 1))"
        }
        return "{\(members.joined(separator: ","))\(space())}"
    }

    private mutating func value(depth: Int) -> String {
        let kinds = depth > 0 ? 7 : 5
        let text =
            switch Int.random(in: 0..<kinds, using: &random) {
            case 0: "null"
            case 1: Bool.random(using: &random) ? "true" : "false"
            case 2: String(Int64.random(in: .min ... .max, using: &random))
            case 3:
                "\(Int.random(in: -99...99, using: &random)).\(Int.random(in: 1...999, using: &random))e\(Int.random(in: -9...9, using: &random))"
            case 4: string(prefix: "")
            case 5: object(depth: depth)
            default:
                "[\((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth - 1) }.joined(separator: ","))]"
            }
        return space() + text + space()
    }

    private mutating func string(prefix: String) -> String {
        let pieces = [
            "a", "é", "😀", #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u00e9"#, #"\uD83D\uDE00"#, "e\u{301}", "{", "]", ",",
        ]
        return
            "\"\(prefix)\((0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())\""
    }

    private mutating func space() -> String { ["", "", "", " ", "\n", "\t\r"].randomElement(using: &random) ?? "" }
}

@Suite struct JSONTextsTests {
    private static let lists: [[String]] = [
        [], [""], ["a"], ["a", "b", ""], [#"{"id":"x","text":"a\"b\\c"}"#], ["\u{0}\u{1F}\n\t\"\\/", "é😀\u{2028}"],
        ["e\u{301}", "\u{E9}"],
    ]

    @Test(arguments: lists)
    func aListIsReadAsItWasWritten(texts: [String]) throws {
        let json = JSONTexts.encode(texts)
        #expect(try JSONTexts.decode(json).map { Array($0.utf8) } == texts.map { Array($0.utf8) })
    }

    /// Earlier versions wrote lists with Foundation's encoder.
    @Test(arguments: lists)
    func bothEncodersAreReadByBothDecoders(texts: [String]) throws {
        #expect(try JSONTexts.decode(RecordJSON.encode(texts)) == texts)
        #expect(try RecordJSON.decode([String].self, from: JSONTexts.encode(texts)) == texts)
    }

    @Test(arguments: ["", "{}", "null", "[", "[1]", #"["a"#, #"["a",]"#, #"["a"] "b""#, #"["a" "b"]"#, #"["\x"]"#])
    func anythingElseIsAnError(json: String) {
        #expect(throws: WireError.self) { try JSONTexts.decode(json) }
    }

    @Test func spaceBetweenElementsIsSkipped() throws {
        #expect(try JSONTexts.decode(" [ \"a\" ,\n\"b\" ] ") == ["a", "b"])
    }
}
