import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Names in another Unicode normalization form than those that are defined.
@Suite("Names of tables", .timeLimit(.minutes(15)), .releasesClients)
struct TableNameTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private struct Refusal: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var call: @Sendable (Client, String) async throws -> Void
    }

    private static let refusals = [
        Refusal(testDescription: "define") { client, name in
            try await client.client.define([TableSchema(name, columns: [])])
        },
        Refusal(testDescription: "insert") { client, name in try await client.client.table(name).insert(["id": "b"]) },
        Refusal(testDescription: "update") { client, name in
            try await client.client.table(name).update(["id": "a", "text": "two"])
        },
        Refusal(testDescription: "delete") { client, name in try await client.client.table(name).delete(id: "a") },
        Refusal(testDescription: "transaction") { client, name in
            try await client.client.transaction { _ = try $0.insert(["id": "b"], into: name) }
        },
        Refusal(testDescription: "pull") { client, name in try await client.client.table(name).pull(queryID: "q") },
        Refusal(testDescription: "subscription") { client, name in
            try await client.client.pull([SyncSubscription(name)])
        },
        Refusal(testDescription: "verify") { client, name in _ = try await client.client.verify(TableQuery(name)) },
        Refusal(testDescription: "purge") { client, name in try await client.client.table(name).purge() },
        Refusal(testDescription: "forcePurge") { client, name in try await client.client.table(name).forcePurge() },
        Refusal(testDescription: "pullToken") { client, name in
            _ = try await client.client.table(name).pullToken(queryID: "q")
        },
        Refusal(testDescription: "resetToken") { client, name in try await client.context.resetToken(table: name) },
        Refusal(testDescription: "a column in a filter") { client, name in
            let query = TableQuery("TodoItem").filter(.column(name) == "x")
            try await client.items.pull(query)
        },
    ]

    @Test("L11 a name in another form than C is refused with the form to write", arguments: refusals)
    private func refused(_ refusal: Refusal) async throws {
        let (_, client) = try await World.withClient(.simplest)
        try await client.client.define([TableSchema(Self.composed, columns: [.string("text")])])
        try await client.client.table(Self.composed).insert(["id": "a", "text": "one"])
        let columns: [ColumnSchema] = [.string(Self.composed)]
        try await client.client.define([TableSchema("TodoItem", columns: columns)])
        let error = await #expect(throws: SyncError.self) { try await refusal.call(client, Self.decomposed) }
        #expect(error?.message.contains(#""caf\u{00E9}""#) == true, "\(String(describing: error))")
        #expect(try await client.context.pendingOperationsCount == 1)
    }

    @Test("L11 a column in another form is the defined one, and is sent with its name", arguments: StoreKind.perEngine)
    func columns(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.client.define([TableSchema("TodoItem", columns: [.string(Self.composed)])])
        try await client.items.insert(["id": "a", "text": "one", Self.decomposed: "x"])
        try await client.items.update(["id": "a", Self.decomposed: "y"])
        #expect(try await client.items.row(id: "a")?[Self.composed] == "y")
        let operation = try #require(try await client.context.pendingOperations().first)
        let names = try #require(operation.item).columnNames.map { Array($0.utf8) }
        #expect(names.contains(Array(Self.composed.utf8)) && !names.contains(Array(Self.decomposed.utf8)))
    }
}
