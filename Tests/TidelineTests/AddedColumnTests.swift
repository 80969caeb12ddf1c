import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// L11: an added column makes the next pull of each query ID whole, until whose end versions are not trusted.
@Suite("Added columns", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct AddedColumnTests {
    private static let older = TableSchema("TodoItem", columns: [.string("text")])
    private static let newer = TableSchema("TodoItem", columns: [.string("text"), .int("priority")])

    /// Makes a client that adds a column to six rows that were pulled before, some of them by two query IDs.
    private func makeGrown(_ stores: StoreKind, firstIsAhead: Bool = false) async throws -> (World, Client) {
        let (world, store) = (try World(stores), try stores.makeStore())
        let rows = (0..<6).map { (number: Int64) in
            World.row("r\(number)", at: number * 10_000).merging(["priority": number])
        }
        try world.plant(rows)
        let ahead = Value.timestamp(world.clock.now.advanced(by: .seconds(86_400)))
        if firstIsAhead { try world.plant([rows[0].merging(["updatedAt": ahead])]) }
        let older = try await world.makeClient(over: store, tables: [Self.older])
        try await older.items.pull(queryID: "all")
        try await older.items.pull(TableQuery("TodoItem").filter(.column("text") > "r2"), queryID: "some")
        let client = try await world.makeClient(over: store, tables: [Self.newer])
        #expect(try priorities(store).allSatisfy { $0 == .null })
        return (world, client)
    }

    private func priorities(_ store: TestStore) throws -> [Value?] {
        try store.read { try $0.rows(matching: TableQuery("TodoItem").order(by: "id")).rows.map { $0["priority"] } }
    }

    /// Gives the rows of a response a stamp before that of any other row.
    @Sendable private static func stampedEarly(_ response: TransportResponse) -> TransportResponse {
        response.editing {
            $0.replacing(/"updatedAt":"[^"]*"/, with: #""updatedAt":"2020-01-01T00:00:00.000Z""#)
        }
    }

    private let all: [Value?] = [0, 1, 2, 3, 4, 5]
    private let pairs = PullSettings(pageSize: 2)

    /// Pulls pages of two rows, of which that with the given number and later ones fail.
    private func pull(_ client: Client, failingAt number: Int) async {
        client.transport.clear()
        client.transport.inspect { _, _ in
            client.transport.requests.count >= number ? .answer(.answer(400, "no")) : nil
        }
        await expectSyncError(.rejected) { try await client.items.pull(queryID: "all", settings: pairs) }
        client.transport.inspect(nil)
    }

    @Test(
        "L11 the next pull fills an added column, also after a token reset, and later pulls write nothing",
        arguments: StoreKind.perEngine, [false, true])
    func fills(_ stores: StoreKind, resets: Bool) async throws {
        let (world, client) = try await makeGrown(stores)
        if resets { try await client.context.resetToken(table: "TodoItem") }
        #expect(try await client.items.pull(queryID: "all").rowsStored == 6)
        #expect(try priorities(client.store) == all)
        world.clock.advance(by: .seconds(60))
        for _ in 1...2 { try await client.items.pull(queryID: "all") }
        let atRest = try await client.items.pull(queryID: "all")
        #expect(atRest.rowsStored == 0 && atRest.writes == 0)
    }

    @Test(
        "F7 L11 a page with the base row of an edit in flight, for an added column, does not undo the edit",
        arguments: StoreKind.perEngine, [false, true])
    func baseRowInFlight(_ stores: StoreKind, isDelete: Bool) async throws {
        // The base row has a later stamp than the server gives to the edit.
        let (world, client) = try await makeGrown(stores, firstIsAhead: true)
        let (table, transport) = (client.items, client.transport)
        let pull = Mutex<Task<PullResult, any Error>?>(nil)
        let push = Mutex<Task<Void, any Error>?>(nil)
        transport.inspect { request, _ in
            guard request.method == .get else {
                _ = try? await pull.withLock { $0 }?.value
                return .change(Self.stampedEarly)
            }
            guard push.withLock({ $0 }) == nil else { return nil }
            return .delay {
                _ = isDelete ? try await table.delete(id: "r0") : try await table.update(["id": "r0", "text": "mine"])
                push.withLock { $0 = Task { try await client.context.push() } }
                try await suspendUntil("the edit to be in flight") {
                    transport.requests.contains { !$0.hasPrefix("GET") }
                }
            }
        }
        let task = Task { try await table.pull(queryID: "all") }
        pull.withLock { $0 = task }
        _ = try await task.value
        try await push.withLock { $0 }?.value
        #expect(try client.store.read { try $0.row(in: "TodoItem", id: "r0") }?["text"] == (isDelete ? nil : "mine"))
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test(
        "C1 L11 a conflict that is older than an added column is discarded with the column's value",
        arguments: StoreKind.perEngine)
    func olderConflict(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        let settings = PullSettings(whenPushFails: .pullOthers)
        try world.plant([World.row("a", at: 0)])
        let older = try await world.makeClient(over: store, tables: [Self.older])
        try await older.items.pull(queryID: "all")
        try await older.items.delete(id: "a")
        try await world.updateElsewhere(["id": "a", "text": "theirs", "priority": 7])
        await expectSyncError(.completedWithErrors) { try await older.items.pull(settings: settings) }
        let client = try await world.makeClient(over: store, tables: [Self.newer])
        _ = await syncErrorCode { try await client.items.pull(queryID: "all", settings: settings) }
        try await client.context.operationErrors().first?.cancelOperationAndDiscardItem()
        #expect(try priorities(store) == [7])
    }

    @Test("F4 L11 a newly optional column changes no filter; the next pull is whole", arguments: StoreKind.perEngine)
    func optional(_ stores: StoreKind) async throws {
        let (world, store) = (try World(stores), try stores.makeStore())
        try world.plant([World.row("a", at: 0), World.row("b", at: 10_000)])
        let query = TableQuery("TodoItem").filter(.column("text") != "b")
        for isOptional in [false, true] {
            let tables = [TableSchema("TodoItem", columns: [.string("text", optional: isOptional)])]
            let client = try await world.makeClient(over: store, tables: tables)
            #expect(try await client.items.pull(query, queryID: "q").rowsPulled == 1 + (isOptional ? 1 : 0))
            // The row without a text is older than the token.
            try world.plant([World.row("none", at: -10_000).merging(["text": .null])])
            world.clock.advance(by: .seconds(60))
        }
    }

    @Test("L11 each query ID fills its rows, and so does a pull without a query ID", arguments: StoreKind.perEngine)
    func eachQuery(_ stores: StoreKind) async throws {
        let (_, client) = try await makeGrown(stores)
        let items = client.items
        try await items.pull(TableQuery("TodoItem").filter(.column("text") > "r2"), queryID: "some")
        #expect(try priorities(client.store) == [.null, .null, .null, 3, 4, 5])
        try await items.pull(TableQuery("TodoItem").filter(.column("text") < "r1"), queryID: "new")
        #expect(try priorities(client.store) == [0, .null, .null, 3, 4, 5])
        try await items.pull()
        #expect(try priorities(client.store) == all)
        #expect(try await items.pull().rowsStored == 0)
    }

    @Test("L11 a column that is dropped and defined again is filled by the next pull", arguments: StoreKind.perEngine)
    func definedAgain(_ stores: StoreKind) async throws {
        let (world, client) = try await makeGrown(stores)
        try await client.items.pull(queryID: "all")
        world.clock.advance(by: .seconds(60))
        try await client.items.pull(queryID: "all")
        try await client.client.drop(columns: ["priority"], from: "TodoItem")
        try await world.updateElsewhere(["id": "r1", "priority": 7])
        try await client.items.pull()
        try await client.client.define([Self.newer])
        #expect(try priorities(client.store) == all)
        try await client.items.pull(queryID: "all")
        #expect(try priorities(client.store) == [0, 7, 2, 3, 4, 5])
    }

    @Test(
        "L11 a pull that fails midway resumes, and versions stay untrusted until it has ended",
        arguments: StoreKind.perEngine, [true, false])
    func interrupted(_ stores: StoreKind, hasToken: Bool) async throws {
        let (_, client) = try await makeGrown(stores)
        if !hasToken { try await client.context.resetToken(table: "TodoItem") }
        for number in 2...4 { await pull(client, failingAt: number) }
        try await client.items.pull(queryID: "all", settings: pairs)
        #expect(try priorities(client.store) == all)
    }

    @Test("L11 a row whose conflict is resolved while it is pulled gets the column", arguments: StoreKind.perEngine)
    func resolvedDuringPull(_ stores: StoreKind) async throws {
        let world = try World(stores)
        try world.plant([World.row("a", at: 0).merging(["priority": 1])])
        let client = try await world.makeClient(over: stores.makeStore(), tables: [Self.older])
        try await client.items.insert(["id": "a", "text": "mine"])
        let conflict = try #require(try await pushErrors(client).first)
        try await client.client.define([Self.newer])
        client.onFirst({ $0.method == .get }, isEarly: true, conflict.cancelOperationAndDiscardItem)
        let settings = PullSettings(whenPushFails: .pullOthers)
        _ = await syncErrorCode { try await client.items.pull(queryID: "all", settings: settings) }
        #expect(try priorities(client.store) == [1])
    }

    @Test(
        "L11 F7 the values of a migration step stay where the server has none, until the next version or a reset",
        arguments: StoreKind.perEngine, [true, false])
    func migrated(_ stores: StoreKind, isInterrupted: Bool) async throws {
        let (world, client) = try await makeGrown(stores)
        try world.plant([["id": "r0", "priority": .null]])
        try await client.client.migrate("priority") { step in
            try step.rewrite("TodoItem") { row in if row.id != "r5" { row["priority"] = 100 } }
        }
        if isInterrupted { await pull(client, failingAt: 2) }
        try await client.items.pull(queryID: "all", settings: pairs)
        #expect(try priorities(client.store) == [100, 1, 2, 3, 4, 5])

        world.clock.advance(by: .seconds(60))
        try await world.updateElsewhere(["id": "r1", "priority": 7])
        try await client.items.pull(queryID: "all")
        #expect(try priorities(client.store) == [100, 7, 2, 3, 4, 5])
        try await client.context.resetToken(table: "TodoItem")
        try await client.items.pull(queryID: "all")
        #expect(try priorities(client.store) == [.null, 7, 2, 3, 4, 5])
    }

    @Test(
        "L11 a row whose pending edit is discarded after the next pull has the values of a migration step",
        arguments: StoreKind.perEngine)
    func migratedPending(_ stores: StoreKind) async throws {
        let (world, client) = try await makeGrown(stores)
        try world.plant([["id": "r1", "priority": .null]])
        for id in ["r1", "r2"] { try await client.items.update(["id": .string(id), "text": "mine"]) }
        try await client.client.migrate("priority") { step in
            try step.rewrite("TodoItem") { row in row["priority"] = 100 }
        }
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(400, "no")) : nil }
        for error in try await client.pullOthers("all").operationErrors {
            try await error.cancelOperationAndDiscardItem()
        }
        #expect(try client.row("r1")?["text"] == "r1" && client.row("r1")?["priority"] == 100)
        #expect(try client.row("r2")?["text"] == "r2" && client.row("r2")?["priority"] == 2)
    }

    @Test("L11 a row with a pending edit gets the column when the operation has ended", arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let (_, client) = try await makeGrown(stores)
        try await client.items.update(["id": "r1", "text": "mine"])
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(400, "no")) : nil }
        let error = try await client.pullOthers("all")
        #expect(try priorities(client.store) == [0, .null, 2, 3, 4, 5])
        try await error.operationErrors.first?.cancelOperationAndDiscardItem()
        #expect(try priorities(client.store) == all)
    }
}
