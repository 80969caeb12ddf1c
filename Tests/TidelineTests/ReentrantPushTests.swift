import Testing
import TidelineTestStores

@testable import Tideline

/// Calls to the context from within its own push. No call waits for itself.
@Suite("Reentrant pushes", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct ReentrantPushTests {
    @Test(
        "P2 a push by a delegate that performs an operation is refused and does not deadlock",
        arguments: StoreKind.perEngine)
    func withinPerform(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        let codes = HeaderLog()
        client.context.delegate = ScriptedDelegate { operation in
            codes.add(await syncErrorCode { try await client.context.push() }?.rawValue)
            codes.add(await syncErrorCode { try await client.items.pull() }?.rawValue)
            return try await operation.execute()
        }
        try await client.pushUpdate(["id": "a", "text": "two"])
        #expect(codes.values == ["invalidArgument", "invalidArgument"])
        #expect(try world.state(client) == "local [a=two] queue [] server [a=two]")
    }

    @Test("P2 a delegate can resolve errors, push and pull in pushCompleted", arguments: StoreKind.perEngine)
    func withinCompletion(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await world.updateElsewhere()
        let codes = HeaderLog()
        let complete: @Sendable ([TableOperationError]) async -> Void = { errors in
            guard let error = errors.first else { return }
            codes.add(
                await syncErrorCode {
                    try await error.keepOperationAndUpdateItem(["id": "a", "text": "mine"])
                    try await client.context.push()
                    try await client.items.pull()
                }?.rawValue)
        }
        client.context.delegate = ScriptedDelegate(completed: complete) { try await $0.execute() }
        try await client.pushUpdate(["id": "a", "text": "two"])
        #expect(codes.values == ["none"])
        #expect(try world.state(client) == "local [a=mine] queue [] server [a=mine]")
    }

    @Test("P9 a task started by a delegate can push after the delegate has returned", arguments: StoreKind.perEngine)
    func afterwards(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let (tasks, task) = AsyncStream.makeStream(of: Task<SyncError.Code?, Never>.self)
        client.context.delegate = ScriptedDelegate { operation in
            task.yield(
                Task {
                    for await _ in ended { break }
                    return await syncErrorCode { try await client.context.push() }
                })
            return try await operation.execute()
        }
        try await client.pushUpdate(["id": "a", "text": "two"])
        end.yield()
        for await later in tasks {
            #expect(await later.value == nil)
            break
        }
    }
}
