import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules C1 and C2: the content of a conflict and the effect of its resolutions.
@Suite("Conflicts", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ConflictTests {
    /// How the client's change and the server's row differ.
    enum Conflict: String, CaseIterable, Sendable {
        /// Both sides changed the row.
        case changed
        /// The client changed the row; the server soft-deleted it or no longer has it.
        case deletedOnServer, goneOnServer
        /// The client deleted the row; another client changed it.
        case deletedHere
        /// The client inserted an identifier that the server has or has deleted.
        case insertOfExisting, insertOfDeleted

        var isGone: Bool { [.deletedOnServer, .goneOnServer, .insertOfDeleted].contains(self) }
    }

    /// Makes a client whose push ended with the given conflict on row `a`.
    private func meet(
        _ conflict: Conflict, in world: World, store: TestStore? = nil
    ) async throws -> (client: Client, error: TableOperationError) {
        let first = try await world.makeSyncedClient()
        let client = try await world.makeClient(store: store)
        if conflict != .insertOfExisting, conflict != .insertOfDeleted { try await client.items.pull() }
        switch conflict {
        case .changed, .deletedHere, .insertOfExisting:
            try await first.items.update(["id": "a", "text": "theirs", "priority": 9])
        case .deletedOnServer, .insertOfDeleted:
            try await first.items.delete(id: "a")
        case .goneOnServer:
            try world.serverStore.write { _ = try $0.delete(id: "a", from: "TodoItem") }
        }
        try await first.context.push()
        switch conflict {
        case .deletedHere: try await client.items.delete(id: "a")
        case .insertOfExisting, .insertOfDeleted: try await client.items.insert(["id": "a", "text": "mine"])
        default: try await client.items.update(["id": "a", "text": "mine"])
        }
        return (client, try #require(try await pushErrors(client).first))
    }

    @Test(
        "C1 a conflict contains operation, local item and server item, and the operation stays",
        arguments: StoreKind.perEngine, Conflict.allCases)
    func shows(_ stores: StoreKind, _ conflict: Conflict) async throws {
        let (client, error) = try await meet(conflict, in: World(stores))
        let kind: OperationKind =
            switch conflict {
            case .deletedHere: .delete
            case .insertOfExisting, .insertOfDeleted: .insert
            default: .update
            }
        #expect(error.code == .conflict && error.kind == kind)
        #expect(error.table == "TodoItem" && error.itemID == "a" && !error.isHandled)
        #expect(error.item?["text"] == (conflict == .deletedHere ? "one" : "mine"))
        switch conflict {
        case .changed, .deletedHere, .insertOfExisting: #expect(error.serverItem?["text"] == "theirs")
        case .insertOfDeleted: #expect(error.serverItem?["deleted"] == true)
        case .deletedOnServer, .goneOnServer: #expect(error.serverItem == nil)
        }
        #expect(error.isRowGone == conflict.isGone)
        #expect(try await client.queue() == ["\(kind) a"])
        #expect(try await client.context.pendingOperations().first?.lastError == error.message)
    }

    enum Resolution: String, CaseIterable, Sendable {
        case discard, updateToServer, updateToMerge, keepServerBased, keepLocal, keepNamed
        case modifyToUpdate, modifyToUpdateItem, modifyToInsert, modifyToInsertItem, modifyToDelete, modifyToDeleteItem

        func fits(_ conflict: Conflict) -> Bool {
            switch self {
            case .updateToServer: !conflict.isGone
            // An insert of a row that exists on the server conflicts again.
            case .modifyToInsert, .modifyToInsertItem: conflict.isGone
            default: true
            }
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var conflict: Conflict
        var resolution: Resolution
        var testDescription: String { "\(conflict), \(resolution)" }
    }

    static let cases = Conflict.allCases.flatMap { conflict in
        Resolution.allCases.filter { $0.fits(conflict) }.map { Case(conflict: conflict, resolution: $0) }
    }

    @Test("C1 a resolution has its documented effect and ends the conflict", arguments: StoreKind.perEngine, cases)
    func resolves(_ stores: StoreKind, _ test: Case) async throws {
        let world = try World(stores)
        let (client, error) = try await meet(test.conflict, in: world)
        let server = try brief(world.serverRow("a"))
        try await resolve(error, by: test.resolution)
        #expect(error.isHandled)
        #expect(try await client.context.operationErrors().isEmpty)
        #expect(try brief(world.serverRow("a")) == server)
        let expected = expectation(test, server: server)
        #expect(brief(try client.row("a")) == expected.local)
        #expect(try await client.queue().isEmpty == expected.isSettled)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(brief(try client.row("a")) == expected.local)
        #expect(brief(try world.serverRow("a")) == expected.server)
        guard test.resolution != .updateToMerge else { return }
        #expect(try client.row("a")?.version == (expected.server == nil ? nil : world.serverRow("a")?.version))
    }

    private func resolve(_ error: TableOperationError, by resolution: Resolution) async throws {
        var local = error.item ?? Row(id: .string("a"))
        local["text"] = "resolved"
        var remote = error.serverItem ?? Row(id: .string("a"))
        remote["text"] = "resolved"
        switch resolution {
        case .discard: try await error.cancelOperationAndDiscardItem()
        case .updateToServer: try await error.cancelOperationAndUpdateItem(try #require(error.serverItem))
        case .updateToMerge: try await error.cancelOperationAndUpdateItem(remote)
        case .keepServerBased: try await error.keepOperationAndUpdateItem(remote)
        case .keepLocal: try await error.keepOperationAndUpdateItem(local)
        case .keepNamed: try await error.keepOperationAndUpdateItem(["id": "a", "text": "resolved"])
        case .modifyToUpdate: try await error.modifyOperationType(.update)
        case .modifyToUpdateItem: try await error.modifyOperationType(.update, item: local)
        case .modifyToInsert: try await error.modifyOperationType(.insert)
        case .modifyToInsertItem: try await error.modifyOperationType(.insert, item: local)
        case .modifyToDelete: try await error.modifyOperationType(.delete)
        case .modifyToDeleteItem: try await error.modifyOperationType(.delete, item: local)
        }
    }

    private func expectation(_ test: Case, server: String?) -> (local: String?, server: String?, isSettled: Bool) {
        switch test.resolution {
        case .discard, .updateToServer: return (server, server, true)
        case .updateToMerge: return ("resolved", server, true)
        case .keepServerBased, .keepLocal, .keepNamed:
            return test.conflict == .deletedHere ? (nil, nil, false) : ("resolved", "resolved", false)
        case .modifyToUpdate, .modifyToInsert:
            let text = test.conflict == .deletedHere ? "one" : "mine"
            return (text, text, false)
        case .modifyToUpdateItem, .modifyToInsertItem: return ("resolved", "resolved", false)
        case .modifyToDelete, .modifyToDeleteItem: return (nil, nil, false)
        }
    }

    /// Returns the text of the row, or `nil` if the row is missing or deleted.
    private func brief(_ row: Row?) -> String? {
        row?["deleted"]?.bool == true ? nil : row?["text"]?.string
    }

    private static let met = "other update a=theirs priority=9; update a=mine; push errors conflict"

    static let kept: [Script] = ["keep server a=resolved", "keep a=resolved priority=9"].map {
        Script(
            "C2 keeping a row sends the columns of the resolution and preserves the other client's columns: \($0)",
            met, $0, #"clear; push; sent [PATCH a {"text":"resolved"}]; both a priority=9"#)
    }

    @Test("C2 keeping a row preserves the other client's columns", .zumoOnly, arguments: StoreKind.perEngine, kept)
    func keepsOtherColumns(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    static let sameRows: [Script] = [
        (ConflictPolicy.manual, 9, "push; queue []; decisions []; remote a priority=9; same a"),
        (.manual, 8, "push errors conflict; queue [update a]; decisions []; remote a priority=9"),
        (.clientWins, 9, "push; queue []; decisions []; remote a priority=9; same a"),
        (.clientWins, 8, "push; queue []; decisions [clientWins]; remote a priority=8; same a"),
    ].map { policy, priority, end in
        Script(
            "C1 rows that an edit during the push has made the same are no conflict: \(policy.name), \(priority)",
            "other update a=theirs priority=9; update a=mine",
            "on update afterwards update a=theirs priority=\(priority)", end
        ).with { $0.conflictPolicy = policy }
    }

    static let scripts: [Script] =
        ["settle item a=resolved", "settle a=resolved"].map {
            Script(
                "C1 an item stored in place of the operation gets the server's version, so that the next edit has no "
                    + "conflict: \($0)", met, "remember a; error server.version=?", $0,
                "row a version=?; update a=next; push; local [a=next] queue [] server [a=next]")
        }
        + ["update a=again", "delete a", "push"].map {
            Script(
                "C1 an error is removed when its row is edited and when its operation succeeds: \($0)",
                "update a=mine; answer 400; push errors rejected; errors [a rejected]", $0, "errors []")
        } + [
            Script(
                "C2 a kept operation does not overwrite a change that a third client made after the error",
                met, "other update a=third; keep server a=resolved; push errors conflict; error server.text=third",
                "local [a=resolved] queue [update a] server [a=third]"),
            Script(
                "C1 discarding a rejected change restores the row", "update a=mine; answer 403; push errors rejected",
                "error status=403; discard; local [a=one] queue [] server [a=one]; same a"),
            Script(
                "C1 discarding a rejected insert removes it", "insert b=new; answer 403; push errors rejected",
                "error status=403; discard; local [a=one] queue [] server [a=one]"),
        ]

    @Test(
        "C1, C2 a resolution lasts until the next change, and the same rows need none", arguments: StoreKind.perEngine,
        scripts + sameRows)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "C1 an invalid item in a resolution is refused, and nothing changes",
        arguments: StoreKind.perEngine, [["id": "a", "colour": "red"], ["id": "a", "text": 1]] as [Row])
    func badItem(_ stores: StoreKind, item: Row) async throws {
        let (client, error) = try await meet(.changed, in: World(stores))
        let before = try client.store.dump()
        #expect(await syncErrorCode { try await error.keepOperationAndUpdateItem(item) } == .invalidArgument)
        #expect(await syncErrorCode { try await error.cancelOperationAndUpdateItem(item) } == .invalidArgument)
        #expect(await syncErrorCode { try await error.modifyOperationType(.delete, item: item) } == .invalidArgument)
        #expect(try client.store.dump() == before)
        #expect(!error.isHandled)
    }

    @Test("C1 errors survive a restart, keep the operation's ID, and can be resolved", arguments: StoreKind.persistent)
    func survives(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let file = try StoreFiles(stores)
        let store = try file.open()
        let (_, error) = try await meet(.changed, in: world, store: store)
        try store.close()
        let client = try await world.makeClient(store: try file.open())
        let found = try #require(try await client.context.operationErrors().first)
        #expect(found.operationID == error.operationID && found.code == .conflict && found.status == 412)
        #expect(found.message == error.message && found.item == error.item && found.kind == .update)
        #expect(found.serverItem?["text"] == "theirs" && found.serverItem?.version == error.serverItem?.version)
        try await found.cancelOperationAndDiscardItem()
        #expect(try world.state(client) == "local [a=theirs] queue [] server [a=theirs]")
        #expect(try await client.context.operationErrors().isEmpty)
    }

    @Test(
        "C1 an error does not apply to an edit that was made while the operation was in flight",
        arguments: StoreKind.perEngine, [false, true])
    func editInFlight(_ stores: StoreKind, isLost: Bool) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.update(["id": "a", "text": "two"])
        client.transport.inspect { _, _ in .answer(.answer(400)) }
        #expect(try await pushErrors(client).count == 1)
        client.transport.inspect { _, _ in
            try? await client.items.update(["id": "a", "text": "three"])
            return isLost ? .loseRequest : .answer(.answer(400))
        }
        let error = await expectSyncError(isLost ? .network : .completedWithErrors) { try await client.context.push() }
        #expect(error?.operationErrors.count == (isLost ? 0 : 1))
        for failed in error?.operationErrors ?? [] { await expectRefusals(failed, client) }
        #expect(try await client.context.operationErrors().isEmpty)
        #expect(try await client.context.pendingOperations().map(\.lastError) == [nil])
        client.transport.inspect(nil)
        var settings = PushSettings()
        settings.failureRetry = .none
        try await client.context.push(settings: settings)
        #expect(try world.state(client) == "local [a=three] queue [] server [a=three]")
    }

    enum Interference: String, CaseIterable, Sendable { case update, delete, pushed, discarded, inFlight }

    @Test(
        "C2 a resolution fails with operationChanged and changes nothing if the operation has changed",
        arguments: StoreKind.perEngine, Interference.allCases)
    func changedSince(_ stores: StoreKind, _ interference: Interference) async throws {
        let client = try await World(stores).makeSyncedClient()
        try await client.items.update(["id": "a", "text": "mine"])
        client.transport.inspect { _, _ in .answer(.answer(400)) }
        let error = try #require(try await pushErrors(client).first)
        client.transport.inspect(nil)
        switch interference {
        case .update: try await client.items.update(["id": "a", "text": "later"])
        case .delete: try await client.items.delete(id: "a")
        case .pushed: try await client.context.push()
        case .discarded:
            try await #require(client.context.operationErrors().first).cancelOperationAndDiscardItem()
        case .inFlight:
            client.transport.inspect { _, _ in
                await expectRefusals(error, client)
                return nil
            }
            try await client.context.push()
        }
        await expectRefusals(error, client)
    }

    private func expectRefusals(_ error: TableOperationError, _ client: Client) async {
        let before = try? client.store.dump()
        #expect(before != nil)
        let item: Row = ["id": "a", "text": "resolved"]
        #expect(await syncErrorCode { try await error.cancelOperationAndDiscardItem() } == .operationChanged)
        #expect(await syncErrorCode { try await error.cancelOperationAndUpdateItem(item) } == .operationChanged)
        #expect(await syncErrorCode { try await error.keepOperationAndUpdateItem(item) } == .operationChanged)
        #expect(await syncErrorCode { try await error.modifyOperationType(.delete) } == .operationChanged)
        #expect(await syncErrorCode { try await error.modifyOperationType(.insert, item: item) } == .operationChanged)
        #expect((try? client.store.dump()) == before)
        #expect(!error.isHandled)
    }

    @Test(
        "C2 row, operation and error record change together, whichever store call fails",
        arguments: StoreKind.perEngine,
        [Resolution.discard, .updateToMerge, .keepLocal, .modifyToDelete, .modifyToUpdateItem])
    func together(_ stores: StoreKind, _ resolution: Resolution) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        try await world.updateElsewhere()
        try await client.items.update(["id": "a", "text": "mine"])
        #expect(await syncErrorCode { try await client.context.push() } == .completedWithErrors)
        client.transport.clear()
        let error = try #require(try await client.context.operationErrors().first)
        let before = try client.store.base.dump()
        try await client.expectWholeChange(failures: 3) {
            #expect(!error.isHandled)
            try await resolve(error, by: resolution)
        }
        #expect(error.isHandled)
        #expect(try client.store.base.dump() != before)
    }
}
