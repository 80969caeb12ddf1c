import Foundation
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

/// Tests a store that is full or locked for too long, its settings for durability, and scans whose body writes.
@Suite struct SQLiteStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let table = TableSchema("t", columns: [.bytes("x")])
    private static let big = (0..<64).map {
        ["id": .string("big\($0)"), "x": .bytes([UInt8](repeating: 1, count: 65_536))] as Row
    }

    @Test func aFullStoreRollsBackAndWorksAfterRoomIsMade() throws {
        let store = try SQLiteStore(path: "\(folder.path)/store.sqlite")
        try store.define([Self.table])
        try store.write { try $0.upsert(["id": "small", "x": .bytes([1])], into: "t") }
        try store.limitPages(50)
        let error = expectError(.full) { try store.write { try $0.upsert(Self.big, into: "t") } }
        #expect(error?.engineCode == 13)
        #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.id) } == ["small"])
        try store.write { try $0.upsert(["id": "other", "x": .bytes([2])], into: "t") }
        try store.limitPages(100_000)
        try store.write { try $0.upsert(Self.big, into: "t") }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 66)
        try store.close()
    }

    @Test(
        "Each level syncs when it promises, through the drive's cache",
        arguments: [
            (StoreCapabilities.Durability.full, ["synchronous": 2, "fullfsync": 1]),
            (.normal, ["synchronous": 1, "checkpoint_fullfsync": 1]),
        ])
    func syncs(durability: StoreCapabilities.Durability, settings: [String: Int64]) throws {
        let store = try SQLiteStore(path: "\(folder.path)/store.sqlite", options: SQLiteOptions(durability: durability))
        for (name, value) in settings {
            let found = try store.write { try $0.session.connection().integer("PRAGMA \(name)") }
            #expect(found == value, "\(name)")
        }
        try store.close()
    }

    /// The rows of a scan in a write transaction do not change while its body writes.
    @Test(arguments: [1, 2, nil])
    func aBodyThatMovesRowsAheadGetsEachOnce(_ limit: Int?) throws {
        let store = try SQLiteStore.inMemory()
        try store.define([TableSchema("t", columns: [.string("s"), .int("n")], indexes: [["n"]])])
        try store.write {
            try $0.upsert((0..<4).map { ["id": .string("\($0)"), "s": "old", "n": .int($0)] }, into: "t")
        }
        let query = TableQuery("t", predicate: .column("n") >= 0, limit: limit).order(by: "n")
        try store.write { writer in
            var seen: [String] = []
            try writer.scan(query) { view in
                let id = view.idText
                for number in 10..<14 {
                    try writer.upsert(["id": .string(id), "s": "new", "n": .int(Int64(number))], into: "t")
                }
                #expect(view.idText == id && view.owned()["s"] == "old" && view.owned()["n"] == .int(Int64(seen.count)))
                seen.append(id)
                return .next
            }
            #expect(seen == (0..<(limit ?? 4)).map { "\($0)" })
        }
    }

    @Test func aLockHeldForTooLongIsBusy() throws {
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
        let path = "\(folder.path)/store.sqlite"
        let other = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .seconds(300)))
        try other.define([TableSchema("t", columns: [.int("n")])])
        let waiting = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .seconds(1)))
        let isOver = Mutex(false)
        let refused = Mutex(0)
        try onThreads(2) { thread in
            if thread == 0 {
                while !isOver.withLock({ $0 }) {
                    try? other.write { writer in
                        try writer.upsert(["id": "other", "n": 1], into: "t")
                        Thread.sleep(forTimeInterval: 0.005)
                    }
                    Thread.sleep(forTimeInterval: 0.0001)
                }
            } else {
                defer { isOver.withLock { $0 = true } }
                for number in 0..<20 {
                    // The other store has acquired the lock again by now.
                    Thread.sleep(forTimeInterval: 0.007)
                    do {
                        try waiting.write { try $0.upsert(["id": .string("w\(number)"), "n": 2], into: "t") }
                    } catch let error as StoreError where error.code == .busy {
                        refused.withLock { $0 += 1 }
                    }
                }
            }
        }
        // On a busy machine, a thread may stand still, the other one within a write. A writer that misses the gaps is
        // refused about every second time.
        let count = refused.withLock { $0 }
        #expect(count <= 3)
        let stored = try waiting.read { try $0.count(TableQuery("t", predicate: .column("n") == 2)) }
        #expect(stored == 20 - count)
        try waiting.close()
        try other.close()
    }
}

extension SQLiteStore {
    /// Limits the database to the given number of pages.
    fileprivate func limitPages(_ count: Int) throws {
        try write { _ = try $0.session.connection().integer("PRAGMA max_page_count = \(count)") }
    }
}
