internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Filters that a server evaluates.
    static let filters: [ServerCheck] = comparisons + texts + faults

    private static let comparisons: [ServerCheck] = [
        ServerCheck(
            "SRV-701", "Numbers are compared by value: 12, 12L, 1.5, and negative ones",
            why: "The client writes integers beyond 32 bits with L, and doubles with a point or exponent."
        ) { check in
            try await check.insert(rows: [
                ["text": "a", "number": -3, "price": -1.5], ["text": "b", "number": 12, "price": 1.5],
                ["text": "c", "number": 3_000_000_000, "price": 2.5e10],
            ])
            try await check.expect(.compare("number", .equal, 12), finds: ["b"])
            try await check.expect(.compare("number", .greater, 2_999_999_999), finds: ["c"])
            try await check.expect(.compare("number", .lessOrEqual, .int(-3)), finds: ["a"])
            try await check.expect(.compare("price", .less, 1.5), finds: ["a"])
            try await check.expect(.compare("price", .equal, 1.5), finds: ["b"])
            try await check.expect(.compare("price", .greaterOrEqual, 2.5e10), finds: ["c"])
        },
        ServerCheck(
            "SRV-702", "Booleans are compared with true and false",
            why: "The filter `complete eq false` is the most frequent one of apps."
        ) { check in
            try await check.insert(rows: [["text": "a", "done": true], ["text": "b", "done": false]])
            try await check.expect(.compare("done", .equal, true), finds: ["a"])
            try await check.expect(.compare("done", .equal, false), finds: ["b"])
        },
        ServerCheck(
            "SRV-703", "`eq null` and `ne null` find the rows without and with a value",
            why: "The client adds such terms to a filter, so that every server finds the same rows."
        ) { check in
            try await check.insert(rows: [["text": "a", "number": 1], ["text": "b"]])
            try await check.expect(.compare("number", .equal, .null), finds: ["b"])
            try await check.expect(.compare("number", .notEqual, .null), finds: ["a"])
        },
        ServerCheck(
            "SRV-704", "`ne` and `not` find rows without a value, too",
            why: "OData says so, and a local query of the same filter finds them. SQL does not.",
            tolerated: "The client adds `or column eq null` to the filter"
        ) { check in
            try await check.insert(rows: [["text": "a", "number": 1], ["text": "b", "number": 2], ["text": "c"]])
            try await check.expect(filter: "number ne 1", finds: ["b", "c"], atLeast: ["b"])
            try await check.expect(filter: "not (number eq 1)", finds: ["b", "c"], atLeast: ["b"])
        },
        ServerCheck(
            "SRV-705", "and binds more tightly than or; parentheses and not are respected",
            why: "The client omits parentheses that the precedence makes superfluous."
        ) { check in
            try await check.insert(rows: [
                ["text": "a", "number": 1, "done": true], ["text": "b", "number": 2, "done": false],
                ["text": "c", "number": 3, "done": true],
            ])
            try await check.expect(filter: "number eq 1 or number eq 2 and done eq true", finds: ["a"])
            try await check.expect(filter: "(number eq 1 or number eq 2) and done eq false", finds: ["b"])
            try await check.expect(filter: "not (number eq 1 or number eq 2)", finds: ["c"])
        },
        ServerCheck(
            "SRV-706", "A filter may have 50 alternatives",
            why: "A membership in a list is written as a chain of or."
        ) { check in
            try await check.insert(texts: ["a", "b", "c"])
            let values = (0..<48).map { Value.string("none \($0)") } + ["a", "c"]
            try await check.expect(.membership(.column("text"), values), finds: ["a", "c"])
        },
        ServerCheck(
            "SRV-707", "A filter by id finds the row",
            why: "Lookups of several rows, and of deleted ones, are filters by id."
        ) { check in
            let rows = try await check.insert(texts: ["a", "b", "c"])
            try await check.expect(.compare("id", .equal, .string(rows[1].id)), finds: ["b"])
            try await check.expect(
                .membership(.column("id"), [.string(rows[0].id), .string(rows[2].id)]), finds: ["a", "c"])
        },
        ServerCheck(
            "SRV-708", "Arithmetic: add, sub, mul, mod",
            why: "Filters of the original clients contain it.",
            tolerated: "An app can filter the rows of a broader query"
        ) { check in
            try await check.insert(rows: (1...4).map { ["text": .string("\($0)"), "number": .int($0)] })
            try await check.expect(filter: "number mod 2 eq 0", finds: ["2", "4"])
            try await check.expect(filter: "number add 1 eq 3", finds: ["2"])
            try await check.expect(filter: "number mul 2 sub 1 eq 5", finds: ["3"])
        },
        ServerCheck(
            "SRV-709", "year, month and day of a timestamp are those of UTC",
            why: "Filters of the original clients contain them.",
            tolerated: "An app can compare with the timestamps of a range"
        ) { check in
            let row = try await check.insert()
            let parts = (row.updatedAt ?? .min).parts
            try await check.expect(filter: "year(updatedAt) eq \(parts.year)", finds: ["a"])
            try await check.expect(
                filter: "month(updatedAt) eq \(parts.month) and day(updatedAt) eq \(parts.day)", finds: ["a"])
        },
    ]

    private static let texts: [ServerCheck] = [
        ServerCheck(
            "SRV-710", "A quote in a text literal is doubled",
            why: "Otherwise users who write it's receive an error, and worse texts inject filters."
        ) { check in
            try await check.insert(texts: ["it's", "its", "'", "' or 1 eq 1 or text eq '"])
            for text in ["it's", "'", "' or 1 eq 1 or text eq '"] {
                try await check.expect(.compare("text", .equal, .string(text)), finds: [text])
            }
        },
        ServerCheck(
            "SRV-711", "Special characters in a text literal are plain characters",
            why: "Percent signs, plus signs, ampersands and backslashes have a meaning in URLs and in SQL."
        ) { check in
            let texts = ["100%", "a+b", "a&b", "a#b", #"a\b"#, "a_b", "a/b?c=d", "a;b", #""a""#, "ü€🌊", "a b"]
            try await check.insert(texts: texts)
            for text in texts { try await check.expect(.compare("text", .equal, .string(text)), finds: [text]) }
        },
        ServerCheck(
            "SRV-712", "An equality of texts respects case",
            why: "A local query of the same filter does.",
            tolerated: "A pull receives more rows than the filter asks for; local queries have the app's filter"
        ) { check in
            try await check.insert(texts: ["abc", "ABC"])
            try await check.expect(.compare("text", .equal, "abc"), finds: ["abc"], atLeast: ["abc"])
        },
        ServerCheck(
            "SRV-713", "The test for a substring has the form of the dialect",
            why: "`substringof('b',text)` in ZUMO 2, `contains(text,'b')` in Datasync 3."
        ) { check in
            try await check.insert(texts: ["abc", "cde", "it's"])
            try await check.expect(.function(.contains, [.column("text"), .literal("c")]), finds: ["abc", "cde"])
            try await check.expect(.function(.contains, [.column("text"), .literal("'")]), finds: ["it's"])
        },
        ServerCheck(
            "SRV-714", "startswith and endswith compare the ends of a text",
            why: "Searches of apps use them."
        ) { check in
            try await check.insert(texts: ["abc", "bca", "cab"])
            try await check.expect(.function(.startsWith, [.column("text"), .literal("a")]), finds: ["abc"])
            try await check.expect(.function(.endsWith, [.column("text"), .literal("a")]), finds: ["bca"])
        },
        ServerCheck(
            "SRV-715", "% and _ are plain characters in the test for a substring, which respects case",
            why: "A server that translates it to LIKE without escapes finds other rows than a local query.",
            tolerated: "A pull receives more rows than the filter asks for; local queries have the app's filter"
        ) { check in
            try await check.insert(texts: ["100%", "1000", "a_b", "axb", "A_B"])
            for (part, text) in [("0%", "100%"), ("a_", "a_b")] {
                try await check.expect(
                    .function(.contains, [.column("text"), .literal(.string(part))]), finds: [text], atLeast: [text])
            }
        },
        ServerCheck(
            "SRV-716", "tolower, toupper, length, trim, concat and substring are evaluated",
            why: "Comparisons without regard to case are written with tolower."
        ) { check in
            try await check.insert(texts: ["aBc", "xy"])
            try await check.expect(filter: "tolower(text) eq 'abc'", finds: ["aBc"])
            try await check.expect(filter: "toupper(text) eq 'ABC'", finds: ["aBc"])
            try await check.expect(filter: "length(text) eq 2", finds: ["xy"])
            try await check.expect(filter: "trim(text) eq 'xy'", finds: ["xy"])
            try await check.expect(filter: "concat(text,'!') eq 'xy!'", finds: ["xy"])
            try await check.expect(filter: "substring(text,1) eq 'Bc'", finds: ["aBc"])
        },
        ServerCheck(
            "SRV-717", "An empty text and null are different",
            why: "A user who clears a field leaves an empty text."
        ) { check in
            try await check.insert(rows: [["text": "", "number": 1], ["text": .null, "number": 2]])
            let empty = try await check.list(.compare("text", .equal, ""))
            try check.expect(empty.rows.map { $0["number"] }, is: [.int(1)], "the rows with an empty text")
            let null = try await check.list(.compare("text", .equal, .null))
            try check.expect(null.rows.map { $0["number"] }, is: [.int(2)], "the rows without a text")
        },
    ]

    private static let faults: [ServerCheck] = [
        ServerCheck(
            "SRV-718", "A filter that cannot be read is refused",
            why: "An unfiltered or empty list is taken for the answer: a pull stores wrong rows or none."
        ) { check in
            try await check.insert()
            for filter in ["text eq", "text is 'a'", "(text eq 'a'", "nofunction(text) eq 'a'", "text eq 'a' 'b'"] {
                let answer = try await check.send(.get, "?$filter=\(PercentEncoding.encode(filter))")
                try check.expect(!answer.isSuccess, "the filter \(filter): \(answer.summary)")
            }
        },
        ServerCheck(
            "SRV-719", "A filter with a column that the table lacks is refused with 400",
            why: "A misspelled column would be an empty list, which a pull takes for success.",
            tolerated: "A query of a local table with an unknown column is refused by the client"
        ) { check in
            try await check.insert()
            let answer = try await check.tryList(filter: "conformanceMissing eq 1")
            try check.expect(answer, has: 400, what: "a filter with an unknown column")
        },
        ServerCheck(
            "SRV-720", "An order by a column that the table lacks is refused with 4xx",
            why: "Pages in another order than the requested one overlap.",
            tolerated: "A query of a local table with an unknown column is refused by the client"
        ) { check in
            try await check.insert()
            let answer = try await check.tryList(filter: "text eq 'a'", options: "&$orderby=conformanceMissing")
            try check.expect((400..<500).contains(answer.status), "an order by an unknown column: \(answer.summary)")
        },
        ServerCheck(
            "SRV-721",
            "Other spellings of literals are read: 1.5d and datetime in ZUMO 2, the substring test of the other dialect",
            why: "Apps write filters as text, as in the documentation of the original clients.",
            tolerated: "The client writes the form of the dialect"
        ) { check in
            try await check.insert(rows: [["text": "abc", "price": 1.5], ["text": "b", "price": 2.5]])
            if check.isDatasync {
                try await check.expect(filter: "price lt 2.0", finds: ["abc"])
            } else {
                try await check.expect(filter: "price eq 1.5d", finds: ["abc"])
                try await check.expect(
                    filter: "updatedAt gt datetime'2000-01-01T00:00:00Z' and text eq 'b'", finds: ["b"])
                try await check.expect(filter: "contains(text,'c')", finds: ["abc"])
            }
        },
    ]
}
