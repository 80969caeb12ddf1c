import Testing
import TidelineStore
import TidelineWire

@Suite struct ColumnValueTests {
    let parser = PageParser(schema: everyTypeSchema)

    @Test(arguments: [
        ("bool", "true", Value.bool(true)), ("bool", "false", .bool(false)),
        ("int", "0", .int(0)), ("int", "-0", .int(0)), ("int", "9223372036854775807", .int(.max)),
        ("int", "-9223372036854775808", .int(.min)), ("int", "9007199254740993", .int(9_007_199_254_740_993)),
        ("int", "1.0", .int(1)), ("int", "1e3", .int(1000)), ("int", "-1.50E1", .int(-15)),
        ("int", "12000e-3", .int(12)),
        ("int", "0e999999999999999999999", .int(0)), ("int", "0.0000", .int(0)),
        ("int", "9223372036854775807.000000000000000000000", .int(.max)),
        ("int", "0.9223372036854775807e19", .int(.max)), ("int", "0.00000000000000000000000000001e30", .int(10)),
        ("double", "0", .double(0)), ("double", "1", .double(1)), ("double", "-2.5", .double(-2.5)),
        ("double", "1e308", .double(1e308)), ("double", "4.9e-324", .double(.leastNonzeroMagnitude)),
        ("double", "1e-999", .double(0)),
        ("double", "0.1", .double(0.1)), ("double", "123456789012345678901234567890", .double(1.2345678901234568e29)),
        ("double", "9007199254740993", .double(9_007_199_254_740_992)),
        ("double", "2.2250738585072011e-308", .double(Double(bitPattern: 0x000F_FFFF_FFFF_FFFF))),
        ("double", "17976931348623157e292", .double(.greatestFiniteMagnitude)),
        ("string", #""""#, .string("")),
        ("string", #""2026-11-21T09:12:49.403Z""#, .string("2026-11-21T09:12:49.403Z")),
        ("string", #""\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\ude00\u0000""#, .string("\"\\/\u{8}\u{C}\n\r\tAé😀\0")),
        ("string", "\"Grüße, 日本, 😀, \u{7F}\u{2028}\"", .string("Grüße, 日本, 😀, \u{7F}\u{2028}")),
        ("string", #""\uFFFF\ud7ff\ue000""#, .string("\u{FFFF}\u{D7FF}\u{E000}")),
        ("timestamp", #""2026-11-21T09:12:49.4031234Z""#, .timestamp(Timestamp("2026-11-21T09:12:49.4031234Z")!)),
        ("timestamp", #""2026-11-21T11:12:49+02:00""#, .timestamp(Timestamp("2026-11-21T09:12:49Z")!)),
        ("timestamp", #""2026-11-21T09:12:49""#, .timestamp(Timestamp("2026-11-21T09:12:49Z")!)),
        ("timestamp", #""2026\u002d11-21T09:12:49Z""#, .timestamp(Timestamp("2026-11-21T09:12:49Z")!)),
        ("bytes", #""""#, .bytes([])), ("bytes", #""AA==""#, .bytes([0])), ("bytes", #""AA""#, .bytes([0])),
        ("bytes", #""/+\/+""#, .bytes([0xFF, 0xEF, 0xFE])),
        ("json", "[]", .json("[]")),
        ("json", #"{ "a" : [1.50, null, "\u0041"] }"#, .json(#"{ "a" : [1.50, null, "\u0041"] }"#)),
    ])
    func aColumnTakesWhatItsTypeHoldsExactly(column: String, text: String, value: Value) throws {
        let row: Row = ["id": "a", column: value]
        #expect(try parser.row(#"{"id":"a","\#(column)":\#(text)}"#) == row)
        #expect(try parser.page(#"[{"id":"a", "\#(column)" : \#(text) }]"#).rows == [row])
    }

    @Test(arguments: everyTypeSchema.allColumns.map(\.name))
    func everyColumnTakesNull(column: String) throws {
        let row: Row = ["id": "a", column: .null]
        #expect(try parser.row(#"{"id":"a","\#(column)":null}"#) == row)
    }

    @Test(arguments: [
        ("bool", ["0", "1", #""true""#, "[]", "{}"]),
        (
            "int",
            [
                "true", #""1""#, "[]", "1.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e999",
                "99999999999999999999", "100000000000000000000.5", "0.1234567890123456789012",
                "1e-99999999999999999999",
            ]
        ),
        ("double", ["true", #""1""#, "{}", "1e999", "-1e309", "1e99999999999999999999"]),
        ("string", ["true", "1", "[]", #"{"a":"b"}"#]),
        (
            "timestamp",
            [
                "1", #""""#, #""yesterday""#, #""2026-02-30T00:00:00Z""#, #""2026-11-21T09:12:49.12345678Z""#,
                #""0000-01-01T00:00:00Z""#, #""2026-11-21T09:12:49.Z""#, #""2026-11-21T09:12:49Zz""#,
            ]
        ),
        (
            "bytes",
            [
                "1", #""A""#, #""A===""#, #""AA=""#, #""AA===""#, #""AB==""#, #""AAB=""#, #""AAA=AAAA""#, #""A A=""#,
                #""-_-_""#, #""=""#, #""====""#, #""AAAA\n""#, #""é""#,
            ]
        ),
        ("json", ["1", "true", #""{}""#]),
    ])
    func whatAColumnCannotHoldIsRefusedByNameIDAndOffset(column: String, texts: [String]) {
        for text in texts {
            let before = #"[{"id":"x"},{"\#(column)":"#
            let error = expectError(.invalidValue, offset: before.utf8.count, column: column, id: "ab", "\(text)") {
                try parser.page(before + text + #","n":{"id":"wrong"},"i\u0064":"a\u0062"}]"#)
            }
            #expect(error?.table == "Item", "\(text)")
        }
    }

    @Test(arguments: ["1", "true", "[]", "{}", #"{"a":1}"#])
    func anIDIsText(text: String) {
        expectError(.invalidValue, offset: 7, column: "id") { try parser.page(#"[{"id":\#(text)}]"#) }
        expectError(.invalidValue, offset: 6, column: "id") { try looseRow(#"{"id":\#(text)}"#) }
    }

    @Test(arguments: ["{}", #"{"id":null}"#, #"{"id":""}"#, #"{"Id":"a"}"#, #"{"int":1}"#])
    func aRowWithoutAnIDRefusesThePageByItsOffset(row: String) {
        expectError(.missingID, offset: 13) { try parser.page(#"[{"id":"a"}, \#(row), {"id":"b"}]"#) }
    }

    @Test func integerIDsAreNumbersInTablesDeclaredSo() throws {
        let parser = PageParser(schema: TableSchema("T", columns: [], systemColumns: [], idType: .int))
        #expect(try parser.page(#"[{"id":5},{"id":-1.0e0}]"#).rows == [["id": 5], ["id": -1]])
        for json in [#"[{"id":"5"}]"#, #"[{"id":1.5}]"#] { expectError(.invalidValue) { try parser.page(json) } }
        expectError(.duplicateID) { try parser.page(#"[{"id":5},{"id":5.0}]"#) }
        #expect(try parser.row(#"{}"#, requireID: false) == [:])
    }
}
