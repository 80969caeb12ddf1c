import Foundation
import Testing
import TidelineMemory
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineKeyValue

@Suite struct ConcurrencyTests {
    @Test func aTaskCancelledWhileItWaitsForItsTurnWritesNothing() async throws {
        let store = try MemoryStore()
        try store.define([TableSchema("T", columns: [.int("n")])])
        // The writing thread is not a thread of the cooperative pool, which may have only one thread.
        let task = await withCheckedContinuation { began in
            Thread.detachNewThread {
                try? store.write { writer in
                    let task = Task.detached { try store.write { try $0.upsert(["id": "b", "n": 1], into: "T") } }
                    began.resume(returning: task)
                    try? waitUntil("a writer to wait") { store.lock.waitingWriterCount > 0 }
                    task.cancel()
                    try writer.upsert(["id": "a", "n": 1], into: "T")
                }
            }
        }
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try store.read { try $0.count(TableQuery("T")) } == 1)
    }

    @Test func theEngineIsLentWhileTheStoreIsOpen() throws {
        let (engine, store) = try openStore()
        #expect(try store.withEngine { $0 === engine })
        _ = try store.withEngine { _ in expectError(.busy) { try store.close() } }
        try store.close()
        try store.close()
        #expect(engine.closingCount == 1)
        expectError(.closed) { try store.withEngine { _ in } }
    }

    @Test func aQueryIsExplainedAsItWouldBeAnswered() throws {
        let store = try MemoryStore()
        try store.define([TableSchema("T", columns: [.int("n"), .string("text")], indexes: [["n"]])])
        #expect(try "\(store.explain(TableQuery("T").filter(.column("n") == 1)))".contains("n"))
        let plans = try [TableQuery("T"), TableQuery("T").filter(.column("n") == 1)].map { "\(try store.explain($0))" }
        #expect(plans[0] != plans[1])
        expectError(.noSuchTable) { _ = try store.explain(TableQuery("U")) }
    }
}
