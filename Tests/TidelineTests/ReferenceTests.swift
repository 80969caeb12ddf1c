import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule Q3: parents first on insert, children first on delete, on a server that refuses any other order.
@Suite("References", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ReferenceTests {
    /// Makes a world with the folder `f`, the list `l` in it, and the items `i` and `j` in that, on both sides.
    private func makeSynced(_ stores: StoreKind) async throws -> ReferenceWorld {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert Folder f; insert List l f; insert Item i l; insert Item j l")
        try await world.push()
        world.clear()
        return world
    }

    private func errors(_ world: ReferenceWorld, _ maxInFlight: Int = 8) async throws -> [String] {
        do {
            try await world.push(maxInFlight)
            return []
        } catch let error as SyncError where error.code == .completedWithErrors {
            return error.operationErrors.map { "\($0.kind) \($0.table) \($0.itemID)" }
        }
    }

    // MARK: Order

    @Test("Q3 parents are inserted before children, whatever their order", arguments: StoreKind.perEngine, [1, 8])
    func inserts(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert Item i1 l; insert Item i2 l; insert Item other; insert List l g")
        try await world.change("insert Folder g f; insert Folder f")
        let result = try await world.push(maxInFlight)
        #expect(result.progress.sent == 6 && result.progress.heldBack == 0)
        try await world.expectFinished()
        if maxInFlight == 1 {
            #expect(
                world.requests == [
                    "insert Folder f", "insert Folder g", "insert List l", "insert Item i1", "insert Item i2",
                    "insert Item other",
                ])
        }
    }

    @Test("Q3 rows without pending parents keep their order", arguments: StoreKind.perEngine)
    func order(_ stores: StoreKind) async throws {
        let world = try await makeSynced(stores)
        try await world.change("insert Item a l; insert List m f; insert Item b; move Item i")
        try await world.push(1)
        #expect(world.requests == ["insert Item a", "insert List m", "insert Item b", "update Item i"])
    }

    @Test("Q3 children are deleted before their parents", arguments: StoreKind.perEngine, [1, 8])
    func deletes(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await makeSynced(stores)
        try await world.change("delete Folder f; delete List l; delete Item i; delete Item j")
        try await world.push(maxInFlight)
        try await world.expectFinished()
        if maxInFlight == 1 {
            #expect(world.requests == ["delete Item i", "delete Item j", "delete List l", "delete Folder f"])
        }
    }

    @Test("Q3 an update waits for its new parent, the old one's delete for it", arguments: StoreKind.perEngine, [1, 8])
    func moves(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await makeSynced(stores)
        try await world.change("delete List l; move Item i m; move Item j; insert List m f")
        try await world.push(maxInFlight)
        try await world.expectFinished()
        #expect(try world.serverRow("i", in: "Item")?["listId"] == "m")
        #expect(try world.serverRow("l", in: "List") == nil)
        if maxInFlight == 1 {
            #expect(world.requests == ["insert List m", "update Item i", "update Item j", "delete List l"])
        }
    }

    @Test("Q3 a restored parent precedes the rows that reference it", arguments: StoreKind.perEngine)
    func restores(_ stores: StoreKind) async throws {
        let world = try await makeSynced(stores)
        // A delete that is not sent becomes an update that restores the row, here without its folder.
        try await world.change("insert Item n l; delete List l; insert List l")
        try await world.push()
        #expect(world.requests.last == "insert Item n" && world.requests.count >= 2)
        try await world.expectFinished()
    }

    @Test("Q3 a table's rows that reference each other or themselves are sent", arguments: StoreKind.perEngine, [1, 8])
    func cycleOfRows(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await ReferenceWorld(stores)
        // A server cannot enforce such references, so this one does not.
        world.client.transport.inspect(nil)
        try await world.change("insert Folder a b; insert Folder b c; insert Folder c a; insert Folder d d")
        try await world.change("insert Folder e a")
        #expect(try await world.push(maxInFlight).progress.sent == 5)
        for id in ["a", "b", "c", "d", "e"] { try await world.change("delete Folder \(id)") }
        #expect(try await world.push(maxInFlight).progress.sent == 5)
        #expect(try await world.queue().isEmpty)
    }

    @Test("Q3 ids of parents compare without regard to ASCII case", arguments: StoreKind.perEngine)
    func cases(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        world.client.transport.inspect(nil)
        try await world.change("insert Item item LIST; insert List list")
        try await world.push(1)
        #expect(world.client.transport.requests.map { $0.contains("/List") } == [true, false])
    }

    // MARK: Failures

    @Test("Q3 a failed parent holds back only its children, to the next push", arguments: StoreKind.perEngine, [1, 8])
    func failedParent(_ stores: StoreKind, maxInFlight: Int) async throws {
        let recorder = LogRecorder()
        let world = try await ReferenceWorld(stores) { $0.logger = recorder.logger }
        try await world.change("insert List l; insert Item i l; insert List m; insert Item j m")
        world.refuse("insert List l", 403)
        #expect(try await errors(world, maxInFlight) == ["insert List l"])
        #expect(try await world.queue() == ["insert List l", "insert Item i"])
        #expect(try await world.client.context.operationErrors().map(\.itemID) == ["l"])
        #expect(try world.serverRow("j", in: "Item") != nil)
        #expect(recorder.entries.contains { $0.level == .notice && $0.message.contains("1 operation was held back") })
        world.fault(nil)
        #expect(try await world.push(maxInFlight).progress.sent == 2 && world.refused.isEmpty)
    }

    @Test("Q3 the children of a child that is held back are held back too", arguments: StoreKind.perEngine, [1, 8])
    func failedGrandparent(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert Item i l; insert List l f; insert Folder f; insert Item k l; insert Item x")
        let ended = Mutex<PushResult?>(nil)
        world.client.context.delegate = ScriptedDelegate(
            { try await $0.execute() }, ended: { result in ended.withLock { $0 = result } })
        world.refuse("insert Folder f", 400)
        #expect(try await errors(world, maxInFlight) == ["insert Folder f"])
        #expect(world.requests.sorted() == ["insert Folder f", "insert Item x"])
        let progress = try #require(ended.withLock { $0?.progress })
        #expect(progress.heldBack == 3 && progress.failed == 1 && progress.sent == 1 && progress.total == 5)
    }

    @Test("Q3 a child whose delete fails holds back the delete of its parent", arguments: StoreKind.perEngine, [1, 8])
    func failedDelete(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await makeSynced(stores)
        try await world.change("delete List l; delete Item i; delete Item j; delete Folder f")
        world.refuse("delete Item j", 403)
        #expect(try await errors(world, maxInFlight) == ["delete Item j"])
        #expect(try await world.queue() == ["delete List l", "delete Item j", "delete Folder f"])
        world.fault(nil)
        try await world.push(maxInFlight)
        try await world.expectFinished()
    }

    @Test("Q3 a parent in conflict holds back its children until it is resolved", arguments: StoreKind.perEngine)
    func heldParent(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.insertElsewhere()
        try await world.change("insert Item i l; insert List l; insert Item x")
        for _ in 1...2 {
            #expect(try await errors(world) == ["insert List l"])
            #expect(try await world.queue() == ["insert Item i", "insert List l"])
        }
        let error = try #require(try await world.client.context.operationErrors().first)
        try await error.keepOperationAndUpdateItem(["text": "mine"])
        try await world.push(1)
        #expect(try await world.queue().isEmpty)
        #expect(try world.serverRow("l", in: "List")?["text"] == "mine")
    }

    @Test(
        "Q5 the children of an operation that failed on the server are sent after it, in the same push",
        arguments: StoreKind.perEngine, [1, 8])
    func deferredParent(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert List l")
        world.refuse("insert List l", 500)
        #expect(try await errors(world, maxInFlight) == ["insert List l"])
        try await world.change("insert Item i m; insert List m; insert Item j l; insert Item k")
        // Another failure: nothing that depends on it is sent, and nothing is sent twice.
        world.clear()
        #expect(try await errors(world, maxInFlight) == ["insert List l"])
        #expect(world.requests.count { $0 != "insert List l" } == 3)
        #expect(try await world.queue() == ["insert List l", "insert Item j"])
        world.fault(nil)
        try await world.change("insert Item o")
        world.clear()
        try await world.push(1)
        #expect(world.requests == ["insert Item o", "insert List l", "insert Item j"])
        #expect(world.refused.isEmpty)
    }

    @Test("Q5 a delete waits for a child that failed on the server before", arguments: StoreKind.perEngine)
    func deferredChild(_ stores: StoreKind) async throws {
        let world = try await makeSynced(stores)
        try await world.change("delete Item i")
        world.refuse("delete Item i", 500)
        #expect(try await errors(world) == ["delete Item i"])
        world.fault(nil)
        try await world.change("delete Item j; delete List l")
        world.clear()
        try await world.push(1)
        #expect(world.requests == ["delete Item j", "delete Item i", "delete List l"])
        #expect(world.refused.isEmpty)
    }

    @Test("Q5 rows of a cycle of which one failed on the server are sent", arguments: StoreKind.perEngine)
    func deferredCycle(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        world.client.transport.inspect { _, body in body.contains("\"b\"") ? .answer(.answer(500)) : nil }
        try await world.change("insert Folder a b; insert Folder b a")
        _ = try await errors(world)
        world.client.transport.inspect(nil)
        for _ in 1...2 { _ = try? await world.push() }
        #expect(try await world.queue().isEmpty)
    }

    @Test("P3 a parent's lost response aborts the push, and the next one sends all", arguments: StoreKind.perEngine)
    func lostAnswer(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert Item i l; insert List l")
        world.fault { $0 == "insert List l" ? .loseAnswer : nil }
        #expect(await syncErrorCode { try await world.push() } == .network)
        #expect(world.requests == ["insert List l"])
        world.fault(nil)
        try await world.push()
        try await world.expectFinished()
    }

    // MARK: Changes during the push

    @Test("Q3 a row that gets a new parent during the push waits for it", arguments: StoreKind.perEngine, [1, 8])
    func changedReference(_ stores: StoreKind, maxInFlight: Int) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert List l; insert Item i l")
        // The parent has a greater number than any operation at the start of the push.
        world.onFirst { try await world.change("insert List m; move Item i m") }
        try await world.push(maxInFlight)
        #expect(try world.serverRow("i", in: "Item")?["listId"] == "m")
        try await world.expectFinished()
    }

    @Test("Q3 a child that another process deletes during the push precedes its parent", arguments: StoreKind.perEngine)
    func otherProcess(_ stores: StoreKind) async throws {
        let world = try await makeSynced(stores)
        let other = try await world.world.makeClient(store: world.client.store)
        try await other.client.define(ReferenceWorld.schemas)
        try await world.change("move Item i; delete List l")
        world.onFirst { try await other.client.table("Item").delete(id: "j") }
        try await world.push(1)
        #expect(world.requests == ["update Item i", "delete Item j", "delete List l"])
        #expect(try await world.queue().isEmpty)
    }

    @Test("Q3 a child deleted after a first parent was sent precedes the next parent", arguments: StoreKind.perEngine)
    func deletedDuringPush(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert List l; insert List m; insert Item i m")
        try await world.push()
        world.clear()
        try await world.change("delete List l; delete List m")
        world.onFirst { [client = world.client] in try await client.client.table("Item").delete(id: "i") }
        try await world.push(1)
        #expect(world.requests == ["delete List l", "delete Item i", "delete List m"])
        #expect(try await world.queue().isEmpty)
    }

    @Test("Q3 a parent whose pending insert is gone no longer holds back its children", arguments: StoreKind.perEngine)
    func discardedParent(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        world.client.transport.inspect { request, _ in
            request.path?.contains("/List") == true ? .answer(.answer(403)) : nil
        }
        try await world.change("insert List l; insert Item i l")
        #expect(try await errors(world) == ["insert List l"])
        #expect(try await world.table("List").forcePurge().operations == 1)
        try await world.push()
        #expect(try world.serverRow("i", in: "Item")?["listId"] == "l")
    }

    @Test("P8 a push cancelled while children wait leaves a queue for the next push", arguments: StoreKind.perEngine)
    func cancelled(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert Item a l; insert Item b l; insert Item c l; insert List l")
        world.client.context.delegate = ScriptedDelegate { operation in
            operation.cancelPush()
            return try await operation.execute()
        }
        #expect(await syncErrorCode { try await world.push() } == .cancelled)
        #expect(world.requests == ["insert List l"])
        world.client.context.delegate = nil
        try await world.push()
        try await world.expectFinished()
    }

    // MARK: With the rest

    @Test("Q3 a delegate performs parents first; calls for children begin after them", arguments: StoreKind.perEngine)
    func delegate(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        let delegate = ScriptedDelegate { operation in
            if operation.operation.table == "List" { await Task.yield() }
            return try await operation.execute()
        }
        world.client.context.delegate = delegate
        try await world.client.client.transaction { transaction in
            try transaction.insert(["id": "i", "listId": "l"], into: "Item")
            try transaction.insert(["id": "l", "folderId": "f"], into: "List")
            try transaction.insert(["id": "f"], into: "Folder")
        }
        try await world.push()
        #expect(delegate.calls == ["insert f", "insert l", "insert i", "completed 0"])
        #expect(world.refused.isEmpty)
    }

    @Test("C3 children of a parent whose conflict a policy resolves are sent after it", arguments: StoreKind.perEngine)
    func policy(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores) { $0.conflictPolicy = .clientWins }
        try await world.insertElsewhere()
        try await world.change("insert Item i l; insert List l")
        try await world.push()
        #expect(world.requests.last == "insert Item i" && world.requests.count == 3)
        #expect(try world.serverRow("l", in: "List")?["text"] == "l")
    }

    @Test("Q3 many children of a slow parent wait outside of memory, and are all sent", arguments: StoreKind.perEngine)
    func manyChildren(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.client.client.transaction { transaction in
            for number in 0..<600 {
                try transaction.insert(["id": .string("i\(number)"), "listId": "l"], into: "Item")
            }
            try transaction.insert(["id": "l"], into: "List")
            try transaction.insert(["id": "m"], into: "List")
        }
        #expect(try await world.push().progress.sent == 602)
        #expect(world.requests.first == "insert List l" && world.refused.isEmpty)
        try await world.client.client.transaction { transaction in
            try transaction.delete(id: "l", from: "List")
            for number in 0..<600 { try transaction.delete(id: "i\(number)", from: "Item") }
        }
        #expect(try await world.push().progress.sent == 601)
        #expect(world.requests.last == "delete List l" && world.refused.isEmpty)
    }

    @Test("P3 many children of a failed parent are held back in several transactions", arguments: StoreKind.perEngine)
    func manyHeldBack(_ stores: StoreKind) async throws {
        let world = try await ReferenceWorld(stores)
        try await world.change("insert List l")
        try await world.client.client.transaction { transaction in
            for number in 0..<600 {
                try transaction.insert(["id": .string("i\(number)"), "listId": "l"], into: "Item")
            }
            try transaction.insert(["id": "x"], into: "Item")
        }
        world.refuse("insert List l", 403)
        #expect(try await errors(world) == ["insert List l"])
        #expect(world.requests == ["insert List l", "insert Item x"])
        world.fault(nil)
        #expect(try await world.push().progress.sent == 601)
    }
}
