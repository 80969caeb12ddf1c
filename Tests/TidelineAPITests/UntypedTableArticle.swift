#if AsyncHTTPClient
import Tideline
import TidelineAsyncHTTPClient
import TidelineSQLite

// The examples of the article *Untyped tables*, compiled verbatim.

private func overview() async throws {
    let store = try SQLiteStore(path: "todo.db")  // the only line that names a store
    let client = try SyncClient(url: "http://127.0.0.1:8080", store: store)
    try await client.define([TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])])
    let items = client.table("TodoItem")

    let milk = try await items.insert(["text": "Buy milk", "complete": false])
    try await items.update(id: milk.idText) { $0["text"] = "Buy oat milk" }  // local; the queue contains the change

    let open = TableQuery("TodoItem").filter(.column("complete") == false && .column("text").hasPrefix("B"))
    for row in try await items.rows(matching: open.order(by: "text")).rows { print(row["text"]?.string ?? "") }

    try await client.push()
    try await client.pull(TableQuery("TodoItem"), queryID: "all")  // only what changed since the last time
}

private func moveItem(_ client: SyncClient<SQLiteStore>, itemID: String) async throws {
    try await client.transaction { transaction in
        let list = try transaction.insert(["name": "Groceries"], into: "TodoList")
        try transaction.update(id: itemID, in: "TodoItem") { $0["list"] = list["id"] }
    }
}

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

private func readDirectly(_ store: SQLiteStore, itemID: String) throws {
    let item = try store.read { try $0.row(in: "TodoItem", id: itemID) }
    print(item?.idText ?? "no item")
}
#endif
