import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule L9: several changes in one transaction.
@Suite("Transactions", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct TransactionTests {
    private static let lists = TableSchema("List", columns: [.string("name")])

    /// The error of an app.
    private struct AppError: Error {}

    private func makeClient(
        _ stores: StoreKind, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (World, WorldClient<HookedStore>) {
        let world = try World(stores) { $0.schemas.append(Self.lists) }
        let store = HookedStore(try stores.makeStore())
        let client = try await world.makeClient(over: store, tables: [World.schema, Self.lists], configure: configure)
        store.onWrite(nil)
        return (world, client)
    }

    private func state(_ world: World, _ client: WorldClient<HookedStore>) throws -> String {
        let names = try client.store.read { try $0.rows(matching: TableQuery("List").order(by: "name")).rows }
        return try world.state(client.store.base) + " lists \(names.compactMap { $0["name"]?.string })"
    }

    @Test("L9 changes of several tables are one commit, and are pushed in order", arguments: StoreKind.perEngine)
    func together(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores)
        let id = try await client.client.transaction { transaction in
            let list = try transaction.insert(["name": "Groceries"], into: "List")
            try transaction.insert(["id": "a", "text": list["name"] ?? .null], into: "TodoItem")
            try transaction.insert(["id": "b", "text": "two"], into: "TodoItem")
            try transaction.update(["id": "a", "priority": 1], in: "TodoItem")
            try transaction.update(id: "a", in: "TodoItem") { $0["text"] = "one" }
            try transaction.delete(id: "b", from: "TodoItem")
            return list.idText
        }
        #expect(client.store.writes == 1)
        let queued = #"local [a=one] queue [insert \#(id), insert a] server [] lists ["Groceries"]"#
        #expect(try state(world, client) == queued)
        try await client.client.push()
        #expect(try state(world, client) == #"local [a=one] queue [] server [a=one] lists ["Groceries"]"#)
        #expect(try world.serverRow("a")?["priority"] == 1)
    }

    @Test("L9 a thousand inserts are one commit", arguments: StoreKind.perEngine)
    func thousand(_ stores: StoreKind) async throws {
        let (_, client) = try await makeClient(stores)
        try await client.client.transaction { transaction in
            for index in 0..<1000 { try transaction.insert(["priority": .int(Int64(index))], into: "TodoItem") }
        }
        #expect(client.store.writes == 1)
        let operations = try await client.client.context.pendingOperations()
        #expect(operations.map { $0.item?["priority"]?.int } == (0..<1000).map { $0 })
    }

    @Test("L9 reads see the changes of the transaction", arguments: StoreKind.perEngine)
    func reads(_ stores: StoreKind) async throws {
        let (_, client) = try await makeClient(stores)
        try await client.items.insert(["id": "a", "text": "one"])
        let found = try await client.client.transaction { transaction in
            try transaction.insert(["id": "b", "text": "two"], into: "TodoItem")
            try transaction.delete(id: "a", from: "TodoItem")
            #expect(try transaction.row(id: "a", in: "TodoItem") == nil)
            #expect(try transaction.row(id: "b", in: "TodoItem")?["text"] == "two")
            return try transaction.rows(matching: TableQuery("TodoItem")).rows.map(\.idText)
        }
        #expect(found == ["b"])
    }

    @Test("L9 an error of the closure undoes everything and reaches the caller", arguments: StoreKind.perEngine)
    func thrown(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores)
        try await client.items.insert(["id": "a", "text": "one"])
        let before = try (state(world, client), client.store.base.dump())
        await #expect(throws: AppError.self) {
            try await client.client.transaction { transaction in
                try transaction.insert(["name": "Groceries"], into: "List")
                try transaction.delete(id: "a", from: "TodoItem")
                throw AppError()
            }
        }
        await #expect(throws: AppError.self) {
            try await client.client.transaction { transaction in
                try transaction.update(id: "a", in: "TodoItem") { row in
                    row["text"] = "two"
                    throw AppError()
                }
            }
        }
        #expect(try state(world, client) == before.0)
        #expect(try client.store.base.dump() == before.1)
    }

    @Test("L9 whichever store call fails, nothing changes, even if the closure goes on", arguments: StoreKind.perEngine)
    func failures(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withFailingClient(stores)
        try await client.expectWholeChange(failures: 5) {
            try await client.client.transaction { transaction in
                _ = try? transaction.insert(["id": "b", "text": "two"], into: "TodoItem")
                try? transaction.update(["id": "a", "text": "changed"], in: "TodoItem")
                try? transaction.delete(id: "a", from: "TodoItem")
            }
        }
        #expect(try world.state(client.store.base) == "local [b=two] queue [insert b, delete a] server [a=one]")
    }

    @Test("L9 an invalid change can be caught, and the others are committed", arguments: StoreKind.perEngine)
    func invalid(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores)
        let codes = try await client.client.transaction { transaction in
            try transaction.insert(["id": "a", "text": "one"], into: "TodoItem")
            func code(_ body: () throws -> Void) -> SyncError.Code? {
                do {
                    try body()
                    return nil
                } catch {
                    return (error as? SyncError)?.code
                }
            }
            return [
                code { try transaction.insert(["id": "A", "text": "two"], into: "TodoItem") },
                code { try transaction.insert(["id": "b", "txt": "two"], into: "TodoItem") },
                code { try transaction.update(["id": "c", "text": "two"], in: "TodoItem") },
                code { try transaction.update(id: "a", in: "TodoItem") { $0["id"] = "b" } },
                code { try transaction.delete(id: "a\u{0}", from: "TodoItem") },
                code { _ = try transaction.row(id: "", in: "TodoItem") },
                code { _ = try transaction.rows(matching: TableQuery("TodoItem").filter(.column("txt") == "two")) },
            ]
        }
        #expect(
            codes == [
                .rowExists, .invalidArgument, .noSuchRow, .invalidArgument, .invalidArgument, .invalidArgument,
                .invalidArgument,
            ])
        #expect(try state(world, client) == "local [a=one] queue [insert a] server [] lists []")
    }

    @Test("L9 a transaction that has ended cannot be used", arguments: StoreKind.perEngine)
    func escaped(_ stores: StoreKind) async throws {
        /// Keeps a transaction beyond its closure, as no app should.
        final class Keeper: @unchecked Sendable {
            // Only used by one task at a time.
            var transaction: SyncTransaction?
        }
        let keeper = Keeper()
        let (world, client) = try await makeClient(stores)
        try await client.client.transaction { keeper.transaction = $0 }
        let code = await syncErrorCode {
            _ = try keeper.transaction?.insert(["id": "a", "text": "one"], into: "TodoItem")
        }
        #expect(code == .invalidArgument)
        #expect(try state(world, client) == "local [] queue [] server [] lists []")
    }

    @Test("S7 a transaction of a task that is already canceled changes nothing", arguments: StoreKind.perEngine)
    func cancelled(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await syncErrorCode {
                _ = try await client.client.transaction {
                    try $0.insert(["id": "a", "text": "one"], into: "TodoItem")
                }
            }
        }
        #expect(await task.value == .cancelled)
        #expect(try state(world, client) == "local [] queue [] server [] lists []")
    }

    @Test("L12 a transaction on another user's store is refused", arguments: StoreKind.perEngine)
    func otherUser(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores) { $0.userID = "one" }
        try await client.items.insert(["id": "a", "text": "one"])
        try await client.context.push()
        let other = try await world.makeClient(over: client.store, tables: []) { $0.userID = "two" }
        await expectSyncError(.otherUser) {
            _ = try await other.client.transaction { try $0.insert(["id": "b", "text": "two"], into: "TodoItem") }
        }
    }

    @Test("L7 an app that writes its rows queues changes in a transaction", arguments: StoreKind.perEngine)
    func appWritesRows(_ stores: StoreKind) async throws {
        let (world, client) = try await makeClient(stores) { $0.handlesSyncTableOperations = false }
        let code = try await client.client.transaction { transaction -> SyncError.Code? in
            try transaction.insert(["id": "a", "text": "one"], into: "TodoItem")
            do {
                try transaction.update(id: "a", in: "TodoItem") { $0["text"] = "two" }
                return nil
            } catch let error as SyncError {
                return error.code
            }
        }
        #expect(code == .invalidArgument)
        #expect(try state(world, client) == "local [] queue [insert a] server [] lists []")
    }
}
