import Dispatch
import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite struct LifecycleTests {
    @Test(arguments: StoreKind.persistent)
    func closeAndReopenKeepsTablesAndRows(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let first = try subject.open(folder)
            try first.define([.items])
            try first.write { try $0.upsert(["id": "1", "text": "Milk"], into: "TodoItem") }
            try first.close()
            let second = try subject.open(folder)
            #expect(try second.tables() == [.items])
            #expect(try second.read { try $0.row(in: "TodoItem", id: "1")?["text"] } == "Milk")
            try second.close()
        }
    }

    @Test(arguments: StoreKind.all)
    func twoStoresAreEmptyAndDistinct(_ subject: StoreKind) throws {
        try subject.withStore(.items) { first in
            try subject.withStore(.items) { second in
                try first.write { try $0.upsert(["id": "1"], into: "TodoItem") }
                #expect(try second.read { try $0.count(Query("TodoItem")) } == 0)
            }
        }
    }

    @Test(arguments: StoreKind.all)
    func everyCallAfterCloseFailsWithClosed(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let store = try subject.open(folder)
            try store.define([.items])
            try store.close()
            try store.close()
            expectError(.closed) { try store.read { _ in } }
            expectError(.closed) { try store.write { _ in } }
            expectError(.closed) { try store.define([.items]) }
            expectError(.closed) { _ = try store.tables() }
        }
    }

    @Test(arguments: StoreKind.all)
    func handlesUsedAfterTheirBodyFailWithClosed(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            let reader = try store.read { $0 }
            let writer = try store.write { $0 }
            expectError(.closed) { _ = try reader.row(in: "TodoItem", id: "1") }
            expectError(.closed) { _ = try reader.rows(matching: Query("TodoItem")) }
            expectError(.closed) { _ = try reader.count(Query("TodoItem")) }
            expectError(.closed) { _ = try reader.schema(of: "TodoItem") }
            expectError(.closed) { try writer.upsert(["id": "1"], into: "TodoItem") }
            expectError(.closed) { _ = try writer.delete(ids: ["1"], from: "TodoItem") }
            expectError(.closed) { _ = try writer.delete(matching: Query("TodoItem")) }
        }
    }

    @Test(arguments: StoreKind.all)
    func closeWaitsForWorkInFlight(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let store = try subject.open(folder)
            try store.define([.items])
            let events = Mutex<[String]>([])
            let isReading = DispatchSemaphore(value: 0)
            let group = DispatchGroup()
            Thread.run(in: group) {
                try? store.write { writer throws in
                    isReading.signal()
                    try writer.upsert((0..<500).map { ["id": .string("\($0)")] }, into: "TodoItem")
                    events.withLock { $0.append("written") }
                }
            }
            isReading.wait()
            try store.close()
            events.withLock { $0.append("closed") }
            group.wait()
            #expect(events.withLock { $0 } == ["written", "closed"])
        }
    }

    @Test(arguments: StoreKind.all)
    func writingOrClosingInsideABodyIsRefusedInsteadOfWaitingForItself(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.read { _ in
                expectError(.busy) { try store.write { _ in } }
                expectError(.busy) { try store.close() }
            }
            try store.write { _ in
                expectError(.busy) { try store.write { _ in } }
                expectError(.busy) { try store.close() }
            }
            try store.write { try $0.upsert(["id": "1"], into: "TodoItem") }
        }
    }

    @Test(arguments: StoreKind.all)
    func readsNestDeeperThanThereAreConnections(_ subject: StoreKind) throws {
        try subject.withStore(.items) { store throws in
            try store.write { try $0.upsert(["id": "1"], into: "TodoItem") }
            func nest(_ depth: Int) throws -> Int {
                try store.read { reader throws in
                    try depth == 0 ? reader.count(Query("TodoItem")) : nest(depth - 1)
                }
            }
            #expect(try nest(20) == 1)
        }
    }

    @Test(arguments: StoreKind.sharing)
    func openingAtOnceInitialisesOnce(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let failures = Mutex<[String]>([])
            let group = DispatchGroup()
            for index in 0..<8 {
                Thread.run(in: group) {
                    do {
                        let store = try subject.open(folder)
                        try store.define([.items])
                        try store.write { try $0.upsert(["id": .string("\(index)")], into: "TodoItem") }
                        try store.close()
                    } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
            group.wait()
            #expect(failures.withLock { $0 } == [])
            let store = try subject.open(folder)
            #expect(try store.read { try $0.count(Query("TodoItem")) } == 8)
            try store.close()
        }
    }

    @Test(arguments: StoreKind.exclusive)
    func aSecondStoreOnTheSameFilesIsLockedOutUntilTheFirstIsClosed(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder in
            let first = try subject.open(folder)
            try first.define([.items])
            let error = expectError(.locked) { _ = try subject.open(folder) }
            #expect(error?.path == subject.path(in: folder))
            try first.write { try $0.upsert(["id": "1"], into: "TodoItem") }
            try first.close()
            let second = try subject.open(folder)
            #expect(try second.read { try $0.count(Query("TodoItem")) } == 1)
            try second.close()
        }
    }

    /// Lists of kinds are made by what kinds say of themselves: it must be what their stores declare.
    @Test(arguments: StoreKind.all)
    func capabilitiesAreThoseOfTheKind(_ subject: StoreKind) throws {
        try subject.withStore { store in
            let capabilities = store.capabilities
            #expect(capabilities.isPersistent == subject.isPersistent)
            #expect(capabilities.sharesFilesWithProcesses == subject.sharesFiles)
            #expect(capabilities.readersDoNotBlockWriters == subject.readsBesideWriter)
            #expect(!capabilities.isReadOnly)
            #expect(capabilities.maximumIDLength >= 255)
        }
    }

    @Test(arguments: StoreKind.all)
    func aCancelledTaskWritesNothing(_ subject: StoreKind) async throws {
        try await Task {
            try subject.withStore(.items) { store throws in
                withUnsafeCurrentTask { $0?.cancel() }
                expectError(.cancelled) { try store.write { try $0.upsert(["id": "1"], into: "TodoItem") } }
                #expect(try store.read { try $0.count(Query("TodoItem")) } == 0)
            }
        }.value
    }
}

extension Thread {
    /// Runs `body` on a thread of its own, which belongs to the group until it ends.
    static func run(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
}
