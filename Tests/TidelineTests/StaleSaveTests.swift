import Foundation
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// L10: saving a row that was read before another client's change does not undo that change.
@Suite("Stale saves", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct StaleSaveTests {
    /// Makes a client that has read row `a`, and has then pulled another client's change of its text and priority.
    private func makeStale(_ stores: StoreKind) async throws -> (World, Client, read: Row) {
        let (world, client) = try await World.withSyncedClient(stores)
        let read = try #require(try await client.items.row(id: "a"))
        try await world.updateElsewhere(["id": "a", "text": "theirs", "priority": 2])
        try await client.items.pull(queryID: "q")
        return (world, client, read)
    }

    @Test("L10 saving a row read before a pull is refused, with both rows in the error", arguments: StoreKind.perEngine)
    func refused(_ stores: StoreKind) async throws {
        let (world, client, read) = try await makeStale(stores)
        let edited = read.merging(["text": "mine"])
        let update = await #expect(throws: SyncError.self) { try await client.items.update(edited) }
        #expect(update?.code == .rowChanged && update?.table == "TodoItem" && update?.id == "a")
        #expect(update?.givenRow == edited && update?.storedRow?["text"] == "theirs")
        let delete = await #expect(throws: SyncError.self) { try await client.items.delete(read) }
        #expect(delete?.code == .rowChanged && delete?.givenRow == read && delete?.storedRow?["text"] == "theirs")
        let version = read.version
        #expect(await syncErrorCode { try await client.items.delete(id: "a", version: version) } == .rowChanged)
        #expect(try world.state(client) == "local [a=theirs] queue [] server [a=theirs]")
    }

    @Test("L10 overwriting, and deleting by ID, ignore the version", arguments: StoreKind.perEngine)
    func overwriting(_ stores: StoreKind) async throws {
        let (world, client, read) = try await makeStale(stores)
        try await client.items.update(read, overwriting: true)
        try await client.context.push()
        #expect(try world.serverRow("a")?["text"] == "one" && world.serverRow("a")?["priority"] == 1)
        try await client.items.delete(id: "a")
        #expect(try world.state(client) == "local [] queue [delete a] server [a=one]")
    }

    @Test("L10 columns without a version are merged into the current row", arguments: StoreKind.perEngine)
    func named(_ stores: StoreKind) async throws {
        try await Script(
            "L10", "other update a=theirs priority=2; pull q; update a=mine; push; remote a text=mine priority=2"
        ).play(stores)
    }

    @Test("L10 a row read before a local edit can be saved", arguments: StoreKind.perEngine)
    func ownEdit(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        var read = try #require(try await client.items.row(id: "a"))
        try await client.items.update(["id": "a", "priority": 5])
        read["text"] = "two"
        try await client.items.update(read)
        #expect(try client.row("a")?["text"] == "two")
        try await client.items.delete(read)
        #expect(try await client.queue() == ["delete a"])
    }

    @Test("L10 saving a row read before its first push fails once it has a version", arguments: StoreKind.perEngine)
    func beforeFirstPush(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let read = try await client.items.insert(["id": "a", "text": "one"])
        try await client.pushUpdate(read)
        #expect(await syncErrorCode { try await client.items.update(read) } == .rowChanged)
    }

    // MARK: update(id:)

    @Test("L10 update(id:) changes the stored row", arguments: StoreKind.perEngine)
    func closure(_ stores: StoreKind) async throws {
        let (world, client, _) = try await makeStale(stores)
        let stored = try await client.items.update(id: "A") { row in
            row["text"] = .string((row["text"]?.string ?? "") + " and mine")
            row["version"] = "made up"
            row["tags"] = nil
        }
        #expect(stored["text"] == "theirs and mine" && stored.version != "made up")
        try await client.context.push()
        #expect(try world.serverRow("a")?["text"] == "theirs and mine" && world.serverRow("a")?["priority"] == 2)
        try await client.items.update(id: "a") { $0["priority"] = nil }
        #expect(try client.row("a")?["priority"] == .null)
        try await client.context.push()
        try await client.items.update(id: "a") { _ in }
        #expect(try await client.queue().isEmpty)
    }

    @Test("L10 update(id:) changes nothing if it fails", arguments: StoreKind.perEngine)
    func failingClosure(_ stores: StoreKind) async throws {
        struct Refusal: Error {}
        let (world, client) = try await World.withSyncedClient(stores)
        await #expect(throws: Refusal.self) {
            try await client.items.update(id: "a") { row in
                row["text"] = "two"
                throw Refusal()
            }
        }
        let codes = [
            await syncErrorCode { try await client.items.update(id: "a") { $0.id = "b" } },
            await syncErrorCode { try await client.items.update(id: "a") { $0["nothing"] = 1 } },
            await syncErrorCode { try await client.items.update(id: "") { _ in } },
            await syncErrorCode { try await client.items.update(id: "b") { _ in } },
        ]
        #expect(codes == [.invalidArgument, .invalidArgument, .invalidArgument, .noSuchRow])
        #expect(try world.state(client) == "local [a=one] queue [] server [a=one]")
    }

    @Test("L7 update(id:) is refused if the app writes the rows itself", arguments: StoreKind.perEngine)
    func ownRows(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient { $0.handlesSyncTableOperations = false }
        #expect(await syncErrorCode { try await client.items.update(id: "a") { _ in } } == .invalidArgument)
    }

    // MARK: Ids

    @Test(
        "an ID that is not text is refused and named, never replaced with a new one", arguments: StoreKind.perEngine,
        [.int(5), .double(1.5), .bool(true), .timestamp(.min), .json("{}"), .bytes([1])] as [Value])
    func wrongIDs(_ stores: StoreKind, _ id: Value) async throws {
        let (world, client) = try await World.withClient(stores)
        try await client.items.insert(["id": "5", "text": "five"])
        let row: Row = ["id": id, "text": "x"]
        let errors = [
            await #expect(throws: SyncError.self) { try await client.items.insert(row) },
            await #expect(throws: SyncError.self) { try await client.items.update(row) },
            await #expect(throws: SyncError.self) { try await client.items.delete(row) },
        ]
        for error in errors {
            #expect(error?.code == .invalidArgument && error?.table == "TodoItem" && error?.column == "id")
            #expect(error?.message.contains(id.type?.rawValue ?? "") == true)
        }
        #expect(try world.state(client) == "local [5=five] queue [insert 5] server []")
    }

    @Test("reading an ID that no row can have is an error, and so is a blank name", arguments: StoreKind.perEngine)
    func reading(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        for id in ["", "a/b", String(repeating: "x", count: 256)] {
            #expect(await syncErrorCode { _ = try await client.items.row(id: id) } == .invalidArgument)
        }
        let blank = client.client.table(" ")
        let codes = [
            await syncErrorCode { _ = try await blank.row(id: "a") },
            await syncErrorCode { _ = try await blank.rows() },
            await syncErrorCode { _ = try await blank.insert(["text": "x"]) },
            await syncErrorCode { _ = try await blank.pull() },
            await syncErrorCode { try await client.client.define([TableSchema(" ", columns: [])]) },
        ]
        #expect(codes.allSatisfy { $0 == .invalidArgument }, "\(codes)")
    }

    @Test("L5 a version of the caller does not replace a missing version in the store", arguments: StoreKind.perEngine)
    func givenVersion(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await client.items.insert(["id": "a", "text": "one"])
        #expect(await syncErrorCode { try await client.items.delete(id: "a", version: "mine") } == .rowChanged)
    }

    @Test("an undefined column is an invalid argument, named once, with a suggestion", arguments: StoreKind.perEngine)
    func unknownColumn(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let query = TableQuery("TodoItem").filter(.column("complte") == true)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await client.items.rows(matching: query) }, { _ = try await client.items.purge(query) },
            { _ = try await client.items.rows(matching: TableQuery("TodoItem").order(by: "complte")) },
            { _ = try await client.items.rows(matching: TableQuery("TodoItem").select("complte")) },
            { _ = try await client.items.insert(["complte": true]) },
        ]
        for (number, call) in calls.enumerated() {
            let error = await expectSyncError(.invalidArgument, table: "TodoItem", column: "complte") {
                try await call()
            }
            let text = error.map { "\($0)" } ?? ""
            #expect(text.components(separatedBy: "complte").count == 2, "call \(number): \(text)")
            #expect(text.contains(#"; did you mean "complete"?"#), "call \(number): \(text)")
        }
        let pull = await #expect(throws: SyncError.self) { _ = try await client.items.pull(query) }
        #expect(pull?.code == .invalidArgument && pull?.message.hasSuffix(#"did you mean "complete"?"#) == true)
    }
}
