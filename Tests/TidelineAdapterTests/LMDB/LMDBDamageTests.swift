import Foundation
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests that damaged files give ``StoreError/Code/corrupt``, ``StoreError/Code/notAStore`` or the right rows, both
/// immediately and after a write; never a crash or a wrong row. `TIDELINE_TEST_FLIPS` sets the number of flipped bits.
@Suite(.serialized) struct LMDBDamageTests {
    private let sample: Sample

    init() throws { sample = try Self.sample.get() }

    /// By default, a file that was closed cleanly is not verified.
    private static let always = LMDBOptions(durability: .none, verification: .always)
    private static let flips = ProcessInfo.processInfo.environment["TIDELINE_TEST_FLIPS"].flatMap { Int($0) } ?? 400

    /// A closed store: its file and its contents.
    private struct Sample {
        var data: [UInt8]
        let lock: [UInt8]
        let rows: [[KeyValueEntry]]
        static let spaces: [UInt32] = [0, 1, 2, 700]
        static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

        var pages: Int { data.count / Self.pageSize }
    }

    private static let sample = Result { try makeSample() }

    /// Creates trees of several levels, long and short values, free pages, and an empty space.
    private static func makeSample() throws -> Sample {
        try withTemporaryFolder { folder throws in
            let engine = try LMDBEngine(path: folder)
            for round in 0..<6 {
                try engine.write { transaction throws in
                    for number in 0..<400 where (number + round) % 3 == 0 || round == 0 {
                        let text = String(repeating: "\(round)", count: 20 + number % 60)
                        try transaction.put(key(1, "row \(number)"), Array(text.utf8))
                        try transaction.put(key(2, String(repeating: "k\(number)", count: 40)), [])
                    }
                    try transaction.put(key(0, "long\(round)"), Array(repeating: UInt8(round), count: 9000))
                    try transaction.put(key(700, "only"), [1])
                    if round > 2 { _ = try transaction.delete(key(0, "long\(round - 2)")) }
                    _ = try transaction.delete(key(700, "only"))
                }
            }
            let rows = try rows(of: engine)
            try engine.close()
            let data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/data.mdb")))
            let lock = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder)/lock.mdb")))
            return Sample(data: data, lock: lock, rows: rows)
        }
    }

    private static func rows(of engine: LMDBEngine) throws -> [[KeyValueEntry]] {
        try engine.read { snapshot throws in try Sample.spaces.map { try snapshot.entries(in: keys(of: $0)) } }
    }

    /// Opens a store with damaged files and compares it with the sample.
    /// - Returns: Whether the damage was detected.
    @discardableResult
    private func probe(_ data: [UInt8], lock: [UInt8]? = nil, _ damage: String) throws -> Bool {
        return try withTemporaryFolder { folder throws in
            try Data(data).write(to: URL(fileURLWithPath: "\(folder)/data.mdb"))
            if let lock { try Data(lock).write(to: URL(fileURLWithPath: "\(folder)/lock.mdb")) }
            do {
                let engine = try LMDBEngine(path: folder, options: Self.always)
                #expect(try Self.rows(of: engine) == sample.rows, "\(damage)")
                try engine.write { transaction throws in
                    for number in 0..<50 {
                        try transaction.put(key(3, "new \(number)"), Array(repeating: 7, count: 500))
                    }
                    try transaction.put(key(0, "long new"), Array(repeating: 7, count: 20_000))
                }
                // Insert an entry into every page of a tree, and delete it again.
                try engine.write { transaction throws in
                    for number in 0..<400 { try transaction.put(key(1, "row \(number)+"), [1, 2, 3]) }
                }
                try engine.write { transaction throws in
                    for number in 0..<400 { #expect(try transaction.delete(key(1, "row \(number)+")), "\(damage)") }
                }
                try engine.close()
                let again = try LMDBEngine(path: folder, options: Self.always)
                try again.write { _ = try $0.delete(key(0, "long new")) }
                #expect(try Self.rows(of: again) == sample.rows, "\(damage), after writes")
                #expect(try again.count(3) == 50)
                try again.close()
                return false
            } catch let error as StoreError {
                #expect([.corrupt, .notAStore, .newerFormat].contains(error.code), "\(damage): \(error)")
                #expect(error.path?.hasPrefix(folder) == true)
                return true
            }
        }
    }

    @Test func anUndamagedFileIsRight() throws { #expect(try !probe(sample.data, "nothing")) }

    @Test func aFileCutOffAtAnyPageIsFoundOrRight() throws {
        var found = 0
        for pages in 0..<sample.pages {
            if try probe(Array(sample.data.prefix(pages * Sample.pageSize)), "cut off to \(pages) pages") { found += 1 }
        }
        #expect(found > sample.pages / 4)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 100, 151, 4095, 4097, 8191, 8193, 12_287, 50_001])
    func aFileCutOffWithinAPageIsFound(size: Int) throws {
        #expect(try probe(Array(sample.data.prefix(size)), "cut off to \(size) bytes"))
    }

    @Test(arguments: [0, 0xFF] as [UInt8])
    func anyPageOverwrittenIsFoundOrHarmless(byte: UInt8) throws {
        var found = 0
        for page in 0..<sample.pages {
            var data = sample.data
            for index in 0..<Sample.pageSize { data[page * Sample.pageSize + index] = byte }
            if try probe(data, "page \(page) full of \(byte)") { found += 1 }
        }
        #expect(found > sample.pages / 4)
    }

    @Test func anySectorZeroedIsFoundOrHarmless() throws {
        for start in stride(from: 0, to: sample.data.count, by: 512 * 7) {
            var data = sample.data
            for index in start..<min(start + 512, data.count) { data[index] = 0 }
            try probe(data, "zeros from \(start) on")
        }
    }

    @Test func pagesThatChangedPlacesAreFoundOrHarmless() throws {
        for page in 2..<(sample.pages - 1) {
            var data = sample.data
            for index in (page * Sample.pageSize)..<((page + 1) * Sample.pageSize) {
                data.swapAt(index, index + Sample.pageSize)
            }
            try probe(data, "pages \(page) and \(page + 1) swapped")
        }
    }

    @Test func anyBitFlippedIsFoundOrHarmless() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        var found = 0
        for _ in 0..<Self.flips {
            var data = sample.data
            let bit = Int.random(in: 0..<(data.count * 8), using: &random)
            data[bit / 8] ^= 1 << UInt8(bit % 8)
            if try probe(data, "bit \(bit) flipped, seed \(seed)") { found += 1 }
        }
        #expect(found > 0, "seed \(seed)")
    }

    @Test func bitsOfTheHeadsFlippedAreFoundOrHarmless() throws {
        let step = Self.flips > 1000 ? 1 : 5
        for page in 0..<2 {
            for bit in stride(from: page, to: (FileLayout.pageHeader + FileLayout.head) * 8, by: step) {
                var data = sample.data
                data[page * Sample.pageSize + bit / 8] ^= 1 << UInt8(bit % 8)
                try probe(data, "bit \(bit) of head \(page) flipped")
            }
        }
    }

    @Test func bitsOfPagesHeadersAndIndexesFlippedAreFoundOrHarmless() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for _ in 0..<(Self.flips / 2) {
            var data = sample.data
            let page = Int.random(in: 2..<sample.pages, using: &random)
            let bit = Int.random(in: 0..<(64 * 8), using: &random)
            data[page * Sample.pageSize + bit / 8] ^= 1 << UInt8(bit % 8)
            try probe(data, "bit \(bit) of page \(page) flipped, seed \(seed)")
        }
    }

    @Test func aLockFileOfAnyContentIsMadeAnew() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for length in [0, 1, 63, 64, 127, 128, 4096, sample.lock.count - 1, sample.lock.count, 200_001] {
            let garbage = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try !probe(sample.data, lock: garbage, "a lock file of \(length) bytes, seed \(seed)"))
            #expect(try !probe(sample.data, lock: Array(repeating: 0, count: length), "\(length) zeros"))
        }
        for _ in 0..<50 {
            var lock = sample.lock
            let bit = Int.random(in: 0..<(lock.count * 8), using: &random)
            lock[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !probe(sample.data, lock: lock, "bit \(bit) of the lock file flipped, seed \(seed)"))
        }
    }

    @Test func whatIsNoDatabaseIsCorrupt() throws {
        #expect(
            try probe(Array("SQLite format 3\0".utf8) + Array(repeating: 1, count: 20_000), "another program's file"))
        #expect(try probe(Array(repeating: 0x20, count: 5), "a few spaces"))
    }

    @Test func aNewerFormatIsRefused() throws {
        var data = sample.data
        for page in 0..<2 { data[page * Sample.pageSize + FileLayout.pageHeader + 4] = 2 }
        let folder = try TemporaryFolder()
        try Data(data).write(to: URL(fileURLWithPath: "\(folder.path)/data.mdb"))
        expectError(.newerFormat) { _ = try LMDBEngine(path: folder.path) }
    }
}
