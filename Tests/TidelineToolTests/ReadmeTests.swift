import Foundation
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineSQLite

/// The README's example, compiled verbatim.
private func example() async throws {
    let store = try SQLiteStore(path: "todo.db")  // the store is picked here, and only here
    let client = try SyncClient(url: "http://127.0.0.1:8080", store: store)
    try await client.define(TableSchema("TodoItem", columns: [.string("text"), .bool("complete")]))
    let items = client.table("TodoItem")

    let milk = try await items.insert(["text": "Buy milk", "complete": false])
    try await items.update(["id": .string(milk.id), "text": "Buy oat milk"])  // local; the queue has it

    let open = Query("TodoItem").filter(.column("complete") == false && .column("text").hasPrefix("B"))
    for row in try await items.rows(matching: open.order(by: "text")).rows { print(row.id, row["text"]?.string ?? "") }

    do {
        try await client.push()
        try await client.pull(Query("TodoItem"), queryID: "all")  // only what changed since the last time
    } catch let error as SyncError where error.code == .completedWithErrors {
        for conflict in error.operationErrors {
            guard conflict.code == .conflict else { throw conflict }
            try await conflict.cancelOperationAndDiscardItem()  // or keepOperationAndUpdateItem(_:), …
        }
    }
}

@Suite("README")
struct ReadmeTests {
    @Test("The README contains exactly the example compiled here")
    func example() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let root = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        let block = try #require(readme.components(separatedBy: "```swift\n").dropFirst().first)
        let code = try #require(block.components(separatedBy: "```").first)
        let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        for line in code.split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
            #expect(lines.contains(line), "not compiled: \(line)")
        }
    }
}
