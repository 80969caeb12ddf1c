import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestSupport

@testable import TidelineLevelDB

/// Tests the engine's cache of the keys of a space that was empty, and of keys that a transaction found.
@Suite struct LevelDBLookupCacheTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func key(_ space: UInt8, _ number: Int) -> [UInt8] { [0, 0, 0, space] + Array("key \(number)".utf8) }

    private func insert(_ keys: [[UInt8]], into engine: LevelDBEngine) throws -> Int {
        try engine.write { writer throws in
            var inserted = 0
            for key in keys {
                let isNew = try key.withUnsafeBytes { try writer.put($0, $0, over: { _ in false }) }
                if isNew { inserted += 1 }
            }
            return inserted
        }
    }

    @Test func whatWasNotedIsNeverLacking() throws {
        let cache = LookupCache()
        var emptinessAsked = 0
        func lack(_ number: Int, of space: UInt8 = 1, isEmpty: Bool = true) -> Bool {
            key(space, number).withUnsafeBytes {
                cache.lacks($0) { _ in
                    emptinessAsked += 1
                    return isEmpty
                }
            }
        }
        #expect(lack(0))
        #expect(!lack(0, of: 2, isEmpty: false))
        for number in 0..<30_000 {
            key(1, number).withUnsafeBytes { cache.noteStored($0, hash: KeyHash.of($0)) }
            key(2, number).withUnsafeBytes { cache.noteStored($0, hash: KeyHash.of($0)) }
        }
        #expect((0..<30_000).allSatisfy { !lack($0) && !lack($0, of: 2) })
        #expect(emptinessAsked == 2)
        // Most keys that were not recorded must be known to be absent, or the cache would have no use.
        #expect((30_000..<40_000).filter { lack($0) }.count > 9_500)
    }

    @Test func aFilterThatHasNoMoreRoomSaysSo() {
        var filter = KeyFilter()
        var count = 0
        while count < 10_000_000, filter.insert(UInt64(count) &* 0x9E37_79B9_7F4A_7C15) { count += 1 }
        #expect(count > 1_000_000 && count < 10_000_000)
    }

    @Test func insertedKeysAreFoundByWhateverWroteThem() throws {
        let path = "\(folder.path)/store"
        var engine = try LevelDBEngine(path: path)
        #expect(try insert([key(1, 1)], into: engine) == 1)
        try engine.write { writer throws in
            key(1, 2).withUnsafeBytes { writer.put($0, $0) }
            key(2, 2).withUnsafeBytes { writer.put($0, $0) }
        }
        #expect(try insert([key(1, 1), key(1, 2), key(1, 3), key(1, 3), key(2, 2)], into: engine) == 1)
        #expect(try engine.write { try key(1, 3).withUnsafeBytes($0.delete) })
        #expect(try insert([key(1, 3)], into: engine) == 1)
        try engine.close()
        engine = try LevelDBEngine(path: path)
        #expect(try insert([key(1, 1), key(1, 2), key(1, 3), key(1, 4), key(2, 2)], into: engine) == 1)
        #expect(try insert([key(1, 4)], into: engine) == 0)
        try engine.close()
    }

    /// A rolled-back transaction leaves a space that is empty, with or without recorded keys.
    @Test func aDroppedTransactionLeavesNothingBehind() throws {
        struct Own: Error {}
        let engine = try LevelDBEngine(path: "\(folder.path)/store")
        #expect(throws: Own.self) {
            try engine.write { writer throws in
                _ = try key(1, 1).withUnsafeBytes { try writer.put($0, $0, over: { _ in false }) }
                throw Own()
            }
        }
        #expect(try insert([key(1, 1), key(1, 1)], into: engine) == 1)
        #expect(try insert([key(1, 1)], into: engine) == 0)
        try engine.close()
    }

    @Test func aFullCacheKeepsItsKeysAsLongAsTheySaveLookups() throws {
        let cache = LookupCache(maximumSize: 100_000)
        /// Returns the number of keys that were remembered, and remembers the others.
        func remembered(_ numbers: Range<Int>) -> Int {
            numbers.count { number in
                key(1, number).withUnsafeBytes { key in
                    if cache.contains(key) { return true }
                    cache.insert(key)
                    return false
                }
            }
        }
        let capacity = try #require((0..<2_000).first { remembered($0..<$0 + 1) + remembered($0..<$0 + 1) == 0 })
        for _ in 0..<5 { #expect(remembered(0..<capacity * 3 / 2) == capacity) }
        // Other keys replace them.
        #expect(remembered(capacity * 2..<capacity * 3) == 0)
        #expect(remembered(capacity * 2..<capacity * 3) > capacity / 4)
        #expect(remembered(0..<1) == 0)
    }

    @Test func aRememberedKeyIsForgottenWhenItIsDeletedOrTheTransactionIsRolledBack() throws {
        struct Own: Error {}
        let engine = try LevelDBEngine(path: "\(folder.path)/store")
        let known = [key(1, 1), key(1, 2)]
        _ = try insert(known, into: engine)
        try engine.write { writer throws in
            for key in known { key.withUnsafeBytes { writer.remember($0) } }
        }
        #expect(try engine.write { writer in known.map { $0.withUnsafeBytes(writer.remembers) } } == [true, true])
        try engine.write { writer throws in
            _ = try known[0].withUnsafeBytes(writer.delete)
            #expect(!known[0].withUnsafeBytes(writer.remembers))
            known[0].withUnsafeBytes { writer.put($0, $0) }
        }
        #expect(try engine.write { writer in known.map { $0.withUnsafeBytes(writer.remembers) } } == [false, true])
        #expect(throws: Own.self) { try engine.write { _ throws in throw Own() } }
        #expect(
            try engine.write { writer in known.map { $0.withUnsafeBytes(writer.remembers) } } == [false, false])
        try engine.close()
    }

    /// A row that exists is replaced, deleted and inserted again with the right count, also after a rollback.
    @Test func rowsAreCountedRightWithRememberedKeys() throws {
        struct Own: Error {}
        let store = try LevelDBStore(path: "\(folder.path)/store")
        try store.define([TableSchema("t", columns: [.int("n")], systemColumns: [])])
        func upsert(_ number: Int64) throws {
            try store.write { try $0.upsert(["id": "a", "n": .int(number)], into: "t") }
        }
        for number in 0..<3 as Range<Int64> { try upsert(number) }
        #expect(throws: Own.self) {
            try store.write { writer throws in
                #expect(try writer.delete(id: "a", from: "t"))
                throw Own()
            }
        }
        #expect(try store.read { try $0.row(in: "t", id: "a")?["n"] } == 2)
        try store.write { writer throws in
            #expect(try writer.delete(id: "a", from: "t"))
            try writer.upsert(["id": "a", "n": 3], into: "t")
        }
        try upsert(4)
        #expect(try store.read { try $0.count(TableQuery("t")) } == 1)
        #expect(try store.write { try $0.delete(id: "a", from: "t") })
        try upsert(5)
        #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows } == [["id": "a", "n": 5]])
        try store.close()
    }
}
