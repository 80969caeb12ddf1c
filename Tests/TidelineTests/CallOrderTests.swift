import Dispatch
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Local changes in tasks that do not wait for each other, and in canceled tasks.
@Suite("Order of calls")
struct CallOrderTests {
    /// An actor that starts a task for each change and waits for none until all are started.
    private actor Editor {
        func insert(_ count: Int, into items: SyncTable) async throws {
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<count {
                tasks.append(
                    Task {
                        _ = self
                        try await items.insert(["id": .string("id\(number)"), "text": "x"])
                    })
            }
            for task in tasks { try await task.value }
        }
    }

    @Test("inserts in tasks of one actor take effect in the order of their start", arguments: StoreKind.perEngine)
    func insertsInOrder(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        try await Editor().insert(400, into: client.items)
        #expect(try await client.queue() == (0..<400).map { "insert id\($0)" })
    }

    @MainActor
    @Test("insert, updates and delete of one row take effect in order without waiting", arguments: StoreKind.perEngine)
    func oneRow(_ stores: StoreKind) async throws {
        let items = try await World(stores).makeClient().items
        for round in 0..<40 {
            let id = Value.string("id\(round)")
            let tasks: [Task<Void, any Error>] = [
                Task { try await items.insert(["id": id, "text": "one"]) },
                Task { try await items.update(["id": id, "text": "two"]) },
                Task { try await items.update(["id": id, "text": "three"]) },
                Task { try await items.delete(id: "id\(round)") },
                Task { try await items.insert(["id": id, "text": "four"]) },
            ]
            for task in tasks { try await task.value }
        }
        #expect(try await items.rows().rows.map { $0["text"] } == Array(repeating: "four", count: 40))
    }

    @MainActor
    @Test(
        "a definition, a purge and a resolution take effect in order with changes, without waiting for each other",
        arguments: StoreKind.perEngine)
    func otherCalls(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient(over: stores.makeStore(), tables: [])
        let items = client.items
        for round in 0..<20 {
            let id = Value.string("id\(round)")
            let tasks: [Task<Void, any Error>] = [
                Task { try await client.client.define([World.schema]) },
                Task { try await items.insert(["id": "purged", "text": "x"]) },
                Task { try await items.forcePurge() },
                Task { try await items.insert(["id": id, "text": "one"]) },
            ]
            for task in tasks { try await task.value }
            let operation = try #require(try await client.context.pendingOperations().first)
            let resolutions: [Task<Void, any Error>] = [
                Task { try await client.context.cancelOperation(operation, updating: ["id": id, "text": "two"]) },
                Task { try await items.update(["id": id, "text": "three"]) },
            ]
            for task in resolutions { try await task.value }
            #expect(try await items.rows().rows.map { $0["text"] } == ["three"])
            #expect(try await client.queue() == ["update id\(round)"])
        }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("immediate tasks of code outside an actor keep their order too", arguments: StoreKind.perEngine)
    func immediateTasks(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let tasks = (0..<200).map { number in
            Task.immediate { try await client.items.insert(["id": .string("id\(number)"), "text": "x"]) }
        }
        for task in tasks { _ = try await task.value }
        #expect(try await client.queue() == (0..<200).map { "insert id\($0)" })
    }

    /// Returns the codes of changes in tasks that are canceled while the transaction of another task blocks theirs.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    private func cancelledCodes(_ client: WorldClient<HookedStore>) async throws -> [SyncError.Code?] {
        let (items, store) = (client.items, client.store)
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        store.onWrite { number in
            guard number == 1 else { return }
            entering.yield()
            release.wait()
        }
        let first = Task { try await items.insert(["id": "first", "text": "x"]) }
        for await _ in entered { break }
        let tasks = [
            Task.immediate { await syncErrorCode { try await items.insert(["id": "b", "text": "x"]) } },
            Task.immediate { await syncErrorCode { try await items.update(["id": "a", "text": "x"]) } },
            Task.immediate { await syncErrorCode { try await items.delete(id: "a") } },
        ]
        for task in tasks { task.cancel() }
        release.signal()
        _ = try await first.value
        var codes: [SyncError.Code?] = []
        for task in tasks { codes.append(await task.value) }
        return codes
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test("S7 a change whose task is canceled before its transaction is not applied", arguments: StoreKind.perEngine)
    func cancelled(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient(over: HookedStore(stores.makeStore()))
        try await client.items.insert(["id": "a", "text": "one"])
        #expect(try await cancelledCodes(client) == [.cancelled, .cancelled, .cancelled])
        let rows = try await client.items.rows().rows
        #expect(rows.map(\.id) == ["a", "first"] && rows[0]["text"] == "one")
        #expect(try await client.queue() == ["insert a", "insert first"])
    }

    @Test("S7 a task that is already canceled changes nothing", arguments: StoreKind.perEngine)
    func cancelledBefore(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient()
        let code = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await syncErrorCode { try await client.items.insert(["id": "a", "text": "x"]) }
        }.value
        #expect(code == .cancelled)
        #expect(try await client.items.rows().rows.isEmpty)
        #expect(try await client.queue().isEmpty)
    }
}
