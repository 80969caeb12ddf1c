import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules P2 and P8, and C1 for delegates: the actions of a delegate, none of which loses an operation.
@Suite("Delegate", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct DelegateTests {
    /// Makes a client with a pending update of `a` to `mine`. If `inConflict` is true, the server has `theirs`.
    private func withEdit(_ stores: StoreKind, inConflict: Bool = false) async throws -> (World, Client) {
        let (world, client) = try await World.withSyncedClient(stores)
        if inConflict { try await world.updateElsewhere(["id": "a", "text": "theirs", "priority": 9]) }
        try await client.items.update(["id": "a", "text": "mine"])
        return (world, client)
    }

    private static let inConflict = "other update a=theirs priority=9; update a=mine"
    private static let twoRows = "update a=mine; insert b=new"
    private static let oneFailed = "local [a=mine, b=new] queue [update a] server [a=one, b=new]"

    static let passes: [Script] =
        [
            Script(
                "P2 the delegate receives every operation in order, and the completion of the push",
                "delegate execute; insert b=new; update a=two; push singly; delete b; push",
                "calls [insert b, update a, completed 0, delete b, completed 0]",
                "local [a=two] queue [] server [a=two, b deleted]"),
            Script(
                "P2 an item changed by the delegate is sent, and the answer is stored",
                "update a=mine; delegate set a=changed complete=true & execute; push",
                "local [a=changed] queue [] server [a=changed]; row a complete=true"),
            Script(
                "P2 a row returned by the delegate is stored as the result, even if it has only a few columns",
                "remember a; update a=mine; delegate return a='made up'; push; requests 0",
                "local [a=made up] queue [] server [a=one]; row a priority=1 version=?"),
            Script(
                "P2 a delete that the delegate completes without executing it is done; the row stays deleted locally",
                "delete a; delegate return nil; push; local [] queue [] server [a=one]"),
            Script(
                "P2 an update that becomes a delete removes the local row too",
                "update a=mine; delegate kind delete & execute; push; local [] queue [] server [a deleted]"),
            Script(
                "P2 an executed item whose answer was lost leaves nothing on the server when another item is executed",
                "update a=mine; once lose answer",
                "delegate set a priority=5 & ignore & set a priority=1 & execute; push",
                "local [a=mine] queue [] server [a=mine]; both a priority=1"),
        ]
        + [("update", "update a=mine", "mine"), ("delete", "delete a", "one")].map { kind, edit, text in
            Script(
                "P2 a delegate sees the row, or the deleted row, with its base version: \(kind)",
                "remember a; \(edit); delegate sees a id=a text=\(text) version=? & execute; push; queue []",
                "calls [\(kind) a, completed 0]")
        }

    static let edits: [Script] = [
        Script(
            "P2 an edit made during the operation follows a row returned by the delegate, with the earlier base version",
            "remember a; update a=mine; delegate update a complete=true & return a='made up'; push",
            "local [a=made up] queue [update a] server [a=one]; bases [?]; no delegate",
            "other update a=theirs; push errors conflict; remote a text=theirs"),
        Script(
            "P2 an edit made during an update without differences keeps its base version",
            "remember a; update a=mine; update a=one; delegate update a=edited & execute; push; requests 0; bases [?]",
            "no delegate; push; local [a=edited] queue [] server [a=edited]"),
        Script(
            "P2 local changes by the delegate to the current operation's row are kept and sent by the next push",
            "update a=mine; delegate update a complete=true & execute & update a=last; push",
            "local [a=last] queue [update a] server [a=mine]; no delegate; push",
            "local [a=last] queue [] server [a=last]; remote a complete=true"),
    ]

    static let conflicts: [Script] = [
        Script(
            "P2 executing again with the server's version resolves a conflict: insert", inConflict,
            "other insert b=theirs; purge; insert b=mine; delegate conflict theirs & take; push",
            "local [b=theirs] queue [] server [a=theirs, b=theirs]"),
        Script(
            "P2 executing again with the server's version resolves a conflict: update", inConflict,
            "delegate conflict theirs & rebase & execute; push; local [a=mine] queue [] server [a=mine]",
            "remote a priority=9"),
        Script(
            "P2 executing again with the server's version resolves a conflict: delete", inConflict,
            "delete a; delegate conflict theirs & rebase & execute; push; local [] queue [] server [a deleted]"),
        Script(
            "P2 a value that a delegate decides on in a conflict is sent if it is the base row's: one of several",
            "other update a=theirs priority=9; update a=mine priority=5",
            "delegate conflict theirs & rebase & set a priority=1 & execute; push",
            "local [a=mine] queue [] server [a=mine]; both a priority=1"),
        Script(
            "P2 a value that a delegate decides on in a conflict is sent if it is the base row's: the only one",
            inConflict, "delegate conflict theirs & rebase & set a=one & execute; push",
            "local [a=one] queue [] server [a=one]; both a priority=9"),
        Script(
            "P2 a value that a delegate decides on in a conflict is sent if it is the base row's: any version",
            inConflict, "delegate unset version & set a=one & execute; push; local [a=one] queue [] server [a=one]"),
        Script(
            "P2 a value that a delegate decides on in a conflict is sent if it is the base row's: restored row",
            "other update a=theirs priority=9; delete a; insert a=mine priority=5",
            "delegate conflict theirs & rebase & set a priority=1 & execute; push",
            "local [a=mine] queue [] server [a=mine]; both a priority=1"),
        Script(
            "P2 a delegate can force its row by removing the version", inConflict,
            "delegate unset version & execute; push; local [a=mine] queue [] server [a=mine]"),
        Script(
            "P2 an insert that conflicts with an existing row continues as its update",
            "other insert b=theirs priority=9; insert b=mine",
            "delegate conflict theirs & kind update & item b=mine & rebase & execute; push",
            "local [a=one, b=mine] queue [] server [a=one, b=mine]; row b priority=9"),
        Script(
            "P2 a delete in conflict that the delegate completes with the server's row shows that row",
            "other update a=theirs; delete a; delegate conflict theirs & take; push",
            "local [a=theirs] queue [] server [a=theirs]; pull q; local [a=theirs]"),
    ]

    static let failures: [Script] =
        [
            Script(
                "P2 an error thrown by the delegate fails its operation only, and the push continues", twoRows,
                "delegate only a & throw; push errors delegate; error message='the delegate failed: OwnError()'",
                oneFailed),
            Script(
                "P8 a CancellationError thrown by the delegate does not end the push", twoRows,
                "delegate only a & abandon; push errors delegate; error cause=CancellationError", oneFailed),
            Script(
                "P2 an error of another call to the core in the delegate does not end the push", twoRows,
                "delegate only a & update nowhere=x & execute; push errors delegate", oneFailed),
        ]
        + [
            ("rejected", "update a=mine; answer 400", "ignore", "errors rejected"),
            ("conflict", inConflict, "ignore", "errors conflict"),
            ("network", "update a=mine; lose request", "ignore", "fails network"),
            ("never executed", "update a=mine", "return nil", "errors delegate"),
        ].map { failure, steps, part, end in
            Script(
                "P2 ignoring an error loses no operation: \(failure)", steps,
                "delegate \(part); push \(end); queue [update a]; local [a=mine]")
        }

    static let cancels: [Script] = [
        ("before the operation", "cancel & execute & cancel", "queue [insert b]; errors []", 0),
        ("after the operation", "execute & cancel", "queue [insert b]; errors []", 0),
        ("instead of the operation", "cancel & return nil", "queue [update a, insert b]; errors []", 0),
        ("before a failure", "cancel & execute & cancel", "queue [update a, insert b]; errors [a rejected]", 1),
    ].map { time, parts, state, errors in
        Script(
            "P8 cancelPush ends the push after the current operation, \(time)", twoRows,
            errors == 0 ? "errors []" : "answer 400", "delegate \(parts); push singly fails cancelled",
            state, "calls [update a, completed \(errors)]; no delegate; push",
            "local [a=mine, b=new] queue [] server [a=mine, b=new]")
    }

    @Test(
        "P2, P8 a delegate takes part in each operation, and no action of its own loses one",
        arguments: StoreKind.perEngine, passes + edits + conflicts + failures + cancels)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

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
        "P2 an item that does not fit the table is refused before it is sent, and the operation can still execute",
        arguments: StoreKind.perEngine, [["text": 5], ["colour": "red"], ["effort": .double(.nan)]] as [Row])
    func badItem(_ stores: StoreKind, change: Row) async throws {
        let (world, client) = try await withEdit(stores)
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

    @Test("C1 a push has no error if pushCompleted resolves all", arguments: StoreKind.perEngine, [true, false])
    func resolvesAtTheEnd(_ stores: StoreKind, all: Bool) async throws {
        let (world, client) = try await withEdit(stores, inConflict: true)
        try await client.items.insert(["id": "b", "text": "new"])
        client.transport.inspect { request, _ in request.method == .post ? .answer(.answer(400)) : nil }
        let delegate = ScriptedDelegate {
            try await $0.execute()
        } ended: { result in
            for error in result.operationErrors where all || error.itemID == "a" {
                await #expect(throws: Never.self) { try await error.cancelOperationAndDiscardItem() }
            }
        }
        client.context.delegate = delegate
        #expect(try await pushErrors(client).map(\.itemID) == (all ? [] : ["b"]))
        #expect(Set(delegate.calls) == ["update a", "insert b", "completed 2"] && delegate.calls.last == "completed 2")
        #expect(
            try world.state(client)
                == (all
                    ? "local [a=theirs] queue [] server [a=theirs]"
                    : "local [a=theirs, b=new] queue [insert b] server [a=theirs]"))
    }

    @Test("P2 a row with another identifier, or one that does not fit, is refused", arguments: StoreKind.perEngine)
    func foreignRow(_ stores: StoreKind) async throws {
        let (world, client) = try await withEdit(stores)
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

    @Test("P8 a conflict before the push was canceled is reported and stored", arguments: StoreKind.perEngine)
    func conflictBeforeCancel(_ stores: StoreKind) async throws {
        let (_, client) = try await withEdit(stores, inConflict: true)
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

    // MARK: Calls from within the push, none of which waits for itself

    @Test("P2 a push by a delegate in an operation is refused and does not deadlock", arguments: StoreKind.perEngine)
    func withinPerform(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let codes = HeaderLog()
        client.context.delegate = ScriptedDelegate { operation in
            codes.add(await syncErrorCode { try await client.context.push() }?.rawValue)
            codes.add(await syncErrorCode { try await client.items.pull() }?.rawValue)
            return try await operation.execute()
        }
        try await client.pushUpdate(["id": "a", "text": "two"])
        #expect(codes.values == ["invalidArgument", "invalidArgument"])
        #expect(try world.state(client) == "local [a=two] queue [] server [a=two]")
    }

    @Test("P2 a delegate can resolve errors, push and pull in pushCompleted", arguments: StoreKind.perEngine)
    func withinCompletion(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await world.updateElsewhere()
        let codes = HeaderLog()
        client.context.delegate = ScriptedDelegate {
            try await $0.execute()
        } ended: { result in
            guard let error = result.operationErrors.first else { return }
            codes.add(
                await syncErrorCode {
                    try await error.keepOperationAndUpdateItem(["id": "a", "text": "mine"])
                    try await client.context.push()
                    try await client.items.pull()
                }?.rawValue)
        }
        try await client.pushUpdate(["id": "a", "text": "two"])
        #expect(codes.values == ["none"])
        #expect(try world.state(client) == "local [a=mine] queue [] server [a=mine]")
    }

    @Test("P9 a task started by a delegate can push after the delegate has returned", arguments: StoreKind.perEngine)
    func afterwards(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let (tasks, task) = AsyncStream.makeStream(of: Task<SyncError.Code?, Never>.self)
        client.context.delegate = ScriptedDelegate { operation in
            task.yield(
                Task {
                    for await _ in ended { break }
                    return await syncErrorCode { try await client.context.push() }
                })
            return try await operation.execute()
        }
        try await client.pushUpdate(["id": "a", "text": "two"])
        end.yield()
        for await later in tasks {
            #expect(await later.value == nil)
            break
        }
    }
}
