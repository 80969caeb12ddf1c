import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestSupport

/// Tests the lock of the stores: the order of writers, closing, and each policy.
@Suite struct ReadWriteLockTests {
    private func failure(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private func policy(_ change: (inout ReadWriteLock.Policy) -> Void) -> ReadWriteLock.Policy {
        var policy = ReadWriteLock.Policy()
        change(&policy)
        return policy
    }

    /// Runs `body` on another thread. The semaphore is signaled when it returns.
    private func onThread(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            body()
            ended.signal()
        }
        return ended
    }

    @Test func writersAreServedInTheOrderInWhichTheyCame() throws {
        let lock = ReadWriteLock()
        let order = Mutex<[Int]>([])
        try lock.beginWriting()
        let writers = try (0..<8).map { number in
            let writer = onThread {
                try? lock.beginWriting()
                order.withLock { $0.append(number) }
                lock.endWriting()
            }
            try waitUntil("a writer to wait") { lock.waitingWriterCount > number }
            return writer
        }
        lock.endWriting()
        for writer in writers { try writer.finish() }
        #expect(order.withLock { $0 } == Array(0..<8))
    }

    @Test func closingRefusesTheWritersThatWaitAndWaitsForTheOneThatWrites() throws {
        let lock = ReadWriteLock()
        let refused = Mutex(0)
        try lock.beginWriting()
        let writers = try (0..<3).map { number in
            let writer = onThread {
                if failure({ try lock.beginWriting() })?.code == .closed { refused.withLock { $0 += 1 } }
            }
            try waitUntil("a writer to wait") { lock.waitingWriterCount > number }
            return writer
        }
        let isReleased = Mutex(false)
        let closed = onThread { try? lock.close { isReleased.withLock { $0 = true } } }
        for writer in writers { try writer.finish() }
        #expect(refused.withLock { $0 } == 3)
        #expect(isReleased.withLock { !$0 })
        lock.endWriting()
        try closed.finish()
        #expect(isReleased.withLock { $0 })
        #expect(failure { try lock.beginReading() } != nil)
        try lock.close { Issue.record("what is released is released once") }
    }

    @Test func readsRunBesideEachOtherAndBesideAWrite() throws {
        let lock = ReadWriteLock()
        try lock.beginReading()
        try lock.beginReading()
        try onThread {
            #expect(failure { try lock.beginWriting() } == nil)
            lock.endWriting()
        }.finish()
        #expect(failure { try lock.beginWriting() }?.code == .busy)
        lock.endReading()
        lock.endReading()
        try lock.beginWriting()
        try lock.beginReading()
        lock.endReading()
        #expect(failure { try lock.beginWriting() }?.code == .busy)
        #expect(failure { try lock.close {} }?.code == .busy)
        lock.endWriting()
    }

    @Test func aReadBeyondTheMaximumWaits() throws {
        let lock = ReadWriteLock(policy { $0.maximumReaders = 2 })
        try lock.beginReading()
        // A thread that already reads does not wait for itself.
        for _ in 0..<2 { try lock.beginReading() }
        let hasBegun = Mutex(false)
        let isRunning = DispatchSemaphore(value: 0)
        let ended = onThread {
            isRunning.signal()
            #expect(failure { try lock.beginReading() } == nil)
            hasBegun.withLock { $0 = true }
            lock.endReading()
        }
        lock.endReading()
        try isRunning.finish()
        // A read that does not wait begins within this time.
        usleep(50_000)
        #expect(!hasBegun.withLock { $0 })
        lock.endReading()
        try ended.finish()
        lock.endReading()
    }

    @Test func oneThreadAtATimeIsAdmitted() throws {
        let lock = ReadWriteLock(policy { $0.admitsOneThread = true })
        #expect(try !lock.beginReading().isNested)
        #expect(try lock.beginReading().isNested)
        let hasWritten = Mutex(false)
        let ended = onThread {
            #expect(failure { try lock.beginWriting() } == nil)
            #expect(failure { try lock.beginReading() }?.code == .busy)
            hasWritten.withLock { $0 = true }
            lock.endWriting()
        }
        try waitUntil("a writer to wait") { lock.waitingWriterCount == 1 }
        lock.endReading()
        #expect(!hasWritten.withLock { $0 })
        lock.endReading()
        try ended.finish()
    }

    @Test func idleResourcesAreKeptUpToTheMaximum() throws {
        final class Resource {}
        let (first, second) = (Resource(), Resource())
        let lock = ReadWriteLock(policy { $0.maximumIdle = 1 })
        #expect(try lock.beginReading().idle == nil)
        try lock.beginReading()
        lock.endReading(keeping: first) { Issue.record("there is space for the resource") }
        var isDiscarded = false
        lock.endReading(keeping: second) { isDiscarded = true }
        #expect(isDiscarded)
        #expect(try lock.beginReading().idle === first)
        #expect(try lock.beginReading().idle == nil)
        lock.endReading(keeping: first) {}
        #expect(lock.removeIdle().count == 1 && lock.removeIdle().isEmpty)
        lock.endReading()
    }

    private func exclusively(_ lock: ReadWriteLock, _ timeout: Duration, _ body: () -> Void = {}) throws {
        try lock.withExclusiveAccess(within: timeout, to: "test", path: "/store") { () throws(StoreError) in body() }
    }

    @Test func exclusiveAccessWaitsForReads() throws {
        let lock = ReadWriteLock(policy { $0.allowsWritesInsideReads = true })
        try lock.beginReading()
        #expect(failure { try exclusively(lock, .seconds(10)) }?.code == .busy)
        // A thread inside a read does not wait for exclusive access, which waits for the read.
        let error = Mutex<StoreError?>(nil)
        try onThread {
            error.withLock { $0 = failure { try exclusively(lock, .milliseconds(1)) } }
        }.finish()
        #expect(error.withLock { $0?.path } == "/store")
        let steps = Mutex<[String]>([])
        let ended = onThread {
            #expect(
                failure { try exclusively(lock, .seconds(300)) { steps.withLock { $0.append("exclusive") } } } == nil)
        }
        try lock.beginWriting()
        steps.withLock { $0.append("write") }
        lock.endWriting()
        lock.endReading()
        try ended.finish()
        #expect(steps.withLock { $0 } == ["write", "exclusive"])
    }

    /// A writer may have exclusive access, and the lock is free afterwards.
    @Test func exclusiveAccessHoldsBackReads() throws {
        let lock = ReadWriteLock(policy { $0.allowsWritesInsideReads = true })
        let hasRead = Mutex(false)
        try lock.beginWriting()
        try exclusively(lock, .zero)
        lock.endWriting()
        let reader = Mutex<DispatchSemaphore?>(nil)
        try exclusively(lock, .zero) {
            let waiting = onThread {
                #expect(failure { try lock.beginReading() } == nil)
                hasRead.withLock { $0 = true }
                lock.endReading()
            }
            reader.withLock { $0 = waiting }
            #expect(waiting.wait(timeout: .now() + 0.01) == .timedOut)
            #expect(hasRead.withLock { !$0 })
        }
        try reader.withLock { $0 }?.finish()
        try lock.close {}
        #expect(failure { try exclusively(lock, .zero) }?.code == .closed)
    }
}

@Suite("A value protected by a lock")
struct LockedValueTests {
    @Test("Each of many threads sees the change of the thread before it")
    func exclusion() async {
        let counts = LockedValue([0, 0])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5_000 {
                        counts.withLock { counts in
                            counts[0] += 1
                            counts[1] += counts[0]
                        }
                    }
                }
            }
        }
        #expect(counts.withLock { $0 } == [40_000, 40_000 * 40_001 / 2])
    }

    @Test("An error releases the lock")
    func errors() {
        struct Own: Error {}
        let value = LockedValue(1)
        #expect(throws: Own.self) {
            try value.withLock { value throws(Own) in
                value = 2
                throw Own()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
