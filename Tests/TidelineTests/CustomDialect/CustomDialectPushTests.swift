import Foundation
import HTTPTypes
import Testing
import TidelineTestStores

@testable import Tideline

/// Pushes to a server of another family.
@Suite("Custom dialect: push")
struct CustomDialectPushTests {
    @Test("P1 inserts, updates, and deletes reach the server, and other clients", arguments: StoreKind.perEngine)
    func changes(_ stores: StoreKind) async throws {
        let world = NotesWorld(stores)
        let (first, second) = (try await world.makeClient(), try await world.makeClient())
        let due = try #require(Timestamp("2026-11-23T10:00:00.1234567Z"))
        try await first.notes.insert(["id": "a é", "text": "one", "likes": 1, "due": due])
        try await first.notes.insert(["id": "b", "text": "two"])
        try await first.client.push()
        #expect(world.server.fields("a é")?["due"]?.string == "2026-11-23T10:00:00.1234567Z")
        try await second.pull()
        #expect(try second.texts() == ["a é": "one", "b": "two"])
        #expect(try second.row("a é")?["due"] == .timestamp(due))
        #expect(try first.row("b")?["version"]?.string == world.server.change("b").map { String($0) })

        try await first.notes.update(["id": "a é", "text": "uno", "likes": Value.null])
        try await first.notes.delete(id: "b")
        world.server.clear()
        try await first.client.push()
        // Two rows are sent side by side.
        #expect(world.server.requests.sorted() == ["DELETE /db/Note/rows/b", "PATCH /db/Note/rows/a%20%C3%A9"])
        try await second.pull()
        #expect(try second.texts() == ["a é": "uno"])
        #expect(try second.row("a é")?["likes"] == .null)
        #expect(try await first.queue().isEmpty)
    }

    @Test("P1 an update sends the changed columns only, with null")
    func changedColumns() async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one", "likes": 3, "color": "red"])
        try await client.notes.update(["id": "a", "text": "two", "likes": Value.null])
        world.server.clear()
        try await client.client.push()
        #expect(world.server.bodies.count == 1)
        let change = try JSONDecoder().decode(JSONFields.self, from: Data(world.server.bodies[0])).row
        #expect(change == ["text": "two", "likes": Value.null])
        #expect(world.server.headers.last?[.ifMatch] == "\"1\"")
        #expect(world.server.fields("a")?["color"] == "red")
    }

    @Test("P10 a response with names in another case is an error, and clears no column")
    func misspelled() async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one", "likes": 3])
        try await client.notes.update(["id": "a", "likes": 4])
        world.server.inspect { request, _ in
            request.hasPrefix("PATCH") ? .answer(.answer(200, #"{"id":"a","change":2,"Text":"one"}"#)) : nil
        }
        let error = try #require(try await client.pushErrors().first)
        #expect(error.code == .invalidAnswer && error.message.contains(#""Text""#), "\(error.message)")
        #expect(try client.texts() == ["a": "one"])
    }

    @Test("P4 a conflict has the server row, and can be resolved", arguments: StoreKind.perEngine)
    func conflict(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ["text": "one", "likes": 1])
        world.server.write("a", ["text": "theirs", "likes": 1])
        try await client.notes.update(["id": "a", "text": "mine"])
        let error = try #require(try await client.pushErrors().first)
        #expect(error.code == .conflict && error.serverItem?["text"] == "theirs" && !error.isRowGone)
        #expect(error.serverItem?["version"] == "2" && world.server.fields("a")?["text"] == "theirs")
        try await error.keepOperationAndUpdateItem(try #require(error.item))
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == "mine" && world.server.change("a") == 3)
    }

    @Test("C3 a three-way merge resolves a conflict", arguments: StoreKind.perEngine)
    func merge(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ["text": "one", "likes": 1]) {
            $0.conflictPolicy = .merge()
        }
        world.server.write("a", ["text": "theirs", "likes": 1])
        try await client.notes.update(["id": "a", "likes": 2])
        try await client.client.push()
        #expect(world.server.fields("a") == ["text": "theirs", "likes": 2])
    }

    @Test("P4 an update of a deleted document is a conflict with a row that is gone", arguments: StoreKind.perEngine)
    func gone(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores)
        world.server.write("a", nil)
        try await client.notes.update(["id": "a", "text": "mine"])
        let error = try #require(try await client.pushErrors().first)
        #expect(error.code == .conflict && error.isRowGone && error.serverItem == nil)
        // The record survives a restart.
        #expect(try await world.makeClient(store: client.store).client.operationErrors().map(\.isRowGone) == [true])
        // A delete of it is complete.
        try await error.cancelOperationAndDiscardItem()
        try await client.pull()
        #expect(try client.texts().isEmpty)
    }

    @Test("P4 an insert of a document that exists is a conflict; a delete of one that is gone is complete")
    func existing() async throws {
        let (world, client) = try await NotesWorld.withClient(.simplest)
        world.server.write("a", ["text": "theirs"])
        world.server.write("b", ["text": "two"])
        world.server.write("b", nil)
        try await client.notes.insert(["id": "a", "text": "mine"])
        try await client.notes.delete(id: "b")
        let errors = try await client.pushErrors()
        #expect(errors.map(\.code) == [.conflict] && errors.first?.serverItem?["text"] == "theirs")
        #expect(try await client.queue() == ["insert a"])
    }

    @Test("P6 lost answers are recognized", arguments: StoreKind.perEngine, [OperationKind.insert, .update, .delete])
    func lostAnswers(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        if kind != .insert {
            world.server.write("a", ["text": "one", "likes": 1])
            try await client.pull()
        }
        let id = try await client.notes.edit(kind, kind == .insert ? ["text": "two", "likes": 1] : ["text": "two"])
        world.server.inspect { _, _ in .loseAnswer }
        await #expect(throws: SyncError.self) { try await client.client.push() }
        world.server.inspect(nil)
        let revision = world.server.change(id)
        try await client.client.push()
        #expect(try await client.queue().isEmpty)
        #expect(world.server.change(id) == revision)
        #expect(try client.row(id)?["text"] == (kind == .delete ? nil : "two"))
    }

    @Test("P6 after a lost answer, a change of others is a conflict", arguments: StoreKind.perEngine)
    func lostAnswerAndOthers(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withRow(stores, ["text": "one", "likes": 1])
        try await client.notes.update(["id": "a", "text": "mine"])
        world.server.inspect { _, _ in .loseRequest }
        await #expect(throws: SyncError.self) { try await client.client.push() }
        world.server.inspect(nil)
        world.server.write("a", ["text": "theirs", "likes": 1])
        #expect(try await client.pushErrors().map(\.code) == [.conflict])
        #expect(world.server.fields("a")?["text"] == "theirs")
    }

    @Test("C4 a row that was deleted and inserted again replaces the deleted document", arguments: StoreKind.perEngine)
    func insertedAgain(_ stores: StoreKind) async throws {
        let (world, client) = try await NotesWorld.withClient(stores)
        try await client.notes.insert(["id": "a", "text": "one"])
        try await client.client.push()
        try await client.notes.delete(id: "a")
        try await client.client.push()
        try await client.notes.insert(["id": "a", "text": "two"])
        try await client.client.push()
        #expect(world.server.fields("a") == ["text": "two"])
        // In one push, the delete becomes an update that restores the row.
        try await client.notes.delete(id: "a")
        try await client.notes.insert(["id": "a", "text": "three", "likes": 1])
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == "three")
        #expect(try await client.queue().isEmpty)
    }

    @Test("P3 the meaning of an answer is that of the dialect, not that of its status")
    func meanings() async throws {
        let (world, client) = try await NotesWorld.withClient(.simplest)
        try await client.notes.insert(["id": "a", "text": "forbidden"])
        try await client.notes.insert(["id": "b", "text": "two"])
        world.server.inspect { $1.contains("forbidden") ? .answer(.problem(409, "forbidden")) : nil }
        let errors = try await client.pushErrors()
        #expect(errors.map(\.code) == [.rejected] && errors.first?.message == "forbidden")
        #expect(world.server.fields("b")?["text"] == "two")

        try await client.notes.update(["id": "a", "text": "one"])
        let delays = Recorder<Duration>()
        let waiting = try await world.makeClient(store: client.store) { options in
            options.environment.sleep = { delays.add($0) }
        }
        world.server.inspect { _, _ in .answer(.problem(420, "busy")) }
        let busy = await #expect(throws: SyncError.self) { try await waiting.client.push() }
        #expect(busy?.code == .network && busy?.retryAfter == .seconds(10) && busy?.status == 420)
        #expect(delays.values == Array(repeating: .seconds(10), count: 3))
        world.server.inspect { _, _ in .answer(.problem(403, "sessionEnded")) }
        await expectSyncError(.authentication, says: "sessionEnded") { try await waiting.client.push() }
        world.server.inspect(nil)
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == "one")
    }

    @Test("P3 a missing table, or a gateway, makes no row look deleted; the operations wait", arguments: [true, false])
    func missingTable(isService: Bool) async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest, ids: ["a", "b", "c"]) {
            $0.conflictPolicy = .serverWins
        }
        try await client.notes.update(["id": "a", "text": "mine"])
        try await client.notes.delete(id: "b")
        try await client.notes.insert(["id": "d", "text": "mine"])
        world.server.inspect { _, _ in
            .answer(isService ? .problem(404, "noTable") : .unmarked(404, "no table"))
        }
        let error = await #expect(throws: SyncError.self) { try await client.client.push() }
        #expect(error?.code == (isService ? .serverFailing : .network))
        let errors = try await client.client.operationErrors()
        #expect(errors.map(\.code) == (isService ? [.serverFailed, .serverFailed, .serverFailed] : []))
        #expect(errors.allSatisfy { $0.message.contains("has no table") })
        #expect(try client.texts() == ["a": "mine", "c": "one", "d": "mine"])
        world.server.inspect(nil)
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == "mine" && world.server.fields("b") == nil)
        #expect(try await client.queue().isEmpty && world.server.fields("d") != nil)
    }

    @Test(
        "P4 a conflict about a row that has not changed is not believed, and costs no edit",
        arguments: [OperationKind.update, .delete])
    func falseConflict(_ kind: OperationKind) async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest)
        try await client.notes.edit(kind, ["text": "mine"])
        world.server.inspect { request, _ in
            request.hasPrefix("GET") ? nil : .answer(.problem(409, "changed"))
        }
        #expect(try await client.pushErrors().map(\.code) == [.serverFailed])
        world.server.inspect(nil)
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == (kind == .update ? "mine" : nil))
    }

    @Test("429 the delay of a success holds back the next request, and the dialect limits the changes in flight")
    func quotas() async throws {
        let (delays, now) = (Recorder<Duration>(), SharedValue(Timestamp.now))
        let (world, client) = try await NotesWorld.withClient(.simplest, NotesVariant(name: "single", maxInFlight: 1)) {
            options in
            options.environment.sleep = { delays.add($0) }
            options.environment.now = { now.value }
        }
        for id in ["a", "b", "c"] { try await client.notes.insert(["id": id, "text": "one"]) }
        let inFlight = MaximumCount()
        world.server.inspect { _, _ in
            inFlight.enter()
            return .delay { inFlight.leave() }
        }
        try await client.client.push()
        #expect(delays.values.isEmpty)
        #expect(inFlight.maximum == 1)
        world.server.inspect { _, _ in
            .answer(.answer(200, #"{"rows":[],"last":3,"total":0,"more":false}"#, headers: [.retryAfter: "7"]))
        }
        for _ in 1...2 { try await client.pull() }
        now.value = now.value.advanced(byTicks: 3 * Timestamp.ticksPerSecond)
        try await client.pull()
        #expect(delays.values == [.seconds(7), .seconds(4)])
        for ticks in [Timestamp.ticksPerSecond * 8, -Timestamp.ticksPerSecond * 3_600] {
            now.value = now.value.advanced(byTicks: ticks)
            try await client.pull()
        }
        #expect(delays.values.count == 2)
    }

    @Test("P3 an answer that the dialect cannot read fails its operation only, and the next push finds its effect")
    func unreadable() async throws {
        let (world, client) = try await NotesWorld.withClient(.simplest)
        try await client.notes.insert(["id": "a", "text": "one"])
        try await client.notes.insert(["id": "b", "text": "two"])
        let isFirst = SharedValue(true)
        world.server.inspect { request, _ in
            guard request.hasSuffix("/a"), isFirst.value else { return nil }
            isFirst.value = false
            return .answer(.answer(200, "no JSON"))
        }
        let errors = try await client.pushErrors()
        #expect(errors.map(\.code) == [.invalidAnswer] && errors.first?.itemID == "a")
        #expect(errors.first?.message.contains("the dialect notes cannot read the response") == true)
        #expect(world.server.fields("b")?["text"] == "two")
        try await client.client.push()
        #expect(world.server.fields("a")?["text"] == "one")
    }

    @Test("401 the token of the current user is sent as the dialect writes it, and refreshed once")
    func signIn() async throws {
        let world = NotesWorld(.simplest)
        let refreshes = Recorder<Bool>()
        let client = try await world.makeClient { options in
            options.authorization = { refresh in
                refreshes.add(refresh)
                return HTTPField(name: .authorization, value: refresh ? "new" : "old")
            }
        }
        let headers = world.server
        world.server.inspect { [weak headers] _, _ in
            headers?.headers.last?[.authorization] == "old" ? .answer(.problem(403, "sessionEnded")) : nil
        }
        try await client.notes.insert(["id": "a", "text": "one"])
        try await client.client.push()
        #expect(world.server.fields("a") != nil && refreshes.values == [false, true])
        world.server.inspect(nil)
        let other = try await world.makeClient()
        other.client.currentUser = SignedInUser(userID: "u", authenticationToken: "secret")
        try await other.pull()
        #expect(world.server.headers.last?[.authorization] == "Bearer secret")
    }

    @Test("A dialect that replaces rows gets the whole row, with columns that the table does not define")
    func wholeRows() async throws {
        let (world, client) = try await NotesWorld.withRow(
            .simplest, ["text": "one", "likes": 1, "color": "red"], NotesVariant.replacing)
        try await client.notes.update(["id": "a", "text": "two"])
        world.server.clear()
        try await client.client.push()
        // The row is known, so that it is not read first.
        #expect(world.server.requests.count == 1)
        let whole = try JSONDecoder().decode(JSONFields.self, from: Data(world.server.bodies[0])).row
        #expect(whole == ["text": "two", "likes": 1, "due": Value.null, "color": "red"])
        // A second update needs no lookup either, because the answer had the row.
        try await client.notes.update(["id": "a", "likes": 2])
        try await client.client.push()
        #expect(world.server.requests.count == 2 && world.server.fields("a")?["color"] == "red")
    }

    @Test("A row without columns that the table does not define is sent without a lookup, too")
    func wholeRowsWithoutOthers() async throws {
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one"], NotesVariant.replacing)
        try await client.notes.insert(["id": "b", "text": "two"])
        try await client.client.push()
        for row in ["a", "b"].map({ try? client.row($0) }) { #expect(row?["__extra"] == .json("{}")) }
        for id in ["a", "b"] { try await client.notes.update(["id": .string(id), "likes": 1]) }
        world.server.clear()
        try await client.client.push()
        #expect(world.server.requests.sorted() == ["PATCH /db/Note/rows/a", "PATCH /db/Note/rows/b"])
        #expect(world.server.fields("a")?["text"] == "one" && world.server.fields("a")?["likes"] == 1)
    }

    @Test("L3 an identifier that the dialect does not accept is refused before anything is stored")
    func identifiers() async throws {
        let (_, client) = try await NotesWorld.withClient(.simplest, NotesVariant.replacing)
        await expectSyncError(.invalidArgument, column: "id", id: "_a", says: "begins with an underscore") {
            try await client.notes.insert(["id": "_a", "text": "one"])
        }
        #expect(try client.texts().isEmpty)
    }

    @Test("Direct requests are refused, with the dialect's name")
    func directRequests() async throws {
        let client = try await NotesWorld(.simplest).makeClient()
        func check(_ body: () async throws -> Void) async {
            await expectSyncError(.invalidArgument, says: "the dialect notes") { try await body() }
        }
        let table = client.client.remoteTable("Note")
        await check { _ = try await table.read() }
        await check { _ = try await table.lookup(id: "a") }
        await check { _ = try await table.insert(["text": "a"]) }
        await check { _ = try await table.update(["id": "a", "text": "a"]) }
        await check { try await table.delete(id: "a") }
        await check { _ = try await client.client.invokeAPI("x") }
        await check { _ = try await client.client.signIn(provider: "aad", token: [:]) }
    }
}

extension NotesVariant {
    private struct Extra: Codable {
        var color: String?
    }

    /// The dialect with updates of whole rows, which keeps `color`, and refuses an identifier such as `_a`.
    static var replacing: NotesVariant {
        var variant = NotesVariant(name: "replacing", replacesWholeRows: true)
        variant.validate = { if $0.hasPrefix("_") { throw NotesError("it begins with an underscore") } }
        variant.rowRequest = { row in
            guard row.action == .update else { return try NotesDialect().request(for: row) }
            var whole = row.wholeRow
            if let extra = row.current?["__extra"]?.json {
                whole["color"] = try JSONDecoder().decode(Extra.self, from: Data(extra.utf8)).color.map { .string($0) }
            }
            return try NotesDialect().request(
                for: RowRequest(.update, of: row.id, in: row.schema, row: whole, version: row.version))
        }
        variant.rowMeaning = { response, row in
            var meaning = try NotesDialect().meaning(of: response, to: row)
            let extra = try? JSONDecoder().decode(Extra.self, from: Data(response.body))
            if let extra, extra.color != nil {
                meaning.row?["__extra"] = .json(String(decoding: try JSONEncoder().encode(extra), as: UTF8.self))
            }
            return meaning
        }
        return variant
    }
}
