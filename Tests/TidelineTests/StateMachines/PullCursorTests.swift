import Testing
import TidelineStore

@testable import Tideline

/// Which page a pull asks for, page by page, without a server.
@Suite("Pull cursor")
struct PullCursorTests {
    static func at(_ ticks: Int64) -> Timestamp { Timestamp(clampingTicks: 17_000_000_000_000_000 + ticks) }
    static let millisecond = Timestamp.ticksPerMillisecond

    static func page(
        _ count: Int, _ oldest: Int64 = 0, _ newest: Int64 = 0, total: Int64? = nil, last: String? = "z",
        link: Bool = false
    ) -> PageSummary {
        PageSummary(
            count: count, totalCount: total, hasNextLink: link, lastID: last, oldest: at(oldest), newest: at(newest))
    }

    static func incremental(token: Int64? = nil, serverDate: Int64? = nil, pageSize: Int = 3) -> PullCursor {
        PullCursor(
            token: token.map(at), serverDate: serverDate.map(at), lookback: .milliseconds(1), pageSize: pageSize)
    }

    static func window(from ticks: Int64, count: Bool = false, pageSize: Int = 3) -> PullCursor.Request {
        .init(
            filter: .column("updatedAt") >= .value(at(ticks)), order: [OrderTerm("updatedAt"), OrderTerm("id")],
            limit: pageSize, wantsCount: count)
    }

    @Test("F4 the first pull has no lower bound")
    func first() {
        #expect(
            Self.incremental().first
                == .init(filter: nil, order: [OrderTerm("updatedAt"), OrderTerm("id")], limit: 3))
    }

    @Test("F6 the next pull starts at min(token, date − lookback); without a date at token − lookback")
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

    @Test("F5 a full page goes on at its greatest updatedAt")
    func fullPage() throws {
        var cursor = Self.incremental()
        let next = 9 * Self.millisecond
        #expect(try cursor.receive(Self.page(3, 0, next)) == .request(Self.window(from: next)))
        #expect(cursor.token == Self.at(next))
    }

    @Test("F5 a short page is not an end, unless it brings nothing new and was not cut")
    func shortPage() throws {
        var cursor = Self.incremental()
        let next = 9 * Self.millisecond
        #expect(try cursor.receive(Self.page(2, 0, next)) == .undecided)
        #expect(cursor.decide(hasNew: true) == .request(Self.window(from: next, count: true)))
        #expect(try cursor.receive(Self.page(1, next, next)) == .undecided)
        #expect(cursor.decide(hasNew: false) == .finish)
    }

    @Test("F6 a table at rest ends after one answer that holds all that match")
    func atRest() throws {
        var cursor = Self.incremental(token: 9 * Self.millisecond)
        #expect(try cursor.receive(Self.page(2, 8 * Self.millisecond, 9 * Self.millisecond, total: 2)) == .finish)
        #expect(cursor.token == Self.at(9 * Self.millisecond))
    }

    @Test("F5 an answer cut by the server is followed, also when all of it is known")
    func cutAnswer() throws {
        var cursor = Self.incremental(token: 9 * Self.millisecond)
        let page = Self.page(2, 8 * Self.millisecond, 9 * Self.millisecond, total: 5)
        #expect(try cursor.receive(page) == .undecided)
        #expect(cursor.decide(hasNew: false) == .request(Self.window(from: 9 * Self.millisecond, count: true)))
    }

    @Test("F5 a page within the bound's own millisecond is drained by id, then the pull goes on after it")
    func drain() throws {
        var cursor = Self.incremental()
        _ = try cursor.receive(Self.page(3, 10, 20))
        let start = Predicate.column("updatedAt") >= .value(Self.at(0))
        let end = Predicate.column("updatedAt") < .value(Self.at(Self.millisecond))
        #expect(
            try cursor.receive(Self.page(3, 20, 20))
                == .request(.init(filter: start && end, order: [OrderTerm("id")], limit: 3)))
        #expect(
            try cursor.receive(Self.page(3, 10, 20, last: "m"))
                == .request(
                    .init(filter: start && end && .column("id") > "m", order: [OrderTerm("id")], limit: 3)))
        #expect(cursor.token == Self.at(20))
        #expect(
            try cursor.receive(Self.page(0, last: nil)) == .request(Self.window(from: Self.millisecond, count: true)))
        #expect(try cursor.receive(PageSummary()) == .finish)
        #expect(cursor.token == Self.at(20))
    }

    @Test("F5 no progress is an error, not a loop")
    func noProgress() {
        let far = 100 * Self.millisecond
        var cursor = Self.incremental(token: far, serverDate: far)
        #expect(throws: SyncError.self) { try cursor.receive(Self.page(2, 0, far)) }
        var missing = Self.incremental()
        #expect(throws: SyncError.self) { try missing.receive(PageSummary(count: 1, lastID: "a")) }
        var byID = PullCursor(order: [], skip: 0, limit: nil, pageSize: 3)
        _ = try? byID.receive(Self.page(3, last: "c"))
        #expect(throws: SyncError.self) { try byID.receive(Self.page(3, last: "c")) }
    }

    @Test("F3 without an order, pages go by id until one is empty")
    func byID() throws {
        var cursor = PullCursor(order: [], skip: 0, limit: nil, pageSize: 3)
        #expect(cursor.first == .init(filter: nil, order: [OrderTerm("id")], limit: 3))
        #expect(
            try cursor.receive(Self.page(1, last: "c"))
                == .request(.init(filter: .column("id") > "c", order: [OrderTerm("id")], limit: 3)))
        #expect(try cursor.receive(PageSummary()) == .finish)
    }

    @Test("F3 top is the limit over all pages, skip the start, in the caller's order")
    func bySkip() throws {
        let order = [OrderTerm("text", descending: true)]
        var cursor = PullCursor(order: order, skip: 2, limit: 5, pageSize: 3)
        #expect(cursor.first == .init(filter: nil, order: order, skip: 2, limit: 3))
        #expect(
            try cursor.receive(Self.page(3)) == .request(.init(filter: nil, order: order, skip: 5, limit: 2)))
        #expect(try cursor.receive(Self.page(2)) == .finish)
        #expect(PullCursor(order: order, skip: 0, limit: 0, pageSize: 3).first == nil)
    }
}
