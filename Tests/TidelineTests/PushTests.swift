import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules P1, P5 and P9: the requests of a push, and how their answers are stored.
@Suite("Push", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PushTests {
    /// The requests in the form `PATCH a If-Match {"text":"two"}`.
    private func log(_ client: Client) -> [String] {
        client.transport.sent.map { request, body in
            let match = request.headerFields[.ifMatch].map { " \($0)" } ?? ""
            let target = (request.path ?? "").replacing("/tables/", with: "")
            return "\(request.method) \(target)\(match)\(body.isEmpty ? "" : " " + body)"
        }
    }

    // MARK: P1

    @Test("P1 a push sends the pending operations of all tables in order, nothing else", arguments: StoreKind.perEngine)
    func sendsChangedRows(_ stores: StoreKind) async throws {
        let world = try World(stores) { $0.schemas.append(TableSchema("Note", columns: [.string("text")])) }
        let client = try await world.makeSyncedClient()
        try await client.client.define([TableSchema("Note", columns: [.string("text")])])
        try await client.client.table("Note").insert(["id": "n", "text": "note"])
        try await client.items.delete(id: "a")
        try await client.items.insert(["id": "b", "text": "new"])
        let version = try world.serverRow("a")?.version ?? ""
        client.transport.clear()
        try await client.context.push(settings: PushSettings(maxInFlight: 1))
        #expect(
            log(client) == [
                #"POST Note {"id":"n","text":"note"}"#, "DELETE TodoItem/a \"\(version)\"",
                #"POST TodoItem {"id":"b","text":"new"}"#,
            ])
        try await client.context.push()
        #expect(log(client).count == 3)
    }

    @Test(
        "P1 a PATCH contains the columns that differ from the base row, read at push time, with the store's version",
        .zumoOnly,
        arguments: StoreKind.perEngine)
    func patchesDifference(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let version = try client.row("a")?.version ?? ""
        try await client.items.update(["id": "a", "text": "two", "version": .string(version), "updatedAt": .null])
        try await client.items.update(["id": "a", "priority": 1, "complete": true])
        try await client.items.update(["id": "a", "text": "three"])
        client.transport.clear()
        try await client.context.push()
        #expect(log(client) == [#"PATCH TodoItem/a "\#(version)" {"text":"three","complete":true}"#])
        #expect(try world.state(client) == "local [a=three] queue [] server [a=three]")
        #expect(try client.row("a")?.version == world.serverRow("a")?.version)
        #expect(try client.row("a")?.version != version)
    }

    static let scripts: [Script] = [
        Script(
            "P1 an update back to the base row sends nothing and leaves the queue",
            "update a=two; update a=one; push; requests 0; local [a=one] queue [] server [a=one]"),
        Script(
            "P1 an operation whose row is missing in the store fails alone and stays",
            "update a=two; insert b=new; forget a; push errors invalidItem",
            "local [b=new] queue [update a] server [a=one, b=new]"),
        Script(
            "P5 each answer is stored separately: an interrupted push keeps the earlier answers",
            "insert b=b; insert c=c; insert d=d",
            #"on "d" meanwhile local [a=one, b=b, c=c, d=d] queue [insert d] server [a=one, b=b, c=c]"#,
            #"on "d" meanwhile same c; on "d" lose request; push singly fails network"#,
            "local [a=one, b=b, c=c, d=d] queue [insert d] server [a=one, b=b, c=c]"),
    ]

    @Test("P1, P5 a push sends differences, and stores each answer separately", arguments: StoreKind.perEngine, scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("P1 an update sends a cleared column as null; an insert omits it", .zumoOnly, arguments: StoreKind.perEngine)
    func sendsNull(_ stores: StoreKind) async throws {
        try await Script(
            "nulls", "update a priority=null; insert b=new priority=null; clear; push singly",
            #"sent [PATCH a {"priority":null}, POST TodoItem {"id":"b","text":"new"}]"#
        ).play(stores)
    }

    @Test(
        "P1 an edit back to the base row is sent if an earlier body may have reached the server", .zumoOnly,
        arguments: StoreKind.perEngine,
        [true, false])
    func backToBase(_ stores: StoreKind, arrived: Bool) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.update(["id": "a", "text": "two"])
        await client.pushLosing(arrived ? .loseAnswer : .loseRequest)
        try await client.items.update(["id": "a", "text": "one"])
        #expect(try world.state(client) == "local [a=one] queue [update a] server [a=\(arrived ? "two" : "one")]")
        client.transport.clear()
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
        #expect(log(client).first?.hasSuffix(#"{"text":"one"}"#) == true)
    }

    @Test("P1 without a base row the complete row is sent", .zumoOnly, arguments: StoreKind.perEngine)
    func wholeRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = try await world.makeSyncedClient().store
        // The app writes its rows itself, so the row before the change is unknown.
        let client = try await world.makeClient(store: store) { $0.handlesSyncTableOperations = false }
        try client.store.write { try $0.upsert(["id": "a", "text": "two"], into: "TodoItem") }
        try await client.items.update(["id": "a", "text": "two"])
        client.transport.clear()
        try await client.context.push()
        let body = try #require(log(client).first)
        #expect(body.contains(#""text":"two""#) && body.contains("\"priority\":"))
        for column in SystemColumns.names { #expect(!body.contains("\"\(column)\"")) }
    }

    @Test("P1 the parameters in the settings are added to every request", arguments: StoreKind.perEngine)
    func parameters(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new"])
        try await client.items.update(["id": "a", "text": "two"])
        try await client.context.push(settings: PushSettings(parameters: [("tenant", "x y")]))
        #expect(client.transport.requests.allSatisfy { $0.hasSuffix("?tenant=x%20y") })
        #expect(client.transport.requests.count == 2)
    }

    // MARK: P5

    @Test(
        "P5 row, queue and errors change together, whichever store call of a push fails, and the next push completes",
        arguments: StoreKind.perEngine, [true, false])
    func cutAtEveryCall(_ stores: StoreKind, staysDown: Bool) async throws {
        for call in 1...200 {
            let (world, client) = try await World.withFailingClient(stores)
            let (store, items) = (client.store, client.items)
            try await items.insert(["id": "b", "text": "b"])
            try await items.insert(["id": "c", "text": "c"])
            try await client.context.push()
            // An insert, an update, a delete and a conflict.
            try await world.updateElsewhere(["id": "c", "text": "theirs"])
            try await items.update(["id": "a", "text": "two"])
            try await items.delete(id: "b")
            try await items.update(["id": "c", "text": "mine"])
            try await items.insert(["id": "d", "text": "new"])
            store.fail(at: call, staysDown: staysDown)
            let code = await syncErrorCode { try await client.context.push() }
            guard store.heal() else {
                #expect(code == .completedWithErrors)
                #expect(call > 12)
                return
            }
            #expect(code == .store, "call \(call)")
            try expectWhole(store.base, world, call)
            #expect(client.context.database.clients.inFlight.isEmpty, "call \(call)")
            // The same client continues, or another one replaces it.
            let heir = call.isMultiple(of: 2) ? client : try await world.makeClient(over: store)
            #expect(await syncErrorCode { try await heir.context.push() } == .completedWithErrors, "call \(call)")
            #expect(
                try world.state(store.base)
                    == "local [a=two, c=mine, d=new] queue [update c] server [a=two, b deleted, c=theirs, d=new]",
                "call \(call)")
            #expect(try await heir.context.operationErrors().map(\.itemID) == ["c"])
        }
        Issue.record("a push of four operations takes fewer store calls")
    }

    /// Expects that a row without an operation equals the server's, and that an error record has its operation.
    private func expectWhole(_ store: TestStore, _ world: World, _ call: Int) throws {
        let (operations, errors) = try store.read { reader in
            (
                try reader.rows(matching: TableQuery("MS_TableOperations")).rows,
                try reader.rows(matching: TableQuery("MS_TableOperationErrors")).rows
            )
        }
        let pending = Set(operations.compactMap { $0["itemId"]?.string })
        for id in ["a", "b", "c", "d"] where !pending.contains(id) {
            let local = try store.read { try $0.row(in: "TodoItem", id: id) }
            let server = try world.serverRow(id)
            #expect(local?.version == (server?["deleted"]?.bool == true ? nil : server?.version), "call \(call), \(id)")
        }
        for error in errors {
            let operation = operations.first { $0["id"] == error["operationId"] }
            #expect(operation?["lastError"]?.string != nil, "call \(call)")
        }
    }

    @Test("P5 an operation whose claim fails in the store is not in flight", arguments: StoreKind.perEngine, 1...2)
    func notLeftInFlight(_ stores: StoreKind, call: Int) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        let (store, items) = (client.store, client.items)
        try await items.update(["id": "a", "text": "two"])
        store.fail(at: call)
        #expect(await syncErrorCode { try await client.context.push() } == .store)
        store.heal()
        try await items.update(["id": "a", "text": "three"])
        // A second operation would mean that the first is still considered in flight.
        #expect(try world.state(store.base) == "local [a=three] queue [update a] server [a=one]")
        #expect(try await items.forcePurge() == ForcePurgeResult(rows: 1, operations: 1))
    }

    // MARK: P9

    @Test("P9 two concurrent pushes send each operation once", arguments: StoreKind.perEngine)
    func concurrentPushes(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        for number in 1...20 { try await client.items.insert(["id": .string("r\(number)"), "text": "x"]) }
        let most = MaximumCount()
        client.transport.inspect { _, _ in
            most.enter()
            await Task.yield()
            most.leave()
            return nil
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...4 {
                group.addTask { try await client.context.push(settings: PushSettings(maxInFlight: 1)) }
            }
            try await group.waitForAll()
        }
        #expect(client.transport.requests.count == 20)
        #expect(most.maximum == 1)
        #expect(try await client.queue().isEmpty)
    }

    @Test("P9 a push waiting for another can be canceled, and the others continue", arguments: StoreKind.perEngine)
    func cancelWaiting(_ stores: StoreKind) throws {
        try VirtualWorld.run(stores) { virtual, client in
            try await client.pushInsert(["id": "a", "text": "one"])
            try await client.items.update(["id": "a", "text": "two"])
            let code = SharedValue<SyncError.Code?>(nil)
            client.onFirst(isEarly: true) {
                let waiting = Task(executorPreference: virtual.executor) {
                    code.value = await syncErrorCode { try await client.context.push() }
                }
                // The clock advances when both pushes wait.
                try await virtual.sleep(.seconds(1))
                #expect(code.value == nil)
                waiting.cancel()
                try await virtual.sleep(.seconds(1))
                #expect(code.value == .cancelled)
            }
            try await client.context.push()
            #expect(try virtual.world.state(client) == "local [a=two] queue [] server [a=two]")
            try await client.pushUpdate(["id": "a", "text": "three"])
            #expect(try virtual.world.state(client) == "local [a=three] queue [] server [a=three]")
        }
    }

    @Test(
        "P9 two processes that push one queue concurrently make no duplicate and no conflict, and lose nothing",
        arguments: StoreKind.sharing)
    func twoProcesses(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        // A push waits for the other, by real pauses.
        let waits: (inout SyncOptions) -> Void = { options in
            options.environment.sleep = { try await Task.sleep(for: $0) }
            // On a slow machine, a push would lose a shorter lease to the other one.
            options.pushLeaseDuration = .seconds(1800)
        }
        let first = try await world.makeSyncedClient(store: try file.open(), configure: waits)
        let second = try await world.makeClient(store: try file.open(), configure: waits)
        for number in 1...9 { try await first.items.insert(["id": .string("r\(number)"), "text": "new"]) }
        try await first.items.update(["id": "a", "text": "two"])
        for client in [first, second] {
            let once = Once()
            client.transport.inspect { _, _ in
                if once.first() { try? await client.items.update(["id": "r1", "text": "edited"]) }
                await Task.yield()
                return nil
            }
        }
        async let one = first.context.push()
        async let other = second.context.push()
        _ = try await (one, other)
        try await second.context.push()
        let rows = (1...9).map { "r\($0)=\($0 == 1 ? "edited" : "new")" }.joined(separator: ", ")
        #expect(try world.state(first) == "local [a=two, \(rows)] queue [] server [a=two, \(rows)]")
    }

    @Test("P9 an operation that another process removes before its request is not sent", arguments: StoreKind.sharing)
    func droppedByOtherProcess(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        let client = try await world.makeClient(store: try file.open())
        let second = try await world.makeClient(store: try file.open())
        try await client.items.insert(["id": "b", "text": "new"])
        client.context.delegate = ScriptedDelegate { operation in
            // The operation is claimed, but its request is not sent: there is nothing to delete on the server.
            try await second.items.delete(id: "b")
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try world.state(client) == "local [] queue [] server []")
    }
}
