import Foundation
import Synchronization
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineStore
import TidelineSupport
import TidelineTestSupport

@testable import TidelineLevelDB

@Suite struct LevelDBEngineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [StoreCapabilities.Durability.full, .normal, .none], [true, false])
    func commitsAreThereAfterReopening(_ durability: StoreCapabilities.Durability, _ compresses: Bool) throws {
        let options = LevelDBOptions(
            durability: durability, cacheSize: 0, writeBufferSize: 0, filterBits: compresses ? 10 : 0,
            compresses: compresses)
        var expected: Entries = [
            "": "", "a": "", "a\0": "1", "aa": "2", "ÿ": String(repeating: "x", count: 200_000),
        ]
        let engine = try LevelDBEngine(path: "\(folder.path)/db", options: options)
        #expect(engine.capabilities.durability == (durability == .full ? .full : .normal))
        try engine.put(expected)
        try engine.write { transaction throws in
            #expect(try transaction.remove("a"))
            #expect(try !transaction.remove("b"))
            try transaction.set("aa", "3")
        }
        expected["a"] = nil
        expected["aa"] = "3"
        #expect(try engine.all() == expected)
        try engine.close()
        let again = try LevelDBEngine(path: "\(folder.path)/db", options: options)
        #expect(try again.all() == expected)
        #expect(try again.read { try $0.value("aa") } == "3")
        #expect(try again.read { try $0.value("a") } == nil)
        try again.close()
    }

    @Test func scansGoBothWaysAndStop() throws {
        let engine = try LevelDBEngine(path: "\(folder.path)/db")
        try engine.put(Entries(uniqueKeysWithValues: (10..<60).map { ("k\($0)", "v\($0)") }))
        try engine.compact()
        try engine.put(Entries(uniqueKeysWithValues: (60..<90).map { ("k\($0)", "v\($0)") }))
        // More than 64 keys, so that a scan continues beyond its cache.
        try engine.read { snapshot throws in
            #expect(try snapshot.entries().map(\.0) == (10..<90).map { "k\($0)" })
            #expect(try snapshot.entries(descending: true).map(\.0) == (10..<90).reversed().map { "k\($0)" })
            #expect(try snapshot.entries(from: "k58", limit: 4).map(\.0) == ["k58", "k59", "k60", "k61"])
            #expect(try snapshot.entries(from: "k58", descending: true, limit: 2).map(\.0) == ["k89", "k88"])
            for count in 63...66 {
                #expect(try snapshot.entries(limit: count).map(\.0) == (10..<10 + count).map { "k\($0)" })
                let last = try snapshot.entries(descending: true, limit: count).map(\.0)
                #expect(last == (90 - count..<90).reversed().map { "k\($0)" })
            }
            #expect(try snapshot.entries(from: "k99").isEmpty)
            let backwards = KeyRange(from: [0, 0, 0, 8], to: [0, 0, 0, 7])
            try snapshot.scan(backwards, descending: true) { _, _ in
                Issue.record("a key in an empty range")
                return .next
            }
        }
        try engine.close()
    }

    @Test func aSnapshotStandsStillBesideAWriter() throws {
        // A small buffer, so that tables are created and merged in the meantime.
        let engine = try LevelDBEngine(path: "\(folder.path)/db", options: LevelDBOptions(writeBufferSize: 0))
        let isDone = Mutex(false)
        let filler = String(repeating: "-", count: 500)
        try onThreads(4) { thread in
            if thread == 0 {
                defer { isDone.withLock { $0 = true } }
                for round in 0..<400 {
                    try engine.write { transaction in
                        for key in ["a", "m", "z"] { try transaction.set(key, "\(round)\(filler)") }
                    }
                }
            } else {
                while !isDone.withLock({ $0 }) {
                    try engine.read { snapshot in
                        let first = try snapshot.value("a")
                        let all = try snapshot.entries(descending: thread == 1).map(\.1)
                        let last = try snapshot.value("z")
                        guard Set(all + [first, last].compactMap(\.self)).count <= 1, first == last else {
                            throw SnapshotMoved()
                        }
                    }
                }
            }
        }
        #expect(try engine.read { try $0.value("m") } == "399\(filler)")
        try engine.close()
    }

    private struct SnapshotMoved: Error {}

    @Test func compactingGivesRoomBack() throws {
        let engine = try LevelDBEngine(path: "\(folder.path)/db")
        var random = SplitMix64(seed: 3)
        let keys = (0..<2000).map { "k\($0)" }
        try engine.write { transaction in
            for key in keys {
                try transaction.set(key, (0..<64).map { _ in String(random.next(), radix: 36) }.joined())
            }
        }
        try engine.compact()
        let before = try files(folder.path + "/db").values.reduce(0) { $0 + $1.count }
        #expect(before > 1_000_000)
        try engine.write { transaction in for key in keys { try transaction.remove(key) } }
        try engine.compact()
        let after = try files(folder.path + "/db").values.reduce(0) { $0 + $1.count }
        #expect(after < 20_000)
        #expect(try engine.all() == [:])
        try engine.close()
    }

    @Test func manyDeletedKeysCauseACompactionOfTheirSpaceAlone() {
        var deleted = DeletedKeys()
        func key(_ space: UInt8, _ number: Int) -> [UInt8] {
            [0, 0, 0, space, UInt8(number >> 8), UInt8(number & 0xFF)]
        }
        func delete(_ numbers: Range<Int>, of space: UInt8) {
            for number in numbers { key(space, number).withUnsafeBytes { deleted.add($0) } }
        }
        delete(1..<DeletedKeys.limit, of: 1)
        delete(1..<DeletedKeys.limit, of: 9)
        let before = deleted.takeFullRanges()
        delete(0..<1, of: 9)
        let full = deleted.takeFullRanges()
        delete(1..<2, of: 9)
        let after = deleted.takeFullRanges()
        #expect(before.isEmpty && full.count == 1 && after.isEmpty)
        #expect(full.first?.first == key(9, 0))
        #expect(full.first?.last == key(9, DeletedKeys.limit - 1))
    }
}
