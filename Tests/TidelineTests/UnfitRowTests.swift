import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Server rows that do not fit the local table.
@Suite("Rows that do not fit", .releasesClients, .bothDialects)
struct UnfitRowTests {
    static let table = TableSchema("TodoItem", columns: [.string("text", optional: false), .int("priority")])

    /// The invalid JSON of a row's answer, and the column.
    typealias Fault = (old: String, new: String, column: String)

    static let faults: [Fault] = [
        (#""priority":77"#, #""priority":18446744073709551616"#, "priority"),
        (#""priority":77"#, #""priority":1.5"#, "priority"),
        (#""priority":77"#, #""priority":{"a":[1,"}"]}"#, "priority"),
        (#""text":"bad""#, #""text":null"#, "text"),
        (#""text":"bad""#, #""other":1"#, "text"),
        (#""text":"bad""#, #""text":"bad \ud83d""#, "text"),
    ]

    /// Makes a client whose server returns the rows of priority 77 with a fault.
    private func makeClient(_ stores: StoreKind, _ fault: Fault) async throws -> (World, Client) {
        let world = try World(stores)
        let client = try await world.makeClient(over: stores.makeStore(), tables: [Self.table]) {
            $0.dialect = .zumo2
        }
        client.transport.inspect { _, _ in .change { $0.replacing(fault.old, with: fault.new) } }
        return (world, client)
    }

    private func bad(_ id: String, at ticks: Int64) -> Row {
        World.row(id, at: ticks, text: "bad").merging(["priority": 77])
    }

    @Test(
        "A7 a row that does not fit is skipped and reported, if enabled",
        arguments: StoreKind.perEngine,
        allPairs(faults.indices.map(\.self), [(1, "q"), (2, nil), (2, "q"), (1000, nil)]))
    func skips(_ stores: StoreKind, _ setting: (Int, (Int, String?))) async throws {
        let (index, (pageSize, queryID)) = setting
        let fault = Self.faults[index]
        // The first row, the last row, complete pages, and all rows in one millisecond.
        let places: [(bad: [Int], step: Int64)] = [
            ([0], 10_000), ([6], 10_000), ([2, 3, 4], 10_000), ([1, 2, 6], 1), ([0, 1, 2, 3, 4, 5, 6], 1),
            ([0, 1, 2, 3, 4, 5, 6], 10_000),
        ]
        for (places, step) in places {
            let (world, client) = try await makeClient(stores, fault)
            try world.plant(
                (0..<7).map { place in
                    let ticks = Int64(place) * step
                    return places.contains(place) ? bad("r\(place)", at: ticks) : World.row("r\(place)", at: ticks)
                })
            let settings = PullSettings(pageSize: pageSize, pagesPerTransaction: 2, whenRowDoesNotFit: .skipAndReport)
            let result = try await client.items.pull(queryID: queryID, settings: settings)
            let expected = (0..<7).filter { !places.contains($0) }.map { "r\($0)" }
            #expect(try client.store.versions().keys.sorted() == expected)
            #expect(Set(result.skippedRows.map(\.id)) == Set(places.map { "r\($0)" }))
            #expect(result.skippedRows.allSatisfy { $0.table == "TodoItem" && $0.column == fault.column })
            #expect(result.rowsStored == expected.count && result.rowsSkipped >= places.count)
        }
    }

    @Test(
        "A7 F8 by default the pull stops at a row that does not fit and names it, and its token stays below the row",
        arguments: StoreKind.perEngine, faults.indices.map(\.self))
    func stops(_ stores: StoreKind, index: Int) async throws {
        let fault = Self.faults[index]
        let (world, client) = try await makeClient(stores, fault)
        try world.plant([World.row("a", at: 0), World.row("b", at: 10_000), bad("c", at: 20_000)])
        for _ in 1...2 {
            await expectSyncError(.invalidAnswer, table: "TodoItem", column: fault.column, id: "c") {
                try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
            }
        }
        #expect(try client.texts() == ["a", "b"])
        client.transport.inspect(nil)
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.texts() == ["a", "b", "bad"])
    }

    @Test("A7 half of a surrogate pair is ignored in a column without definition", arguments: StoreKind.perEngine)
    func ignores(_ stores: StoreKind) async throws {
        let fault: Fault = (#""priority":77"#, #""priority":77,"other":"cut \ud83d""#, "other")
        let (world, client) = try await makeClient(stores, fault)
        try world.plant([World.row("a", at: 0), bad("b", at: 10_000), World.row("c", at: 20_000)])
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 2))
        #expect(try client.texts() == ["a", "bad", "c"])
    }

    @Test("A7 a skipped row that was stored stays, and is pulled when it changes", arguments: StoreKind.perEngine)
    func comesAgain(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores, Self.faults[0])
        try world.plant([World.row("a", at: 0), World.row("b", at: 10_000)])
        let settings = PullSettings(whenRowDoesNotFit: .skipAndReport)
        try await client.items.pull(queryID: "q", settings: settings)
        world.clock.advance(by: .seconds(60))
        let minute = IncrementalPullTests.minute
        try world.plant([bad("a", at: minute), World.row("c", at: minute + 1)])
        #expect(try await client.items.pull(queryID: "q", settings: settings).skippedRows.map(\.id) == ["a"])
        #expect(try client.texts() == ["a", "b", "c"])
        world.clock.advance(by: .seconds(60))
        try world.plant([World.row("a", at: minute * 2, text: "good").merging(["priority": 1])])
        #expect(try await client.items.pull(queryID: "q", settings: settings).rowsSkipped == 0)
        #expect(try client.texts() == ["b", "c", "good"])
    }

    @Test("A7 rows refused by the store are reported like those of the wire format", arguments: StoreKind.perEngine)
    func longIDs(_ stores: StoreKind) async throws {
        let long = String(repeating: "x", count: 256)
        let transport = ScriptedTransport { exchange in
            let rows = ["a", long, "b", long + "y", "c"].map {
                #"{"id":"\#($0)","text":"t","version":"1","updatedAt":"2026-11-21T10:00:00Z"}"#
            }
            return .answer(200, exchange.number == 1 ? "[\(rows.joined(separator: ","))]" : "[]")
        }
        let client = try await transport.makeClient(stores, tables: [World.schema])
        let settings = PullSettings(whenRowDoesNotFit: .skipAndReport)
        let result = try await client.table("TodoItem").pull(settings: settings)
        #expect(try client.store.versions().keys.sorted() == ["a", "b", "c"])
        #expect(result.rowsSkipped == 2 && result.rowsStored == 3 && result.writes == 1)
    }

    @Test("C4 an unfit pulled row fails only its operation, which can be discarded", arguments: StoreKind.perEngine)
    func pulledBesideOperation(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores, Self.faults[3])
        try world.plant([World.row("a", at: 0)])
        try await client.items.pull(queryID: "q")
        try await client.items.update(["id": "a", "text": "mine"])
        try await pullBad(at: 500_000, client, world)
        // Nothing is left to send for the row.
        try await client.items.update(["id": "a", "text": "a"])
        try await client.items.insert(["id": "b", "text": "new"])
        client.transport.inspect(nil)
        for _ in 1...2 { #expect(try await pushErrors(client).map(\.code) == [.invalidAnswer]) }
        #expect(try world.serverRow("b")?["text"] == "new")
        try await client.context.operationErrors()[0].cancelOperationAndDiscardItem()
        #expect(try await client.queue().isEmpty)
        #expect(try client.texts() == ["a", "new"])
    }

    @Test(
        "C4 an insert whose row was pulled and does not fit can be deleted or replaced", arguments: StoreKind.perEngine,
        [true, false])
    func pulledBesideInsert(_ stores: StoreKind, deletes: Bool) async throws {
        let (world, client) = try await makeClient(stores, Self.faults[3])
        try await client.items.insert(["id": "a", "text": "mine"])
        try await pullBad(at: 0, client, world)
        if deletes {
            try await client.items.delete(id: "a")
        } else {
            let error = try #require(try await client.context.operationErrors().first)
            try await error.cancelOperationAndUpdateItem(["id": "a", "text": "kept"])
        }
        #expect(try await client.queue().isEmpty)
        #expect(try client.texts() == (deletes ? [] : ["kept"]))
    }

    /// Pulls the row `a` with a null text while the server refuses the operation of the row.
    private func pullBad(at ticks: Int64, _ client: Client, _ world: World) async throws {
        try world.plant([bad("a", at: ticks)])
        client.transport.inspect { request, _ in
            if request.isUpdate || request.createsRow { return .answer(.answer(403)) }
            return .change { $0.replacing(Self.faults[3].old, with: Self.faults[3].new) }
        }
        try await client.pullOthers("q")
    }

    @Test("A7 at most one thousand skipped rows are listed, and all are counted")
    func many() {
        var result = PullResult()
        let row = SkippedRow(table: "T", id: "a", column: "c", message: "m")
        for _ in 1...3 { result.note(skipped: Array(repeating: row, count: 700)) }
        #expect(result.rowsSkipped == 2100 && result.skippedRows.count == 1000)
    }
}
