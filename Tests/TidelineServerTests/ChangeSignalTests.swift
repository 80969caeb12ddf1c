import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

@testable import TidelineServer

/// The change signal of a service, with its own loop.
@Suite(.timeLimit(.minutes(10)))
struct ChangeSignalTests {
    @Test(arguments: StoreKind.served)
    func `a request without a cursor is answered at once, and one with its cursor after the next change`(
        _ stores: StoreKind
    ) async throws {
        try await SignalFixture(stores).run { fixture in
            let empty = try await fixture.poll("tables=A,B")
            #expect(empty.changes.isEmpty)
            let stamp = try fixture.insert("A")
            let first = try await fixture.poll("tables=A,B&since=\(empty.cursor)")
            #expect(first.changes == [.init(table: "A", updatedAt: stamp)])
            // The cursor of all tables, from which nothing has changed.
            #expect(
                try await fixture.poll("tables=A,B&since=\(first.cursor)&wait=0")
                    == .init(cursor: first.cursor, changes: []))
            async let second = fixture.poll("tables=A,B&since=\(first.cursor)")
            try await fixture.untilWaiting(1)
            let later = try fixture.insert("B")
            #expect(try await second.changes == [.init(table: "B", updatedAt: later)])
        }
    }

    @Test(arguments: StoreKind.served)
    func `each kind of write ends a wait, alone or in a group`(_ stores: StoreKind) async throws {
        // No look at the store finds the commit.
        try await SignalFixture(stores, interval: .seconds(3_600)).run { fixture in
            var cursor = try await fixture.poll("tables=A,B").cursor
            let writes: [(HTTPRequest.Method, String, String)] = [
                (.post, "/tables/A", #"{"id":"1","n":1}"#), (.patch, "/tables/A/1", #"{"n":2}"#),
                (.delete, "/tables/A/1", ""), (.post, "/tables/A/1", ""),
            ]
            for (method, path, body) in writes {
                let since = cursor
                async let answer = fixture.poll("tables=A,B&since=\(since)")
                try await fixture.untilWaiting(1)
                fixture.service.handle(HTTPRequest(method, path), body: Array(body.utf8)) {
                    #expect($0.status.kind == .successful, "\($0.text)")
                }
                let news = try await answer
                #expect(news.changes.map(\.table) == ["A"])
                cursor = news.cursor
            }
        }
    }

    @Test(arguments: [[], .millisecondStamps, .hardDelete, .original] as [ServerQuirks])
    func `changes are signaled with every quirk`(_ quirks: ServerQuirks) async throws {
        try await SignalFixture(.simplest, quirks: quirks).run { fixture in
            fixture.clock.set("2026-11-21T09:00:00.5Z")
            var cursor = try await fixture.poll("tables=A").cursor
            for (method, path, body) in [
                (.post, "/tables/A", #"{"id":"1","n":1}"#), (.post, "/tables/A", #"{"id":"2","n":1}"#),
                (.delete, "/tables/A/1", ""),
            ] as [(HTTPRequest.Method, String, String)] {
                #expect(fixture.service.send(method, path, body).status.kind == .successful)
                let news = try await fixture.poll("tables=A&since=\(cursor)")
                #expect(news.changes.map(\.table) == ["A"])
                #expect(news.cursor != cursor)
                cursor = news.cursor
            }
        }
    }

    @Test(arguments: StoreKind.served)
    func `a request without changes is answered with the same cursor after its wait`(_ stores: StoreKind) async throws {
        try await SignalFixture(stores, maximumWait: .milliseconds(20)).run { fixture in
            try fixture.insert("A")
            let cursor = try await fixture.poll("tables=A").cursor
            for wait in ["", "&wait=0", "&wait=99999999999"] {
                let answer = try await fixture.poll("tables=A&since=\(cursor)\(wait)")
                #expect(answer == ChangesAnswer(cursor: cursor, changes: []))
            }
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }

    /// Creates two services over one store, each with a store of its own if the engine can share files.
    private static func services(_ stores: StoreKind) throws -> (SignalFixture, TableService<TestStore>) {
        let files = stores.sharesFiles ? try StoreFiles(stores) : nil
        let store = try files?.open() ?? stores.makeStore()
        return (try SignalFixture(stores, store: store), try TableService(store: files?.open() ?? store))
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `a change of another service over the store ends a wait`(_ stores: StoreKind) async throws {
        let (fixture, other) = try Self.services(stores)
        try await fixture.run { fixture in
            var cursor = try await fixture.poll("tables=A,B").cursor
            for number in 0..<5 {
                let since = cursor
                async let answer = fixture.poll("tables=A,B&since=\(since)")
                try await fixture.untilWaiting(1)
                #expect(other.send(.post, "/tables/B", #"{"n":\#(number)}"#).status == .created)
                let news = try await answer
                #expect(news.changes.map(\.table) == ["B"])
                cursor = news.cursor
            }
        }
    }

    @Test(arguments: StoreKind.served + StoreKind.sharing)
    func `no change is missed while several services write`(_ stores: StoreKind) async throws {
        let (fixture, other) = try Self.services(stores)
        try await fixture.run { fixture in
            let last = LockedValue<[String: Timestamp]>([:])
            let finished = LockedValue(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (writer, service) in [fixture.service, other, fixture.service].enumerated() {
                    let table = ["A", "B", "B"][writer]
                    group.addTask {
                        for number in 0..<40 {
                            let answer = service.send(.post, "/tables/\(table)", #"{"id":"\#(writer)-\#(number)"}"#)
                            let stamp = try #require(try answer.row().updatedAt)
                            last.withLock { $0[table] = max($0[table] ?? .min, stamp) }
                            if number.isMultiple(of: 7) { try await Task.sleep(for: .milliseconds(3)) }
                        }
                        finished.withLock { $0 += 1 }
                    }
                }
                // A follower that sees the last change of each table has missed none: it would wait for ever.
                for _ in 0..<3 {
                    group.addTask {
                        var seen: [String: Timestamp] = [:]
                        var cursor: String?
                        while finished.withLock({ $0 }) < 3 || seen != last.withLock({ $0 }) {
                            let news = try await fixture.poll(
                                "tables=A,B" + (cursor.map { "&since=\($0)&wait=1" } ?? ""))
                            for change in news.changes {
                                let stamp = try #require(Timestamp(change.updatedAt))
                                #expect(seen[change.table] ?? .min < stamp)
                                seen[change.table] = stamp
                            }
                            cursor = news.cursor
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: StoreKind.sharing)
    func `a cursor continues after the server has restarted, also an earlier one`(_ stores: StoreKind) async throws {
        let files = try StoreFiles(stores)
        var cursor = ""
        try await SignalFixture(stores, store: files.open()).run { fixture in
            try fixture.insert("A")
            cursor = try await fixture.poll("tables=A,B").cursor
        }
        let earlier = cursor
        try await SignalFixture(stores, store: files.open(), maximumWait: .milliseconds(5)).run { fixture in
            let answer = try await fixture.poll("tables=A,B&since=\(earlier)")
            #expect(answer.changes.isEmpty)
        }
        // A change while no client listens.
        #expect(try TableService(store: files.open()).send(.post, "/tables/B", "{}").status == .created)
        try await SignalFixture(stores, store: files.open()).run { fixture in
            let answer = try await fixture.poll("tables=A,B&since=\(earlier)")
            #expect(answer.changes.map(\.table) == ["B"])
        }
    }

    @Test func `the cursor of another server, or for other tables, is answered at once`() async throws {
        var foreign = ""
        try await SignalFixture(.simplest).run { fixture in
            fixture.clock.set("2031-01-01")
            try fixture.insert("A")
            foreign = try await fixture.poll("tables=A").cursor
        }
        let cursor = foreign
        try await SignalFixture(.simplest).run { fixture in
            try fixture.insert("A")
            try fixture.insert("B")
            #expect(try await fixture.poll("tables=A&since=\(cursor)").changes.map(\.table) == ["A"])
            let own = try await fixture.poll("tables=A").cursor
            #expect(try await fixture.poll("tables=A,B&since=\(own)").changes.map(\.table) == ["B"])
            let both = try await fixture.poll("tables=B,A").cursor
            #expect(try await fixture.poll("tables=A&since=\(both)").changes.isEmpty)
        }
    }

    @Test(arguments: StoreKind.served)
    func `a timestamp that the store has lost is signaled once, and the next change at once`(
        _ stores: StoreKind
    ) async throws {
        // No look at the store finds the commit. Another client keeps what the signal has noted.
        try await SignalFixture(stores, interval: .seconds(3_600)).run { fixture in
            let empty = try await fixture.poll("tables=B").cursor
            async let other = fixture.poll("tables=B&since=\(empty)")
            try await fixture.untilWaiting(1)
            let kept = try fixture.insert("A")
            try fixture.insert("A")
            let lost = try await fixture.poll("tables=A").cursor
            let stamp = try #require(Timestamp(kept))
            try fixture.store.write { try ServedTableRecord.setClock(of: "A", to: stamp, in: $0) }
            let restored = try await fixture.poll("tables=A&since=\(lost)")
            #expect(restored.changes == [.init(table: "A", updatedAt: kept)])
            async let answer = fixture.poll("tables=A&since=\(restored.cursor)")
            try await fixture.untilWaiting(2)
            let later = try fixture.insert("A")
            #expect(try await answer.changes == [.init(table: "A", updatedAt: later)])
            try fixture.insert("B")
            #expect(try await other.changes.map(\.table) == ["B"])
        }
    }

    @Test func `an invalid request is an error that names the problem`() async throws {
        try await SignalFixture(.simplest).run { fixture in
            let many = (0...100).map { "T\($0)" }.joined(separator: ",")
            let invalid: [(String, HTTPResponse.Status, String)] = [
                ("", .badRequest, "tables"), ("tables=", .badRequest, "empty"), ("tables=A,,B", .badRequest, "empty"),
                ("tables=%FF", .badRequest, "%FF"), ("tables=\(many)", .badRequest, "100"),
                ("tables=Nothing", .notFound, "Nothing"), ("tables=A,%2C", .notFound, "\",\""),
                ("tables=\(ServedTableRecord.schema.name)", .notFound, "no table"),
                ("tables=A&since=", .badRequest, "cursor"), ("tables=A&since=x", .badRequest, "cursor"),
                ("tables=A&since=1.2.3", .badRequest, "cursor"),
                ("tables=A&since=1.zzzzzzzzzzzzz", .badRequest, "cursor"),
                ("tables=A&since=\(String(repeating: "1.1-", count: 5_000))1.1", .badRequest, "cursor"),
                ("tables=A&wait=-1", .badRequest, "wait"), ("tables=A&wait=1e3", .badRequest, "wait"),
            ]
            for (query, status, text) in invalid {
                let answer = try await fixture.answer(query)
                #expect(answer.status == status, "\(query): \(answer.text)")
                #expect(try answer.error().contains(text), "\(query): \(answer.text)")
            }
            #expect(try await fixture.answer("tables=A,Nothing").row()["table"]?.string == "Nothing")
            let post = try await fixture.answer("tables=A", method: .post)
            #expect(post.status == .methodNotAllowed && post.response.headerFields[.allow] == "GET")
            // A table that is created later.
            #expect(fixture.service.send(.post, "/tables/Nothing", "{}").status == .created)
            #expect(try await fixture.poll("tables=Nothing").changes.map(\.table) == ["Nothing"])
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }

    @Test func `2,000 clients wait without a thread or timer each, and one change answers them`() async throws {
        try await SignalFixture(.simplest).run { fixture in
            try fixture.insert("A")
            let cursor = try await fixture.poll("tables=A,B").cursor
            try await withThrowingTaskGroup(of: ChangesAnswer.self) { group in
                for _ in 0..<2_000 { group.addTask { try await fixture.poll("tables=A,B&since=\(cursor)") } }
                try await fixture.untilWaiting(2_000)
                #expect(fixture.sleeps.withLock { $0 } <= 1)
                try fixture.insert("B")
                for try await answer in group { #expect(answer.changes.map(\.table) == ["B"]) }
            }
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }

    @Test func `more clients than allowed are refused with 503 until one leaves`() async throws {
        try await SignalFixture(.simplest, maximumWaitingClients: 2).run { fixture in
            let cursor = try await fixture.poll("tables=A").cursor
            let waiting = (0..<2).map { _ in Task { try await fixture.answer("tables=A&since=\(cursor)") } }
            try await fixture.untilWaiting(2)
            let refused = try await fixture.answer("tables=A&since=\(cursor)")
            #expect(refused.status == .serviceUnavailable && refused.response.headerFields[.retryAfter] != nil)
            waiting[0].cancel()
            #expect(try await waiting[0].value.status == .serviceUnavailable)
            #expect(try await fixture.poll("tables=A").cursor == cursor)
            try fixture.insert("A")
            #expect(try await waiting[1].value.status == .ok)
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }

    @Test func `the end of the signal answers all clients with 503 at once`() async throws {
        let fixture = try SignalFixture(.simplest)
        let early = try await fixture.answer("tables=A")
        #expect(early.status == .serviceUnavailable && early.response.headerFields[.retryAfter] != nil)
        try await fixture.run { fixture in
            let cursor = try await fixture.poll("tables=A").cursor
            let waiting = (0..<20).map { _ in Task { try await fixture.answer("tables=A&since=\(cursor)") } }
            let stream = try await fixture.events("tables=A&since=\(cursor)")
            let events = Task { try await stream.reduce(into: 0) { count, _ in count += 1 } }
            try await fixture.untilWaiting(21)
            fixture.signal.end()
            for task in waiting { #expect(try await task.value.status == .serviceUnavailable) }
            #expect(try await events.value == 0)
            #expect(try await fixture.answer("tables=A").status == .serviceUnavailable)
        }
    }

    @Test func `a store that fails is an error, and the place is free again`() async throws {
        let fixture = try SignalFixture(.simplest)
        try await fixture.run { fixture in
            let cursor = try await fixture.poll("tables=A").cursor
            let waiting = Task { try await fixture.answer("tables=A&since=\(cursor)&wait=1") }
            try await fixture.untilWaiting(1)
            try fixture.store.close()
            #expect(try await waiting.value.status == .ok)
            #expect(try await fixture.answer("tables=A").status == .serviceUnavailable)
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }

    @Test(arguments: StoreKind.served)
    func `a table is signaled by its name in any normal form`(_ stores: StoreKind) async throws {
        let (a, b) = ("%C3%A9", "e%CC%81")
        try await SignalFixture(stores).run { fixture in
            let stamp = try fixture.insert(a)
            let later = try fixture.insert(b)
            #expect(stamp != later)
            for tables in [a, b, "\(a),\(b)", "\(b),\(a)"] {
                #expect(try await fixture.poll("tables=\(tables)").changes.map(\.updatedAt) == [later])
            }
            let cursor = try await fixture.poll("tables=\(a)").cursor
            async let answer = fixture.poll("tables=\(a)&since=\(cursor)")
            try await fixture.untilWaiting(1)
            let last = try fixture.insert(b)
            #expect(try await answer.changes.map(\.updatedAt) == [last])
        }
    }

    // MARK: Events

    @Test func `a stream whose table changes all the time ends with the signal`() async throws {
        try await SignalFixture(.simplest).run { fixture in
            var iterator = try await fixture.events("tables=A").makeAsyncIterator()
            for _ in 0..<3 {
                #expect(try await iterator.next() != nil)
                try fixture.insert("A")
            }
            fixture.signal.end()
            #expect(try await iterator.next() == nil)
        }
    }

    @Test(arguments: StoreKind.served)
    func `events have the cursor as their id, from which a stream continues`(_ stores: StoreKind) async throws {
        try await SignalFixture(stores).run { fixture in
            let stamp = try fixture.insert("A")
            let stream = try await fixture.events("tables=A,B")
            #expect(stream.response.headerFields[.contentType] == "text/event-stream")
            var iterator = stream.makeAsyncIterator()
            let first = try Event(try #require(try await iterator.next()))
            #expect(first.answer.changes == [.init(table: "A", updatedAt: stamp)] && first.id == first.answer.cursor)
            let later = try fixture.insert("B")
            let second = try Event(try #require(try await iterator.next()))
            #expect(second.answer.changes == [.init(table: "B", updatedAt: later)])
            // The identifier of the last event counts, not the parameter of the first connection.
            let again = try await fixture.events("tables=A,B&since=x", lastEventID: first.id)
            var continued = again.makeAsyncIterator()
            #expect(try Event(try #require(try await continued.next())).answer == second.answer)
        }
    }

    @Test func `a slow reader receives all changes in the meantime as one event`() async throws {
        try await SignalFixture(.simplest).run { fixture in
            var iterator = try await fixture.events("tables=A,B").makeAsyncIterator()
            _ = try await iterator.next()
            var last: [String] = []
            for _ in 0..<1_000 { last = [try fixture.insert("A"), try fixture.insert("B")] }
            #expect(try Event(try #require(try await iterator.next())).answer.changes.map(\.updatedAt) == last)
        }
    }

    @Test func `a stream without changes sends comments`() async throws {
        try await SignalFixture(.simplest, heartbeat: .milliseconds(3)).run { fixture in
            let cursor = try await fixture.poll("tables=A").cursor
            var iterator = try await fixture.events("tables=A&since=\(cursor)").makeAsyncIterator()
            for _ in 0..<5 { #expect(try await iterator.next() == Array(":\n\n".utf8)) }
            try fixture.insert("A")
            var bytes = try #require(try await iterator.next())
            while bytes.count <= 3 { bytes = try #require(try await iterator.next()) }
            #expect(try Event(bytes).answer.changes.count == 1)
        }
    }

    @Test func `a stream and a wait end when the sign-in of their client ends`() async throws {
        try await SignalFixture(.simplest, heartbeat: .milliseconds(3)).run { fixture in
            fixture.clock.set("2026-11-24T12:00:00Z")
            let cursor = try await fixture.poll("tables=A").cursor
            let caller = Caller.user("alice", until: Timestamp("2026-11-24T13:00:00Z"))
            var iterator = try await fixture.events("tables=A&since=\(cursor)", caller: caller).makeAsyncIterator()
            for _ in 0..<3 { #expect(try await iterator.next() == Array(":\n\n".utf8)) }
            fixture.clock.set("2026-11-24T13:00:00Z")
            // A change does not reach a client whose sign-in has ended.
            try fixture.insert("A")
            #expect(try await iterator.next() == nil)
            let answer = try await fixture.answer("tables=B", caller: caller)
            let news = try RecordJSON.decode(ChangesAnswer.self, from: answer.body)
            // The wait could take ten minutes.
            let ended = try await fixture.answer("tables=B&since=\(news.cursor)", caller: caller)
            #expect(try RecordJSON.decode(ChangesAnswer.self, from: ended.body).changes.isEmpty)
        }
    }

    @Test func `a stream that is released frees its place`() async throws {
        try await SignalFixture(.simplest).run { fixture in
            var stream: ChangeEvents? = try await fixture.events("tables=A")
            #expect(stream != nil && fixture.signal.waitingClientCount == 1)
            stream = nil
            #expect(fixture.signal.waitingClientCount == 0)
        }
    }
}

/// One server-sent event.
private struct Event {
    let id: String
    let answer: ChangesAnswer

    init(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.hasSuffix("\n\n"))
        let lines = text.split(separator: "\n")
        try #require(lines.count == 2 && lines[0].hasPrefix("id: ") && lines[1].hasPrefix("data: "), "\(text)")
        id = String(lines[0].dropFirst(4))
        answer = try RecordJSON.decode(from: String(lines[1].dropFirst(6)))
    }
}
