import Synchronization
import Testing
import TidelineTestStores

@testable import Tideline

/// Pulls of rows without `updatedAt`, from a server that has versions only.
@Suite("Rows without a time")
struct UndatedRowTests {
    @Test(
        "F8 a change of others that meets the end of a push is found by the next pull, whatever has a time",
        arguments: StoreKind.perEngine, [false, true])
    func changedAfterPush(_ stores: StoreKind, datesAnswers: Bool) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ["text": "one"], NotesVariant.dated(datesAnswers))
        // The push is answered after the page was requested; then others change the row, before the page is made.
        world.server.onNextList(isEarly: true) { [client, server = world.server] in
            try await client.notes.update(["id": "a", "text": "mine"])
            try await client.client.push()
            #expect(server.fields("a")?["text"] == "mine")
            server.write("a", ["text": "theirs"])
        }
        try await client.pull()
        world.server.inspect(nil)
        #expect((try client.row("a")?["updatedAt"]?.isNull == false) == datesAnswers)
        #expect(try client.texts() == ["a": "mine"])
        try await client.pull()
        #expect(try client.texts() == ["a": "theirs"])
    }

    @Test(
        "F8 a page with the state that a push replaced is passed, with its cursor, and not kept with a later operation",
        arguments: StoreKind.perEngine, [false, true])
    func replacedState(_ stores: StoreKind, editsAgain: Bool) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        world.server.onNextList { [client] in
            try await client.notes.update(["id": "a", "text": "mine"])
            try await client.client.push()
            if editsAgain { try await client.notes.update(["id": "a", "text": "mine again"]) }
        }
        // This pull returns the row again, as it was before the push.
        try await client.client.pull(TableQuery("Note"), queryID: "other")
        #expect(try await client.client.context.pendingOperationsHavePulledRows() == (editsAgain ? [false] : []))
        if !editsAgain { #expect(try await client.notes.pullToken(queryID: "other")?.cursor == "1") }
        try await client.client.push()
        #expect(try client.texts() == ["a": editsAgain ? "mine again" : "mine"])
    }

    @Test(
        "F5 a change of others that is pulled before the answer to a push is stored, not the older answer",
        arguments: StoreKind.perEngine)
    func pulledInFlight(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        let (applied, isApplied) = AsyncStream<Void>.makeStream()
        let (pulled, isPulled) = AsyncStream<Void>.makeStream()
        let once = Once()
        let push = Mutex<Task<Void, any Error>?>(nil)
        world.server.inspect { [client, server = world.server] request, _ in
            if request.hasPrefix("PATCH") {
                return .delay {
                    isApplied.finish()
                    for await _ in pulled {}
                }
            }
            guard request.contains("/changes"), once.first() else { return nil }
            try? await client.notes.update(["id": "a", "text": "mine"])
            push.withLock { $0 = Task { _ = try await client.client.push() } }
            for await _ in applied {}
            server.write("a", ["text": "theirs"])
            return nil
        }
        try await client.pull()
        isPulled.finish()
        try await push.withLock(\.self)?.value
        #expect(try client.texts() == ["a": "theirs"])
        try await client.pull()
        #expect(try client.texts() == ["a": "theirs"])
    }

    @Test(
        "C4 a change of others that is pulled while an operation waits is shown when the operation is discarded",
        arguments: StoreKind.perEngine)
    func pending(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        try await client.notes.update(["id": "a", "text": "mine"])
        world.server.write("a", ["text": "theirs"])
        world.server.inspect { request, _ in request.hasPrefix("PATCH") ? .answer(.problem(403, "forbidden")) : nil }
        await #expect(throws: SyncError.self) { try await client.pull(PullSettings(whenPushFails: .pullOthers)) }
        #expect(try client.texts() == ["a": "mine"])
        // The server refused the push without showing its row.
        let error = try #require(try await client.client.operationErrors().first)
        #expect(error.code == .rejected && error.serverItem == nil)
        try await error.cancelOperationAndDiscardItem()
        #expect(try client.texts() == ["a": "theirs"])
        try await client.pull()
        #expect(try client.texts() == ["a": "theirs"])
    }

    @Test("F7 rows in the stored state are not written, with and without an operation", arguments: StoreKind.perEngine)
    func unchanged(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ids: ["a", "b"])
        world.server.inspect { request, _ in request.hasPrefix("PATCH") ? .answer(.problem(403, "forbidden")) : nil }
        try await client.notes.update(["id": "b", "text": "mine"])
        // The first pull of all rows finds an operation, the second one that has failed.
        let steps = Recorder<PullProgress>()
        let settings = PullSettings(whenPushFails: .pullOthers, onProgress: { steps.add($0) })
        for _ in 1...2 {
            await #expect(throws: SyncError.self) { try await client.notes.pull(settings: settings) }
        }
        #expect(steps.values.map(\.rowsPulled) == [2, 2])
        #expect(try await client.client.context.pendingOperationsHavePulledRows() == [false])
    }

    @Test("F7 the state of a row with a time is another than that of one without", arguments: StoreKind.perEngine)
    func otherState(_ stores: StoreKind) async throws {
        let time = try #require(Timestamp("2026-11-23T10:00:00Z"))
        let pages = [
            ServerPage(
                rows: [["id": "a", "text": "one", "version": "1", "updatedAt": .timestamp(time)]], cursor: 1,
                isLast: true),
            ServerPage(rows: [["id": "a", "text": "two", "version": "1"]], cursor: 2, isLast: true),
            ServerPage(rows: [["id": "a", "text": "two", "version": "1"]], cursor: 3, isLast: true),
        ]
        let client = try await NotesWorld(stores).makeClient(dialect: ScriptedDialect(pages: pages))
        try await client.pull()
        #expect(try await client.pull().rowsStored == 1)
        #expect(try client.texts() == ["a": "two"])
        #expect(try client.row("a")?["updatedAt"]?.isNull ?? true)
        #expect(try await client.pull().rowsStored == 0)
    }
}

extension NotesVariant {
    /// The dialect whose answers to changes may have a time. Its pages have none.
    fileprivate static func dated(_ datesAnswers: Bool) -> NotesVariant {
        NotesVariant(
            name: "dated",
            rowMeaning: { response, row in
                var meaning = try NotesDialect().meaning(of: response, to: row)
                if datesAnswers { meaning.row?["updatedAt"] = Timestamp("2026-11-23T10:00:00Z").map { .timestamp($0) } }
                return meaning
            })
    }
}

extension SyncContext {
    /// Returns for each pending operation whether a pull has stored a row beside it.
    fileprivate func pendingOperationsHavePulledRows() async throws -> [Bool] {
        try await pendingOperations().map { $0.pulled != nil }
    }
}
