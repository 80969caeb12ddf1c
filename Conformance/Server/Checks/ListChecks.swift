internal import TidelineStore
internal import TidelineWire

extension ServerCheck {
    /// Lists, pages, and counts.
    static let lists: [ServerCheck] = [
        ServerCheck(
            "SRV-201", "A list has the form of the dialect",
            why: "In ZUMO 2 it is an array, in Datasync 3 an object with the member items.",
            tolerated: "The client reads both forms in either dialect"
        ) { check in
            try await check.insert()
            let answer = try await check.tryList()
            try check.expect(answer, has: 200, what: "a list")
            let first = answer.body.first { $0 > 0x20 }
            try check.expect(
                first == UInt8(ascii: check.isDatasync ? "{" : "["),
                "a list begins with \(String(decoding: answer.body.prefix(20), as: UTF8.self))")
        },
        ServerCheck(
            "SRV-202", "A requested count is the number of all matching rows, whatever $skip and $top are",
            why: "An incremental pull ends when the count says that a page holds all rows that match."
        ) { check in
            try await check.insert(texts: ["a", "b", "a", "a", "a"])
            let page = try await check.list(.compare("text", .equal, "a"), skip: 1, top: 2, count: true)
            try check.expect(page.count, is: 4, "the count of four matching rows, with $skip=1&$top=2")
            try check.expect(page.rows.count, is: 2, "the rows with $skip=1&$top=2")
        },
        ServerCheck(
            "SRV-203", "A list without a matching row is empty, with the count 0",
            why: "A pull that finds nothing new is the most frequent request of all."
        ) { check in
            let page = try await check.list(.compare("text", .equal, "none"), count: true)
            try check.expect(page.rows.count, is: 0, "the rows")
            try check.expect(page.count, is: 0, "the count")
        },
        ServerCheck(
            "SRV-204", "$top returns the first rows of the order",
            why: "The client asks for pages of a size that it can store at once."
        ) { check in
            let rows = try await check.insert(texts: ["c", "a", "b"])
            let page = try await check.list(order: [OrderTerm("text")], top: 2)
            try check.expect(page.ids, is: [rows[1].id, rows[2].id], "the first two rows by text")
        },
        ServerCheck(
            "SRV-205", "$skip omits the first rows of the order, and all of them if there are not as many",
            why: "A remote query of an app may skip rows."
        ) { check in
            let rows = try await check.insert(texts: ["c", "a", "b"])
            try await check.expect(check.list(order: [OrderTerm("text")], skip: 2).ids, is: [rows[0].id], "$skip=2")
            try await check.expect(check.list(order: [OrderTerm("text")], skip: 3).ids, is: [], "$skip=3")
        },
        ServerCheck(
            "SRV-206", "$orderby sorts by several columns, ascending or descending",
            why: "A pull without a query id has the order of the app's query, and $top cuts it."
        ) { check in
            let rows = try await check.insert(rows: [
                ["text": "b", "number": 1], ["text": "a", "number": 1], ["text": "a", "number": 2],
                ["text": "b", "number": 3],
            ])
            let page = try await check.list(order: [OrderTerm("text"), OrderTerm("number", descending: true)])
            try check.expect(page.ids, is: [2, 1, 3, 0].map { rows[$0].id }, "the order text, number desc")
        },
        ServerCheck(
            "SRV-207", "$select returns the values of the selected columns",
            why: "A remote query of an app may select columns. The client always adds id."
        ) { check in
            let row = try await check.insert(["text": "a", "number": 5])
            let page = try await check.list(select: ["id", "number"])
            try check.expect(page.ids, is: [row.id], "the id with $select=id,number")
            try check.expect(page.rows[0]["number"], is: .int(5), "the number with $select=id,number")
        },
        ServerCheck(
            "SRV-208", "$top=0 returns no rows",
            why: "It asks for the count only.",
            tolerated: "The client asks for one row at least"
        ) { check in
            try await check.insert()
            let page = try await check.list(top: 0, count: true)
            try check.expect(page.rows.count, is: 0, "the rows with $top=0")
            try check.expect(page.count, is: 1, "the count with $top=0")
        },
        ServerCheck(
            "SRV-209", "A $top beyond the limit is refused with 400, or answered with a page",
            why: "The client halves the size of its pages after 400. After 5xx it would repeat the same request."
        ) { check in
            let row = try await check.insert()
            let answer = try await check.tryList(top: check.dialect.maximumPageSize + 1)
            try check.expect(answer, has: 200, 400, what: "$top=\(check.dialect.maximumPageSize + 1)")
            if answer.isSuccess { try check.expect(answer.page().ids, is: [row.id], "the ids in the list") }
        },
        ServerCheck(
            "SRV-210", "$top=1000 is accepted",
            why: "It is the default size of a client's pages.",
            tolerated: "After 400, the client asks for 500, 100, and 50 rows, and remembers the limit"
        ) { check in
            let row = try await check.insert()
            let answer = try await check.tryList(top: 1_000)
            try await check.mustHold {
                try check.expect(answer, has: 200, 400, what: "$top=1000")
                if answer.isSuccess { try check.expect(answer.page().ids, is: [row.id], "the ids with $top=1000") }
            }
            try check.expect(answer, has: 200, what: "$top=1000")
        },
        ServerCheck(
            "SRV-211", "The links from page to page of $top rows lead to every row once, in order",
            why: "A remote query of an app follows them. In Datasync 3, $top limits all pages together.",
            needs: [.dialect(.zumo2)]
        ) { check in
            try await check.insert(texts: (0..<7).map { "\($0)" })
            let first = try await check.list(order: [OrderTerm("text", descending: true)], top: 3)
            let texts = try await check.following(first).map { $0.text ?? "" }
            try check.expect(texts, is: (0..<7).reversed().map { "\($0)" }, "the texts of all pages")
        },
        ServerCheck(
            "SRV-212", "A list that is longer than a page has a link to the rest",
            why: "Without it, a server cuts the list silently, and a client may take the page for everything.",
            tolerated:
                "An incremental pull takes no page for the last one before the count or an empty page says so; a remote "
                + "query receives the first page only",
            readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            let first = try await shared.context.list(order: [OrderTerm("number")])
            let all = try await shared.context.following(first, as: check)
            try check.expect(all.count, is: shared.rows.count, "the number of rows of all pages")
        },
        ServerCheck(
            "SRV-213", "No row is missing or repeated on the linked pages",
            why: "Pages that overlap or leave gaps show an app a list that never existed.", readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            let first = try await shared.context.list(order: [OrderTerm("number")])
            let numbers = try await shared.context.following(first, as: check).map { $0["number"]?.int ?? -1 }
            // A list that is cut without a link is another check's.
            try check.expect(numbers, is: (0..<numbers.count).map { Int64($0) }, "the numbers of all pages")
        },
        ServerCheck(
            "SRV-214",
            "A page has as many rows as $top, or a link to the rest, or a count that shows that rows are missing",
            why: "A pull must know whether more rows match.", readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            let wanted = min(shared.rows.count, 1_000)
            for top in [1_000, 500, 100, 50] {
                let answer = try await shared.context.tryList(
                    order: [OrderTerm("updatedAt"), OrderTerm("id")], top: top, count: true)
                if answer.status == 400 { continue }
                let page = try answer.page()
                let isCut = page.rows.count < min(wanted, top)
                let shows = try check.nextTarget(after: page) != nil || page.count ?? 0 > page.rows.count
                try check.expect(
                    !isCut || shows, "of \(shared.rows.count) rows, \(answer.request.target) returns \(page.rows.count)"
                )
                return
            }
            throw BrokenPromise("$top=50 is refused")
        },
        ServerCheck(
            "SRV-215", "A pull by updatedAt, as clients do it, receives every row once",
            why:
                "Clients order by updatedAt and id, and continue with `updatedAt ge` the last timestamp. If one timestamp "
                + "fills a page, they read its millisecond by `id gt`. Both must agree with the order of the server.",
            readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            let found = try await PullWalk(context: shared.context, check: check).ids()
            let lost = Set(shared.rows.map(\.id)).subtracting(found)
            try check.expect(
                lost.isEmpty, "of \(shared.rows.count) rows \(lost.count) are lost, such as \(lost.min() ?? "")")
        },
        ServerCheck(
            "SRV-216", "A list by id, continued with `id gt` the last id, has every row once",
            why: "Pulls without a query id page in this way, because no change of a row moves it to another page.",
            readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            var ids: [String] = []
            for _ in 0...shared.rows.count {
                let page = try await shared.context.list(
                    ids.last.map { .compare("id", .greater, .string($0)) }, order: [OrderTerm("id")], top: 50)
                if page.rows.isEmpty { break }
                ids += page.ids
            }
            try check.expect(Set(ids).count, is: ids.count, "the number of different ids")
            try check.expect(Set(ids), is: Set(shared.rows.map(\.id)), "the ids of all pages")
        },
        ServerCheck(
            "SRV-217", "The rows of a list have the same values as a single row",
            why: "A client compares versions and timestamps from lists with those from the responses to its changes."
        ) { check in
            let row = try await check.insert(["text": "a", "number": 7, "price": 0.1, "done": true])
            let page = try await check.list()
            try check.expect(page.rows.count, is: 1, "the number of rows")
            try await check.expect(page.rows[0], shows: check.found(row.id), "the row in the list")
            try check.expect(page.rows[0], shows: row, "the row in the list, compared with the response to its insert")
        },
        ServerCheck(
            "SRV-218", "A link to the next page leads to the same server",
            why: "Each request contains the user's token, so a client follows no link to another host.",
            readsSharedRows: true
        ) { check in
            let shared = try await check.session.sharedRows()
            let page = try await shared.context.list(order: [OrderTerm("number")], top: check.isDatasync ? nil : 10)
            _ = try check.nextTarget(after: page)
        },
    ]
}

extension ServerCheckContext {
    /// Returns the target of the page after this one, or `nil` if there is no link.
    func nextTarget(after page: ServerPage) throws -> String? {
        let address = session.address
        do {
            return try dialect.nextPage(
                after: page.answer.response.response, link: page.link, target: page.answer.request.target,
                base: (address.scheme, address.authority, address.path))
        } catch {
            throw BrokenPromise("the link of \(page.answer.request.target) cannot be followed: \(error.message)")
        }
    }

    /// Returns the rows of a page and of those that it links to; `check` is the one whose log has the requests.
    func following(_ first: ServerPage, as check: ServerCheckContext? = nil) async throws -> [ServerRow] {
        var page = first
        var rows = first.rows
        // A link after each row, and one to an empty page, are possible; more are a loop.
        for _ in 0...(session.options.rows + 100) {
            guard let target = try nextTarget(after: page) else { return rows }
            var wire = page.answer.request
            wire.target = target
            let answer = try await (check ?? self).send(wire)
            try expect(answer, has: 200, what: "the next page")
            page = try answer.page()
            rows += page.rows
        }
        throw BrokenPromise("the links from page to page do not end")
    }
}

/// An incremental pull as a client does it, with small pages.
private struct PullWalk {
    let context: ServerCheckContext
    let check: ServerCheckContext
    private static var pageSize: Int { 50 }
    private static var order: [OrderTerm] { [OrderTerm("updatedAt"), OrderTerm("id")] }

    /// Returns the ids of all rows that the pull receives.
    func ids() async throws -> Set<String> {
        var found: Set<String> = []
        var token: Timestamp?
        for _ in 0...(context.session.options.rows + 100) {
            let page = try await context.list(
                token.map { .compare("updatedAt", .greaterOrEqual, .timestamp($0)) }, order: Self.order,
                top: Self.pageSize, count: true)
            found.formUnion(page.ids)
            let count = page.count ?? 0
            if page.rows.isEmpty || page.rows.count >= count { return found }
            let stamps = try page.rows.map { row in
                guard let stamp = row.updatedAt else { throw BrokenPromise("the row \(row.id) has no updatedAt") }
                return stamp
            }
            try check.expect(stamps == stamps.sorted(), "\(page.answer.request.target) is not ordered by updatedAt")
            guard let last = stamps.last else { return found }
            if last.flooredToMillisecond == token?.flooredToMillisecond {
                let start = last.flooredToMillisecond
                token = start.advanced(byTicks: Timestamp.ticksPerMillisecond)
                try await drain(from: start, to: token ?? start, into: &found)
            } else {
                token = last
            }
        }
        throw BrokenPromise("the pull does not end")
    }

    /// Reads the rows of one millisecond by id.
    private func drain(from start: Timestamp, to end: Timestamp, into found: inout Set<String>) async throws {
        var last: String?
        for _ in 0...(context.session.options.rows + 100) {
            var terms: [RowPredicate] = [
                .compare("updatedAt", .greaterOrEqual, .timestamp(start)),
                .compare("updatedAt", .less, .timestamp(end)),
            ]
            if let last { terms.append(.compare("id", .greater, .string(last))) }
            let page = try await context.list(.and(terms), order: [OrderTerm("id")], top: Self.pageSize)
            guard let id = page.ids.last else { return }
            found.formUnion(page.ids)
            last = id
        }
        throw BrokenPromise("the pages of one millisecond, ordered by id, do not end")
    }
}
