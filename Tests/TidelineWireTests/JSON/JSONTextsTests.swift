import Testing
import TidelineStore

@testable import TidelineWire

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
