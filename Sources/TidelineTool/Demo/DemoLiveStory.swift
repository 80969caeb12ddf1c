#if Serve
internal import Foundation
internal import Logging
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineStore

/// The next steps of the demo: two clients in this process that sync by themselves, a merge of two edits of one row, an
/// operation that the server rejects, and a server that stops and comes back.
struct DemoLiveStory {
    let stage: DemoStage
    private let first: SyncClient<AnyStore>
    private let second: SyncClient<AnyStore>

    private static let table = TodoItem.schema.name
    // Without an interval: the server signals each change.
    private static let subscriptions = [SyncSubscription(table, interval: nil)]

    init(stage: DemoStage) throws {
        self.stage = stage
        first = try Self.client("third", stage)
        second = try Self.client("fourth", stage)
    }

    private static func client(_ name: String, _ stage: DemoStage) throws -> SyncClient<AnyStore> {
        var options = SyncOptions()
        options.conflictPolicy = .merge()
        options.retry.maximumAttempts = 1
        // The story tells the errors itself.
        options.logger.logLevel = .critical
        let store = try StoreLocation(parsing: stage.location(name)).open()
        return try SyncClient(url: stage.url, store: AnyStore(store), options: options)
    }

    func tell() async throws {
        do {
            try await seeEachOther()
            try await mergeEdits()
            try await rejectOne()
            try await repairRejected()
            if stage.engine.keepsRows { try await loseTheServer() }
        } catch {
            await end()
            throw error
        }
        await end()
    }

    private func start(_ client: SyncClient<AnyStore>) async throws {
        try await client.start(Self.subscriptions, settings: SyncSettings(initialRetryDelay: .milliseconds(250)))
    }

    private func end() async {
        for client in [first, second] {
            await client.stop()
            try? client.store.close()
        }
    }

    private func seeEachOther() async throws {
        stage.title("6. Two more clients sync by themselves: no command pushes or pulls")
        for client in [first, second] {
            try await client.define([TodoItem.schema])
            try await start(client)
        }
        try await first.table(Self.table).insert(["id": "tea", "text": "Buy tea", "complete": false])
        try await wait("the second sees what the first added", for: second) { $0?[TodoItem.text] == "Buy tea" }
    }

    private func mergeEdits() async throws {
        stage.title("7. Both change one item while neither syncs, and the edits are merged")
        for client in [first, second] { await client.stop() }
        try await first.table(Self.table).update(["id": "tea", "text": "Buy green tea"])
        try await second.table(Self.table).update(["id": "tea", "complete": true])
        for client in [first, second] { try await start(client) }
        for (name, client) in [("first", first), ("second", second)] {
            try await wait("the \(name) has both edits", for: client) {
                $0?[TodoItem.text] == "Buy green tea" && $0?[TodoItem.complete] == true
            }
        }
        let merges = try await first.decisions(table: Self.table) + second.decisions(table: Self.table)
        try stage.check("the decision is on record: \(merges.map(\.rule).joined())", merges.count == 1)
    }

    private func rejectOne() async throws {
        stage.title("8. The server rejects one of three new items, which holds back nothing else")
        try await first.transaction { transaction in
            // The item that the server rejects is the first in the queue.
            try transaction.insert(["id": "empty", "complete": false], into: Self.table)
            try transaction.insert(["id": "jam", "text": "Buy jam", "complete": false], into: Self.table)
            try transaction.insert(["id": "rice", "text": "Buy rice", "complete": false], into: Self.table)
        }
        for (id, text) in [("jam", "Buy jam"), ("rice", "Buy rice")] {
            try await wait("the second sees \(text.debugDescription)", for: second, id: id) {
                $0?[TodoItem.text] == text
            }
        }
        try await stage.wait("the first reports that one change needs attention") {
            first.status == .needsAttention(operationErrors: 1)
        }
        let rejected = try await first.operationErrors()
        for error in rejected { stage.quote("\(error)") }
        try stage.check(
            "the error names the item, and is the server's",
            rejected.map(\.itemID) == ["empty"] && rejected.first?.code == .rejected)
        let pending = try await first.context.pendingOperations()
        try stage.check(
            "its change is all that is left in the queue, marked with the error",
            pending.map(\.itemID) == ["empty"] && pending.first?.lastError == rejected.first?.message,
            found: "\(pending)")
        let rows = try await stage.serverRows()
        try stage.check("the server does not have the item", !rows.contains { $0.id == "empty" }, found: "\(rows)")
    }

    private func repairRejected() async throws {
        stage.title("   The item gets a text, and the server accepts it")
        try await first.table(Self.table).update(["id": "empty", "text": "Buy sugar"])
        try await wait("the second sees it", for: second, id: "empty") { $0?[TodoItem.text] == "Buy sugar" }
        try await stage.wait("the queue of the first is empty, and it needs no attention") {
            guard case .idle = first.status else { return false }
            return try await first.pendingOperationsCount == 0
        }
        try stage.check("no error is left", try await first.operationErrors().isEmpty)
        stage.title("   Another rejected item is discarded")
        try await first.table(Self.table).insert(["id": "blank", "complete": true])
        try await stage.wait("the first reports that one change needs attention") {
            first.status == .needsAttention(operationErrors: 1)
        }
        for error in try await first.operationErrors() { try await error.cancelOperationAndDiscardItem() }
        try stage.check("the queue of the first is empty", try await first.pendingOperationsCount == 0)
        try stage.check("the item is gone", try await first.table(Self.table).row(id: "blank") == nil)
    }

    private func loseTheServer() async throws {
        stage.title("9. The server stops, and comes back")
        stage.stopServer()
        try await first.table(Self.table).update(["id": "tea", "text": "Buy black tea"])
        try await stage.wait("the first client is offline, and its change is in the queue") {
            guard case .offline = first.status else { return false }
            return try await first.pendingOperationsCount == 1
        }
        try stage.restartServer()
        try await wait("the second sees the change", for: second) { $0?[TodoItem.text] == "Buy black tea" }
    }

    private func wait(
        _ promise: String, for client: SyncClient<AnyStore>, id: String = "tea", _ holds: (Row?) -> Bool
    ) async throws {
        try await stage.wait(promise) { holds(try await client.table(Self.table).row(id: id)) }
    }
}
#endif
