import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests that the map grows automatically without losing a transaction.
@Suite struct LMDBGrowthTests {
    private static let tiny = LMDBOptions(
        durability: .none, mapSize: 1 << 16, busyTimeout: .seconds(WaitLimit.seconds))

    private let folder: TemporaryFolder
    private let engine: LMDBEngine
    private var path: String { "\(folder.path)/store" }

    init() throws {
        folder = try TemporaryFolder()
        engine = try LMDBEngine(path: "\(folder.path)/store", options: Self.tiny)
    }

    @Test func aTransactionOutgrowsTheMapUnnoticed() throws {
        try engine.write { try $0.put(key(1, "before"), [1]) }
        var bodies = 0
        try engine.write { transaction throws in
            bodies += 1
            for number in 0..<30_000 {
                let name = String(format: "%06d", number)
                try transaction.put(
                    key(UInt32(1 + number % 3), name), Array(repeating: UInt8(number % 251), count: 90))
                if number % 5 == 0 { _ = try transaction.delete(key(UInt32(1 + number % 3), name)) }
                if number % 7 == 0 { #expect(try transaction.insert(key(9, name), [1]) == nil) }
                if number % 1000 == 999 { #expect(try transaction.value(key(1, "before")) == [1]) }
            }
            #expect(try transaction.count(keys(of: 9)) == 4286)
        }
        #expect(bodies == 1)
        try check(engine)
        try engine.close()
        try withEngine(path, .init(), check)
    }

    private func check(_ engine: LMDBEngine) throws {
        try engine.read { snapshot throws in
            #expect(try (1...3).map { try snapshot.count(keys(of: $0)) } == [8001, 8000, 8000])
            for entry in try snapshot.entries(in: keys(of: 2)) {
                let number = Int(String(decoding: entry.key.dropFirst(4), as: UTF8.self)) ?? -1
                #expect(number % 3 == 1 && number % 5 != 0)
                #expect(entry.value == Array(repeating: UInt8(number % 251), count: 90))
            }
            #expect(try snapshot.count(keys(of: 9)) == 4286)
        }
    }

    /// A value is replaced in place, but not if the map had to grow in the meantime.
    @Test func valuesThatOutgrowTheMapAreReplacedUnderTheirOwnKeys() throws {
        let names = (0..<200).map { key(1 + UInt32($0 % 2), String(format: "%03d", $0)) }
        func value(_ number: Int, _ round: Int) -> [UInt8] {
            Array(repeating: UInt8(number), count: 20 << round)
        }
        try engine.write { transaction throws in
            for (number, name) in names.enumerated() { try transaction.put(name, value(number, 0)) }
            for round in 1..<9 {
                for (number, name) in names.enumerated() {
                    let isNew = try name.withUnsafeBytes { name in
                        try value(number, round).withUnsafeBytes { new in
                            try transaction.put(name, new) { $0.elementsEqual(value(number, round - 1)) }
                        }
                    }
                    #expect(!isNew)
                }
            }
        }
        for (number, name) in names.enumerated() {
            #expect(try engine.read { try $0.value(name) } == value(number, 8))
        }
    }

    @Test func oneValueMayBeLargerThanTheMap() throws {
        let large = Array(repeating: 5, count: 5_000_000) as [UInt8]
        try engine.write { transaction throws in
            try transaction.put(key(4, "first"), [1])
            try transaction.put(key(5, "large"), large)
        }
        #expect(try engine.read { try $0.value(key(5, "large")) } == large)
        #expect(try engine.read { try $0.value(key(4, "first")) } == [1])
    }

    /// Freeing pages also needs pages, so a commit can find the map full although no change did.
    @Test func everySizeOfMapAndTransactionComesThrough() throws {
        for pages in 10..<40 {
            let options = LMDBOptions(durability: .none, mapSize: pages * 4096)
            let engine = try LMDBEngine(path: "\(folder.path)/\(pages)", options: options)
            for round in 0..<12 {
                try engine.write { transaction throws in
                    for number in 0..<(10 + round) {
                        try transaction.put(key(1, "\(number)"), Array(repeating: UInt8(round), count: 700))
                    }
                    if round % 3 == 0 { try transaction.put(key(UInt32(2 + round), "new"), [1]) }
                }
                #expect(try engine.read { try $0.entries(in: keys(of: 1)).allSatisfy { $0.value.count == 700 } })
                #expect(try engine.count(1) == 10 + round)
            }
            try engine.close()
            try LMDBEngine(path: "\(folder.path)/\(pages)").close()
        }
    }

    @Test func readersGoOnWhileTheMapGrows() throws {
        try engine.write { for number in 0..<10 { try $0.put(key(1, "\(number)"), [0]) } }
        try onThreads(9) { thread throws in
            if thread == 0 {
                for round in 1...60 {
                    try engine.write { transaction throws in
                        for number in 0..<10 { try transaction.put(key(1, "\(number)"), [UInt8(round)]) }
                        for number in 0..<400 {
                            try transaction.put(key(2, "\(round) \(number)"), Array(repeating: 1, count: 200))
                        }
                    }
                }
            } else {
                for _ in 0..<400 {
                    try engine.read { snapshot throws in
                        let values = try snapshot.entries(in: keys(of: 1)).map(\.value)
                        guard values.count == 10, Set(values).count == 1 else { throw Torn() }
                        try engine.read { inner throws in
                            guard try inner.count(keys(of: 1)) == 10 else { throw Torn() }
                        }
                    }
                }
            }
        }
        #expect(try engine.count(2) == 24_000)
    }

    @Test(arguments: [1 << 16, LMDBOptions.commonMapSize])
    func aMapAtItsGreatestIsFullAndTheStoreWorksOn(mapSize: Int) throws {
        let path = "\(folder.path)/own"
        let options = LMDBOptions(durability: .none, mapSize: mapSize, maximumMapSize: 1 << 18)
        let engine = try LMDBEngine(path: path, options: options)
        try engine.write { try $0.put(key(1, "small"), [1]) }
        let error = expectError(.full) {
            try engine.write {
                for number in 0..<500 { try $0.put(key(1, "\(number)"), Array(repeating: 1, count: 3000)) }
            }
        }
        #expect(error?.path == path)
        #expect(error?.engineCode == -30792)
        #expect(try engine.read { try $0.entries(in: keys(of: 1)).map(\.value) } == [[1]])
        try engine.write { try $0.put(key(1, "other"), [2]) }
        #expect(try engine.count(1) == 2)
    }

    @Test func aReadOfTheSameThreadIsNotWaitedFor() throws {
        let other = try LMDBEngine(path: path)
        try engine.write { try $0.put(key(1, "a"), [1]) }
        try other.read { snapshot throws in
            let error = expectError(.busy) {
                try engine.write { try $0.put(key(1, "b"), Array(repeating: 1, count: 1 << 20)) }
            }
            #expect(error?.message.contains("same thread") == true)
            #expect(try snapshot.value(key(1, "a")) == [1])
        }
        try engine.write { try $0.put(key(1, "b"), Array(repeating: 1, count: 1 << 20)) }
        #expect(try other.count(1) == 2)
        try other.close()
    }

    @Test func aReadThatDoesNotEndIsBusyAfterATime() throws {
        let options = LMDBOptions(durability: .none, mapSize: 1 << 16, busyTimeout: .milliseconds(30))
        let path = "\(folder.path)/own"
        let engine = try LMDBEngine(path: path, options: options)
        try engine.write { try $0.put(key(1, "a"), [1]) }
        let begun = DispatchSemaphore(value: 0)
        let end = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        Thread {
            try? engine.read { _ in
                begun.signal()
                try end.finish()
            }
            ended.signal()
        }.start()
        try begun.finish()
        expectError(.busy) { try engine.write { try $0.put(key(1, "b"), Array(repeating: 1, count: 1 << 20)) } }
        #expect(try engine.count(1) == 1)
        end.signal()
        try ended.finish()
        try engine.write { try $0.put(key(1, "b"), Array(repeating: 1, count: 1 << 20)) }
        #expect(try engine.count(1) == 2)
    }

    @Test func aSmallerMapThanTheFileIsNoMatter() throws {
        try engine.write { try $0.put(key(1, "b"), Array(repeating: 1, count: 1 << 20)) }
        try engine.close()
        let again = try LMDBEngine(path: path, options: LMDBOptions(mapSize: 1))
        #expect(try again.read { try $0.value(key(1, "b"))?.count } == 1 << 20)
        try again.write { try $0.put(key(1, "c"), Array(repeating: 1, count: 1 << 20)) }
        try again.close()
    }

    private struct Torn: Error {}
}
