import Testing
import TidelineTestStores

@testable import Tideline

/// Pushes whose requests are sent together.
@Suite("Custom dialect: batches")
struct BatchTests {
    /// Makes a client with the rows `a` to `c` and a conflicting update, an update, a delete, and five inserts.
    private func makeScene(
        _ stores: StoreKind, maxBatchCount: Int, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (NotesWorld, NotesClient) {
        let dialect = NotesDialect(maxBatchCount: maxBatchCount)
        let (world, client) = try await NotesWorld.withRow(
            stores, ids: ["a", "b", "c"], ["text": "one"], dialect, configure: configure)
        world.server.write("a", ["text": "theirs"])
        for id in ["a", "b"] { try await client.notes.update(["id": .string(id), "text": "mine"]) }
        try await client.notes.delete(id: "c")
        for number in 0..<5 { try await client.notes.insert(["id": "n\(number)", "text": "new"]) }
        world.server.clear()
        return (world, client)
    }

    private func expectPushed(_ world: NotesWorld, _ client: NotesClient) async throws {
        let errors = try await client.pushErrors()
        #expect(errors.map(\.code) == [.conflict] && errors.first?.serverItem?["text"] == "theirs")
        #expect(try await client.queue() == ["update a"])
        #expect(world.server.fields("a")?["text"] == "theirs" && world.server.fields("b")?["text"] == "mine")
        #expect(world.server.fields("c") == nil)
        #expect((0..<5).allSatisfy { world.server.fields("n\($0)")?["text"] == "new" })
        // Each change was carried out once: three rows, the change of another, and seven changes of the client.
        world.server.write("last", ["text": "x"])
        #expect(world.server.change("last") == 12)
    }

    @Test(
        "P1 the changes in flight are sent in as few requests as the server takes, each with its own outcome",
        arguments: StoreKind.perEngine, [2, 3, 25])
    func outcomes(_ stores: StoreKind, _ maxBatchCount: Int) async throws {
        // All at once, and in rounds.
        for maxInFlight in [8, min(8, maxBatchCount)] {
            let (world, client) = try await makeScene(stores, maxBatchCount: maxBatchCount)
            let settings = PushSettings(maxInFlight: maxInFlight)
            await #expect(throws: SyncError.self) { try await client.client.push(settings: settings) }
            let count = (8 + maxBatchCount - 1) / maxBatchCount
            #expect(world.server.requests == Array(repeating: "POST /db/batch", count: count))
            try await expectPushed(world, client)
        }
    }

    @Test("P6 after the response to a batch was lost, each of its changes is made once", arguments: [true, false])
    func lost(isApplied: Bool) async throws {
        let (world, client) = try await makeScene(.simplest, maxBatchCount: 25)
        world.server.inspect { request, _ in request.contains("batch") ? isApplied ? .loseAnswer : .loseRequest : nil }
        await expectSyncError(.network) { try await client.client.push() }
        world.server.inspect(nil)
        try await expectPushed(world, client)
    }

    @Test("P3 a change that the server cannot store fails alone, also if it makes the batch fail", arguments: [0, 2])
    func poison(retries: Int) async throws {
        let (world, client) = try await makeScene(.simplest, maxBatchCount: 25) {
            $0.retry = RetryPolicy(maximumAttempts: 1 + retries, initialDelay: .milliseconds(1))
        }
        world.server.inspect { request, body in
            request.hasSuffix("/n2") || body.contains("n2") ? .answer(.unmarked(500, "")) : nil
        }
        // Without retries, the next push sends alone what failed together.
        for _ in 0...1 { _ = try? await client.pushErrors() }
        #expect(try await client.queue() == ["update a", "insert n2"])
        world.server.inspect(nil)
        try await expectPushed(world, client)
    }

    @Test("P1 a server that takes smaller batches, or none, gets single requests", arguments: [400, 404, 413])
    func refusedBatch(_ status: Int) async throws {
        let (world, client) = try await makeScene(.simplest, maxBatchCount: 4)
        world.server.inspect { request, _ in request.contains("batch") ? .answer(.unmarked(status, "")) : nil }
        await #expect(throws: SyncError.self) { try await client.client.push() }
        // The second batch may be on its way when the first is refused.
        #expect((1...2).contains(world.server.requests.count { $0.contains("batch") }))
        #expect(world.server.requests.count { $0.contains("/rows/") } == 8)
        try await expectPushed(world, client)
    }

    @Test(
        "P3 a response to a batch that cannot be divided costs no edit, and makes no row look deleted",
        arguments: [
            (200, "[]"), (200, Impostor.page), (200, #"{"status":"ok"}"#), (200, #"[{"status":-1,"body":""}]"#),
        ])
    func undivided(_ status: Int, _ body: String) async throws {
        let (world, client) = try await makeScene(.simplest, maxBatchCount: 25)
        world.server.inspect { request, _ in
            request.contains("batch") ? .answer(.unmarked(status, body)) : nil
        }
        let errors = (try? await client.pushErrors()) ?? []
        #expect(!errors.contains { $0.isRowGone || $0.code == .conflict })
        #expect(try await client.queue().count == 8)
        world.server.inspect(nil)
        try await expectPushed(world, client)
    }

    @Test("T1 a success without the row is not believed if the row is as before, although it has no version")
    func unchangedRow() async throws {
        var dialect = NotesVariant(name: "status")
        dialect.mark = { _ in nil }
        dialect.rowMeaning = { response, row in
            guard row.action == .lookUp else { return AnswerMeaning(byStatusOf: response) }
            var meaning = try NotesDialect().meaning(of: response, to: row)
            meaning.row?["version"] = .null
            return meaning
        }
        dialect.page = {
            var page = try NotesDialect().page(in: $0, to: $1, after: $2)
            for index in page.rows.indices { page.rows[index]["version"] = .null }
            return page
        }
        let (world, client) = try await NotesWorld.withRow(.simplest, ["text": "one"], dialect)
        try await client.notes.update(["id": "a", "text": "two"])
        world.server.inspect { request, _ in request.hasPrefix("GET") ? nil : .answer(.unmarked(200, "{}")) }
        await expectSyncError(.network) { try await client.client.push() }
        #expect(try await client.queue() == ["update a"])
        world.server.inspect(nil)
        try await client.client.push()
        #expect(try await client.queue().isEmpty && world.server.fields("a")?["text"] == "two")
    }

    @Test("P3 a success that reports a failure of the whole batch is the response to each change")
    func failureOfAll() async throws {
        let expired = #"{"error":"sessionEnded"}"#
        var dialect = NotesVariant(name: "envelope", maxBatchCount: 25)
        dialect.mark = { $0.body == Array(expired.utf8) ? true : NotesDialect().isFromService($0) }
        dialect.rowMeaning = { response, row in
            guard response.body != Array(expired.utf8) else { return AnswerMeaning(.signInNeeded) }
            return try NotesDialect().meaning(of: response, to: row)
        }
        let (world, client) = try await NotesWorld.withClient(.simplest, dialect)
        for id in ["a", "b"] { try await client.notes.insert(["id": .string(id), "text": "new"]) }
        world.server.inspect { request, _ in
            request.contains("batch") ? .answer(.unmarked(200, expired)) : nil
        }
        await expectSyncError(.authentication) { try await client.client.push() }
        #expect(try await client.queue() == ["insert a", "insert b"])
        world.server.inspect(nil)
        try await client.client.push()
        #expect(try await client.queue().isEmpty)
    }

    @Test(
        "T2 a success of a batch that cannot be divided says nothing about its changes, even if its status would",
        arguments: [nil, true] as [Bool?])
    func undividedSuccess(mark: Bool?) async throws {
        var dialect = NotesVariant(name: "status", maxBatchCount: 25)
        dialect.mark = { $0.body == Array(#"{"status":"ok"}"#.utf8) ? mark : NotesDialect().isFromService($0) }
        dialect.rowMeaning = { response, _ in AnswerMeaning(byStatusOf: response) }
        let (world, client) = try await NotesWorld.withRow(.simplest, ids: ["a", "b"], ["text": "one"], dialect)
        for id in ["a", "b"] { try await client.notes.delete(id: id) }
        world.server.inspect { request, _ in
            request.contains("batch") ? .answer(.unmarked(200, #"{"status":"ok"}"#)) : nil
        }
        let error = await expectSyncError(.network) { try await client.client.push() }
        #expect(error?.cause is DecodingError)
        #expect(try await client.queue() == ["delete a", "delete b"])
        world.server.inspect(nil)
        try await client.client.push()
        #expect(try await client.queue().isEmpty)
        #expect(world.server.fields("a") == nil && world.server.fields("b") == nil)
    }
}
