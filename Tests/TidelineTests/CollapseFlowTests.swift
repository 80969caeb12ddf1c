import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The coalescing table end to end: from the app's call through the queue to the server's row.
@Suite("Coalescing, end to end", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct CollapseFlowTests {
    /// The state of the first operation on the row.
    enum Pending: String, Sendable {
        case insert
        /// The request was lost.
        case insertNeverArrived
        /// The server inserted the row, but its answer was lost.
        case insertArrived
        case update
        case delete
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var pending: Pending
        var change: OperationKind
        var refusal: SyncError.Code?
        /// The expected world after the change.
        var then: String
        /// The expected world after the next push.
        var pushed: String
        var rejectsInsertOverPendingDelete = false

        var testDescription: String { "\(pending) + \(change)\(rejectsInsertOverPendingDelete ? ", strict" : "")" }
    }

    static let cases: [Case] = [
        Case(
            pending: .insert, change: .insert, refusal: .rowExists,
            then: "local [b=new] queue [insert b] server [a=one]",
            pushed: "local [b=new] queue [] server [a=one, b=new]"),
        Case(
            pending: .insert, change: .update, then: "local [b=changed] queue [insert b] server [a=one]",
            pushed: "local [b=changed] queue [] server [a=one, b=changed]"),
        Case(
            pending: .insert, change: .delete, then: "local [] queue [] server [a=one]",
            pushed: "local [] queue [] server [a=one]"),
        Case(
            pending: .insertNeverArrived, change: .insert, refusal: .rowExists,
            then: "local [b=new] queue [insert b] server [a=one]",
            pushed: "local [b=new] queue [] server [a=one, b=new]"),
        Case(
            pending: .insertNeverArrived, change: .update, then: "local [b=changed] queue [insert b] server [a=one]",
            pushed: "local [b=changed] queue [] server [a=one, b=changed]"),
        Case(
            pending: .insertNeverArrived, change: .delete, then: "local [] queue [delete b] server [a=one]",
            pushed: "local [] queue [] server [a=one]"),
        Case(
            pending: .insertArrived, change: .update, then: "local [b=changed] queue [insert b] server [a=one, b=new]",
            pushed: "local [b=changed] queue [] server [a=one, b=changed]"),
        Case(
            pending: .insertArrived, change: .delete, then: "local [] queue [delete b] server [a=one, b=new]",
            pushed: "local [] queue [] server [a=one, b deleted]"),
        Case(
            pending: .update, change: .insert, refusal: .rowExists,
            then: "local [a=edited] queue [update a] server [a=one]",
            pushed: "local [a=edited] queue [] server [a=edited]"),
        Case(
            pending: .update, change: .update, then: "local [a=changed] queue [update a] server [a=one]",
            pushed: "local [a=changed] queue [] server [a=changed]"),
        Case(
            pending: .update, change: .delete, then: "local [] queue [delete a] server [a=one]",
            pushed: "local [] queue [] server [a deleted]"),
        Case(
            pending: .delete, change: .insert, then: "local [a=changed] queue [update a] server [a=one]",
            pushed: "local [a=changed] queue [] server [a=changed]"),
        Case(
            pending: .delete, change: .insert, refusal: .noSuchRow, then: "local [] queue [delete a] server [a=one]",
            pushed: "local [] queue [] server [a deleted]", rejectsInsertOverPendingDelete: true),
        Case(
            pending: .delete, change: .update, refusal: .noSuchRow, then: "local [] queue [delete a] server [a=one]",
            pushed: "local [] queue [] server [a deleted]"),
        Case(
            pending: .delete, change: .delete, then: "local [] queue [delete a] server [a=one]",
            pushed: "local [] queue [] server [a deleted]"),
    ]

    @Test(
        "Q2 a change coalesces with the pending operation of its row, and the server ends with the row the app sees",
        arguments: StoreKind.perEngine, cases)
    func collapse(_ stores: StoreKind, _ test: Case) async throws {
        let world = try World(stores)
        _ = try await world.makeSyncedClient()
        let client = try await world.makeClient {
            $0.rejectsInsertOverPendingDelete = test.rejectsInsertOverPendingDelete
        }
        if test.pending == .update || test.pending == .delete { try await client.items.pull() }
        try await prepare(test.pending, client)
        let id = test.pending == .update || test.pending == .delete ? "a" : "b"
        let code = await syncErrorCode {
            switch test.change {
            case .insert: try await client.items.insert(["id": .string(id), "text": "changed"])
            case .update: try await client.items.update(["id": .string(id), "text": "changed"])
            case .delete: try await client.items.delete(id: id)
            }
        }
        #expect(code == test.refusal)
        #expect(try world.state(client) == test.then)
        try await client.context.push()
        #expect(try world.state(client) == test.pushed)
    }

    private func prepare(_ pending: Pending, _ client: Client) async throws {
        switch pending {
        case .insert, .insertArrived, .insertNeverArrived:
            try await client.items.insert(["id": "b", "text": "new"])
        case .update:
            try await client.items.update(["id": "a", "text": "edited"])
        case .delete:
            try await client.items.delete(id: "a")
        }
        guard pending == .insertArrived || pending == .insertNeverArrived else { return }
        client.transport.inspect { _, _ in pending == .insertArrived ? .loseAnswer : .loseRequest }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
    }

    @Test(
        "Q2 an update keeps its first base version when later changes coalesce with it", arguments: StoreKind.perEngine)
    func firstBaseVersion(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let version = try client.row("a")?.version
        try await client.items.update(["id": "a", "text": "two"])
        try await client.items.update(["id": "a", "text": "three"])
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
        try await client.items.delete(id: "a")
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
        try await client.items.insert(["id": "a", "text": "four"])
        #expect(try await client.context.pendingOperations().map(\.baseVersion) == [version])
        #expect(version != nil)
    }

    @Test("Q2 a restored row has the columns of the insert and none of the deleted row", arguments: StoreKind.perEngine)
    func restoreClears(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        try await client.items.insert(["id": "a", "text": "back"])
        #expect(try client.row("a")?["priority"] ?? .null == .null)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=back] queue [] server [a=back]")
        #expect(try world.serverRow("a")?["priority"] ?? .null == .null)
        #expect(try client.row("a")?["priority"] ?? .null == .null)
    }

    @Test(
        "Q2 a row restored after its delete reached the server is restored on the server",
        arguments: StoreKind.perEngine, [true, false])
    func restoreAfterDelete(_ stores: StoreKind, isHard: Bool) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        client.transport.inspect { _, _ in .loseAnswer }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        if isHard { try world.serverStore.write { _ = try $0.delete(id: "a", from: "TodoItem") } }
        try await client.items.insert(["id": "a", "text": "back"])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=back] queue [] server [a=back]")
    }

    @Test("Q2 a restored row without content is restored on the server too", arguments: StoreKind.perEngine)
    func restoreEmpty(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeSyncedClient()
        try await client.items.delete(id: "a")
        client.transport.inspect { _, _ in .loseAnswer }
        #expect(await syncErrorCode { try await client.context.push() } == .network)
        client.transport.inspect(nil)
        try await client.items.insert(["id": "a"])
        try await client.context.push()
        #expect(try world.state(client) == "local [a=null] queue [] server [a=null]")
    }
}
