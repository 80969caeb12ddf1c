#if Tool
import Foundation
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineConformance
import TidelineStore
import TidelineSupport

@testable import TidelineTool

/// Clients that are killed at random moments while they add and sync. No acknowledged change is lost or duplicated.
@Suite("Killed at random moments", .serialized)
struct KillTests {
    private static let rounds = setting("TIDELINE_KILL_ROUNDS") ?? 12
    private static let seed = setting("TIDELINE_SEED").map(UInt64.init) ?? UInt64.random(in: 0..<1_000_000)

    @Test(
        "L2 rows and queue are consistent after every kill, and each acknowledged change reaches the server once",
        arguments: StoreEngine.all.filter(\.keepsRows))
    func killLoop(engine: StoreEngine) async throws {
        let tool = try Tool()
        let (server, url) = try tool.startServer(engine: engine)
        var random = SplitMix64(seed: Self.seed)
        var acknowledged: [String: String] = [:]
        let client = tool.location(engine, "client")
        for round in 0..<Self.rounds {
            // Only one process at a time can open a LevelDB store.
            let mode = round % (engine.name == StoreEngine.leveldb.name ? 2 : 3)
            try killOnce(round, mode: mode, tool, client, url, &random, &acknowledged)
            try await withStore(StoreLocation(parsing: client)) { [acknowledged] in
                try await Self.checkConsistency(of: $0, acknowledged, "seed \(Self.seed), round \(round)")
            }
        }
        let end = try tool.run("todo", "sync", "--timeout", "300", "--url", url, "--store", client)
        #expect(end.status == 0, "seed \(Self.seed): \(end.err)")
        server.stop()
        let rows = try await withStore(StoreLocation(parsing: tool.location(engine, "server"))) { store in
            try store.read { try $0.rows(matching: TableQuery("TodoItem")).rows }
        }
        try await withStore(StoreLocation(parsing: client)) { [acknowledged] in
            try await Self.checkEnd($0, rows, acknowledged)
        }
    }

    /// Adds, syncs, or both at once, and kills the running processes after a random number of milliseconds.
    private func killOnce(
        _ round: Int, mode: Int, _ tool: Tool, _ store: String, _ url: String, _ random: inout SplitMix64,
        _ acknowledged: inout [String: String]
    ) throws {
        let adder = mode == 1 ? nil : try tool.start(["todo", "add", "--stdin", "--store", store])
        let syncer =
            mode == 0 ? nil : try tool.start(["todo", "sync", "--timeout", "300", "--url", url, "--store", store])
        let deadline = ContinuousClock.now + .milliseconds(Int64.random(in: 20...220, using: &random))
        if let adder {
            var number = 0
            repeat {
                number += 1
                try adder.write(line: "item \(round)-\(number)")
                guard let line = adder.readLine() else { break }
                let words = line.split(separator: " ", maxSplits: 2)
                if words.count == 3, words[0] == "added" { acknowledged[String(words[1])] = String(words[2]) }
            } while ContinuousClock.now < deadline
        } else {
            // The time of the kill is random; the test does not wait for an event.
            Thread.sleep(until: Date(timeIntervalSinceNow: (deadline - ContinuousClock.now) / .seconds(1)))
        }
        _ = adder?.killNow()
        _ = syncer?.killNow()
    }

    private static func checkConsistency(
        of store: some LocalStore, _ acknowledged: [String: String], _ moment: Comment
    ) async throws {
        let session = try await TodoSession(store: store, url: "http://127.0.0.1:1", options: SyncOptions())
        let rows = try await session.items.rows().rows
        let operations = try await session.context.pendingOperations()
        let byID = Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0) })
        for (id, text) in acknowledged { #expect(byID[id]?["text"]?.string == text, moment) }
        #expect(Set(operations.map(\.itemID)).count == operations.count, moment)
        #expect(operations.allSatisfy { byID[$0.itemID] != nil }, moment)
        let pending = Set(operations.map(\.itemID))
        for row in rows {
            // The server knows a row or the row is pending, but not neither.
            #expect((row["version"]?.string != nil) != pending.contains(row.idText), moment)
        }
    }

    private static func checkEnd(
        _ store: some LocalStore, _ serverRows: [Row], _ acknowledged: [String: String]
    ) async throws {
        let session = try await TodoSession(store: store, url: "http://127.0.0.1:1", options: SyncOptions())
        #expect(try await session.context.pendingOperationsCount == 0)
        let rows = try await session.items.rows().rows
        #expect(serverRows.count == rows.count)
        let texts = serverRows.compactMap { $0["text"]?.string }
        #expect(Set(texts).count == texts.count, "an item was doubled (seed \(seed))")
        for row in rows {
            let server = serverRows.first { $0.id == row.id }
            #expect(server?["version"] == row["version"] && server?["text"] == row["text"])
        }
        for id in acknowledged.keys { #expect(serverRows.contains { $0.idText == id }) }
        #expect(!acknowledged.isEmpty)
    }
}
#endif
