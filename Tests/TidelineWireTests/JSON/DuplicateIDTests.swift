import Testing
import TidelineStore
import TidelineWire

@Suite struct DuplicateIDTests {
    private func parser(_ matching: TableSchema.IDMatching) -> PageParser {
        PageParser(schema: TableSchema("T", columns: [], systemColumns: [], idMatching: matching))
    }

    private func page(_ ids: [String]) -> String {
        "[\(ids.map { json(Row(id: .string($0))) }.joined(separator: ","))]"
    }

    @Test(
        arguments: [TableSchema.IDMatching.asciiCaseInsensitive, .exact],
        ["a", "é", "0123456789abcdef", "0123456789abcdefg"])
    func twoRowsWithOneIDRefuseThePage(matching: TableSchema.IDMatching, id: String) {
        let page = page([id, "other", id])
        expectError(.duplicateID, offset: page.utf8.count - id.utf8.count - 4, id: id) {
            try parser(matching).page(page)
        }
    }

    @Test(arguments: [("a", "A"), ("Zz-9", "zZ-9"), ("0123456789abcdefG", "0123456789ABCDEFg")])
    func twoIDsThatDifferInCaseAreOneUnlessTheTableWantsExactOnes(a: String, b: String) throws {
        expectError(.duplicateID, id: b) { try parser(.asciiCaseInsensitive).page(page([a, b])) }
        #expect(try parser(.exact).page(page([a, b])).rows.map(\.idText) == [a, b])
    }

    @Test func twoDeletedRowsWhoseIDsDifferInCaseAreNoErrorAndOneTextNamesTheIDsOfOtherRows() throws {
        func page(_ a: Bool, _ b: Bool) -> String {
            #"[{"id":"A","deleted":\#(a)},{"id":"x"},{"id":"a","deleted":\#(b)},{"id":"X2"}]"#
        }
        let read = try parser(.asciiCaseInsensitive).page(page(true, true))
        #expect(read.info.deleted == [0, 2] && read.rows.map(\.idText) == ["A", "x", "a", "X2"])
        for (a, b) in [(true, false), (false, true), (false, false)] {
            let error = expectError(.duplicateID, id: "a") { try parser(.asciiCaseInsensitive).page(page(a, b)) }
            #expect(error?.message == WireError.differingInCase("A", "a"))
        }
    }

    @Test(arguments: [TableSchema.IDMatching.asciiCaseInsensitive, .exact])
    func idsThatOnlyLookAlikeAreTwo(matching: TableSchema.IDMatching) throws {
        // Identifiers that differ in one bit or in length only: letters in other cases, canonical equivalents, zeros.
        let ids = [
            "@", "`", "[", "{", "é", "É", "e\u{301}", "\u{1}", "!", "a", "a\0", "a\0\0", "aaaaaaaa", "aaaaaaaa\0",
            "0", "\u{10}", "00000000", "0000000\u{10}",
        ]
        #expect(try parser(matching).page(page(ids)).rows.map(\.idText) == ids)
    }

    @Test func aDuplicateIsFoundInALargePageWhereverItStands() throws {
        var ids = (0..<3000).map { "id-\($0 * 7919)" }
        #expect(try parser(.asciiCaseInsensitive).page(page(ids)).rows.count == 3000)
        for (first, second) in [(0, 2999), (0, 1), (31, 32), (1500, 2048)] {
            let kept = ids[second]
            ids[second] = ids[first].uppercased()
            expectError(.duplicateID, id: ids[second]) { try parser(.asciiCaseInsensitive).page(page(ids)) }
            ids[second] = kept
        }
    }

    @Test func oneIDMayStandInSeveralAnswers() throws {
        let parser = parser(.exact)
        var rows = PackedRows(shape: parser.shape)
        for _ in 0..<2 {
            _ = try parser.parsePage(Array(page(["a"]).utf8), into: &rows)
        }
        #expect(rows.count == 2)
    }
}
