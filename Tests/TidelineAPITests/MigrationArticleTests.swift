import Testing
import Tideline
import TidelineMemory
import TidelineSQLite
import TidelineServer
import TidelineTestSupport
import TidelineURLSession

// The examples of the article *Coming from Azure Mobile Apps*, compiled verbatim.

private let installationID = "6f0a1f6e"
private func show(_ text: String) { print(text) }
private func loadUserFromKeychain() throws -> SignedInUser? { nil }
private func saveUserToKeychain(_ user: SignedInUser) throws {}

func makeClient(directory: String) async throws -> SyncClient<SQLiteStore> {
    let store = try SQLiteStore(path: directory + "/todo.db")
    var options = SyncOptions()
    options.installationID = installationID
    let client = try SyncClient(url: "https://example.azurewebsites.net", store: store, options: options)
    try await client.define([
        TableSchema(
            "TodoItem",
            columns: [.string("text"), .bool("complete"), .timestamp("due"), .int("priority")],
            indexes: [["complete", "due"]])
    ])
    return client
}

private func signIn(_ client: SyncClient<some LocalStore>, token: String) async throws {
    if let user = try loadUserFromKeychain() {
        client.currentUser = user
    } else {
        try saveUserToKeychain(try await client.signIn(provider: "aad", token: ["access_token": token]))
    }
}

private func edit(_ client: SyncClient<some LocalStore>) async throws {
    let items = client.table("TodoItem")
    let item = try await items.insert(["text": "Buy milk", "complete": false])
    try await items.update(id: item.idText) { $0["complete"] = true }
    try await items.delete(id: item.idText)

    let open = TableQuery("TodoItem").filter(.column("complete") == false && .column("text").hasPrefix("B"))
    for row in try await items.rows(matching: open.order(by: "text")).rows { show(row["text"]?.string ?? "") }

    try await client.push()
    try await client.pull(TableQuery("TodoItem").filter(.column("complete") == false), queryID: "open")
}

private func start(_ client: SyncClient<some LocalStore>) async throws {
    try await client.start([SyncSubscription("TodoItem", interval: .seconds(60))])
}

private func setPolicy(_ options: inout SyncOptions) {
    options.conflictPolicy = .serverWins
}

struct KeepMine: SyncContextDelegate {
    func perform(_ operation: PushOperation) async throws -> Row? {
        do {
            return try await operation.execute()
        } catch let failure as OperationFailure where failure.code == .conflict {
            guard let server = failure.serverItem else { throw failure }
            var item = operation.item
            item["version"] = server["version"]
            operation.item = item
            return try await operation.execute()
        }
    }
}

private func takeTheirText(_ client: SyncClient<some LocalStore>) async throws {
    for error in try await client.operationErrors() where error.code == .conflict {
        guard var item = error.item else { continue }
        item["text"] = error.serverItem?["text"]
        try await error.keepOperationAndUpdateItem(item)
    }
}

@Suite("Article: Coming from Azure Mobile Apps")
struct MigrationArticleTests {
    @Test("The article's conflict handlers resolve a conflict")
    func handlers() async throws {
        let schema = TableSchema("TodoItem", columns: [.string("text"), .bool("complete")])
        let service = try TableService(store: MemoryStore(), options: TableServiceOptions(schemas: [schema]))
        let (mine, theirs) = (
            try SyncClient(url: "http://a.test", store: MemoryStore(), transport: ServiceTransport(service: service)),
            try SyncClient(url: "http://a.test", store: MemoryStore(), transport: ServiceTransport(service: service))
        )
        for client in [mine, theirs] { try await client.define([schema]) }
        let server = mine.remoteTable("TodoItem")
        let items = mine.table("TodoItem")
        try await items.insert(["id": "a", "text": "first"])
        try await mine.push()

        /// Lets both sides change the row.
        func change(_ text: String) async throws {
            try await theirs.pull(TableQuery("TodoItem"))
            try await theirs.table("TodoItem").update(id: "a") { $0["text"] = .string("their " + text) }
            try await theirs.push()
            try await items.update(id: "a") { $0["text"] = .string("my " + text) }
        }

        try await change("second")
        await #expect(throws: SyncError.self) { try await mine.push() }
        try await takeTheirText(mine)
        try await mine.push()
        #expect(try await server.lookup(id: "a")?["text"] == "their second")

        mine.context.delegate = KeepMine()
        try await change("third")
        try await mine.push()
        #expect(try await server.lookup(id: "a")?["text"] == "my third")
    }
}
