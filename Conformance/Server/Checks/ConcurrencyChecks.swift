internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Requests of several clients at the same time.
    static let concurrency: [ServerCheck] = [
        ServerCheck(
            "SRV-901", "Of several inserts of one id at the same time, one succeeds, and its row is stored",
            why: "A client sends an insert again while the first try is still being processed.",
            needs: [.clientIDs]
        ) { check in
            for _ in 0..<check.session.options.rounds {
                let id = check.newID()
                let answers = try await concurrently(8) { number in
                    try await check.tryInsert(["text": .string("client \(number)")], id: id)
                }
                let winners = answers.filter(\.isSuccess)
                try check.expect(winners.count, is: 1, "the number of inserts that succeed")
                try check.expect(answers.filter { $0.status == 409 }.count, is: 7, "the number of answers with 409")
                try await check.expect(check.found(id), shows: winners[0].row(), "the stored row")
            }
        },
        ServerCheck(
            "SRV-902", "Of several updates with one version at the same time, one succeeds, and its row is stored",
            why: "A server that compares the version before its transaction loses changes without a conflict."
        ) { check in
            for _ in 0..<check.session.options.rounds {
                let row = try await check.insert()
                let answers = try await concurrently(8) { number in
                    try await check.update(row, ["text": .string("client \(number)")], version: row.version)
                }
                let winners = answers.filter(\.isSuccess)
                try check.expect(winners.count, is: 1, "the number of updates that succeed")
                try check.expect(answers.filter { $0.status == 412 }.count, is: 7, "the number of answers with 412")
                try await check.expect(check.found(row.id), shows: winners[0].row(), "the stored row")
            }
        },
        ServerCheck(
            "SRV-903", "Of an update and a delete with one version, in any order, one succeeds",
            why: "Otherwise a row is deleted with a change that nobody has seen."
        ) { check in
            for round in 0..<(4 * check.session.options.rounds) {
                let row = try await check.insert()
                let requests: [@Sendable () async throws -> ServerAnswer] = [
                    { try await check.update(row, ["text": "b"], version: row.version) },
                    { try await check.delete(row.id, version: row.version) },
                ]
                // At the same time, a server may always process the same one first.
                let answers =
                    round % 2 == 0
                    ? try await concurrently(2) { try await requests[$0]() }
                    : [try await requests[0](), try await requests[1]()]
                try check.expect(answers.filter(\.isSuccess).count, is: 1, "the number of requests that succeed")
                let isFound = try await check.lookup(row.id).status == 200
                try check.expect(isFound, is: answers[0].isSuccess, "whether the row is found")
            }
        },
        ServerCheck(
            "SRV-904", "All rows that several clients insert at the same time are stored",
            why: "A client pushes several operations at once."
        ) { check in
            let rows = try await concurrently(40) { number in
                try await check.insert(["text": .string("row \(number)")])
            }
            try await check.expect(Set(check.list(top: 50).ids), is: Set(rows.map(\.id)), "the ids in the list")
        },
        ServerCheck(
            "SRV-905", "No increment is lost that clients make with If-Match",
            why: "It is the sum of all promises about versions."
        ) { check in
            let row = try await check.insert(["text": "a", "number": 0])
            for _ in 0..<5 { try await check.increment(row.id, clients: 4) }
            try await check.expect(check.found(row.id)["number"], is: .int(20), "the number after 20 increments")
        },
    ]
}

extension ServerCheckContext {
    /// Adds one to a row's number by several clients, which read the row before one changes it; refused ones retry.
    fileprivate func increment(_ id: String, clients: Int) async throws {
        var waiting = clients
        for _ in 0..<clients where waiting > 0 {
            let rows = try await concurrently(waiting) { _ in try await self.found(id) }
            let answers = try await concurrently(waiting) { client in
                let row = rows[client]
                let next = (row["number"]?.int ?? 0) + 1
                return try await self.update(row, ["number": .int(next)], version: row.version)
            }
            for answer in answers where !answer.isSuccess { try expect(answer, has: 412, what: "an increment") }
            waiting = answers.filter { !$0.isSuccess }.count
        }
        try expect(waiting == 0, "of \(clients) clients that try again, \(waiting) are refused each time")
    }
}
