import Testing
import TidelineStore

@testable import Tideline

/// The requests, transactions, and the end of a pull, event by event.
@Suite("Pull machine")
struct PullMachineTests {
    /// A feed of a fixed number of pages. A page to request has its number as its limit.
    struct Feed: PullFeed {
        var last: Int
        /// Whether the first response tells that the pull must begin with another page.
        var beginsWithAnother = false
        var number = 1

        var first: (any PageStep)? { last == 0 ? nil : Step(limit: number) }

        mutating func begin(with page: PulledPage) -> (any PageStep)? {
            defer { beginsWithAnother = false }
            return beginsWithAnother ? first : nil
        }

        mutating func receive(_ page: PulledPage) throws(SyncError) -> PendingPage {
            guard page.cursor == nil else { throw SyncError(.noProgress, "the same cursor") }
            defer { number += 1 }
            return PendingPage(
                page: page, token: PullMachineTests.token(number), next: number < last ? Step(limit: number + 1) : nil)
        }

        func token(of page: PendingPage, replacing stored: PullToken) -> PullToken { page.token ?? stored }
        func limited(_ token: PullToken, to skipped: Timestamp, before: PullToken?) -> PullToken? { before }
    }

    struct Step: PageStep {
        var limit: Int
        var hasCursor: Bool { true }
        func call(limit: Int) throws -> ServerCall { throw SyncError(.invalidArgument, "not sent") }
        func page(in answer: ServerAnswer, limit: Int, requestedAt: UInt64) throws -> PulledPage {
            PullMachineTests.page()
        }
    }

    static func token(_ number: Int) -> PullToken {
        PullToken(updatedAt: Timestamp(clampingTicks: Int64(number)), serverDate: nil, filter: "")
    }

    static func page(cursor: String? = nil) -> PulledPage {
        let codec = RowCodec(schema: TableSchema("T", columns: []))
        return PulledPage(
            PackedRows(shape: codec.schema.makeShape()), codec, summary: PageSummary(), deleted: [], skipped: [],
            requestedAt: 0,
            cursor: cursor)
    }

    static let failure = PullMachine.Event.failed(SyncError(.network, "no network"))
    static let expired = PullMachine.Event.failed(ExpiredCursor(failure: SyncError(.rejected, "expired")))

    /// An action as text: the number of a requested page, and of each page to store the number of its token, the one
    /// before it, and the commits of others when it was requested.
    static func text(_ action: PullMachine.Action) -> String {
        func number(_ token: PullToken?) -> Int64 { token?.updatedAt?.ticks ?? 0 }
        switch action {
        case .request(let step): return "request \(step.limit)"
        case .store(let pages, let ahead):
            let pages = pages.map {
                "\(number($0.tokenBefore))-\(number($0.token))@\($0.commitsOfOthers)\($0.isLast ? " last" : "")"
            }
            return "store \(pages.joined(separator: ", "))" + (ahead.map { ", request \($0.limit)" } ?? "")
        case .wait: return "wait"
        case .beginWithFirstRow: return "begin with the first row"
        case .compareIDs: return "compare identifiers"
        case .finish: return "finish"
        case .fail(let error): return "fail \((error as? SyncError)?.code.description ?? "\(error)")"
        }
    }

    static func began(_ last: Int, stored: Int? = nil, commits: UInt64 = 0, another: Bool = false) -> PullMachine.Event
    {
        .began(Feed(last: last, beginsWithAnother: another), stored: stored.map(token), commitsOfOthers: commits)
    }

    static func stored(_ commits: UInt64 = 0, inDoubt: Bool = false) -> PullMachine.Event {
        .stored(commitsOfOthers: commits, isSpellingInDoubt: inDoubt)
    }

    /// Events, each with the expected action.
    struct Course: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var pages = 1
        var steps: [(PullMachine.Event, String)]
    }

    static let page1 = PullMachine.Event.page(page())

    static let courses = [
        Course(testDescription: "a query that matches no row ends at once", steps: [(began(0), "finish")]),
        Course(
            testDescription: "the next page is requested while one is stored",
            steps: [
                (began(2), "request 1"), (page1, "store 0-1@0, request 2"), (stored(), "wait"),
                (page1, "store 1-2@0 last"), (stored(), "finish"),
            ]),
        Course(
            testDescription: "a transaction has as many pages as set, the last one the rest", pages: 2,
            steps: [
                (began(3, stored: 9), "request 1"), (page1, "request 2"), (page1, "store 9-1@0, 1-2@0, request 3"),
                (stored(), "wait"), (page1, "store 2-3@0 last"), (stored(), "finish"),
            ]),
        Course(
            testDescription: "the first response may change the first page, once",
            steps: [
                (began(1, another: true), "request 1"), (page1, "request 1"), (page1, "store 0-1@0 last"),
                (stored(), "finish"),
            ]),
        Course(
            testDescription: "a page requested ahead of another process's commit is stale",
            steps: [
                (began(4, commits: 5), "request 1"), (page1, "store 0-1@5, request 2"), (stored(6), "wait"),
                (page1, "store 1-2@5, request 3"), (stored(6), "wait"), (page1, "store 2-3@6, request 4"),
                (stored(7), "wait"), (page1, "store 3-4@6 last"), (stored(7), "finish"),
            ]),
        Course(
            testDescription: "pages received before a failure are stored", pages: 3,
            steps: [
                (began(3), "request 1"), (page1, "request 2"), (page1, "request 3"), (failure, "store 0-1@0, 1-2@0"),
                (stored(), "fail network"),
            ]),
        Course(
            testDescription: "a failure of the first request ends the pull",
            steps: [(began(1), "request 1"), (failure, "fail network")]),
        Course(
            testDescription: "a page that makes no progress is not stored, those before it are", pages: 2,
            steps: [
                (began(3), "request 1"), (page1, "request 2"), (.page(page(cursor: "c")), "store 0-1@0"),
                (stored(), "fail noProgress"),
            ]),
        Course(
            testDescription: "an expired cursor begins again once only", pages: 2,
            steps: [
                (began(3, stored: 9), "request 1"), (page1, "request 2"), (expired, "store 9-1@0"),
                (stored(3), "begin with the first row"), (began(2, stored: 1, commits: 3), "request 1"),
                (page1, "request 2"), (expired, "store 1-1@3"), (stored(3), "fail rejected"),
            ]),
        Course(
            testDescription: "a pull in doubt compares identifiers, and drops the page requested ahead",
            steps: [
                (began(2), "request 1"), (page1, "store 0-1@0, request 2"),
                (stored(inDoubt: true), "compare identifiers"),
                (began(1, stored: 1), "request 1"), (page1, "store 1-1@0 last"), (stored(), "finish"),
            ]),
        Course(
            testDescription: "a failure is reported although identifiers are in doubt", pages: 2,
            steps: [
                (began(3), "request 1"), (page1, "request 2"), (failure, "store 0-1@0"),
                (stored(inDoubt: true), "fail network"),
            ]),
    ]

    @Test("the action after each event", arguments: courses)
    func course(_ course: Course) {
        var machine = PullMachine(feed: Feed(last: 0), pagesPerTransaction: course.pages)
        for (event, expected) in course.steps { #expect(Self.text(machine.handle(event)) == expected) }
    }

    struct Age: Sendable {
        var local: RowAge.LocalRow
        var page: Int64?
        var isDeleted = false
        var order: RowAge.PageOrder
        var expected: RowAge
    }

    static func at(_ ticks: Int64?) -> RowAge.LocalRow {
        .present(updatedAt: ticks.map { Timestamp(clampingTicks: $0) })
    }

    static let ages = [
        Age(local: at(9), page: 1, order: .afterPush, expected: .older),
        Age(local: .removed, page: 1, order: .afterPush, expected: .older),
        Age(local: at(9), page: 1, order: .perhapsBeforePush, expected: .newer),
        Age(local: at(9), page: 9, order: .perhapsBeforePush, expected: .older),
        Age(local: at(nil), page: 1, order: .perhapsBeforePush, expected: .older),
        Age(local: at(9), page: nil, order: .perhapsBeforePush, expected: .older),
        Age(local: .removed, page: 1, order: .perhapsBeforePush, expected: .older),
        Age(local: at(1), page: 9, order: .beforePush(showsBase: true), expected: .newer),
        Age(local: at(9), page: 1, order: .beforePush(showsBase: false), expected: .newer),
        Age(local: at(9), page: 9, order: .beforePush(showsBase: false), expected: .unknown),
        Age(local: at(1), page: 9, order: .beforePush(showsBase: false), expected: .older),
        Age(local: at(nil), page: 9, order: .beforePush(showsBase: false), expected: .older),
        Age(local: at(9), page: nil, order: .beforePush(showsBase: false), expected: .unknown),
        Age(local: at(nil), page: .min, order: .beforePush(showsBase: false), expected: .unknown),
        Age(local: at(9), page: .min, order: .beforePush(showsBase: false), expected: .unknown),
        Age(local: .removed, page: 9, order: .beforePush(showsBase: false), expected: .unknown),
        Age(local: .removed, page: 9, isDeleted: true, order: .beforePush(showsBase: false), expected: .newer),
    ]

    @Test("the order of requests, then the times decide whether a local row is newer", arguments: ages)
    func age(_ age: Age) {
        let page = age.page.map { Timestamp(clampingTicks: $0) }
        #expect(
            RowAge(of: age.local, comparedWith: page, isDeleted: age.isDeleted, age.order) == age.expected)
    }
}
