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

    /// A pull as events, each with the action that must follow: `page: store 0-1@0, request 2`.
    ///
    /// Events are `began 3`, with a feed of three pages, and `token 9`, `commits 5` of others, or `another` first page;
    /// `page` or `page circular`; `failed`; `expired`; and `stored`, and `commits 5` or `doubt` about identifiers.
    struct Course: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pages: Int
        let steps: [String]

        init(_ name: String, pages: Int = 1, _ steps: String...) {
            testDescription = name
            self.pages = pages
            self.steps = steps.flatMap { $0.split(separator: "; ").map(String.init) }
        }
    }

    static func event(_ text: String) -> PullMachine.Event {
        let words = text.split(separator: " ").map(String.init)
        func number(_ key: String) -> Int? { words.firstIndex(of: key).flatMap { Int(words[$0 + 1]) } }
        let commits = UInt64(number("commits") ?? 0)
        switch words[0] {
        case "began":
            let feed = Feed(last: number("began") ?? 0, beginsWithAnother: words.contains("another"))
            return .began(feed, stored: number("token").map(token), commitsOfOthers: commits)
        case "page": return .page(page(cursor: words.contains("circular") ? "c" : nil))
        case "failed": return .failed(SyncError(.network, "no network"))
        case "expired": return .failed(ExpiredCursor(failure: SyncError(.rejected, "expired")))
        default:
            #expect(words[0] == "stored", "no event \(text)")
            return .stored(commitsOfOthers: commits, isSpellingInDoubt: words.contains("doubt"))
        }
    }

    static let courses = [
        Course("a query that matches no row ends at once", "began 0: finish"),
        Course(
            "the next page is requested while one is stored",
            "began 2: request 1; page: store 0-1@0, request 2; stored: wait; page: store 1-2@0 last; stored: finish"),
        Course(
            "a transaction has as many pages as set, the last one the rest", pages: 2,
            "began 3 token 9: request 1; page: request 2; page: store 9-1@0, 1-2@0, request 3; stored: wait",
            "page: store 2-3@0 last; stored: finish"),
        Course(
            "the first response may change the first page, once",
            "began 1 another: request 1; page: request 1; page: store 0-1@0 last; stored: finish"),
        Course(
            "a page requested ahead of another process's commit is stale",
            "began 4 commits 5: request 1; page: store 0-1@5, request 2; stored commits 6: wait",
            "page: store 1-2@5, request 3; stored commits 6: wait; page: store 2-3@6, request 4",
            "stored commits 7: wait; page: store 3-4@6 last; stored commits 7: finish"),
        Course(
            "pages received before a failure are stored", pages: 3,
            "began 3: request 1; page: request 2; page: request 3; failed: store 0-1@0, 1-2@0; stored: fail network"),
        Course("a failure of the first request ends the pull", "began 1: request 1; failed: fail network"),
        Course(
            "a page that makes no progress is not stored, those before it are", pages: 2,
            "began 3: request 1; page: request 2; page circular: store 0-1@0; stored: fail noProgress"),
        Course(
            "an expired cursor begins again once only", pages: 2,
            "began 3 token 9: request 1; page: request 2; expired: store 9-1@0",
            "stored commits 3: begin with the first row; began 2 token 1 commits 3: request 1; page: request 2",
            "expired: store 1-1@3; stored commits 3: fail rejected"),
        Course(
            "a pull in doubt compares identifiers, and drops the page requested ahead",
            "began 2: request 1; page: store 0-1@0, request 2; stored doubt: compare identifiers",
            "began 1 token 1: request 1; page: store 1-1@0 last; stored: finish"),
        Course(
            "a failure is reported although identifiers are in doubt", pages: 2,
            "began 3: request 1; page: request 2; failed: store 0-1@0; stored doubt: fail network"),
    ]

    @Test("the action after each event", arguments: courses)
    func course(_ course: Course) {
        var machine = PullMachine(feed: Feed(last: 0), pagesPerTransaction: course.pages)
        expectActions(of: course.steps) { Self.text(machine.handle(Self.event($0))) }
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
