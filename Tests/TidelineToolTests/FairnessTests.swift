#if Tool
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// Clients that use more than their share.
@Suite("Shares of clients", .timeLimit(.minutes(10)))
struct FairnessTests {
    private static func sharer(_ user: String, _ port: Int = 1) throws -> Sharer {
        Sharer(group: .user(user), connection: try SocketAddress(ipAddress: "127.0.0.1", port: port))
    }

    // MARK: Reads

    private final class Clock: Sendable {
        private let time = Mutex(NIODeadline.uptimeNanoseconds(0))
        var now: NIODeadline { time.withLock { $0 } }
        func advance(by milliseconds: Int64) { time.withLock { $0 = $0 + .milliseconds(milliseconds) } }
    }

    /// A queue whose reads run when the test lets them, each for a time that the test determines.
    private struct HeldQueue {
        private let scheduled = SharedLog<@Sendable () -> Void>()
        private let log = SharedLog<String>()
        private let clock = Clock()
        private let queue: ReadQueue

        init(running: Int, waiting: Int) {
            let (scheduled, clock) = (scheduled, clock)
            queue = ReadQueue(
                maximumRunning: running, maximumWaiting: waiting, now: { clock.now },
                schedule: { scheduled.append($0) })
        }

        func append(
            _ name: String, _ kind: ReadQueue.Read.Kind = .page("Long"), of sharer: Sharer, milliseconds: Int64 = 1,
            reads: Bool = true
        ) {
            queue.append(
                .init(kind, of: sharer, orRefuse: { [log] in log.append("no \(name)") }) { [log, clock] in
                    clock.advance(by: milliseconds)
                    log.append(name)
                    return reads
                })
        }

        /// Runs the reads that have a thread, and returns what happened since the last call.
        func run() -> [String] {
            scheduled.run()
            return log.takeAll()
        }
    }

    @Test("Users take turns with the threads, and so do the connections of each")
    func turns() throws {
        let queue = HeldQueue(running: 1, waiting: 100)
        for number in 0..<4 { queue.append("a\(number)", of: try Self.sharer("a")) }
        queue.append("a'0", of: try Self.sharer("a", 2))
        queue.append("b0", of: try Self.sharer("b"))
        var order: [String] = []
        while order.count < 6 { order += queue.run() }
        #expect(order == ["a0", "b0", "a'0", "a1", "a2", "a3"])
    }

    /// The number of long reads that run before the first short one of a client: a first page is expected to take as
    /// long as other ones of its table.
    private static let delays: [(kind: ReadQueue.Read.Kind, group: String, reads: Int)] = [
        (.single, "a", 1), (.page("Short"), "a", 1), (.page("Long"), "a", 20), (.page("Long"), "b", 1),
    ]

    @Test("Clients with short reads do not wait for others with long ones, however many there are", arguments: delays)
    func shortReads(_ kind: ReadQueue.Read.Kind, _ group: String, _ delay: Int) throws {
        let queue = HeldQueue(running: 1, waiting: 100)
        queue.append("earlier", .page("Short"), of: try Self.sharer("c"))
        #expect(queue.run() == ["earlier"])
        for number in 0..<2 {
            for port in 1...20 { queue.append("long \(number)", of: try Self.sharer("a", port), milliseconds: 50) }
        }
        func wait() throws -> [String] {
            queue.append("short", kind, of: try Self.sharer(group, 99))
            var order: [String] = []
            while order.last != "short" { order += queue.run() }
            return order
        }
        let first = try wait()
        #expect(first.count - 1 == delay, "\(first)")
        for _ in 0..<10 { #expect(try wait().count <= 2) }
        var rest: [String] = []
        while rest.count < 40 - delay - 10 { rest += queue.run() }
        #expect(rest.allSatisfy { $0.hasPrefix("long") })
    }

    @Test("Clients with long reads have their part of the time")
    func longReads() throws {
        let queue = HeldQueue(running: 1, waiting: 100)
        let (long, short) = (try Self.sharer("a"), try Self.sharer("a", 2))
        for _ in 0..<2 { queue.append("long", of: long, milliseconds: 10) }
        for _ in 0..<30 { queue.append("short", of: short) }
        var order: [String] = []
        while order.count < 32 { order += queue.run() }
        let second = try #require(order.lastIndex(of: "long"))
        #expect((9...25).contains(second), "\(order)")
    }

    @Test("Reads that are refused do not make others of their table look short")
    func refusedReads() throws {
        let queue = HeldQueue(running: 1, waiting: 100)
        for (name, milliseconds) in [("Long", Int64(50)), ("Short", 1)] {
            queue.append(name, .page(name), of: try Self.sharer("a"), milliseconds: milliseconds)
            #expect(queue.run() == [name])
        }
        for port in 1...40 {
            queue.append("refused", of: try Self.sharer("b", port), milliseconds: 0, reads: false)
            #expect(queue.run() == ["refused"])
        }
        queue.append("running", of: try Self.sharer("c"))
        queue.append("long", of: try Self.sharer("d", 1))
        queue.append("short", .page("Short"), of: try Self.sharer("d", 2))
        #expect(queue.run() + queue.run() == ["running", "short"])
    }

    @Test("Reads that take long leave a thread to others of their user")
    func reservedThread() throws {
        let queue = HeldQueue(running: 8, waiting: 100)
        queue.append("long", of: try Self.sharer("a"), milliseconds: 1_000)
        #expect(queue.run() == ["long"])
        for port in 1...10 { queue.append("long", of: try Self.sharer("a", port), milliseconds: 1_000) }
        queue.append("short", .single, of: try Self.sharer("a", 99))
        #expect(queue.run() == Array(repeating: "long", count: 5) + ["short"])
    }

    @Test("No user has all threads, and no connection has all of its user's")
    func threads() throws {
        let queue = HeldQueue(running: 8, waiting: 100)
        for number in 0..<10 { queue.append("a\(number)", of: try Self.sharer("a")) }
        queue.append("a'", of: try Self.sharer("a", 2))
        queue.append("b", of: try Self.sharer("b"))
        #expect(queue.run() == ["a0", "a1", "a2", "a3", "a'", "b"])
    }

    @Test("If too many reads wait, those of the user and the connection with the most are refused")
    func tooMany() throws {
        let queue = HeldQueue(running: 1, waiting: 3)
        for number in 0..<4 { queue.append("a\(number)", of: try Self.sharer("a")) }
        queue.append("a'", of: try Self.sharer("a", 2))
        queue.append("b", of: try Self.sharer("b"))
        queue.append("a4", of: try Self.sharer("a"))
        var order: [String] = []
        while order.count < 7 { order += queue.run() }
        #expect(order == ["no a3", "no a2", "no a4", "a0", "b", "a'", "a1"])
    }

    // MARK: Memory

    @Test("A user and a connection leave a part of a budget for others, whatever their number")
    func budget() throws {
        let budget = SharedBudget(limit: 1_000, minimum: 10)
        let (first, second, other) = (try Self.sharer("a"), try Self.sharer("a", 2), try Self.sharer("b"))
        func fill(_ sharer: Sharer) -> Int { (0..<1_000).prefix { _ in budget.reserve(1, for: sharer) }.count }
        #expect(fill(first) == 500)
        #expect(fill(second) == 250)
        #expect(fill(other) == 125)
        #expect(budget.reserve(10, for: try Self.sharer("c")))
        budget.release(500, for: first)
        #expect(fill(second) > 0)
    }

    @Test("The memory of a response that nobody receives is taken away if it is needed, and only then")
    func stalledResponses() throws {
        let budget = SharedBudget(limit: 100, minimum: 100)
        let abandoned = SharedLog<String>()
        // A response of "a1" is not there yet.
        let parts = try ["a0", "a1", "a2"].map { name in
            let part = SharedBudget.Part(of: try Self.sharer("a"))
            #expect(budget.reserve(name == "a2" ? 50 : 25, for: part))
            if name != "a1" { part.hold(Array(repeating: 0, count: 1_000)) { abandoned.append(name) } }
            return part
        }
        let last = SharedBudget.Part(of: try Self.sharer("b"))
        try waitUntil("a response to be abandoned") {
            parts[0].advance()
            return budget.reserve(50, for: last)
        }
        #expect(abandoned.takeAll() == ["a2"])
        #expect(parts[2].next(10) == nil)
        // A piece does not keep the others in memory.
        let piece = try #require(parts[0].next(10)).bytes
        #expect(piece.readableBytes == 10 && piece.storageCapacity < 1_000)
        // A part that was taken away is not released again.
        for part in parts { budget.release(part) }
        #expect(!budget.reserve(51))
        #expect(budget.reserve(50))
    }

    // MARK: Sockets

    /// Clients that do not read their responses.
    struct Unread: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let clients: Int
        let streams: Int
        var window: Int?
    }

    @Test(
        "Clients that do not read their responses leave the server to others of their address",
        arguments: [
            Unread(testDescription: "many clients", clients: 20, streams: 2),
            Unread(testDescription: "many streams", clients: 1, streams: 60),
            Unread(testDescription: "window 0", clients: 5, streams: 5, window: 0),
        ])
    func unread(_ unread: Unread) async throws {
        let identity = try Tool().makeIdentity()
        let limits = ServerLimits(maximumResponsesSize: 64 << 20)
        try await serving(limits: limits, compresses: false, identity: identity) { authority in
            let honest = try await HTTP2Client(authority)
            let text = String(repeating: "x", count: 1 << 20)
            for number in 0..<2 {
                let row = #"{"id":"\#(number)","text":"\#(text)"}"#
                #expect(try await honest.send(.post, "/tables/Large", body: row).status == 201)
            }
            let small = #"{"id":"a","text":"\#(text.prefix(40_000))"}"#
            #expect(try await honest.send(.post, "/tables/Small", body: small).status == 201)
            var clients: [HTTP2Client] = []
            for _ in 0..<unread.clients {
                let client = try await HTTP2Client(authority, window: unread.window)
                for _ in 0..<unread.streams { _ = try await client.get("/tables/Large", receives: false) }
                clients.append(client)
            }
            for number in 0..<20 {
                #expect(try await honest.send(.get, "/tables/Small/a").status == 200, "\(number)")
                #expect(try await honest.send(.get, "/tables/Small").status == 200, "\(number)")
                let written = try await honest.send(.post, "/tables/Other", body: #"{"text":"b"}"#)
                #expect(written.status == 201)
            }
            withExtendedLifetime(clients) {}
        }
    }
}

/// A log of events, or of work that waits, on any thread.
final class SharedLog<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var count: Int { elements.withLock { $0.count } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }

    func takeAll() -> [Element] {
        elements.withLock { elements in
            defer { elements = [] }
            return elements
        }
    }
}

extension SharedLog<@Sendable () -> Void> {
    /// Runs the present work, and not what it adds.
    func run() { for body in takeAll() { body() } }
}
#endif
