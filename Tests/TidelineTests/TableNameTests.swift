import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Two tables whose names differ only in their Unicode normal form.
@Suite("Names of tables", .timeLimit(.minutes(15)), .releasesClients)
struct TableNameTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private func makeClient(_ stores: StoreKind) async throws -> Client {
        let client = try await World(stores).makeClient()
        try await client.client.define(
            [Self.composed, Self.decomposed].map { TableSchema($0, columns: [.string("text")]) })
        return client
    }

    @Test("L9 a transaction changes each of the two tables", arguments: StoreKind.perEngine)
    func transaction(_ stores: StoreKind) async throws {
        let client = try await makeClient(stores)
        try await client.client.transaction { transaction in
            try transaction.insert(["id": "a", "text": "one"], into: Self.composed)
            try transaction.insert(["id": "a", "text": "two"], into: Self.decomposed)
        }
        let texts = try client.store.read { reader in
            try [Self.composed, Self.decomposed].map { try reader.row(in: $0, id: "a")?["text"]?.string }
        }
        #expect(texts == ["one", "two"])
    }

    @Test("L12 a wipe empties both tables", arguments: StoreKind.perEngine)
    func wipe(_ stores: StoreKind) async throws {
        let client = try await makeClient(stores)
        try await client.client.table(Self.composed).insert(["id": "a"])
        try await client.client.table(Self.decomposed).insert(["id": "a"])
        #expect(try await client.client.wipe() == ForcePurgeResult(rows: 2, operations: 2))
    }

    @Test("the rows pushed during pulls of both tables are those of each")
    func pushedRows() {
        let rows = RecentlyPushedRows()
        rows.beginPull(of: Self.composed)
        rows.note(table: Self.composed, itemKey: "a", base: nil)
        rows.beginPull(of: Self.decomposed)
        #expect(rows.ends(of: Self.decomposed, after: 0).isEmpty)
        rows.endPull(of: Self.decomposed)
        #expect(rows.ends(of: Self.composed, after: 0).count == 1)
    }

    @Test("each of the two tables has its own page size")
    func pageSizes() {
        let limits = PageLimits()
        limits.accept(1000, for: Self.composed, isReduced: false)
        #expect(limits.next(after: 1000, for: Self.composed) == nil)
        #expect(limits.next(after: 1000, for: Self.decomposed) == 500)
    }

    @Test("a table with a policy or rules of its own cannot have the name of another in other bytes")
    func policies() async throws {
        let tables = [Self.composed, Self.decomposed].map { TableSchema($0, columns: [.string("text")]) }
        func refusal(_ client: Client, _ tables: [TableSchema]) async -> SyncError? {
            await #expect(throws: SyncError.self) { try await client.client.define(tables) }
        }
        let named = try await World(.simplest).makeClient { $0.conflictPolicies = [Self.decomposed: .serverWins] }
        let both = await refusal(named, tables)
        #expect(both?.code == .invalidArgument)
        #expect(both?.message.contains(#""cafe\u{0301}" and "caf\u{00E9}""#) == true)
        #expect(try named.store.appTables().map(\.name) == ["TodoItem"])
        try await named.client.define([tables[0]])
        let second = await refusal(named, [tables[1]])
        #expect(second?.message.contains(#""caf\u{00E9}" and "cafe\u{0301}""#) == true)
        // The rules of a record, defined before or after the other table.
        for isFirst in [true, false] {
            let client = try await World(.simplest).makeClient()
            let rules = [Self.composed: ["text": MergeRule.text]]
            try await client.context.define([tables[isFirst ? 0 : 1]], mergeRules: isFirst ? rules : [:])
            let code = await syncErrorCode {
                try await client.context.define([tables[isFirst ? 1 : 0]], mergeRules: isFirst ? [:] : rules)
            }
            #expect(code == .invalidArgument)
        }
    }
}
