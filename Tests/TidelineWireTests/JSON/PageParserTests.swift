import Testing
import TidelineStore
import TidelineWire

@Suite struct PageParserTests {
    let parser = PageParser(schema: everyTypeSchema)

    // MARK: Response shapes

    @Test(arguments: [
        #"[{"id":"a","int":1},{"id":"b","int":2}]"#,
        #"{"results":[{"id":"a","int":1},{"id":"b","int":2}],"count":7}"#,
        #"{"count":7,"results":[{"id":"a","int":1},{"id":"b","int":2}]}"#,
        #" { "x" : [{"results":[1]}] , "count" : 7.0 , "results" : [ { "int":1,"id":"a"} , {"id" : "b" , "int" : 2 } ] } "#,
        #"{"re\u0073ults":[{"id":"a","int":1},{"id":"b","int":2}],"c\u006funt":7e0}"#,
        "\u{FEFF}[{\"id\":\"a\",\"int\":1},\r\n\t{\"id\":\"b\",\"int\":2}]\n",
    ])
    func answersInEitherShapeGiveTheSameRows(json: String) throws {
        let page = try parser.page(json)
        #expect(page.rows == [["id": "a", "int": 1], ["id": "b", "int": 2]])
        #expect(page.info.rowCount == 2)
        #expect(page.info.totalCount == (json.contains("7") ? 7 : nil))
    }

    @Test(arguments: ["[]", " [ ] ", #"{"results":[]}"#, #"{"results":[],"count":null}"#])
    func answerWithoutRowsIsEmpty(json: String) throws {
        #expect(try parser.page(json).info == PageInfo(rowCount: 0))
    }

    @Test(arguments: [
        ("1", 0), (#""text""#, 0), ("null", 0), ("{}", 0), (#"{"error":"no such table"}"#, 0),
        (#"{"count":1}"#, 0), (#"{"results":{}}"#, 11), (#"{"results":null}"#, 11), ("[1]", 1), ("[[]]", 1),
        (#"[{"id":"a"},null]"#, 12), (#"{"results":[],"results":[]}"#, 24), (#"{"results":[],"count":-1}"#, 22),
        (#"{"results":[],"count":1.5}"#, 22), (#"{"results":[],"count":"1"}"#, 22),
    ])
    func whatIsNoAnswerIsRefused(json: String, offset: Int) {
        let error = expectError(.wrongShape, offset: offset) { try parser.page(json) }
        #expect(error?.table == "Item")
    }

    @Test func rowsAreAddedBehindThoseOfEarlierPages() throws {
        var rows = PackedRows(shape: parser.shape)
        for id in ["a", "b"] {
            let json = Array(#"[{"id":"\#(id)"},{"id":"\#(id)2","deleted":true}]"#.utf8)
            let info = try parser.parsePage(json, into: &rows)
            #expect(info == PageInfo(rowCount: 2, deleted: [rows.count - 1]))
        }
        #expect(rows.count == 4)
    }

    // MARK: Members

    @Test func membersComeInAnyOrderAndOneThatIsMissingIsAbsent() throws {
        let json = """
            [{"id":"a","bool":true,"int":1,"string":"x"},{"string":"y","int":2,"id":"b","bool":false},
             {"id":"c"},{"bool":null,"id":"d"},{"id":"e","bool":true,"int":1,"string":"x"}]
            """
        #expect(
            try parser.page(json).rows == [
                ["id": "a", "bool": true, "int": 1, "string": "x"],
                ["id": "b", "bool": false, "int": 2, "string": "y"], ["id": "c"],
                ["id": "d", "bool": .null], ["id": "e", "bool": true, "int": 1, "string": "x"],
            ])
    }

    @Test func membersThatTheTableLacksAreSkippedWhateverTheyHold() throws {
        let json = #"""
            [{"x":{"id":"no","int":[{"id":"no"}]},"id":"a","":"","int":1,"ID":"no","integer":[1,"]}",{"a":null}],
              "in":-0.5e-7,"inT":true}]
            """#
        #expect(try parser.page(json).rows == [["id": "a", "int": 1]])
    }

    @Test func theLastOfSeveralMembersOfOneNameCounts() throws {
        let json = #"[{"id":"a","int":1,"string":"xxxxxxxxxx","id":"b","string":"y","int":null,"int":3}]"#
        #expect(try parser.page(json).rows == [["id": "b", "int": 3, "string": "y"]])
    }

    @Test func namesMayBeEscapedLongOrNotASCII() throws {
        let names = [
            "a\"b", "a\":\"b", "größe", "a_column_whose_name_is_longer_than_sixteen_bytes", "back\\slash", "id2",
        ]
        let parser = PageParser(schema: TableSchema("T", columns: names.map { .int($0) }, systemColumns: []))
        var row = Row(id: "1")
        for (index, name) in names.enumerated() { row[name] = .int(Int64(index)) }
        #expect(try parser.page("[\(json(row))]").rows == [row])
        #expect(try parser.row(#"{"\u0069d":"1","gr\u00f6\u00dfe":5}"#) == ["id": "1", "größe": 5])
    }

    @Test func aNameWithAQuoteIsNotTakenForTheBytesOfTwoTokens() throws {
        let parser = PageParser(
            schema: TableSchema("T", columns: [.string(#"a":"b"#), .string("a")], systemColumns: []))
        #expect(try parser.row(#"{"id":"1","a":"b"}"#) == ["id": "1", "a": "b"])
    }

    @Test(arguments: [65_526, 65_527, 65_528, 65_536, 300_000])
    func rowsAroundAndPastTheNarrowFormAreKept(length: Int) throws {
        let rows: [Row] = ["a", "é", "\n"].enumerated().map { index, piece in
            let text = String(repeating: piece, count: length / piece.utf8.count)
            return ["id": .string("\(index)"), "int": 7, "string": .string(text), "bytes": .bytes([1])]
        }
        #expect(try parser.page("[\(rows.map(json).joined(separator: ","))]").rows == rows)
    }

    // MARK: deleted

    @Test(arguments: [("true", [1]), ("false", []), ("null", [])])
    func deletedIsToldBesideARowWhoseTableLacksIt(value: String, positions: [Int]) throws {
        let page = try parser.page(#"[{"id":"a"},{"deleted":\#(value),"id":"b"},{"id":"c"}]"#)
        #expect(page.info.deleted == positions)
        #expect(page.rows == [["id": "a"], ["id": "b"], ["id": "c"]])
    }

    @Test func deletedIsAColumnWhereTheTableKeepsIt() throws {
        let parser = PageParser(schema: TableSchema("T", columns: [], systemColumns: .all))
        let page = try parser.page(#"[{"id":"a","deleted":true},{"id":"b","deleted":null}]"#)
        #expect(page.info.deleted == [])
        #expect(page.rows == [["id": "a", "deleted": true], ["id": "b", "deleted": .null]])
    }

    @Test(arguments: ["0", "1", #""true""#, "[]"])
    func deletedIsNothingButABool(value: String) {
        expectError(.invalidValue, offset: 21, column: "deleted", id: "a") {
            try parser.page(#"[{"id":"a","deleted":\#(value)}]"#)
        }
    }

    // MARK: Single rows

    @Test func aSingleRowKeepsDeletedThoughItsTableLacksIt() throws {
        #expect(try parser.row(#"{"id":"a","deleted":true}"#) == ["id": "a", "deleted": true])
        #expect(try parser.row(#"{"id":"a","deleted":null}"#) == ["id": "a", "deleted": false])
        #expect(try parser.row(#"{"id":"a","int":1}"#) == ["id": "a", "int": 1])
    }

    @Test(arguments: [#"{"int":1}"#, #"{"id":null,"int":1}"#, #"{"id":"","int":1}"#, #"{"id":"a","id":null,"int":1}"#])
    func aSingleRowMayLackItsIDUnlessItIsRequired(json: String) throws {
        let row = try parser.row(json, requireID: false)
        #expect(row.id == nil)
        #expect(row == ["int": 1])
        expectError(.missingID) { try parser.row(json) }
        expectError(.missingID) { try parser.page("[\(json)]") }
    }

    @Test(arguments: ["[]", "null", "1", #""a""#, #"[{"id":"a"}]"#])
    func aSingleRowIsAnObject(json: String) {
        expectError(.wrongShape) { try parser.row(json) }
        expectError(.wrongShape) { try looseRow(json) }
    }
}
