#if Tool
import Foundation
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineSQLite

/// The README's example, compiled verbatim.
private func example() async throws {
    let store = try SQLiteStore(path: "todo.db")  // the store is picked here, and only here
    let client = try SyncClient(url: "http://127.0.0.1:8080", store: store)
    try await client.define([TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])])
    let items = client.table("TodoItem")

    let milk = try await items.insert(["text": "Buy milk", "complete": false])
    try await items.update(id: milk.idText) { $0["text"] = "Buy oat milk" }  // local; the queue has it

    let open = Query("TodoItem").filter(.column("complete") == false && .column("text").hasPrefix("B"))
    for row in try await items.rows(matching: open.order(by: "text")).rows { print(row["text"]?.string ?? "") }

    try await client.push()
    try await client.pull(Query("TodoItem"), queryID: "all")  // only what changed since the last time
}

/// The README's example of a transaction, compiled verbatim.
private func moveItem(_ client: SyncClient<SQLiteStore>, itemID: String) async throws {
    try await client.transaction { transaction in
        let list = try transaction.insert(["name": "Groceries"], into: "TodoList")
        try transaction.update(id: itemID, in: "TodoItem") { $0["list"] = list["id"] }
    }
}

/// The README's example of a conflict, compiled verbatim.
private func resolveConflicts(_ client: SyncClient<SQLiteStore>) async throws {
    do {
        try await client.push()
    } catch let error as SyncError where error.code == .completedWithErrors {
        for conflict in error.operationErrors {
            guard conflict.code == .conflict else { throw conflict }
            try await conflict.cancelOperationAndDiscardItem()  // or keepOperationAndUpdateItem(_:), …
        }
    }
}

/// The README's example of a sync that runs itself, compiled verbatim.
private func keepInStep(_ client: SyncClient<SQLiteStore>) async throws {
    try await client.start([Subscription("TodoItem", interval: .seconds(30))])
    for await status in client.statusUpdates { print(status) }
}

@Suite("README")
struct ReadmeTests {
    @Test("The README contains exactly the examples compiled here, the first in under 20 lines")
    func example() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let blocks = readme.components(separatedBy: "```swift\n").dropFirst().prefix(4)
            .map { $0.prefix(upTo: $0.range(of: "```")?.lowerBound ?? $0.endIndex).split(separator: "\n") }
        #expect(blocks.count == 4 && blocks[0].count < 20)
        let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for line in blocks.joined() {
            let line = line.trimmingCharacters(in: .whitespaces)
            #expect(lines.contains(line), "not compiled: \(line)")
        }
    }
}
#endif
