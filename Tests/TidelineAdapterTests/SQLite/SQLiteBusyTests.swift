import Foundation
import Synchronization
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests a lock that another store, in this process or another one, holds for too long.
@Suite struct SQLiteBusyTests {
    @Test func aLockHeldForTooLongIsBusy() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let holder = try SQLiteStore(path: path)
        try holder.define([TableSchema("t", columns: [])])
        let other = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .milliseconds(20)))
        try expectBusy(other, besides: holder)
    }

    /// The other store commits repeatedly, each time for some milliseconds as with a sync, and releases the lock only
    /// for moments.
    @Test("A writer gets the lock although another writer holds it nearly all the time")
    func starvation() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let other = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .seconds(300)))
        try other.define([TableSchema("t", columns: [.int("n")])])
        let waiting = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .seconds(1)))
        let isOver = Mutex(false)
        let ended = DispatchGroup()
        defer { isOver.withLock { $0 = true } }
        ended.enter()
        Thread {
            defer { ended.leave() }
            while !isOver.withLock({ $0 }) {
                try? other.write { writer in
                    try writer.upsert(["id": "other", "n": 1], into: "t")
                    Thread.sleep(forTimeInterval: 0.005)
                }
                Thread.sleep(forTimeInterval: 0.0001)
            }
        }.start()
        for number in 0..<20 {
            // The other store has acquired the lock again by now.
            Thread.sleep(forTimeInterval: 0.007)
            let row: Row = ["id": .string("w\(number)"), "n": 2]
            #expect(throws: Never.self) { try waiting.write { try $0.upsert(row, into: "t") } }
        }
        isOver.withLock { $0 = true }
        try ended.finish()
        #expect(try waiting.read { try $0.count(TableQuery("t", predicate: .column("n") == 2)) } == 20)
        try waiting.close()
        try other.close()
    }
}
