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
        let testDescription: String
        let call: @Sendable (Client, String) async throws -> Void

        init(_ name: String, _ call: @escaping @Sendable (Client, String) async throws -> Void) {
            (testDescription, self.call) = (name, call)
        }
    }

    private static let refusals: [Refusal] = [
        Refusal("define") { try await $0.client.define([TableSchema($1, columns: [])]) },
        Refusal("insert") { try await $0.client.table($1).insert(["id": "b"]) },
        Refusal("update") { try await $0.client.table($1).update(["id": "a", "text": "two"]) },
        Refusal("delete") { try await $0.client.table($1).delete(id: "a") },
        Refusal("transaction") { client, name in
            try await client.client.transaction { _ = try $0.insert(["id": "b"], into: name) }
        },
        Refusal("pull") { try await $0.client.table($1).pull(queryID: "q") },
        Refusal("subscription") { try await $0.client.pull([SyncSubscription($1)]) },
        Refusal("verify") { _ = try await $0.client.verify(TableQuery($1)) },
        Refusal("purge") { try await $0.client.table($1).purge() },
        Refusal("forcePurge") { try await $0.client.table($1).forcePurge() },
        Refusal("pullToken") { _ = try await $0.client.table($1).pullToken(queryID: "q") },
        Refusal("resetToken") { try await $0.context.resetToken(table: $1) },
        Refusal("a column in a filter") { client, name in
            try await client.items.pull(TableQuery("TodoItem").filter(.column(name) == "x"))
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
