import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule C3: conflict policies, from the conflict to the server.
@Suite("Conflict policies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var policy: ConflictPolicy
        /// The edits of each side; `nil` for a delete.
        var mine: Row?
        var theirs: Row?
        /// The text and priority at the end; `nil` for a deleted row.
        var expected: String?

        init(_ name: String, _ policy: ConflictPolicy, _ mine: Row?, _ theirs: Row?, _ expected: String?) {
            (testDescription, self.policy, self.mine, self.theirs) = (name, policy, mine, theirs)
            self.expected = expected
        }
    }

    static let mine: Row = ["text": "mine", "priority": 2]
    static let theirs: Row = ["text": "theirs"]
    static let deleteWins = ConflictPolicy.merge(deletions: .deleteWins)
    static let latest = ConflictPolicy.lastWriterWins(by: "priority")

    static let cases: [Case] = [
        Case("server wins", .serverWins, mine, theirs, "theirs 1"),
        Case("server wins over a delete", .serverWins, nil, theirs, "theirs 1"),
        Case("server's delete wins", .serverWins, mine, nil, nil),
        Case("client wins", .clientWins, mine, theirs, "mine 2"),
        Case("client's delete wins", .clientWins, nil, theirs, nil),
        Case("client wins over a delete", .clientWins, mine, nil, "mine 2"),
        Case("the last writer is the client", latest, mine, theirs, "mine 2"),
        Case("the last writer is the server", latest, mine, ["text": "theirs", "priority": 3], "theirs 3"),
        Case("of writers at the same time, the server", latest, mine, ["text": "theirs", "priority": 2], "theirs 2"),
        Case("last writer: a change wins over a delete", latest, nil, theirs, "theirs 1"),
        Case("last writer: a delete wins", .lastWriterWins(by: "priority", deletions: .deleteWins), mine, nil, nil),
        Case("merge keeps other columns", .merge(), ["text": "mine"], ["priority": 5], "mine 5"),
        Case(
            "merge by rules", .merge(["priority": .sum], others: .client), mine, ["text": "t", "priority": 5], "mine 6"),
        Case("merge, server's value", .merge(), mine, theirs, "theirs 2"),
        Case("merge: a local change wins over a delete", .merge(), mine, nil, "mine 2"),
        Case("merge: a remote change wins over a delete", .merge(), nil, theirs, "theirs 1"),
        Case("merge: the server's delete wins", deleteWins, mine, nil, nil),
        Case("merge: the local delete wins", deleteWins, nil, theirs, nil),
        Case(
            "custom", .custom { .row(["text": "\($0.base?["text"] ?? "") \($0.local?["text"] ?? "")"]) }, mine, theirs,
            "\"one\" \"mine\" 1"),
        Case("custom delete", .custom { _ in .delete }, mine, theirs, nil),
        Case("custom row over a delete", .custom { _ in .row(["text": "new"]) }, nil, theirs, "new 1"),
        Case("custom row over the server's delete", .custom { _ in .row(["text": "new"]) }, mine, nil, "new 2"),
    ]

    /// Makes a client with a policy, and another one that both have the row `a`.
    private func makeClients(
        _ stores: StoreKind, _ configure: (inout SyncOptions) -> Void
    ) async throws -> (World, first: Client, client: Client) {
        let (world, first) = try await World.withSyncedClient(stores)
        let client = try await world.makeClient(configure: configure)
        try await client.items.pull(queryID: "q")
        client.transport.clear()
        return (world, first, client)
    }

    /// Makes the two clients, and an edit by each of them, of which the first is pushed.
    private func withConflict(
        _ stores: StoreKind, theirs: Row?, mine: Row?, _ configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (World, first: Client, client: Client) {
        let (world, first, client) = try await makeClients(stores, configure)
        try await edit(first, theirs)
        try await first.context.push()
        try await edit(client, mine)
        return (world, first, client)
    }

    private func edit(_ client: Client, _ edits: Row?) async throws {
        guard let edits else { return try await client.items.delete(id: "a") }
        try await client.items.update(id: "a") { $0 = $0.merging(edits) }
    }

    private func brief(_ row: Row?) -> String? {
        guard let row, row["deleted"]?.bool != true else { return nil }
        return "\(row["text"]?.string ?? "") \(row["priority"]?.int ?? 0)"
    }

    @Test("C3 a policy resolves conflicts in the push, and all clients converge", arguments: StoreKind.perEngine, cases)
    func resolves(_ stores: StoreKind, _ test: Case) async throws {
        for isHard in [false, true] where !isHard || test.theirs == nil {
            let (world, first, client) = try await withConflict(stores, theirs: test.theirs, mine: test.mine) {
                $0.conflictPolicies["TodoItem"] = test.policy
            }
            if isHard { try world.serverStore.write { _ = try $0.delete(id: "a", from: "TodoItem") } }
            let result = try await client.context.push()
            #expect(result.operationErrors.isEmpty && result.progress.sent + result.progress.resolved == 1)
            #expect(brief(try world.serverRow("a")) == test.expected)
            #expect(brief(try client.row("a")) == test.expected)
            #expect(try await client.queue().isEmpty)
            #expect(try await client.context.operationErrors().isEmpty)
            if let row = try client.row("a") { #expect(try row.version == world.serverRow("a")?.version) }
            #expect(try await client.client.decisions().count >= 1)
            for other in [client, first] {
                try await other.items.pull()
                if isHard, test.expected == nil { continue }
                #expect(brief(try other.row("a")) == test.expected)
            }
        }
    }

    static let merges: [Script] = [
        Script(
            "C3 the merged row is stored with its decision, and sent by the next push if this one ends",
            "other update a priority=5; update a=mine; on >1 lose request; push fails network",
            "row a text=mine priority=5; remember a; bases [?]; restart; push; remote a text=mine priority=5",
            "decisions [merge]"
        ).with { $0.conflictPolicy = .merge() },
        Script(
            "C3 a failed policy can be resolved by hand",
            "other delete a; update a=mine priority=2; push errors policy; error gone=true; discard",
            "local [] queue [] server [a deleted]"
        ).with { $0.conflictPolicy = .custom { _ in throw CancellationError() } },
    ]

    static let sumsOfEdits: [Script] = [
        Script(
            "C3 a policy sees an update that was made during the request",
            "other update a priority=5; update a priority=2; on update afterwards update a=later priority=3; push",
            "both a text=later priority=7; queue []"),
        Script(
            "C3 a policy sees a delete that was made during the request",
            "other update a priority=5; update a priority=2; on update afterwards delete a; push",
            "local [] queue [] server [a deleted]"),
    ].map { $0.with { $0.conflictPolicy = .merge(["priority": .sum], deletions: .deleteWins) } }

    // A lost response leaves the conflict to the app, and it is not sent again.
    static let sums: [Script] = [
        Script(
            "C3 two inserts of one row are merged without a base",
            "other insert b=theirs priority=3; insert b priority=4 effort=0.5; push",
            "remote b text=theirs priority=7 effort=0.5; same b"),
        Script(
            "C3 sum does not count a change twice whose response was lost",
            "update a priority=11; lose answer; push fails network; other update a priority=12",
            "push errors conflict; error server.priority=12; clear; push errors conflict; requests 0",
            "remote a priority=12"),
        Script(
            "C3 sum does not count a change twice whose response was unreadable and whose result others have changed",
            "update a priority=11; on update once replace { <; on get meanwhile other update a priority=12",
            "push fails network; push errors conflict; error server.priority=12; remote a priority=12"),
    ].map { $0.with { $0.conflictPolicy = .merge(["priority": .sum]) } }

    @Test(
        "C3 a sum counts each change once, and a merge survives the end of its push", arguments: StoreKind.perEngine,
        merges + sumsOfEdits + sums)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("C3 a table's policy replaces the context's; without one, conflicts fail", arguments: StoreKind.perEngine)
    func declared(_ stores: StoreKind) async throws {
        for (general, own, code) in [
            (ConflictPolicy.serverWins, ConflictPolicy?.none, OperationFailure.Code?.none),
            (.manual, nil, .conflict), (.serverWins, .manual, .conflict), (.manual, .clientWins, nil),
        ] {
            let (_, _, client) = try await withConflict(stores, theirs: Self.theirs, mine: Self.mine) {
                $0.conflictPolicy = general
                $0.conflictPolicies["TodoItem"] = own
            }
            #expect(try await pushErrors(client).first?.code == code)
        }
    }

    // MARK: Again, at the same time, and after a failure

    @Test(
        "C3 a new conflict is merged again, at most four times; then it is a conflict, and the next push goes on",
        arguments: StoreKind.perEngine)
    func again(_ stores: StoreKind) async throws {
        let (world, first, client) = try await makeClients(stores) { $0.conflictPolicy = .merge(["priority": .sum]) }
        let patches = MaximumCount()
        client.transport.inspect { request, _ in
            guard request.isUpdate else { return nil }
            patches.enter()
            _ = try? await first.items.update(id: "a") { $0["priority"] = .int(($0["priority"]?.int ?? 0) + 10) }
            _ = try? await first.context.push()
            return nil
        }
        try await edit(client, ["priority": 2])
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && patches.maximum == 5)
        #expect(try await client.queue() == ["update a"])
        #expect(try await client.client.decisions().count == 4)
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.serverRow("a")?["priority"] == 52)
        #expect(try client.row("a")?["priority"] == 52)
    }

    @Test("C3 a store that fails at any call of a push with a policy loses nothing", arguments: StoreKind.perEngine)
    func failingStore(_ stores: StoreKind) async throws {
        var failures = 0
        while true {
            let world = try World(stores)
            let first = try await world.makeSyncedClient()
            let store = try FailingStore(stores)
            func open() async throws -> WorldClient<FailingStore> {
                try await world.makeClient(over: store) { $0.conflictPolicy = .merge(["priority": .greatest]) }
            }
            let client = try await open()
            try await client.items.pull()
            try await edit(first, ["priority": 5])
            try await first.context.push()
            try await client.items.update(["id": "a", "text": "mine", "priority": 2])
            store.fail(at: failures + 1, staysDown: true)
            _ = try? await client.context.push()
            guard store.heal() else { break }
            failures += 1
            let restarted = try await open().client
            try await restarted.push()
            #expect(brief(try world.serverRow("a")) == "mine 5")
            #expect(try await restarted.decisions().count == 1)
            #expect(try await restarted.pendingOperationsCount == 0)
        }
        #expect(failures >= 4)
    }

    // MARK: With the manual way

    @Test("C3 a later policy resolves a conflict of an earlier version of the app", arguments: StoreKind.perEngine)
    func declaredLater(_ stores: StoreKind) async throws {
        let (world, _, client) = try await withConflict(stores, theirs: ["priority": 5], mine: ["text": "mine"])
        #expect(try await pushErrors(client).count == 1)
        let updated = try await world.makeClient(store: client.store) { $0.conflictPolicy = .merge() }
        try await updated.context.push()
        #expect(brief(try world.serverRow("a")) == "mine 5")
        #expect(try await updated.context.operationErrors().isEmpty)
    }

    @Test(
        "C3 a delegate sees a conflict first; one that it does not resolve goes to the policy, and then to pushCompleted",
        arguments: StoreKind.perEngine)
    func delegate(_ stores: StoreKind) async throws {
        let (world, first, client) = try await makeClients(stores) {
            $0.conflictPolicy = .custom { $0.local?["text"] == "leave" ? .manual : .row(["text": "merged"]) }
        }
        let seen = HeaderLog()
        let delegate = ScriptedDelegate { operation in
            do {
                return try await operation.execute()
            } catch let failure as OperationFailure {
                seen.add("\(failure.code.rawValue)")
                throw failure
            }
        }
        client.context.delegate = delegate
        try await edit(first, Self.theirs)
        try await first.context.push()
        try await edit(client, Self.mine)
        try await client.context.push()
        #expect(seen.values == ["conflict"])
        #expect(delegate.calls == ["update a", "update a", "completed 0"])
        #expect(brief(try world.serverRow("a")) == "merged 1")
        try await first.items.pull()
        try await edit(first, ["priority": 9])
        try await first.context.push()
        try await edit(client, ["text": "leave"])
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .conflict && delegate.calls.suffix(2) == ["update a", "completed 1"])
        try await error.cancelOperationAndDiscardItem()
        #expect(brief(try client.row("a")) == "merged 9")
    }

    // MARK: Policies that fail

    static let failing: [(String, ConflictPolicy, says: [String])] = [
        ("throws", .custom("mine") { _ in throw CancellationError() }, ["mine", "TodoItem", "CancellationError"]),
        ("another id", .custom("mine") { _ in .row(["id": "b"]) }, ["mine", "TodoItem", "\"b\"", "\"a\""]),
        ("unknown column", .custom("mine") { _ in .row(["txt": "x"]) }, ["mine", "txt"]),
        ("wrong type", .custom("mine") { _ in .row(["priority": "high"]) }, ["mine", "priority", "high"]),
        ("no number", .custom("mine") { _ in .row(["effort": .double(.nan)]) }, ["mine", "effort"]),
        ("no JSON", .custom("mine") { _ in .row(["tags": .json("{")]) }, ["mine", "tags"]),
        (
            "a rule throws", .merge(["text": .custom("r") { _ in throw CancellationError() }]),
            ["merge", "text", "rule r"]
        ),
        ("a rule's wrong type", .merge(["text": .custom("r") { _ in 7 }]), ["merge", "text", "7"]),
    ]

    @Test(
        "C3 a policy that fails is an error of the operation, which stays; a correct policy then resolves it",
        arguments: StoreKind.perEngine, 0..<failing.count)
    func fails(_ stores: StoreKind, _ index: Int) async throws {
        let (_, policy, says) = Self.failing[index]
        let (world, _, client) = try await withConflict(stores, theirs: Self.theirs, mine: Self.mine) {
            $0.conflictPolicy = policy
        }
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .policy && error.table == "TodoItem" && error.itemID == "a" && error.status == 412)
        for text in says { #expect(error.message.contains(text), "\(error.message)") }
        #expect(error.serverItem?["text"] == "theirs")
        #expect(try world.state(client) == "local [a=mine] queue [update a] server [a=theirs]")
        #expect(try await client.client.decisions().isEmpty)
        let updated = try await world.makeClient(store: client.store) { $0.conflictPolicy = .clientWins }
        try await updated.context.push()
        #expect(brief(try world.serverRow("a")) == "mine 2")
        #expect(try await updated.context.operationErrors().isEmpty)
    }

    // MARK: Validation

    @Test("C3 a policy that does not fit its table is an error that names table and column")
    func validation() async throws {
        let world = try World(StoreKind.perEngine[3])
        let cases: [(ConflictPolicy, column: String, says: String)] = [
            (.merge(["txt": .text]), "txt", "did you mean \"text\""), (.merge(["text": .sum]), "text", "string"),
            (.merge(["priority": .text]), "priority", "int"), (.merge(["text": .union]), "text", "string"),
            (.merge(["tags": .greatest]), "tags", "json"), (.merge(["updatedAt": .greatest]), "updatedAt", "server"),
            (.merge(others: .sum), "text", "string"), (.lastWriterWins(by: "when"), "when", "does not define"),
            (.lastWriterWins(by: "photo"), "photo", "bytes"), (.lastWriterWins(by: "updatedAt"), "updatedAt", "server"),
        ]
        for (policy, column, says) in cases {
            await expectSyncError(.invalidArgument, table: "TodoItem", column: column, says: says) {
                _ = try await world.makeClient { $0.conflictPolicies["TodoItem"] = policy }
            }
        }
        #expect(await syncErrorCode { _ = try await world.makeClient { $0.maximumDecisions = 0 } } == .invalidArgument)
        // Rules of the context apply to the tables that have the column.
        let client = try await world.makeClient { $0.conflictPolicy = .merge(["count": .sum, "priority": .sum]) }
        await expectSyncError(.invalidArgument, column: "count") { try await client.context.push() }
        try await client.client.define([TableSchema("Other", columns: [.int("count")])])
        try await client.context.push()
    }

    @Test("C3 a policy of a table that is not defined is an error of the push")
    func unknownTable() async throws {
        let client = try await World(StoreKind.perEngine[3]).makeClient {
            $0.conflictPolicies["TodoItems"] = .serverWins
        }
        await expectSyncError(.invalidArgument, table: "TodoItems", says: "did you mean \"TodoItem\"?") {
            try await client.context.push()
        }
    }
}
