import Tideline

// The code of an app, with type annotations. It imports only the core and names no store.

/// The list of an app.
struct TodoApp: Sendable {
    static let schema = TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])

    let items: SyncTable
    let remote: RemoteTable

    init(_ client: SyncClient<some LocalStore>) async throws {
        try await client.define([Self.schema])
        items = client.table("TodoItem")
        remote = client.remoteTable("TodoItem")
    }

    func add(_ text: String) async throws -> Row { try await items.insert(["text": text, "complete": false]) }

    func complete(_ item: Row) async throws { try await items.update(id: item.idText) { $0["complete"] = true } }

    func open() async throws -> [String?] {
        let query: TableQuery = TableQuery("TodoItem").filter(.column("complete") == false).order(by: "text")
        let result: QueryResult = try await items.rows(matching: query)
        return result.rows.map { $0["text"]?.string }
    }
}

func sync(_ client: SyncClient<some LocalStore>) async throws -> (push: PushResult, pull: PullResult) {
    try await (client.push(), client.pull(TableQuery("TodoItem"), queryID: "all"))
}

func pendingChanges(_ context: SyncContext<some LocalStore>) async throws -> [OperationKind] {
    let operations: [TableOperation] = try await context.pendingOperations()
    return operations.map(\.kind)
}
