import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F7 with repeated versions, and L3 with similar identifiers.
@Suite("Identity of pulled rows", .releasesClients, .bothDialects)
struct PullSamenessTests {
    // MARK: Versions

    static let lives: [Script] = allPairs(["pull q", "pull"], ["", "erase a; "]).map { pull, erasing in
        Script(
            "F7 a row that was deleted and inserted again with the same version is stored: \(erasing)\(pull)",
            "empty; other insert a='first life'; \(pull); remember a; row a version=?; other delete a",
            "\(erasing)clock 60; other insert a='second life'; remote a version=?; \(pull); result stored=1",
            "texts [second life]"
        ).served { $0.reproduce(erasing.isEmpty ? [.original, .hardDelete] : .original) }
    }

    static let backups = ["pull q", "pull"].map { pull in
        Script(
            "F7 a row from a server restored from a backup is stored although its version is known: \(pull)",
            "empty; plant a@0 text=one version=MQ==; \(pull); plant a@10000 text=two version=MQ==; \(pull)",
            "result stored=1; texts [two]",
            // The same timestamp with other digits or another offset is the same state.
            "replace 20.001Z 20.0010000+00:00; \(pull); result pulled=1 stored=0")
    }

    static let returns: [Script] = [
        Script(
            "F7 C4 a server row deleted and inserted again is kept beside a pending operation, and the push keeps it",
            "empty; plant a@0 text='first life' version=MQ==; pull q; update a priority=1",
            "plant a@10000 text='second life' version=MQ==; on update answer 403; pull q others errors rejected",
            "pulled second life"),
        Script(
            "L3 a row that returns with its ID in another case is the same row",
            "empty; plant ABC@0 def@0; pull q; erase ABC; plant abc@20000 text=again; plant DEFG@30000; pull q page=1",
            "row abc id=ABC text=again; texts [DEFG, again, def]"
        ).served { $0.schemas[0].idMatching = .exact },
    ]

    @Test(
        "F7 a row of a restored server or of a second life is stored, and one that returns is known",
        arguments: StoreKind.perEngine, lives + backups + returns)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    // MARK: Ids

    /// `café` composed and decomposed.
    static let twins = ["caf\u{E9}", "cafe\u{301}"]

    @Test(
        "L3 canonically equivalent IDs are two rows, on one page or two, also with pending operations",
        arguments: StoreKind.perEngine, allPairs([1, 2, 3, 1000], ["q", nil]))
    func canonicallyEquivalent(_ stores: StoreKind, _ setting: (Int, String?)) async throws {
        let (pageSize, queryID) = setting
        let (world, client) = try await World.withClient(stores)
        // Rows of one SQL statement have the same timestamp and version.
        let rows = Self.twins.map { World.row($0, at: 0, text: $0).merging(["version": "MQ=="]) }
        try world.plant(rows + [World.row("z", at: 0)])
        let settings = PullSettings(pageSize: pageSize)
        #expect(try await client.items.pull(queryID: queryID, settings: settings).rowsStored == 3)
        for id in Self.twins { #expect(try client.row(id)?["text"] == .string(id)) }
        // An operation on one row does not affect the other.
        try await client.items.update(["id": .string(Self.twins[0]), "priority": 1])
        try world.plant([World.row(Self.twins[1], at: 10_000, text: "changed")])
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(403)) : nil }
        try await client.pullOthers(queryID, pageSize: pageSize)
        #expect(try client.row(Self.twins[1])?["text"] == "changed")
        #expect(try await client.context.pendingOperations().first?.pulled == nil)
    }

    @Test("L3 two canonically equivalent query IDs have separate tokens", arguments: StoreKind.perEngine)
    func queryIDs(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: Self.twins[0])
        #expect(try await client.items.pullToken(queryID: Self.twins[0]) != nil)
        #expect(try await client.items.pullToken(queryID: Self.twins[1]) == nil)
    }

    @Test(
        "L3 IDs that differ only in ASCII case are an error in every pull, on one page or two, and no row is lost",
        arguments: StoreKind.perEngine,
        allPairs([("a", "A"), ("A", "a"), ("rOw", "RoW")], [(1, "q"), (2, nil), (1000, "q")]))
    func differInCase(_ stores: StoreKind, _ setting: ((String, String), (Int, String?))) async throws {
        let ((first, second), (pageSize, queryID)) = setting
        for stamps in [[0, 0], [0, 70_000_000], [70_000_000, 0]] as [[Int64]] {
            for hasRowBefore in [false, true] {
                let world = try World(stores) { $0.schemas[0].idMatching = .exact }
                let client = try await world.makeClient()
                if hasRowBefore {
                    try world.plant([World.row(first, at: stamps[0]).merging(["version": "MQ=="])])
                    try await client.items.pull(queryID: queryID)
                }
                try world.plant([
                    World.row("m", at: 1), World.row(first, at: stamps[0]).merging(["version": "MQ=="]),
                    World.row("n", at: 2), World.row(second, at: stamps[1]).merging(["version": "MQ=="]),
                ])
                for _ in 1...2 {
                    let error = await expectSyncError(.invalidAnswer, table: "TodoItem") {
                        try await client.items.pull(queryID: queryID, settings: PullSettings(pageSize: pageSize))
                    }
                    #expect(error?.id == first || error?.id == second)
                }
                // The stored row is one of the two, complete.
                let text = try client.row(first)?["text"]?.string
                #expect(text == first || text == second || text == nil && !hasRowBefore)
                _ = try world.serverStore.write { try $0.delete(id: second, from: "TodoItem") }
                try await client.items.pull(queryID: queryID, settings: PullSettings(pageSize: pageSize))
                #expect(try client.texts() == [first, "m", "n"].sorted())
            }
        }
    }

    @Test("L3 IDs that differ only in case are detected at any length", arguments: 0...40)
    func cases(length: Int) {
        for position in 0..<max(length, 1) {
            for (byte, expected): (UInt8, IDCases) in [
                (0x40, []), (0x41, .upper), (0x5A, .upper), (0x5B, []), (0x60, []), (0x61, .lower), (0x7A, .lower),
                (0x7B, []), (0xC1, []), (0xE1, []), (0xDA, []), (0xFA, []),
            ] {
                var id = [UInt8](repeating: 0x30, count: length)
                if length > 0 { id[position] = byte }
                var cases: IDCases = []
                id.withUnsafeBytes { cases.note($0) }
                #expect(cases == (length > 0 ? expected : []))
            }
        }
    }
}
