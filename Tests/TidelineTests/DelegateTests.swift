import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules P2 and P8, and C1 for delegates: the actions of a delegate, none of which loses an operation.
@Suite("Delegate", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct DelegateTests {
    struct OwnError: Error {}

    /// Makes a client with a pending update of `a` to `mine`. If `inConflict` is true, the server has `theirs`.
    private func makeClient(_ world: World, inConflict: Bool = false) async throws -> Client {
        let client = try await world.makeSyncedClient()
        if inConflict {
            try await world.updateElsewhere(["id": "a", "text": "theirs", "priority": 9])
        }
        try await client.items.update(["id": "a", "text": "mine"])
        return client
    }

    @Test(
        "P2 the delegate receives every operation in order, and the completion of the push",
        arguments: StoreKind.perEngine)
    func passes(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let delegate = ScriptedDelegate { try await $0.execute() }
        client.context.delegate = delegate
        try await client.items.insert(["id": "b", "text": "new"])
        try await client.items.update(["id": "a", "text": "two"])
        try await client.context.push(settings: PushSettings(maxInFlight: 1))
        try await client.items.delete(id: "b")
        try await client.context.push()
        #expect(delegate.calls == ["insert b", "update a", "completed 0", "delete b", "completed 0"])
        #expect(try world.state(client) == "local [a=two] queue [] server [a=two, b deleted]")
    }

    @Test(
        "P2 a delegate sees the row, or the deleted row, with its base version",
        arguments: StoreKind.perEngine, [OperationKind.update, .delete])
    func sees(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let version = try client.row("a")?.version
        if kind == .update {
            try await client.items.update(["id": "a", "text": "mine"])
        } else {
            try await client.items.delete(id: "a")
        }
        client.context.delegate = ScriptedDelegate { operation in
            #expect(operation.operation.kind == kind && operation.item.id == "a")
            #expect(operation.item["text"] == (kind == .update ? "mine" : "one"))
            #expect(operation.item.version == version && version != nil)
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
    }

    @Test("P2 an item changed by the delegate is sent, and the answer is stored", arguments: StoreKind.perEngine)
    func changesItem(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        client.context.delegate = ScriptedDelegate { operation in
            operation.item["text"] = "changed"
            operation.item["complete"] = true
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=changed] queue [] server [a=changed]")
        #expect(try client.row("a")?["complete"] == true)
    }

    @Test(
        "P2 executing again with the server's version resolves a conflict", arguments: StoreKind.perEngine,
        OperationKind.allCases)
    func executesTwice(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, inConflict: true)
        if kind == .delete { try await client.items.delete(id: "a") }
        if kind == .insert {
            let other = try await world.makeOther()
            try await other.items.insert(["id": "b", "text": "theirs"])
            try await other.context.push()
            try await client.items.forcePurge()
            try await client.items.insert(["id": "b", "text": "mine"])
        }
        client.context.delegate = ScriptedDelegate { operation in
            do {
                return try await operation.execute()
            } catch let failure as OperationFailure where failure.code == .conflict {
                let server = try #require(failure.serverItem)
                #expect(server["text"] == "theirs")
                if kind == .insert { return server }
                operation.item["version"] = server["version"]
                return try await operation.execute()
            }
        }
        try await client.context.push()
        let end =
            switch kind {
            case .insert: "local [b=theirs] queue [] server [a=theirs, b=theirs]"
            case .update: "local [a=mine] queue [] server [a=mine]"
            case .delete: "local [] queue [] server [a deleted]"
            }
        #expect(try world.state(client) == end)
        if kind == .update { #expect(try world.serverRow("a")?["priority"] == 9) }
    }

    @Test("P2 a delegate can force its row by removing the version", arguments: StoreKind.perEngine)
    func forces(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, inConflict: true)
        client.context.delegate = ScriptedDelegate { operation in
            operation.item["version"] = nil
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine] queue [] server [a=mine]")
    }

    @Test(
        "P2 a row returned by the delegate is stored as the result, even if it has only a few columns",
        arguments: StoreKind.perEngine)
    func returnsOwnRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        let version = try client.row("a")?.version
        client.context.delegate = ScriptedDelegate { _ in ["id": "a", "text": "made up"] }
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try world.state(client) == "local [a=made up] queue [] server [a=one]")
        #expect(try client.row("a")?["priority"] == 1)
        #expect(try client.row("a")?.version == version)
    }

    @Test(
        "P2 an edit made during the operation follows a row returned by the delegate, with the earlier base version",
        arguments: StoreKind.perEngine)
    func editBehindOwnRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        let version = try client.row("a")?.version
        client.context.delegate = ScriptedDelegate { _ in
            try await client.items.update(["id": "a", "complete": true])
            return ["id": "a", "text": "made up"]
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=made up] queue [update a] server [a=one]")
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
        client.context.delegate = nil
        try await world.updateElsewhere()
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        #expect(try world.serverRow("a")?["text"] == "theirs")
    }

    @Test("P2 an edit made during an update without differences keeps its base version", arguments: StoreKind.perEngine)
    func editBehindEmptyUpdate(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        try await client.items.update(["id": "a", "text": "one"])
        let version = try client.row("a")?.version
        client.context.delegate = ScriptedDelegate { operation in
            try await client.items.update(["id": "a", "text": "edited"])
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
        client.context.delegate = nil
        try await client.context.push()
        #expect(try world.state(client) == "local [a=edited] queue [] server [a=edited]")
    }

    @Test("P2 the same if the delegate leaves nothing to send and there is no base row", arguments: StoreKind.perEngine)
    func editBehindNothing(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let store = try await world.makeSyncedClient().store
        let client = try await world.makeClient(store: store) { $0.handlesSyncTableOperations = false }
        let version = try client.row("a")?.version
        try await client.items.update(["id": "a", "text": "mine"])
        client.context.delegate = ScriptedDelegate { operation in
            try await client.items.update(["id": "a", "text": "edited"])
            operation.item = ["id": "a", "version": operation.item["version"] ?? .null]
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(client.transport.requests.isEmpty)
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
    }

    @Test(
        "P2 an error thrown by the delegate fails its operation only, and the push continues",
        arguments: StoreKind.perEngine)
    func throwsOwnError(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        try await client.items.insert(["id": "b", "text": "new"])
        client.context.delegate = ScriptedDelegate { operation in
            if operation.operation.itemID == "a" { throw OwnError() }
            return try await operation.execute()
        }
        let errors = try await pushErrors(client)
        #expect(errors.map(\.code) == [.delegate] && errors.first?.message.contains("OwnError") == true)
        #expect(try world.state(client) == "local [a=mine, b=new] queue [update a] server [a=one, b=new]")
    }

    @Test(
        "P2 an error of another call to the core in the delegate does not end the push", arguments: StoreKind.perEngine)
    func throwsOtherSyncError(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        try await client.items.insert(["id": "b", "text": "new"])
        client.context.delegate = ScriptedDelegate { operation in
            if operation.operation.itemID == "a" { try await client.items.update(["id": "nowhere", "text": "x"]) }
            return try await operation.execute()
        }
        #expect(try await pushErrors(client).map(\.code) == [.delegate])
        #expect(try world.state(client) == "local [a=mine, b=new] queue [update a] server [a=one, b=new]")
    }

    @Test(
        "P2 ignoring an error loses no operation", arguments: StoreKind.perEngine,
        ["rejected", "conflict", "network", "never executed"])
    func passesOver(_ stores: StoreKind, what: String) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, inConflict: what == "conflict")
        client.context.delegate = ScriptedDelegate { operation in
            if what == "never executed" { return nil }
            _ = try? await operation.execute()
            return nil
        }
        if what == "rejected" { client.transport.inspect { _, _ in .answer(.answer(400)) } }
        if what == "network" { client.transport.inspect { _, _ in .loseRequest } }
        let code = await syncErrorCode { try await client.context.push() }
        #expect(code == (what == "network" ? .network : .completedWithErrors))
        #expect(try await client.queue() == ["update a"])
        #expect(try client.texts() == ["mine"])
    }

    @Test(
        "P2 a delete that the delegate completes without executing it is done; the row stays deleted locally",
        arguments: StoreKind.perEngine)
    func answersDelete(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.delete(id: "a")
        client.context.delegate = ScriptedDelegate { _ in nil }
        try await client.context.push()
        #expect(try world.state(client) == "local [] queue [] server [a=one]")
    }

    @Test(
        "P2 an item that does not fit the table is refused before it is sent, and the operation can still execute",
        arguments: StoreKind.perEngine, [["text": 5], ["colour": "red"], ["effort": .double(.nan)]] as [Row])
    func badItem(_ stores: StoreKind, change: Row) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        client.context.delegate = ScriptedDelegate { operation in
            operation.item = operation.item.merging(change)
            return try await operation.execute()
        }
        for _ in 1...2 {
            let error = try #require(try await pushErrors(client).first)
            #expect(error.code == .invalidItem && error.message.contains(change.columnNames[0]))
        }
        #expect(client.transport.requests.isEmpty)
        client.context.delegate = nil
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine] queue [] server [a=mine]")
    }

    @Test(
        "P2 an executed item whose answer was lost leaves nothing on the server when another item is executed",
        arguments: StoreKind.perEngine)
    func executesAnotherItem(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        client.transport.inspect { [transport = client.transport] _, _ in
            transport.requests.count == 1 ? .loseAnswer : nil
        }
        client.context.delegate = ScriptedDelegate { operation in
            operation.item["priority"] = 5
            _ = try? await operation.execute()
            operation.item["priority"] = 1
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine] queue [] server [a=mine]")
        #expect(try world.serverRow("a")?["priority"] == 1)
        #expect(try client.row("a")?["priority"] == 1)
    }

    // MARK: P8

    @Test(
        "P8 cancelPush ends the push after the current operation, before or after its execution",
        arguments: StoreKind.perEngine, ["before", "after", "instead", "failed"])
    func cancels(_ stores: StoreKind, when: String) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        try await client.items.insert(["id": "b", "text": "new"])
        let delegate = ScriptedDelegate { operation in
            if when != "after" { operation.cancelPush() }
            if when == "instead" { return nil }
            let row = try await operation.execute()
            operation.cancelPush()
            return row
        }
        client.context.delegate = delegate
        if when == "failed" { client.transport.inspect { _, _ in .answer(.answer(400)) } }
        let settings = PushSettings(maxInFlight: 1)
        #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .cancelled)
        let isSent = when == "before" || when == "after"
        #expect(try await client.queue() == (isSent ? ["insert b"] : ["update a", "insert b"]))
        // A failure before the push was canceled is reported with it.
        #expect(delegate.calls == ["update a", when == "failed" ? "completed 1" : "completed 0"])
        #expect(try await client.context.operationErrors().count == (when == "failed" ? 1 : 0))
        client.context.delegate = nil
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=mine, b=new] queue [] server [a=mine, b=new]")
    }

    // MARK: C1

    @Test(
        "C1 a push ends without an error if pushCompleted resolves all of its errors", arguments: StoreKind.perEngine,
        [true, false])
    func resolvesAtTheEnd(_ stores: StoreKind, all: Bool) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, inConflict: true)
        try await client.items.insert(["id": "b", "text": "new"])
        client.transport.inspect { request, _ in request.method == .post ? .answer(.answer(400)) : nil }
        let delegate = ScriptedDelegate(
            completed: { errors in
                for error in errors where all || error.itemID == "a" {
                    do {
                        try await error.cancelOperationAndDiscardItem()
                    } catch {
                        Issue.record("\(error)")
                    }
                }
            }, { try await $0.execute() })
        client.context.delegate = delegate
        #expect(try await pushErrors(client).map(\.itemID) == (all ? [] : ["b"]))
        #expect(Set(delegate.calls) == ["update a", "insert b", "completed 2"] && delegate.calls.last == "completed 2")
        #expect(
            try world.state(client)
                == (all
                    ? "local [a=theirs] queue [] server [a=theirs]"
                    : "local [a=theirs, b=new] queue [insert b] server [a=theirs]"))
    }

    @Test(
        "P2 local changes by the delegate to the current operation's row are kept and sent by the next push",
        arguments: StoreKind.perEngine)
    func editsRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        client.context.delegate = ScriptedDelegate { operation in
            try await client.items.update(["id": "a", "complete": true])
            let row = try await operation.execute()
            try await client.items.update(["id": "a", "text": "last"])
            return row
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=last] queue [update a] server [a=mine]")
        client.context.delegate = nil
        try await client.context.push()
        #expect(try world.state(client) == "local [a=last] queue [] server [a=last]")
        #expect(try world.serverRow("a")?["complete"] == true)
    }

    @Test("P2 an insert that conflicts with an existing row continues as its update", arguments: StoreKind.perEngine)
    func changesKind(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let other = try await world.makeOther()
        try await other.items.insert(["id": "b", "text": "theirs", "priority": 9])
        try await other.context.push()
        try await client.items.insert(["id": "b", "text": "mine"])
        client.context.delegate = ScriptedDelegate { operation in
            do {
                return try await operation.execute()
            } catch let failure as OperationFailure where failure.code == .conflict {
                operation.kind = .update
                operation.item = ["id": "b", "text": "mine", "version": failure.serverItem?["version"] ?? .null]
                return try await operation.execute()
            }
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one, b=mine] queue [] server [a=one, b=mine]")
        #expect(try client.row("b")?["priority"] == 9)
    }

    @Test("P2 an update that becomes a delete removes the local row too", arguments: StoreKind.perEngine)
    func becomesDelete(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        client.context.delegate = ScriptedDelegate { operation in
            operation.kind = .delete
            return try await operation.execute()
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [] queue [] server [a deleted]")
    }

    @Test(
        "P2 a delete in conflict that the delegate completes with the server's row shows that row",
        arguments: StoreKind.perEngine)
    func deleteTakesServerRow(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await world.updateElsewhere()
        try await client.items.delete(id: "a")
        client.context.delegate = ScriptedDelegate { operation in
            do {
                return try await operation.execute()
            } catch let failure as OperationFailure where failure.code == .conflict {
                return failure.serverItem
            }
        }
        try await client.context.push()
        #expect(try world.state(client) == "local [a=theirs] queue [] server [a=theirs]")
        try await client.items.pull(queryID: "q")
        #expect(try client.texts() == ["theirs"])
    }

    @Test("P2 a row with another identifier, or one that does not fit, is refused", arguments: StoreKind.perEngine)
    func foreignRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        for row in [["id": "b", "text": "x"], ["id": "a", "text": 5], ["id": "a", "colour": "red"]] as [Row] {
            client.context.delegate = ScriptedDelegate { _ in row }
            #expect(try await pushErrors(client).map(\.code) == [.delegate])
        }
        client.context.delegate = ScriptedDelegate { operation in
            operation.item = ["id": "b", "text": "x"]
            return try await operation.execute()
        }
        #expect(try await pushErrors(client).map(\.code) == [.invalidItem])
        #expect(client.transport.requests.isEmpty)
        #expect(try world.state(client) == "local [a=mine] queue [update a] server [a=one]")
    }

    @Test("P8 a CancellationError thrown by the delegate does not end the push", arguments: StoreKind.perEngine)
    func ownCancellation(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world)
        try await client.items.insert(["id": "b", "text": "new"])
        client.context.delegate = ScriptedDelegate { operation in
            if operation.operation.itemID == "a" { throw CancellationError() }
            return try await operation.execute()
        }
        let errors = try await pushErrors(client)
        #expect(errors.map(\.code) == [.delegate] && errors.first?.cause is CancellationError)
        #expect(try world.state(client) == "local [a=mine, b=new] queue [update a] server [a=one, b=new]")
    }

    @Test("P8 a conflict before the push was canceled is reported and stored", arguments: StoreKind.perEngine)
    func conflictBeforeCancel(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await makeClient(world, inConflict: true)
        try await client.items.insert(["id": "b", "text": "new"])
        let ends = HeaderLog()
        client.context.delegate = ScriptedDelegate { operation in
            defer { operation.cancelPush() }
            return try await operation.execute()
        } ended: {
            ends.add($0.error?.code.rawValue)
        }
        do {
            try await client.context.push(settings: PushSettings(maxInFlight: 1))
            Issue.record("the push succeeded")
        } catch let error as SyncError {
            #expect(error.code == .cancelled && error.operationErrors.map(\.code) == [.conflict])
        }
        let stored = try #require(await client.context.operationErrors().first)
        #expect(stored.code == .conflict && stored.serverItem?["text"] == "theirs")
        #expect(abs(stored.time.ticks - Timestamp.now.ticks) < 3600 * Timestamp.ticksPerSecond)
        #expect(ends.values == ["cancelled"])
    }
}
