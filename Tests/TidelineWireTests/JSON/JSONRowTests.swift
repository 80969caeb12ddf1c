import Testing
import TidelineStore
import TidelineWire

@Suite struct JSONRowTests {
    @Test(arguments: [
        ("1", Value.int(1)), ("-9223372036854775808", .int(.min)), ("1.0", .int(1)), ("1e2", .int(100)),
        ("9223372036854775808", .double(9_223_372_036_854_775_808)), ("1.5", .double(1.5)), ("-0", .double(-0.0)),
        ("true", .bool(true)), ("false", .bool(false)), ("null", .null), (#""""#, .string("")),
        (#""2026-11-21T09:12:49Z""#, .string("2026-11-21T09:12:49Z")), (#""\u00e9""#, .string("é")),
        (#"{ "a": [1] }"#, .json(#"{ "a": [1] }"#)), ("[ ]", .json("[ ]")),
    ])
    func aValueHasTheTypeThatItsJSONShows(text: String, value: Value) throws {
        #expect(try looseRow(#"{"id":"a","x":\#(text)}"#) == ["id": "a", "x": value])
    }

    @Test(arguments: [
        ("1", Value.int(1)), ("1.0", .double(1)), ("1e2", .double(100)), ("1E2", .double(100)), ("1.5", .double(1.5)),
    ])
    func theNotationOfANumberIsKeptIfTheCallerWantsIt(text: String, value: Value) throws {
        let row = try Array(#"{"x":\#(text)}"#.utf8).withUnsafeBytes { try JSONRow.parse($0, keepsNotation: true) }
        #expect(row["x"] == value)
    }

    @Test func membersKeepTheirOrderAndTheLastOfOneNameCounts() throws {
        let row = try looseRow(#"{"b":1,"id":"x","a":2,"b":3,"\u0069d":"y","":4,"B":5}"#)
        #expect(row.idText == "y")
        #expect(row.values.map(\.name) == ["b", "a", "", "B"])
        #expect(row.values.map(\.value) == [3, 2, 4, 5])
    }

    @Test(arguments: ["{}", #"{"id":null}"#, #"{"id":""}"#, #"{"id":"a","id":null}"#])
    func anIDThatIsNullOrEmptyIsNone(json: String) throws {
        #expect(try looseRow(json).id == nil)
    }

    @Test func aNumberOutOfRangeIsRefusedByItsColumn() {
        expectError(.invalidValue, offset: 11, column: "b") { try looseRow(#"{"a":1,"b":1e999}"#) }
    }

    @Test func manyMembersOfManyNamesAreReadInTimeThatGrowsWithThem() throws {
        let names = (0..<20_000).map { "\"c\($0 % 15_000)\":\($0)" }
        let row = try looseRow("{\(names.joined(separator: ","))}")
        #expect(row.values.count == 15_000)
        #expect(row["c3"] == 15_003)
    }
}
