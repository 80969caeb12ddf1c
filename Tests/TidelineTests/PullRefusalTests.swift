import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Requests that a pull refuses before it sends them, and the errors of a pull with several failures.
@Suite("Pull refusals", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PullRefusalTests {
    @Test(
        "F2 a column missing in the table is refused before anything is sent",
        arguments: StoreKind.perEngine, allPairs(["nope", "__version", "TEXT", ""], [nil, "q"]))
    func unknownColumn(_ stores: StoreKind, _ pull: (String, String?)) async throws {
        let (column, queryID) = pull
        let client = try await World(stores).makeClient()
        try await client.items.insert(["id": "a", "text": "one"])
        let text = RowPredicate.column("text")
        let query = TableQuery("TodoItem").filter(text == "one" && !(text == "two" || .column(column) == .value(1)))
        let error = await #expect(throws: SyncError.self) { try await client.items.pull(query, queryID: queryID) }
        #expect(error?.code == .invalidArgument && error?.column == column && error?.table == "TodoItem")
        #expect(client.transport.requests.isEmpty)
        if queryID == nil {
            await expectSyncError(.invalidArgument, column: column) {
                try await client.items.pull(TableQuery("TodoItem").order(by: column))
            }
        }
    }

    @Test("F2 a pull can use the server's system columns", arguments: StoreKind.perEngine, ["createdAt", "updatedAt"])
    func systemColumn(_ stores: StoreKind, column: String) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.pull(TableQuery("TodoItem").filter(.column(column) > .value(Timestamp.min)))
        #expect(try client.texts() == ["one"])
    }

    @Test("F1 with pullOthers a pull that fails reports the errors of its push, too", arguments: StoreKind.perEngine)
    func bothFail(_ stores: StoreKind) async throws {
        try await Script(
            "F1", "update a=two; on update answer 403; on get answer 503; pull q others fails network; failed [a]"
        ).play(stores)
    }
}
