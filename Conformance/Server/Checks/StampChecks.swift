internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Timestamps, by which clients pull.
    static let stamps: [ServerCheck] = [
        ServerCheck(
            "SRV-601", "Each row has updatedAt, in ZUMO 2 also createdAt, in ISO 8601",
            why: "A pull continues at the greatest updatedAt. A row without one stops it with an error."
        ) { check in
            try await check.insert()
            for row in try await check.list().rows {
                // The toolkit's server has no createdAt.
                let hasCreation = !check.isDatasync || row["createdAt"] != nil
                for column in hasCreation ? ["createdAt", "updatedAt"] : ["updatedAt"] {
                    let text = row[column]?.string ?? ""
                    try check.expect(Timestamp(text) != nil, "\(column) is \(text.debugDescription)")
                }
            }
        },
        ServerCheck(
            "SRV-602", "updatedAt never goes back: a later change has the same or a later one",
            why: "A change that is stamped before what a client has seen is not pulled."
        ) { check in
            var row = try await check.insert()
            var stamps = [row.updatedAt]
            for number in 0..<10 {
                row = try await check.changed(row, ["number": .int(Int64(number))])
                let other = try await check.insert()
                stamps += [row.updatedAt, other.updatedAt]
            }
            let known = stamps.compactMap { $0 }
            try check.expect(known.count, is: stamps.count, "the rows with updatedAt")
            try check.expect(known == known.sorted(), "the timestamps of changes in order: \(known)")
        },
        ServerCheck(
            "SRV-603", "No two changes have the same updatedAt",
            why: "If a page ends between rows of one timestamp, the next page cannot begin after it.",
            tolerated: "The client reads the rows of such a timestamp by id"
        ) { check in
            let rows = try await check.insertMany(64)
            let stamps = Set(rows.compactMap(\.updatedAt))
            try check.expect(stamps.count, is: rows.count, "different timestamps of \(rows.count) rows")
        },
        ServerCheck(
            "SRV-604", "`updatedAt ge` a row's own timestamp finds the row",
            why: "A pull begins at the last timestamp. If responses cut it or filters round it, rows are lost."
        ) { check in
            for row in try await check.insertMany(20) {
                let stamp = Value.timestamp(row.updatedAt ?? .min)
                let found = try await check.list(
                    .and([
                        .compare("updatedAt", .greaterOrEqual, stamp), .compare("id", .equal, .string(row.id)),
                    ]))
                try check.expect(found.ids, is: [row.id], "the rows since \(stamp)")
            }
        },
        ServerCheck(
            "SRV-605", "`updatedAt gt` a row's own timestamp does not find the row",
            why: "It would be received again by each pull: the server keeps more digits than it sends.",
            tolerated: "The client ignores rows that it has in the same version"
        ) { check in
            for row in try await check.insertMany(20) {
                let stamp = Value.timestamp(row.updatedAt ?? .min)
                let found = try await check.list(
                    .and([.compare("updatedAt", .greater, stamp), .compare("id", .equal, .string(row.id))]))
                try check.expect(found.ids, is: [], "the rows after \(stamp), which is \(row["updatedAt"] ?? .null)")
            }
        },
        ServerCheck(
            "SRV-606", "A row is in the millisecond of its timestamp: `ge` its start and `lt` its end",
            why: "Clients read the rows of one millisecond together if they fill a page."
        ) { check in
            for row in try await check.insertMany(20) {
                let start = (row.updatedAt ?? .min).flooredToMillisecond
                let end = start.advanced(byTicks: Timestamp.ticksPerMillisecond)
                let found = try await check.list(
                    .and([
                        .compare("updatedAt", .greaterOrEqual, .timestamp(start)),
                        .compare("updatedAt", .less, .timestamp(end)), .compare("id", .equal, .string(row.id)),
                    ]))
                try check.expect(found.ids, is: [row.id], "the rows from \(start) to \(end)")
            }
        },
        ServerCheck(
            "SRV-607", "Lists by updatedAt are in the order of the timestamps",
            why: "The last row of a page is where the next one begins."
        ) { check in
            let rows = try await check.insertMany(20)
            let listed = try await check.list(order: [OrderTerm("updatedAt"), OrderTerm("id")])
            let stamps = listed.rows.compactMap(\.updatedAt)
            try check.expect(stamps.count, is: rows.count, "the number of rows")
            try check.expect(stamps == stamps.sorted(), "the timestamps of the list: \(stamps)")
        },
        ServerCheck(
            "SRV-608", "A change that begins after the response to another has a later updatedAt",
            why: "Servers with different clocks, or a clock that is set back, hide changes from clients.",
            tolerated: "Each pull looks back, by default 5 seconds before the server's clock"
        ) { check in
            let writes = try await check.stressedWrites()
            for late in writes {
                for early in writes where early.end < late.start && early.stamp > late.stamp {
                    throw BrokenPromise(
                        "a row was inserted after the response to another, with the earlier updatedAt \(late.stamp), "
                            + "not \(early.stamp)")
                }
            }
        },
        ServerCheck(
            "SRV-609", "Rows become visible in the order of updatedAt, also under load",
            why:
                "If rows are stamped before their commit, a client that has pulled a later row never asks for the "
                + "earlier.",
            tolerated: "Each pull looks back, by default 5 seconds before the server's clock"
        ) { check in
            var seen: Set<String> = []
            var last: (id: String, stamp: Timestamp)?
            for _ in 0..<check.session.options.rounds {
                // A list after each insert, while the others go on.
                let (inserts, continuation) = AsyncStream<Void>.makeStream()
                async let writes = check.stressedWrites(continuation)
                for await _ in inserts {
                    let page = try await check.list(order: [OrderTerm("updatedAt", descending: true)], top: 100)
                    for row in page.rows where seen.insert(row.id).inserted {
                        guard let stamp = row.updatedAt, let last, stamp < last.stamp else { continue }
                        throw BrokenPromise("the row \(row.id) of \(stamp) appears after \(last.id) of \(last.stamp)")
                    }
                    if let first = page.rows.first, let stamp = first.updatedAt { last = (first.id, stamp) }
                }
                _ = try await writes
            }
        },
        ServerCheck(
            "SRV-610", "A timestamp in a filter may have three to seven digits of a second",
            why: "The client writes as many digits as the value needs, at least three."
        ) { check in
            let row = try await check.insert()
            let stamp = row.updatedAt ?? .min
            let values = [
                stamp.flooredToMillisecond, stamp.advanced(byTicks: -1), stamp.advanced(byTicks: -12_345_670),
            ]
            for value in values {
                let found = try await check.list(.compare("updatedAt", .greaterOrEqual, .timestamp(value)))
                try check.expect(found.ids, is: [row.id], "the rows since \(value)")
            }
            let later = stamp.advanced(byTicks: Timestamp.ticksPerSecond)
            try await check.expect(
                check.list(.compare("updatedAt", .greaterOrEqual, .timestamp(later))).ids, is: [],
                "the rows since \(later)")
        },
        ServerCheck(
            "SRV-611", "A timestamp in a filter may have an offset",
            why: "Apps that write filters as text use local time.",
            tolerated: "The client writes timestamps in UTC"
        ) { check in
            let row = try await check.insert()
            // The wall clock of the offset is an hour ahead of UTC.
            for (hours, expected) in [(0, [row.id]), (2, [])] as [(Int64, [String])] {
                let shifted = (row.updatedAt ?? .min).advanced(byTicks: (hours + 1) * 3_600 * Timestamp.ticksPerSecond)
                let text = shifted.iso8601().dropLast() + "+01:00"
                let literal = check.isDatasync ? "cast(\(text),Edm.DateTimeOffset)" : "datetimeoffset'\(text)'"
                let answer = try await check.tryList(filter: "updatedAt ge \(literal)")
                try check.expect(answer, has: 200, what: "the literal \(literal)")
                try check.expect(answer.page().ids, is: expected, "the rows since \(text)")
            }
        },
    ]
}

/// An insert under load: when it began and ended for the client, and its timestamp.
private struct TimedWrite: Sendable {
    let start: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    let stamp: Timestamp
}

extension ServerCheckContext {
    /// The number of clients and of rows of each client: together less than one page of either dialect.
    private static var clients: Int { 8 }
    private static var rowsPerClient: Int { 11 }

    /// Inserts rows by several clients at once; `inserts` receives an element after each, and ends with the last one.
    fileprivate func stressedWrites(_ inserts: AsyncStream<Void>.Continuation? = nil) async throws -> [TimedWrite] {
        defer { inserts?.finish() }
        return try await concurrently(Self.clients) { client in
            var writes: [TimedWrite] = []
            for number in 0..<Self.rowsPerClient {
                let start = ContinuousClock.now
                let row = try await self.insert(["text": "\(client)", "number": .int(Int64(number))])
                guard let stamp = row.updatedAt else { throw BrokenPromise("the row \(row.id) has no updatedAt") }
                writes.append(TimedWrite(start: start, end: .now, stamp: stamp))
                inserts?.yield()
            }
            return writes
        }.flatMap { $0 }
    }
}
