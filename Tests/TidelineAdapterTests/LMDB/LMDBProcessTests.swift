import CLMDB
import Foundation
import Synchronization
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests of several processes in one folder whose map grows. The conformance suite tests the promises of every store.
@Suite(.serialized) struct LMDBProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let tiny = LMDBOptions(
        durability: .none, mapSize: 1 << 16, busyTimeout: .seconds(WaitLimit.seconds))

    /// A process that retries its transaction after its map grew holds a lock on the file.
    @Test func aWriterWaitsForAProcessWhoseMapGrows() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.tiny)
        try engine.write { try $0.put(key(1, "a"), [1]) }
        let file = open("\(folder.path)/data.mdb", O_RDWR | O_CLOEXEC)
        #expect(file >= 0 && tideline_lmdb_flock(file, LOCK_EX) == 0)
        let isReleased = Mutex(false)
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let sawRelease = Mutex(false)
        Thread {
            started.signal()
            try? engine.write { _ in sawRelease.withLock { $0 = isReleased.withLock { $0 } } }
            ended.signal()
        }.start()
        try started.finish()
        for _ in 0..<5000 { #expect(try engine.read { try $0.value(key(1, "a")) } == [1]) }
        isReleased.withLock { $0 = true }
        // A process that is being started has a copy of the descriptor, so closing it may not release the lock.
        #expect(tideline_lmdb_flock(file, LOCK_UN) == 0)
        close(file)
        try ended.finish()
        #expect(sawRelease.withLock { $0 })
        try engine.close()
    }

    @Test func theEntryOfAKilledReaderIsRemovedWhenTheMapGrows() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.tiny)
        try engine.write { try $0.put(key(1, "a"), [0]) }
        let other = try OtherProcess("read", folder.path)
        #expect(other.wait(for: 1) == 1)
        _ = try engine.read { try $0.value(key(1, "a")) }
        _ = other.end()
        #expect(engine.environment.readers.count == 2)
        try engine.write { try $0.put(key(1, "large"), Array(repeating: 1, count: 1 << 18)) }
        #expect(engine.environment.readers.count == 1)
        try engine.close()
    }

    /// LMDB releases its own lock when a commit fails because the map is full.
    @Test func aWriteHoldsBackOtherProcessesUntilItEnds() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.tiny)
        let file = open("\(folder.path)/data.mdb", O_RDWR)
        defer { close(file) }
        func isHeld() -> Bool {
            guard tideline_lmdb_flock(file, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
            return tideline_lmdb_flock(file, LOCK_UN) != 0
        }
        try engine.write { transaction throws in
            #expect(isHeld())
            try transaction.put(key(1, "large"), Array(repeating: 1, count: 1 << 18))
            #expect(isHeld())
        }
        #expect(!isHeld())
        #expect(throws: CancellationError.self) { try engine.write { _ in throw CancellationError() } }
        #expect(!isHeld())
        try engine.close()
    }

    @Test func whatAnotherProcessMakesAndGrowsIsSeenByTheNextSnapshot() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.tiny)
        try engine.write { try $0.put(key(1, "own"), [1]) }
        #expect(try engine.count(100) == 0)
        #expect(try OtherProcess("write", folder.path, "p", "100").finish().isWell)
        try engine.read { snapshot throws in
            #expect(try snapshot.count(keys(of: 100)) == 100)
            #expect(try snapshot.count(keys(of: 101)) == 100)
        }
        #expect(try OtherProcess("write", folder.path, "q", "100").finish().isWell)
        try engine.write { transaction throws in
            #expect(try transaction.count(keys(of: 101)) == 200)
            try transaction.put(key(102, "own"), [1])
        }
        #expect(try engine.read { try $0.value(key(102, "own")) } == [1])
        try engine.close()
        try LMDBEngine(path: folder.path).close()
    }

    /// Between rolling back a transaction to grow the map and retrying it, no other process can write.
    @Test func noUpdateIsLostToAnotherProcessWhileTheMapGrows() throws {
        let engine = try LMDBEngine(path: folder.path, options: Self.tiny)
        let others = try (0..<3).map { _ in try OtherProcess("count", folder.path, "60") }
        for _ in 0..<60 { try increment(engine) }
        for other in others { #expect(other.finish().isWell) }
        #expect(try engine.read { try $0.value(key(1, "number")) } == Array("240".utf8))
        #expect(try engine.count(2) == 960)
        try engine.close()
        try LMDBEngine(path: folder.path).close()
    }

    @Test func aStoreIsCheckedBesideAProcessThatWrites() throws {
        let other = try OtherProcess("write", folder.path, "p", "100000")
        other.wait(for: 5)
        for _ in 0..<30 {
            try withEngine(folder.path, Self.tiny) { engine in
                let counts = try engine.read { snapshot in
                    try [100, 101].map { try snapshot.count(keys(of: $0)) }
                }
                #expect(counts[0] == counts[1])
            }
        }
        _ = other.end()
    }

    @Test func aFullTableOfReadersIsBusyOrClearedOfDeadOnes() throws {
        let engine = try LMDBEngine(path: folder.path, options: LMDBOptions(maximumReaders: 1))
        let places = engine.environment.readerPlaces
        let others = try (0..<min(places, 6)).map { _ in try OtherProcess("read", folder.path) }
        for other in others { other.wait(for: 1) }
        if places <= 6 {
            let error = expectError(.busy) { _ = try engine.count(1) }
            #expect(error?.message.contains("maximumReaders") == true)
        }
        for other in others { _ = other.end() }
        #expect(try engine.count(1) == 0)
        try engine.close()
    }
}
