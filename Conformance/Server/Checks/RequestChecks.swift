internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// The requests that a server accepts, and the form of its responses.
    static let requests: [ServerCheck] = [
        ServerCheck(
            "SRV-101", "A request without its version header is refused with 400",
            why: "A server that guesses the dialect may answer in another one. A client always sends the header.",
            tolerated: "The client sends the header with each request", needs: [.dialect(.zumo2)]
        ) { check in
            let answer = try await check.send(.get, headers: [.zumoAPIVersion: ""])
            try check.expect(answer, has: 400, what: "a request without ZUMO-API-VERSION")
        },
        ServerCheck(
            "SRV-102", "Each response has a Date header",
            why: "The client takes the server's clock from it, and looks back from there for rows committed late.",
            tolerated: "Without it, the client looks back from the last timestamp that it has received"
        ) { check in
            let row = try await check.insert()
            for answer in [try await check.lookup(row.id), try await check.tryList(), try await check.lookup("none")] {
                let date = answer.headers[.date] ?? ""
                try check.expect(
                    HTTPDate.instant(date) != nil, "\(answer.summary), with the header Date \(date.debugDescription)")
            }
        },
        ServerCheck(
            "SRV-103", "The body of a response is declared as JSON",
            why: "Proxies and other clients rely on the Content-Type.",
            tolerated: "The client reads the body whatever its type is"
        ) { check in
            let row = try await check.insert()
            for answer in [try await check.lookup(row.id), try await check.tryList()] {
                let type = answer.headers[.contentType] ?? ""
                try check.expect(type.contains("json"), "\(answer.summary), with Content-Type \(type.debugDescription)")
            }
        },
        ServerCheck(
            "SRV-104", "An error is a JSON object or text with a reason",
            why: "The message is all that an app and its log show of the server's reason.",
            tolerated: "The client shows the text of a web page, or only the status"
        ) { check in
            let refused = try await check.tryList(filter: "text eq 'unterminated")
            try check.expect(!refused.isSuccess, "a malformed filter: \(refused.summary)")
            let type = refused.headers[.contentType] ?? ""
            try check.expect(
                !type.hasPrefix("text/html") && refused.body.first != UInt8(ascii: "<"),
                "a malformed filter is answered with a web page")
            // A JSON object without a message is its own message.
            let message = ErrorBody.message(of: refused.body)
            try check.expect(
                !message.isEmpty && !message.hasPrefix("{"), "\(refused.summary), without a readable reason")
        },
        ServerCheck(
            "SRV-105", "A table that does not exist is answered with 404, or is empty if an insert creates it",
            why: "The client reports a wrong name as an error of the app, and pulls nothing from a new table.",
            tolerated: "The client reports any other status as an error, too"
        ) { check in
            let answer = try await check.send(
                WireRequest(
                    method: .get, target: "tables/\(check.mark)",
                    headers: [.zumoAPIVersion: check.dialect.apiVersion, .accept: "application/json"]))
            try check.expect(answer, has: 200, 404, what: "a table that does not exist")
            if answer.isSuccess { try check.expect(answer.page().ids, is: [], "the ids in a new table") }
            let row = try await check.insert()
            try await check.expect(check.list().ids, is: [row.id], "the ids in the suite's table")
        },
        ServerCheck(
            "SRV-106", "A DELETE of the table's URL, without an id, deletes nothing",
            why: "A client with a bug that omits the id must not empty the table."
        ) { check in
            let row = try await check.insert()
            let answer = try await check.send(.delete)
            try check.expect(!answer.isSuccess, "a DELETE without an id: \(answer.summary)")
            _ = try await check.found(row.id)
        },
        ServerCheck(
            "SRV-107", "HEAD and OPTIONS change nothing and are not answered with a server error",
            why: "Monitoring, proxies and browsers send them.",
            tolerated: "The client does not send them"
        ) { check in
            let row = try await check.insert()
            for method in [HTTPRequest.Method.head, .options] {
                for target in ["", "/\(PercentEncoding.encode(row.id))"] {
                    let answer = try await check.send(method, target)
                    try check.expect(answer.status < 500 || answer.status == 501, answer.summary)
                }
            }
            try await check.mustHold {
                try await check.expect(check.found(row.id), shows: row, "the row after HEAD and OPTIONS")
            }
        },
        ServerCheck(
            "SRV-108", "A large list arrives whole, compressed or not",
            why: "The client accepts gzip. A page that is cut, or compressed otherwise, cannot be read."
        ) { check in
            let texts = (0..<10).map { number in
                String(repeating: "\(number) tide ", count: 4_000) + "\(UInt64.random(in: 0 ... .max))"
            }
            try await check.insert(texts: texts)
            let page = try await check.list(order: [OrderTerm("id")])
            try check.expect(Set(page.rows.map(\.text)) == Set(texts), "a list of 300 kB is not as rows were inserted")
        },
        ServerCheck(
            "SRV-109", "Parameters of the app do not affect a request",
            why: "Apps send parameters of their own to the scripts of their server."
        ) { check in
            let row = try await check.insert()
            let answer = try await check.tryList(filter: "text eq 'a'", options: "&color=green%20blue")
            try check.expect(answer, has: 200, what: "a list with a parameter of the app")
            try check.expect(answer.page().ids, is: [row.id], "a list with a parameter of the app")
        },
        ServerCheck(
            "SRV-110", "The names of options may be percent-encoded",
            why: "Libraries encode the dollar sign of $filter; the links of the original server do so, too."
        ) { check in
            let rows = try await check.insert(texts: ["a", "b"])
            let filter = PercentEncoding.encode("text eq 'b' and mark eq '\(check.mark)'")
            let answer = try await check.send(.get, "?%24filter=\(filter)")
            try check.expect(answer, has: 200, what: "%24filter")
            try check.expect(answer.page().ids, is: [rows[1].id], "%24filter")
        },
        ServerCheck(
            "SRV-111", "A body that is not JSON is refused with 4xx",
            why: "After 5xx, a client tries again, though the request can never succeed.",
            tolerated: "The client sends only JSON"
        ) { check in
            try await check.insert()
            let answer = try await check.send(.post, body: #"{"text": "#)
            try check.expect((400..<500).contains(answer.status), "a body that is cut: \(answer.summary)")
        },
    ]
}
