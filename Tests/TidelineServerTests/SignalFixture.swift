import Foundation
import HTTPTypes
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

@testable import TidelineServer

/// A service with the tables A and B, and its signal.
struct SignalFixture: Sendable {
    let clock = ManualClock()
    let store: TestStore
    let service: TableService<TestStore>
    let signal: ChangeSignal<TestStore>
    /// The number of sleeps in progress.
    let sleeps = LockedValue(0)

    init(
        _ stores: StoreKind, store: TestStore? = nil, quirks: ServerQuirks = [],
        interval: Duration = .milliseconds(1), maximumWait: Duration = .seconds(600),
        heartbeat: Duration = .seconds(600), maximumWaitingClients: Int = 10_000
    ) throws {
        let (clock, sleeps) = (clock, sleeps)
        let store = try store ?? stores.makeStore()
        self.store = store
        let tables = ["A", "B"].map { TableSchema($0, columns: [.int("n")]) }
        var options = TableServiceOptions(schemas: tables, clock: { clock.now })
        options.reproduce(quirks)
        service = try TableService(store: store, options: options)
        signal = ChangeSignal(
            service,
            options: ChangeSignalOptions(
                interval: interval, maximumWait: maximumWait, heartbeat: heartbeat,
                minimumEventInterval: .zero, maximumWaitingClients: maximumWaitingClients,
                sleep: { duration in
                    sleeps.withLock { $0 += 1 }
                    defer { sleeps.withLock { $0 -= 1 } }
                    try await Task.sleep(for: duration)
                }))
    }

    /// Runs the signal during `body`.
    func run(_ body: (SignalFixture) async throws -> Void) async throws {
        let running = Task { await signal.run() }
        defer { running.cancel() }
        try await suspendUntil("the signal to run") {
            try await answer("tables=A").status != .serviceUnavailable
        }
        try await body(self)
        running.cancel()
        await running.value
    }

    func untilWaiting(_ count: Int) async throws {
        try await suspendUntil("\(count) clients to wait") { service.changes.waiterCount == count }
    }

    /// Inserts a row, and returns its `updatedAt`.
    @discardableResult
    func insert(_ table: String) throws -> String {
        let answer = service.send(.post, "/tables/\(table)", #"{"n":1}"#)
        #expect(answer.status == .created, "\(answer.text)")
        return try #require(try answer.row()["updatedAt"]?.string)
    }

    func respond(
        _ query: String, method: HTTPRequest.Method = .get, headers: HTTPFields = [:], caller: Caller = .anonymous
    ) async -> ChangeResponse {
        let request = HTTPRequest(
            method: method, scheme: "http", authority: "host", path: "/.changes?\(query)", headerFields: headers)
        #expect(ChangeSignal<TestStore>.handles(request))
        return await signal.respond(to: request, caller: caller)
    }

    func answer(
        _ query: String, method: HTTPRequest.Method = .get, caller: Caller = .anonymous
    ) async throws -> TableResponse {
        guard case .answer(let answer) = await respond(query, method: method, caller: caller) else {
            throw WaitFailure("a complete answer to \(query)")
        }
        return answer
    }

    func events(_ query: String, lastEventID: String? = nil, caller: Caller = .anonymous) async throws -> ChangeEvents {
        var headers: HTTPFields = [.accept: "text/event-stream"]
        if let lastEventID { headers[try #require(HTTPField.Name("Last-Event-ID"))] = lastEventID }
        guard case .events(let events) = await respond(query, headers: headers, caller: caller) else {
            throw WaitFailure("events for \(query)")
        }
        return events
    }

    func poll(_ query: String) async throws -> ChangesAnswer {
        let answer = try await answer(query)
        try #require(answer.status == .ok, "\(answer.text)")
        return try RecordJSON.decode(from: answer.body)
    }
}
