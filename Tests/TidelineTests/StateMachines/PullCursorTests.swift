import Testing
import TidelineStore

@testable import Tideline

/// The pages that a pull requests, in order, without a server.
@Suite("Pull cursor")
struct PullCursorTests {
    static func at(_ ticks: Int64) -> Timestamp { Timestamp(clampingTicks: 17_000_000_000_000_000 + ticks) }
    static let millisecond = Timestamp.ticksPerMillisecond

    static func page(
        _ count: Int, _ oldest: Int64 = 0, _ newest: Int64 = 0, total: Int64? = nil, last: String? = "z",
        link: Bool = false
    ) -> PageSummary {
        PageSummary(
            count: count, totalCount: total, hasNextLink: link, lastID: last, oldest: at(oldest), newest: at(newest),
            requested: 3)
    }

    static func incremental(token: Int64? = nil, serverDate: Int64? = nil) -> PullCursor {
        let token = token.map { PullToken(updatedAt: at($0), serverDate: serverDate.map(at), filter: "") }
        return PullCursor(token: token, lookback: .milliseconds(1), pageSize: 3)
    }

    static func window(from ticks: Int64, count: Bool = false) -> PullCursor.Request {
        .init(
            filter: .column("updatedAt") >= .value(at(ticks)), order: [OrderTerm("updatedAt"), OrderTerm("id")],
            limit: 3, wantsCount: count)
    }

    @Test("F4 the first pull has no lower bound")
    func first() {
        #expect(
            Self.incremental().first
                == .init(filter: nil, order: [OrderTerm("updatedAt"), OrderTerm("id")], limit: 3))
    }

    @Test("F6 the next pull starts at min(token, date − look-back); without a date at token − look-back")
    func start() {
        let far = 50 * Self.millisecond
        #expect(
            Self.incremental(token: far, serverDate: 100 * Self.millisecond).first
                == Self.window(from: far, count: true))
        #expect(
            Self.incremental(token: far, serverDate: far).first
                == Self.window(from: 49 * Self.millisecond, count: true))
        #expect(Self.incremental(token: far).first == Self.window(from: 49 * Self.millisecond, count: true))
    }

    @Test("F6 rows that were read completely are not read again once the server's clock is past them by the look-back")
    func startAfterDrain() {
        let token = PullToken(updatedAt: Self.at(5 * Self.millisecond + 7), serverDate: nil, filter: "").drained
        func start(date: Int64, lookback: Duration) -> Timestamp? {
            var token = token
            token.serverDate = Self.at(date)
            return token.start(lookback: lookback)?.first
        }
        // A server whose clock goes back stamps its next row directly after its newest one.
        let next = 5 * Self.millisecond + 8
        #expect(start(date: 50 * Self.millisecond, lookback: .milliseconds(44)) == Self.at(next))
        #expect(start(date: 50 * Self.millisecond, lookback: .milliseconds(45)) == Self.at(5 * Self.millisecond))
        #expect(start(date: next, lookback: .zero) == Self.at(next))
        #expect(start(date: next - 1, lookback: .zero) == token.updatedAt)
        #expect(token.start(lookback: .zero) == PullToken.Start(bound: token.updatedAt!))
        #expect(token.limited(to: Self.at(3)).start(lookback: .zero) == PullToken.Start(bound: Self.at(3)))
    }

    @Test("F5 after a full page the pull continues at its greatest updatedAt")
    func fullPage() throws {
        var cursor = Self.incremental()
        let next = 9 * Self.millisecond
        #expect(try cursor.receive(Self.page(3, 0, next)) == Self.window(from: next))
        #expect(cursor.token == Self.at(next))
    }

    @Test("F5 a short page is not the end, unless the count shows that it contains all rows")
    func shortPage() throws {
        var cursor = Self.incremental()
        let next = 9 * Self.millisecond
        #expect(try cursor.receive(Self.page(2, 0, next)) == Self.window(from: next, count: true))
        #expect(try cursor.receive(Self.page(1, next, next, total: 1)) == nil)
    }

    @Test("F5 near the likely end, the same page is requested with the count before a millisecond is drained")
    func likelyEnd() throws {
        var cursor = Self.incremental()
        let next = 9 * Self.millisecond
        _ = try cursor.receive(Self.page(3, 0, next))
        #expect(try cursor.receive(Self.page(1, next, next)) == Self.window(from: next, count: true))
        #expect(cursor.isWindow)
        _ = try cursor.receive(Self.page(1, next, next))
        #expect(!cursor.isWindow)
    }

    @Test("F5 a link to a next page takes precedence over a count that is reached")
    func linkAndCount() throws {
        var cursor = Self.incremental()
        #expect(try cursor.receive(Self.page(2, 0, 9, total: 2, link: true)) != nil)
    }

    @Test("F6 a pull of an unchanged table ends after one answer with all matching rows")
    func atRest() throws {
        var cursor = Self.incremental(token: 9 * Self.millisecond)
        #expect(try cursor.receive(Self.page(2, 8 * Self.millisecond, 9 * Self.millisecond, total: 2)) == nil)
        #expect(cursor.token == Self.at(9 * Self.millisecond))
    }

    @Test("F5 an answer truncated by the server is continued, even if all of its rows are known")
    func cutAnswer() throws {
        var cursor = Self.incremental(token: 9 * Self.millisecond)
        let page = Self.page(2, 8 * Self.millisecond, 9 * Self.millisecond, total: 5)
        #expect(try cursor.receive(page) == Self.window(from: 9 * Self.millisecond, count: true))
        let shorter = Self.page(1, 9 * Self.millisecond, 10 * Self.millisecond, total: 4)
        #expect(try cursor.receive(shorter) == Self.window(from: 10 * Self.millisecond, count: true))
    }

    @Test("F5 a page within the lower bound's millisecond is drained by ID, then the pull continues after it")
    func drain() throws {
        var cursor = Self.incremental()
        _ = try cursor.receive(Self.page(3, 10, 20))
        let start = RowPredicate.column("updatedAt") >= .value(Self.at(0))
        let end = RowPredicate.column("updatedAt") < .value(Self.at(Self.millisecond))
        #expect(
            try cursor.receive(Self.page(3, 20, 20))
                == PullCursor.Request(filter: start && end, order: [OrderTerm("id")], limit: 3))
        #expect(
            try cursor.receive(Self.page(3, 10, 20, last: "m"))
                == PullCursor.Request(filter: start && end && .column("id") > "m", order: [OrderTerm("id")], limit: 3))
        #expect(cursor.token == Self.at(20))
        #expect(
            try cursor.receive(Self.page(0, last: nil)) == Self.window(from: Self.millisecond, count: true))
        #expect(try cursor.receive(PageSummary()) == nil)
        #expect(cursor.token == Self.at(20))
    }

    @Test(
        "F8 a millisecond that was read in part is continued at its ID if no rows can have come into it since",
        arguments: [(5, 6), (5, 5), (7, 6)] as [(Int64, Int64)])
    func begunDrain(_ milliseconds: Int64, serverDate: Int64) throws {
        let at = Self.at(milliseconds * Self.millisecond)
        var token = PullToken(
            updatedAt: Self.at(5 * Self.millisecond), serverDate: Self.at(serverDate * Self.millisecond), filter: "")
        token.drainedID = "m"
        var cursor = PullCursor(token: token, lookback: .zero, pageSize: 3)
        let page = Self.page(3, milliseconds * Self.millisecond, milliseconds * Self.millisecond, last: "p")
        var range =
            RowPredicate.column("updatedAt") >= .value(at)
            && .column("updatedAt") < .value(at.advanced(byTicks: Self.millisecond))
        if (milliseconds, serverDate) == (5, 6) { range = range && .column("id") > "m" }
        if milliseconds > 5 { _ = try cursor.receive(page) }
        #expect(try cursor.receive(page) == PullCursor.Request(filter: range, order: [OrderTerm("id")], limit: 3))
        _ = try cursor.receive(page)
        #expect(cursor.drainedID == "p")
    }

    @Test("F5 a row older than requested is an error")
    func older() {
        let far = 100 * Self.millisecond
        var cursor = Self.incremental(token: far, serverDate: far)
        #expect(throws: SyncError.self) { try cursor.receive(Self.page(2, 0, far)) }
    }

    @Test("F5 a timestamp truncated to its millisecond is not older than a bound within that millisecond")
    func cutStamp() throws {
        var cursor = Self.incremental(token: 5 * Self.millisecond + 700, serverDate: 50 * Self.millisecond)
        let page = Self.page(1, 5 * Self.millisecond, 5 * Self.millisecond, total: 1)
        #expect(try cursor.receive(page) == nil)
    }

    @Test("F5 a missing updatedAt is an error that names the row")
    func undated() {
        var cursor = Self.incremental()
        let error = #expect(throws: SyncError.self) {
            try cursor.receive(PageSummary(count: 1, lastID: "a", undatedID: "b"))
        }
        #expect(error?.code == .noProgress && error?.id == "b")
    }

    @Test("F5 rows out of order are an error, unless the page contains all matching rows", arguments: [true, false])
    func disorder(isWhole: Bool) throws {
        var cursor = Self.incremental()
        var page = Self.page(3, 0, 9, total: isWhole ? 3 : 4)
        page.isAscending = false
        if isWhole {
            #expect(try cursor.receive(page) == nil)
        } else {
            #expect(throws: SyncError.self) { try cursor.receive(page) }
        }
    }

    @Test("F5 a server that returns pages in a circle is an error, whatever the circle's length", arguments: 1...9)
    func circle(length: Int) {
        var cursor = PullCursor(order: [], skip: 0, limit: nil, pageSize: 3)
        var pages = 0
        #expect(throws: SyncError.self) {
            while pages < 100 {
                _ = try cursor.receive(Self.page(3, last: "id\(pages % length)"))
                pages += 1
            }
        }
        #expect(pages < 50)
    }

    @Test("F5 a server that repeats the rows of a drained millisecond is an error, not a loop", arguments: 1...4)
    func circleInDrain(length: Int) throws {
        var cursor = Self.incremental()
        _ = try cursor.receive(Self.page(3, 10, 20))
        _ = try cursor.receive(Self.page(3, 20, 20))
        #expect(!cursor.isWindow)
        var pages = 0
        let error = #expect(throws: SyncError.self) {
            while pages < 100 {
                _ = try cursor.receive(Self.page(3, 10, 20, last: "id\(pages % length)"))
                pages += 1
            }
        }
        #expect(error?.code == .noProgress && pages < 20)
    }

    @Test("F6 a look-back longer than all of time starts at its beginning")
    func endlessLookback() {
        let token = PullToken(updatedAt: Self.at(0), serverDate: nil, filter: "")
        let cursor = PullCursor(token: token, lookback: .seconds(Int64.max), pageSize: 3)
        let all = RowPredicate.column("updatedAt") >= .value(Timestamp.min)
        #expect(cursor.first?.filter?.isIdentical(to: all) == true)
    }

    @Test("F3 without an order, pages are requested by ID until one is empty")
    func byID() throws {
        var cursor = PullCursor(order: [], skip: 0, limit: nil, pageSize: 3)
        #expect(cursor.first == .init(filter: nil, order: [OrderTerm("id")], limit: 3))
        #expect(
            try cursor.receive(Self.page(1, last: "c"))
                == PullCursor.Request(filter: .column("id") > "c", order: [OrderTerm("id")], limit: 3))
        #expect(try cursor.receive(PageSummary()) == nil)
    }

    @Test("F13 a list ends with a short page that has all rows of the server's count, and with no other")
    func listing() throws {
        func request(after last: Value?, count: Bool = true) -> PullCursor.Request {
            .init(
                filter: last.map { .column("id") > .literal($0) }, order: [OrderTerm("id")], limit: 3, wantsCount: count
            )
        }
        var cursor = PullCursor(listing: 3)
        #expect(cursor.first == request(after: nil))
        // The count is not requested again before the end is likely.
        #expect(try cursor.receive(Self.page(3, total: 11, last: "c")) == request(after: "c", count: false))
        #expect(try cursor.receive(Self.page(3, last: "f")) == request(after: "f", count: false))
        #expect(try cursor.receive(Self.page(0, last: nil)) == request(after: "f"))
        #expect(try cursor.receive(Self.page(2, total: 4, last: "h")) == request(after: "h"))
        #expect(try cursor.receive(Self.page(2, total: 2, last: "j", link: true)) == request(after: "j"))
        #expect(try cursor.receive(Self.page(3, total: 3, last: "m")) == request(after: "m"))
        #expect(try cursor.receive(Self.page(1, total: 0, last: "n")) == request(after: "n"))
        #expect(try cursor.receive(Self.page(0, total: 0, last: nil, link: true)) == nil)
    }

    @Test(
        "F13 a list without a count, with an impossible one, or with rows that do not come is an error",
        arguments: [nil, -1, 2] as [Int64?])
    func uncountedListing(_ total: Int64?) {
        var cursor = PullCursor(listing: 3)
        let error = #expect(throws: SyncError.self) { try cursor.receive(Self.page(0, total: total, last: nil)) }
        #expect(error?.code == (total == 2 ? .noProgress : .invalidAnswer))
    }

    @Test("F3 top limits the rows of all pages, and skip is the start, in the caller's order")
    func bySkip() throws {
        let given = [OrderTerm("text", descending: true)]
        let order = given + [OrderTerm("id")]
        var cursor = PullCursor(order: given, skip: 2, limit: 5, pageSize: 3)
        #expect(cursor.first == .init(filter: nil, order: order, skip: 2, limit: 3))
        #expect(try cursor.receive(Self.page(3)) == PullCursor.Request(filter: nil, order: order, skip: 5, limit: 2))
        #expect(try cursor.receive(Self.page(2)) == nil)
        #expect(PullCursor(order: order, skip: 0, limit: 0, pageSize: 3).first == nil)
    }

    @Test("F3 a server that ignores skip is an error; a repeated page can be the result of an insert")
    func ignoredSkip() throws {
        var cursor = PullCursor(order: [OrderTerm("text")], skip: 0, limit: nil, pageSize: 1)
        for _ in 1...2 { _ = try cursor.receive(Self.page(1, last: "a")) }
        #expect(throws: SyncError.self) { try cursor.receive(Self.page(1, last: "a")) }
    }
}

// Filters are not equatable: their `==` builds a filter. Those of these tests differ in their text if they differ.
extension PullCursor.Request: Equatable {
    static func == (a: Self, b: Self) -> Bool { String(reflecting: a) == String(reflecting: b) }
}
