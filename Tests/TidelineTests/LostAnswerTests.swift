import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule P6: the server has processed the request, and its answer is lost. No duplicate, no false conflict, no lost
/// edit.
@Suite("Lost answers", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct LostAnswerTests {
    private func loseAnswers(_ client: Client, during kind: OperationKind? = nil) async {
        client.transport.inspect { _, _ in .loseAnswer }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        client.transport.clear()
    }

    @Test(
        "P6 a retry accepts the result of the first attempt", arguments: StoreKind.perEngine,
        allPairs(OperationKind.allCases, [1, 3]))
    func plainRetry(_ stores: StoreKind, _ lost: (OperationKind, Int)) async throws {
        let (kind, losses) = lost
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        switch kind {
        case .insert: try await client.items.insert(["id": "b", "text": "new"])
        case .update: try await client.items.update(["id": "a", "text": "two"])
        case .delete: try await client.items.delete(id: "a")
        }
        for _ in 1...losses { await loseAnswers(client) }
        let before = try world.serverRow(kind == .insert ? "b" : "a")
        try await client.context.push()
        let end =
            switch kind {
            case .insert: "local [a=one, b=new] queue [] server [a=one, b=new]"
            case .update: "local [a=two] queue [] server [a=two]"
            case .delete: "local [] queue [] server [a deleted]"
            }
        #expect(try world.state(client) == end)
        // The server's row was written once.
        #expect(try world.serverRow(kind == .insert ? "b" : "a")?.version == before?.version)
        if kind != .delete { #expect(try client.row(kind == .insert ? "b" : "a")?.version == before?.version) }
    }

    @Test(
        "P6 the delete of an insert that was applied and then changed by others is not forgotten",
        arguments: StoreKind.perEngine)
    func deleteOfConflictingInsert(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.insert(["id": "b", "text": "new", "priority": 5])
        await loseAnswers(client)
        try await world.updateElsewhere(["id": "b", "priority": 9])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        try await client.items.delete(id: "b")
        #expect(try world.state(client) == "local [a=one] queue [delete b] server [a=one, b=new]")
        // The change of the other device has not been seen.
        #expect(try await pushErrors(client).map(\.serverItem?["priority"]) == [9])
    }

    /// The app's change before the retry.
    enum Edit: String, CaseIterable, Sendable {
        case sameColumn, otherColumn, clear, backToBase, delete, deleteAndInsert
    }

    @Test(
        "P6 an edit before the retry reaches the server", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], Edit.allCases))
    func editThenRetry(_ stores: StoreKind, _ lost: (OperationKind, Edit)) async throws {
        let (kind, edit) = lost
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let id = kind == .insert ? "b" : "a"
        let row: Row = ["id": .string(id), "text": "two", "priority": 7]
        if kind == .insert { try await client.items.insert(row) } else { try await client.items.update(row) }
        await loseAnswers(client)
        var expected: Row? = row
        switch edit {
        case .sameColumn: expected?["text"] = "three"
        case .otherColumn: expected?["complete"] = true
        case .clear: expected = ["id": .string(id), "text": .null, "priority": .null]
        case .backToBase: expected = ["id": .string(id), "text": "one", "priority": 1]
        case .delete, .deleteAndInsert:
            try await client.items.delete(id: id)
            expected = edit == .delete ? nil : ["id": .string(id), "text": "again"]
        }
        if edit == .deleteAndInsert, let expected { try await client.items.insert(expected) }
        if let expected, edit != .deleteAndInsert { try await client.items.update(expected) }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        let server = try world.serverRow(id)
        #expect((server?["deleted"]?.bool == true) == (expected == nil))
        for row in [try client.row(id), expected == nil ? nil : server] {
            for column in ["text", "priority", "complete"] {
                #expect(row?[column] ?? .null == expected?[column] ?? .null, "\(column)")
            }
        }
    }

    @Test(
        "P6 a restored row that others deleted stays deleted", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], [true, false]))
    func deletedAfterRestore(_ stores: StoreKind, _ lost: (OperationKind, Bool)) async throws {
        let (kind, deletesAgain) = lost
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let id = kind == .insert ? "b" : "a"
        if kind == .insert {
            try await client.items.insert(["id": .string(id), "text": "two"])
        } else {
            try await client.items.update(["id": .string(id), "text": "two"])
        }
        client.transport.inspect { _, _ in .loseRequest }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        try await client.items.delete(id: id)
        try await client.items.insert(["id": .string(id), "text": "again"])
        client.transport.inspect { request, _ in request.method == .get ? nil : .loseAnswer }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        #expect(try world.serverRow(id)?["text"] == "again")

        let other = try await world.makeOther()
        try await other.items.delete(id: id)
        try await other.context.push()
        if deletesAgain {
            // The app deletes this row itself, too, and its next insert replaces it.
            try await client.items.delete(id: id)
            try await client.items.insert(["id": .string(id), "text": "third"])
            try await client.context.push()
            #expect(try world.serverRow(id)?["text"] == "third")
            #expect(try world.serverRow(id)?["deleted"] != true)
        } else {
            #expect(try await pushErrors(client).map(\.code) == [.conflict])
            #expect(try world.serverRow(id)?["deleted"] == true)
        }
    }

    @Test(
        "P6 after a second lost answer with another edit, both edits reach the server", arguments: StoreKind.perEngine)
    func twoLosses(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        await loseAnswers(client)
        try await client.items.update(["id": "a", "text": "three", "priority": 2])
        await loseAnswers(client)
        #expect(try world.state(client) == "local [a=three] queue [update a] server [a=two]")
        try await client.items.update(["id": "a", "text": "one"])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
        #expect(try world.serverRow("a")?["priority"] == 2)
    }

    @Test(
        "P6 another client's change after this client's write is preserved, with and without an edit",
        arguments: StoreKind.perEngine, [true, false])
    func otherColumnOfOther(_ stores: StoreKind, edits: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        await loseAnswers(client)
        try await world.updateElsewhere(["id": "a", "priority": 9, "effort": 1.5])
        if edits { try await client.items.update(["id": "a", "text": "three"]) }
        try await client.context.push()
        let text = edits ? "three" : "two"
        #expect(try world.state(client) == "local [a=\(text)] queue [] server [a=\(text)]")
        for row in [try world.serverRow("a"), try client.row("a")] {
            #expect(row?["priority"] == 9 && row?["effort"] == 1.5)
        }
    }

    @Test(
        "P6 the same if a pull stored the other client's change in between", arguments: StoreKind.perEngine,
        [true, false])
    func otherColumnPulled(_ stores: StoreKind, edits: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        await loseAnswers(client)
        try await world.updateElsewhere(["id": "a", "priority": 9])
        // The server refuses the pull's push, so that the row is pulled while its operation is pending.
        client.transport.inspect { request, _ in request.isUpdate ? .answer(.answer(400)) : nil }
        var settings = PullSettings()
        settings.whenPushFails = .pullOthers
        #expect(await syncErrorCode { try await client.items.pull(settings: settings) } == .completedWithErrors)
        client.transport.inspect(nil)
        #expect(try client.row("a")?["priority"] == 1)
        if edits { try await client.items.update(["id": "a", "text": "three"]) }
        try await client.context.push()
        let text = edits ? "three" : "two"
        #expect(try world.state(client) == "local [a=\(text)] queue [] server [a=\(text)]")
        for row in [try world.serverRow("a"), try client.row("a")] { #expect(row?["priority"] == 9) }
    }

    @Test(
        "P6 another client's change that overwrites this client's write is a conflict",
        arguments: StoreKind.perEngine, [OperationKind.insert, .update, .delete])
    func sameColumnOfOther(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let id = kind == .insert ? "b" : "a"
        let row: Row = ["id": .string(id), "text": "two"]
        if kind == .insert { try await client.items.insert(row) } else { try await client.items.update(row) }
        await loseAnswers(client)
        try await world.updateElsewhere(["id": .string(id), "text": "theirs"])
        if kind == .delete { try await client.items.delete(id: "a") }
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && error.kind == kind)
        #expect(error.serverItem?["text"] == "theirs" && error.item?["text"] == "two")
        #expect(try world.serverRow(id)?["text"] == "theirs")
    }

    @Test(
        "P6 a delete after a lost update does not remove another client's change of another column",
        arguments: StoreKind.perEngine)
    func deleteUnderOther(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.update(["id": "a", "text": "two"])
        await loseAnswers(client)
        try await world.updateElsewhere(["id": "a", "priority": 9])
        try await client.items.delete(id: "a")
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && error.kind == .delete && error.serverItem?["priority"] == 9)
        #expect(try world.state(client) == "local [] queue [delete a] server [a=two]")
    }

    @Test(
        "P6 this client's insert is recognized if a 409 contains the client's own body, as Node sends it",
        arguments: StoreKind.perEngine)
    func ownBody(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let full: Row = [
            "id": "b", "text": "2026-11-21T00:00:00Z", "complete": false, "priority": 9_007_199_254_740_993,
            "effort": 0.1, "due": .timestamp(World.instant(1_234_567)), "photo": .bytes([0, 255]),
            "tags": .json(#"{"b":[1,2.5],"a":"x"}"#),
        ]
        try await client.items.insert(full)
        await loseAnswers(client)
        client.transport.inspect { request, body in
            request.method == .post ? .answer(.answer(409, body)) : nil
        }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.row("b")?.version == world.serverRow("b")?.version)
        #expect(client.transport.requests.contains { $0.hasPrefix("GET /tables/TodoItem?") })
    }

    @Test(
        "P6 a row that another client inserted with the ID is a conflict, whatever the 409 contains",
        arguments: StoreKind.perEngine)
    func foreignRow(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let other = try await world.makeOther()
        try await other.items.insert(["id": "b", "text": "theirs"])
        try await other.context.push()
        try await client.items.insert(["id": "b", "text": "mine"])
        client.transport.inspect { request, body in
            request.method == .post ? .answer(.answer(409, body)) : nil
        }
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && error.serverItem?["text"] == "theirs")
        #expect(try world.state(client) == "local [a=one, b=mine] queue [insert b] server [a=one, b=theirs]")
    }

    @Test(
        "P6 this client's write is recognized on a server with milliseconds and its own JSON format",
        arguments: StoreKind.perEngine, OperationKind.allCases)
    func coarseServer(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let id = kind == .insert ? "b" : "a"
        let row: Row = [
            "id": .string(id), "due": .timestamp(World.instant(1_234_567)), "tags": .json(#"{"a":1.0,"b":[true,"é"]}"#),
        ]
        if kind == .insert { try await client.items.insert(row) } else { try await client.items.update(row) }
        await loseAnswers(client)
        try world.serverStore.write { writer in
            let due = World.instant(1_234_567).flooredToMillisecond
            try writer.upsert(
                ["id": .string(id), "due": .timestamp(due), "tags": .json(#"{"b": [true, "\u00e9"], "a": 1}"#)],
                into: "TodoItem")
        }
        if kind == .delete { try await client.items.delete(id: "a") }
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        if kind == .delete { return #expect(try world.serverRow("a")?["deleted"] == true) }
        #expect(try client.row(id)?["due"] == world.serverRow(id)?["due"])
    }

    @Test(
        "P6 an unreadable answer makes the client read the row, and the next push completes the operation",
        arguments: StoreKind.perEngine, OperationKind.allCases)
    func unreadableAnswer(_ stores: StoreKind, _ kind: OperationKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        switch kind {
        case .insert: try await client.items.insert(["id": "b", "text": "new"])
        case .update: try await client.items.update(["id": "a", "text": "two"])
        case .delete: try await client.items.delete(id: "a")
        }
        client.transport.inspect { _, _ in
            .change { TransportResponse(response: $0.response, body: Array("no JSON".utf8)) }
        }
        // 204 has no body, so that any is ignored.
        let hasNoBody = kind == .delete && BothDialects.current == .datasync3
        #expect(await syncErrorCode { try await client.context.push() } == (hasNoBody ? nil : .network))
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        #expect(try client.texts() == world.serverTexts())
    }

    @Test(
        "P6 a delete that another server answers, such as that of a network's sign-in page, is not done",
        arguments: StoreKind.perEngine, [true, false])
    func deleteAnsweredElsewhere(_ stores: StoreKind, reachesServerAfterwards: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        client.transport.inspect { request, _ in
            if reachesServerAfterwards, request.method != .delete { return nil }
            return .answer(.answer(200, "no JSON"))
        }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        #expect(try world.state(client) == "local [] queue [delete a] server [a=one]")
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [] queue [] server [a deleted]")
    }

    @Test(
        "P6 a delete with an unreadable answer is done if the server no longer has the row",
        arguments: StoreKind.perEngine)
    func unreadableDelete(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        client.transport.inspect { request, _ in
            request.method == .delete ? .change { _ in .answer(200, "no JSON") as TransportResponse } : nil
        }
        try await client.context.push()
        #expect(client.transport.requests.count == 2)
        #expect(try world.state(client) == "local [] queue [] server [a deleted]")
    }

    @Test("P6 a restore completes if the answer of any of its requests is lost", arguments: StoreKind.perEngine, 1...3)
    func restore(_ stores: StoreKind, loss: Int) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        await loseAnswers(client)
        try await client.items.insert(["id": "a", "text": "back", "complete": true])
        client.transport.inspect { [transport = client.transport] _, _ in
            transport.requests.count == loss ? .loseAnswer : nil
        }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=back] queue [] server [a=back]")
        #expect(try world.serverRow("a")?["complete"] == true)
    }

    @Test(
        "P6 a delete that was lost and a delete whose answer was lost end the same", arguments: StoreKind.perEngine,
        [true, false])
    func deleteTwice(_ stores: StoreKind, arrived: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        client.transport.inspect { _, _ in arrived ? .loseAnswer : .loseRequest }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [] queue [] server [a deleted]")
    }

    @Test(
        "P6 a write that ended in a conflict is not recognized as this client's when another client writes the same",
        arguments: StoreKind.perEngine)
    func refusedBodyIsForgotten(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        let other = try await world.updateElsewhere()
        try await client.items.update(["id": "a", "complete": true])
        #expect(try await pushErrors(client).map(\.code) == [.conflict])
        try await other.items.update(["id": "a", "complete": true])
        try await other.context.push()
        try await client.items.update(["id": "a", "complete": false])
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && error.serverItem?["complete"] == true)
        #expect(try world.serverRow("a")?["complete"] == true)
    }
}
