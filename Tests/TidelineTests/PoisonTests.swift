import Synchronization
import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules Q5 and P3: an operation that cannot succeed fails alone and delays no other operation.
@Suite("Poison operations", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PoisonTests {
    // A JSON value makes the original server fail with 500 every time. After an edit, the operation keeps its place.
    static let last = Script(
        "Q5 operations that failed are sent last, and only new failures end a push",
        "empty; insert p1 tags=[1]; insert p2 tags=[1]; insert p3 tags=[1]; insert a=a; insert b=b",
        "push singly fails serverFailing; clear; push fails completedWithErrors; failed [p1, p2, p3]; requests 14",
        "server [a=a, b=b]; other insert z=z; pull others fails completedWithErrors; row z text=z",
        "update p1 tags=null; push fails completedWithErrors; failed [p2, p3]; remote p1 id=p1"
    ).served { $0.reproduce(.original) }

    @Test(
        "P3 a row with a JSON text that servers do not accept can be deleted and pulled, and a change of it fails alone",
        arguments: StoreKind.perEngine, ["5", "[", ""])
    func oddJSON(_ stores: StoreKind, text: String) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("deleted", at: 0), World.row("edited", at: 1), World.row("pulled", at: 2)])
        try await client.items.pull(queryID: "q")
        // An app that writes its rows itself can store such a text.
        let odd: [Row] = ["deleted", "edited", "pulled"].map { ["id": .string($0), "tags": .json(text)] }
        try client.store.write { try $0.upsert(odd, into: "TodoItem") }
        try await client.items.delete(id: "deleted")
        for id in ["edited", "pulled"] { try await client.items.update(["id": .string(id), "text": "mine"]) }
        #expect(try await client.context.pendingOperations().count == 3)
        try world.plant([World.row("pulled", at: 500_000)])
        try await client.pullOthers("q")
        #expect(try await client.context.operationErrors().map(\.itemID) == ["edited", "pulled"])
        #expect(try world.serverTexts() == ["edited", "pulled"])
    }

    @Test(
        "A table whose server makes the identifiers is rejected once, no duplicates, with and without versions",
        arguments: StoreKind.perEngine, [true, false])
    func foreignIDs(_ stores: StoreKind, hasVersions: Bool) async throws {
        let world = try World(stores) { $0.reproduce([.original, .makesIDs]) }
        let client = try await world.makeClient()
        client.transport.inspect { request, _ in
            guard request.method == .post, !hasVersions else { return nil }
            return .change { $0.without(.eTag).editing { $0.replacing(/"version":"[^"]*",?/, with: "") } }
        }
        try await client.items.insert(["id": "a", "text": "one"])
        for _ in 1...3 {
            let error = try #require(try await pushErrors(client).first)
            #expect(error.code == .rejected && error.message.contains("cannot be synchronized"))
        }
        #expect(try world.serverTexts() == ["one"])
        try await client.context.operationErrors()[0].cancelOperationAndDiscardItem()
        #expect(try await client.queue().isEmpty)
    }

    @Test("P3 null in a required column of an answer fails only its operation", arguments: StoreKind.perEngine)
    func requiredColumn(_ stores: StoreKind) async throws {
        let schema = TableSchema("TodoItem", columns: [.string("text", optional: false)])
        let client = try await World(stores).makeClient(over: stores.makeStore(), tables: [schema])
        for id in ["a", "b"] { try await client.items.insert(["id": .string(id), "text": "new"]) }
        client.transport.inspect { _, body in
            body.contains(#""a""#) ? .change { $0.replacing(#""text":"new""#, with: #""text":null"#) } : nil
        }
        let errors = try await pushErrors(client)
        #expect(errors.map(\.itemID) == ["a"] && errors.map(\.code) == [.invalidAnswer])
        #expect(errors.first?.message.contains("text") == true)
        #expect(try await client.queue() == ["insert a"])
    }

    @Test("P3 an operation on an undefined table is listed, and nothing else fails", arguments: StoreKind.perEngine)
    func undefinedTable(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try client.store.write { writer in
            let gone = TableOperation(id: 900, table: "Gone", itemID: "g", itemKey: "g", kind: .update)
            var deleted = TableOperation(id: 901, table: "Gone", itemID: "h", itemKey: "h", kind: .delete)
            deleted.deletedItem = #"{"id":"h","text":"was"}"#
            for operation in [gone, deleted] { try client.context.queue.operations.save(operation, in: writer) }
        }
        try await client.items.update(["id": "a", "text": "two"])
        for _ in 1...2 {
            let errors = try await pushErrors(client)
            #expect(errors.map(\.itemID) == ["g", "h"] && errors.allSatisfy { $0.code == .invalidItem })
            #expect(errors.allSatisfy { $0.message.contains("\"Gone\"") })
            let pending = try await client.context.pendingOperations()
            #expect(pending.map(\.lastError) == errors.map(\.message))
        }
        #expect(try world.serverTexts() == ["two"])
        #expect(try await client.context.pendingOperations().map { $0.item?["text"] } == [nil, "was"])
        try await client.context.operationErrors()[0].cancelOperationAndDiscardItem()
        let waiting = try await client.context.pendingOperations()[0]
        try await client.context.cancelOperationAndDiscardItem(waiting)
        #expect(try await client.queue().isEmpty)
        #expect(try await client.context.operationErrors().isEmpty)
    }

    static let conflicts: [Script] =
        [
            Script(
                "P4 a conflict is not sent again until its operation changes or the app requests it",
                "other update a=theirs; update a=mine; push errors conflict; clear",
                "push errors conflict; push errors conflict; push errors conflict; requests 0",
                "push again errors conflict; requests 1; update a=again; push errors conflict; requests 2")
        ]
        + [500, 403].map {
            Script(
                "P3 a conflict whose lookup fails with \($0) is a conflict",
                "update a=mine; on update answer 412; answer \($0); push errors conflict",
                "error status=412 server=nil gone=false")
        }

    static let misfits: [Script] = [#"{"id":"a","text":5}"#, #"{"id":"a","priority":18446744073709551616}"#].map {
        Script(
            "P3 an answer that does not fit the table fails only its operation: \($0)", "update a=two; insert b=b",
            "on update carry out 200 \($0); on get answer 200 [\($0)]; push errors invalidAnswer",
            "local [a=two, b=b] queue [update a] server [a=two, b=b]")
    }

    static let onlyRow = Script(
        "P3 a row that ended several pushes with 503 fails alone, also as the only one", "empty; insert a=a",
        ["network", "network", "completedWithErrors", "completedWithErrors"].map { "answer 503; push fails \($0)" }
            .joined(separator: "; "))

    @Test(
        "P3, P4, Q5 conflicts are kept as such, and other failures are those of their operations, which are sent last",
        arguments: StoreKind.perEngine, conflicts + misfits + [onlyRow, last])
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("C1 a pending operation can be canceled and discarded", arguments: StoreKind.perEngine)
    func cancelsWaiting(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.update(["id": "a", "text": "two"])
        try await client.items.insert(["id": "b", "text": "b"])
        let operations = try await client.context.pendingOperations()
        #expect(operations.map { $0.item?["text"] } == ["two", "b"])
        try await client.items.update(["id": "a", "priority": 5])
        #expect(
            await syncErrorCode { try await client.context.cancelOperationAndDiscardItem(operations[0]) }
                == .operationChanged)
        for operation in try await client.context.pendingOperations() {
            try await client.context.cancelOperationAndDiscardItem(operation)
        }
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
        try await client.items.update(["id": "a", "text": "three"])
        let waiting = try await client.context.pendingOperations()[0]
        try await client.context.cancelOperation(waiting, updating: ["id": "a", "text": "settled"])
        #expect(try world.state(client) == "local [a=settled] queue [] server [a=one]")
    }

    @Test("A number that the server stores differently is a warning of the push", arguments: StoreKind.perEngine)
    func warns(_ stores: StoreKind) async throws {
        let client = try await World(stores) { $0.reproduce(.original) }.makeClient()
        try await client.items.insert(["id": "a", "priority": 9_007_199_254_740_993])
        let progress = Mutex<[PushProgress]>([])
        let settings = PushSettings(onProgress: { step in progress.withLock { $0.append(step) } })
        let result = try await client.context.push(settings: settings)
        #expect(result.warnings.map(\.column) == ["priority"])
        #expect(result.warnings.map(\.stored) == [.int(9_007_199_254_740_992)])
        #expect(result.warnings[0].description.contains("9007199254740993"))
        #expect(progress.withLock { $0 } == [PushProgress(sent: 1, failed: 0, total: 1)])
    }

    // MARK: Rows for which the server is never available

    @Test(
        "P3 Q5 one row that is always answered 503, or never answered, fails alone, and the other rows and pulls go on",
        arguments: StoreKind.perEngine, allPairs(["503", "pause", "timeout", "connection", "page"], [1, 8]))
    func oneRow(_ stores: StoreKind, _ fault: (kind: String, maxInFlight: Int)) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("theirs", at: 0)])
        for id in ["a", "b", "c"] { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
        client.transport.inspect { request, body in
            // The lists of the row are not answered either.
            guard body.contains(#""a""#) || request.target.contains("'a'") else { return nil }
            switch fault.kind {
            case "503": return .answer(.answer(503))
            case "pause": return .answer(.answer(503, headers: [.retryAfter: "60"]))
            case "page": return .answer(Impostor(status: 520, body: Impostor.page).answer)
            default: return .fail(TransportError(TransportError.Code(rawValue: fault.kind), "down"))
            }
        }
        let settings = PushSettings(maxInFlight: fault.maxInFlight)
        for _ in 0..<(fault.kind == "pause" ? 2 : 1) {
            _ = await syncErrorCode { try await client.context.push(settings: settings) }
        }
        #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .completedWithErrors)
        #expect(try world.serverTexts() == ["b", "c", "theirs"])
        let error = try #require(try await client.context.operationErrors().first)
        #expect(error.itemID == "a" && error.code == .serverFailed)
        #expect(error.status == 503 || !["503", "pause"].contains(fault.kind))
        try await client.pullOthers()
        #expect(try client.row("theirs") != nil)
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try world.serverTexts() == ["a", "b", "c", "theirs"])
    }

    @Test(
        "P13 a long delay that the server asks for ends the push, also for a row that would fail alone",
        arguments: StoreKind.perEngine, ["the row", "the list"])
    func pause(_ stores: StoreKind, asking: String) async throws {
        let (_, client) = try await World.withClient(stores)
        let settings = PushSettings(maxInFlight: 1)
        try await client.items.insert(["id": "a", "text": "a"])
        client.transport.inspect { _, body in body.contains(#""a""#) ? .answer(.answer(503)) : nil }
        #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .network)
        try await client.items.insert(["id": "b", "text": "b"])
        client.transport.inspect { request, body in
            guard request.method == .get || body.contains(#""a""#) else { return nil }
            if asking == "the list", request.method != .get { return .fail(TransportError(.timeout, "down")) }
            return .answer(.answer(429, headers: [.retryAfter: "60"]))
        }
        let error = await #expect(throws: SyncError.self) { try await client.context.push(settings: settings) }
        #expect(error?.code == .network && error?.retryAfter == .seconds(60))
        #expect(try await client.context.operationErrors().isEmpty)
        #expect(try await client.queue() == ["insert a"])
    }

    @Test("P3 a server that is not available ends every push, however many", arguments: StoreKind.perEngine)
    func allRows(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient { $0.retry.maximumAttempts = 1 }
        let ids = (0..<20).map { "r\($0)" }
        for id in ids { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
        client.transport.inspect { _, _ in .answer(.answer(503)) }
        let settings = PushSettings(maxInFlight: 1)
        for _ in 1...30 {
            client.transport.clear()
            #expect(await syncErrorCode { try await client.context.push(settings: settings) } == .network)
            #expect(client.transport.requests.count <= 3)
        }
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
    }
}
