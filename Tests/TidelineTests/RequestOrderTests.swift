import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A copy pulled beside a pending operation is newer or older by the order of requests, also if the server's clock goes
/// back.
@Suite("Copies by the order of requests", .releasesClients, .bothDialects)
struct RequestOrderTests {
    static let scripts: [Script] = [
        Script(
            "C4 a copy pulled before the request does not replace its result, although the clock went back in between",
            "update a priority=7; other update a=theirs; on update answer 403; pull others errors rejected",
            "pulled theirs; clock -3600; update a effort=1.5; push; both a text=theirs priority=7 effort=1.5; same a"
        ).with { $0.conflictPolicy = .merge() },
        Script(
            "C4 a row that was changed after the clock went back is kept beside the operation",
            "update a priority=7; clock -3600; other update a=theirs; on update answer 403; pull others errors rejected",
            "pulled theirs"),
    ].map { $0.served { $0.reproduce([.millisecondStamps]) } }

    static let otherCase = Script(
        "L3 a row that is stored in another case than the server's is not written again",
        "empty; plant ABC@0 D@1; pull; erase ABC; plant abc@0 text=ABC version=ABC@0",
        "pull; result stored=0 writes=0; pull; result stored=0 writes=0; pull q; result stored=0; pull q; result stored=0",
        "plant abc@0 text=other version=ABC@0; pull; row abc text=other"
    ).served { $0.schemas[0].idMatching = .exact }

    @Test("C4, L3 copies are ordered by requests", arguments: StoreKind.perEngine, scripts + [otherCase])
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "C4 a row that was changed after the request, when the clock had gone back, replaces the response",
        arguments: StoreKind.perEngine)
    func pulledInFlight(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.reproduce([.millisecondStamps]) }
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await client.items.pull(queryID: "q")
        try await client.items.update(["id": "a", "priority": 7])
        client.onFirst(\.isUpdate) {
            world.clock.advance(by: .seconds(-3600))
            try await other.items.pull()
            try await other.pushUpdate(["id": "a", "text": "theirs"])
            // Without the push that precedes a pull of the app.
            let query = TableQuery("TodoItem")
            _ = try await client.context.puller.pull(query, queryID: nil, settings: PullSettings())
        }
        try await client.context.push()
        let row = try #require(try client.row("a"))
        #expect(row["text"] == "theirs" && row["priority"] == 7)
        #expect(try row.version == world.serverRow("a")?.version)
    }
}
