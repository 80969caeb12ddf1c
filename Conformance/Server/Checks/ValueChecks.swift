internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Values that a server stores.
    static let values: [ServerCheck] = [
        ServerCheck(
            "SRV-801", "Texts are returned as they were sent, to the byte",
            why: "A client compares what the server returns with what it has sent, to recognize its own change."
        ) { check in
            let texts = [
                "", " leading and trailing ", "line\nbreak\r\n\ttab", #"quotes " ' and \ backslash"#,
                "é as one, e\u{301} as two",
                "🌊👩‍👩‍👧 and \u{FFFD}", "\u{1}\u{1F}\u{7F}", "</script><!--", "日本語 العربية",
            ]
            for text in texts { try await check.expectKept(.string(text), in: "text") }
        },
        ServerCheck(
            "SRV-802", "A text that looks like a date, a number or JSON stays the text that it is",
            why: "Notes of users begin with dates."
        ) { check in
            for text in ["2026-11-21", "2026-11-21T09:12:49Z", "007", "1e3", "true", "null", "{}", "[1]"] {
                try await check.expectKept(.string(text), in: "text")
            }
        },
        ServerCheck(
            "SRV-803", "A text of 50,000 characters is stored",
            why: "Notes are long. The original server accepts bodies of 100 kB."
        ) { check in
            let text = String(repeating: "tide ", count: 10_000)
            let row = try await check.insert(["text": .string(text)])
            try await check.expect(check.found(row.id).text == text, "the long text has changed")
        },
        ServerCheck(
            "SRV-804", "Integers of up to 2^53 are exact",
            why: "Counters, amounts of money in cents, and times in milliseconds are of this size."
        ) { check in
            for number in [0, 1, -1, 2_147_483_648, -2_147_483_649, 9_007_199_254_740_991, -9_007_199_254_740_991] {
                try await check.expectKept(.int(number), in: "number")
            }
        },
        ServerCheck(
            "SRV-805", "Integers of 64 bits are exact",
            why: "A server that computes with doubles rounds them.",
            tolerated: "The client stores the number that the server returns"
        ) { check in
            for number in [9_007_199_254_740_993, .max, .min] { try await check.expectKept(.int(number), in: "number") }
        },
        ServerCheck(
            "SRV-806", "Doubles are exact",
            why: "A rounded coordinate or price looks like a change by another client."
        ) { check in
            for price in [0.1, -2.5, 1e21, 1.7976931348623157e308, 2.2250738585072014e-308, 1.0 / 3, 2.0] {
                let row = try await check.insert(["text": "a", "price": .double(price)])
                try check.expect(row["price"]?.double, is: price, "the price in the response")
                try await check.expect(check.found(row.id)["price"]?.double, is: price, "the stored price")
            }
        },
        ServerCheck(
            "SRV-807", "Booleans stay Booleans",
            why: "A server that returns 0 and 1 makes a column of another type, and the first such row stops a pull."
        ) { check in
            for done in [true, false] { try await check.expectKept(.bool(done), in: "done") }
        },
        ServerCheck(
            "SRV-808", "A column that an insert does not name is null",
            why: "A server must return its defaults; otherwise the client's row differs from the server's."
        ) { check in
            let row = try await check.insert(["text": "a"])
            try await check.expect(check.found(row.id), shows: row, "the stored row, compared with the response")
        },
        ServerCheck(
            "SRV-809", "A timestamp in a column of the app is the same instant, whatever its digits and offset are",
            why: "The client writes three to seven digits, in UTC."
        ) { check in
            for text in [
                "2026-11-21T09:12:49Z", "2026-11-21T09:12:49.403Z", "2026-11-21T10:12:49.5+01:00",
                "1969-12-31T23:59:59.999Z",
            ] {
                try await check.expectInstant(text)
            }
        },
        ServerCheck(
            "SRV-810", "A timestamp in a column of the app keeps 100 nanoseconds",
            why: "It is the precision of the .NET clients.",
            tolerated: "The client stores the timestamp that the server returns"
        ) { check in
            try await check.expectInstant("2026-11-21T09:12:49.4031234Z")
        },
        ServerCheck(
            "SRV-811", "A JSON array or object is stored or refused with 4xx",
            why: "A server without such columns answers 5xx, or stores a text.",
            tolerated: "The client tries again a few times, then reports the operation and pushes the others"
        ) { check in
            let answer = try await check.tryInsert(
                ["text": "a", "conformanceJSON": .json(#"{"a":[1,null,"b"]}"#)], id: check.newID())
            if (400..<500).contains(answer.status) { throw SkippedCheck(reason: "the table has no column for JSON") }
            try check.expectSuccess(answer, "an insert with a JSON object")
            try await check.mustHold {
                let stored = try await check.found(try answer.row().id)["conformanceJSON"]
                let text = (stored?.json ?? "").filter { !$0.isWhitespace }
                try check.expect(text, is: #"{"a":[1,null,"b"]}"#, "the stored object, \(String(reflecting: stored))")
            }
        },
        ServerCheck(
            "SRV-812", "A body of 2 MB is stored or refused with 4xx",
            why: "After 5xx, or a connection that is closed, the client sends it again.",
            tolerated: "The client tries again a few times, then reports the operation"
        ) { check in
            try await check.insert()
            let text = String(repeating: "tide ", count: 400_000)
            let answer: ServerAnswer
            do {
                answer = try await check.tryInsert(["text": .string(text)], id: check.newID())
            } catch let error as BrokenPromise {
                // Clients tolerate a connection that is closed.
                throw BrokenPromise(error.description)
            }
            try check.expect(answer.status < 500, "a body of 2 MB: \(answer.summary)")
            guard answer.isSuccess else { return }
            try await check.mustHold {
                try await check.expect(check.found(answer.row().id).text == text, "the long text has changed")
            }
        },
    ]
}

extension ServerCheckContext {
    /// Fails unless a value that is inserted is in the response and in the stored row.
    fileprivate func expectKept(_ value: Value, in column: String) async throws {
        var columns: Row = ["text": "a"]
        columns[column] = value
        let row = try await insert(columns)
        // A client stores the value of the response, also if it is another one.
        try await mustHold {
            try await expect(found(row.id)[column], is: row[column], "the stored \(column), not as in the response")
        }
        try expect(row[column], is: value, "the \(column) in the response")
    }

    /// Fails unless the stored instant is that of a timestamp in a column of the app.
    fileprivate func expectInstant(_ text: String) async throws {
        let row = try await insert(["text": "a", "due": .string(text)])
        let stored = try await found(row.id)["due"]?.string ?? ""
        try expect(Timestamp(stored), is: Timestamp(text), "the stored instant of \(text), \(stored)")
    }
}
