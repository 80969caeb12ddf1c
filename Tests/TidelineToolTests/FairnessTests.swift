#if Tool
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import Synchronization
import Testing
import TidelineTestSupport

@testable import TidelineTool

/// Clients that use more than their share. `TIDELINE_UNREAD_CLIENTS` sets the number of clients that do not read, and prints how
/// long the requests of another one take.
@Suite("Shares of clients", .timeLimit(.minutes(10)))
struct FairnessTests {
    private static let unreadClients = ProcessInfo.processInfo.environment["TIDELINE_UNREAD_CLIENTS"].flatMap {
        Int($0)
    }

    private static func sharer(_ user: String, _ port: Int = 1) throws -> Sharer {
        Sharer(group: .user(user), connection: try SocketAddress(ipAddress: "127.0.0.1", port: port))
    }

    // MARK: Reads

    private final class Log<Element: Sendable>: Sendable {
        private let elements = Mutex<[Element]>([])
        func append(_ element: Element) { elements.withLock { $0.append(element) } }

        func takeAll() -> [Element] {
            elements.withLock { elements in
                defer { elements = [] }
                return elements
            }
        }
    }

    /// A queue whose reads run when the test lets them.
    private struct HeldQueue {
        private let scheduled = Log<@Sendable () -> Void>()
        private let log = Log<String>()
        private let queue: ReadQueue

        init(running: Int, waiting: Int) {
            queue = ReadQueue(maximumRunning: running, maximumWaiting: waiting) { [scheduled] in scheduled.append($0) }
        }

        func append(_ name: String, of sharer: Sharer) {
            queue.append(
                .init(of: sharer, orRefuse: { [log] in log.append("no \(name)") }) { [log] in log.append(name) })
        }

        /// Runs the reads that have a thread, and returns what happened since the last call.
        func run() -> [String] {
            for body in scheduled.takeAll() { body() }
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
        #expect(order == ["a0", "a1", "b0", "a'0", "a2", "a3"])
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
        #expect(order == ["no a3", "no a2", "no a4", "a0", "a1", "b", "a'"])
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
        let abandoned = Mutex<[String]>([])
        func reserve(_ name: String, _ sharer: Sharer) -> SharedBudget.Part? {
            budget.reservePart(50, for: sharer) { abandoned.withLock { $0.append(name) } }
        }
        let (a, b) = (try Self.sharer("a"), try Self.sharer("b"))
        let parts = [reserve("a0", a), reserve("a1", a)]
        #expect(parts.allSatisfy { $0 != nil })
        var last: SharedBudget.Part?
        try waitUntil("a response to be abandoned") {
            parts[0]?.advance()
            last = reserve("b", b)
            return last != nil
        }
        #expect(abandoned.withLock { $0 } == ["a1"])
        // A part that was taken away is not released again.
        for part in parts { if let part { budget.release(part) } }
        #expect(!budget.reserve(51))
        #expect(budget.reserve(50))
    }

    // MARK: Sockets

    @Test("Clients that do not read their responses leave the server to others")
    func unread() async throws {
        let directory = try Tool()
        defer { directory.remove() }
        try directory.makeCertificate(named: "a")
        let identity = try ServerIdentity(
            certificate: directory.path("cert.pem"), key: directory.path("key.pem"), allowsHTTP2: true)
        let count = Self.unreadClients ?? 20
        var limits = ServerLimits()
        limits.maximumResponsesSize = 64 << 20
        try await serving(limits: limits, compresses: false, identity: identity) { authority in
            let honest = try await HTTP2Client(authority)
            let text = String(repeating: "x", count: 1 << 20)
            for number in 0..<8 {
                let row = #"{"id":"\#(number)","text":"\#(text)"}"#
                #expect(try await honest.send(.post, "/tables/Large", body: row).status == 201)
            }
            let small = #"{"id":"a","text":"\#(text.prefix(50_000))"}"#
            #expect(try await honest.send(.post, "/tables/Small", body: small).status == 201)
            var clients: [HTTP2Client] = []
            for _ in 0..<count {
                let client = try await HTTP2Client(authority)
                for _ in 0..<2 {
                    let stream = try await client.begin(.get, "/tables/Large", receives: false)
                    stream.send(.end(nil))
                }
                clients.append(client)
            }
            var times: [Duration] = []
            var refused = 0
            for _ in 0..<200 {
                let start = ContinuousClock.now
                let answer = try await honest.send(.get, "/tables/Small")
                times.append(.now - start)
                if answer.status != 200 { refused += 1 }
                let written = try await honest.send(.post, "/tables/Small", body: #"{"text":"b"}"#)
                #expect(written.status == 201)
            }
            // Until the server has noticed that the others receive nothing, their memory is not available.
            let last = try await honest.send(.get, "/tables/Small")
            #expect(last.status == 200)
            times.sort()
            if Self.unreadClients != nil {
                print("\(count) clients: median \(times[100]), p99 \(times[198]), \(refused) refused")
            }
            withExtendedLifetime(clients) {}
        }
    }
}
#endif
