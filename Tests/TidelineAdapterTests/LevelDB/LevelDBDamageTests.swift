import Foundation
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineLevelDB
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

/// Tests damage to every file of a database with commits in tables and in the log.
@Suite struct LevelDBDamageTests {
    private let sample: Sample
    private var names: [String] { sample.files.keys.sorted() }
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/db" }

    init() throws { (sample, folder) = (try Self.makeSample(), try TemporaryFolder()) }

    /// A database and its contents after each commit; the last commits are in the log.
    private struct Sample {
        var files: [String: Data] = [:]
        var states: [Entries] = []
        var right: Entries { states.last ?? [:] }
    }

    private static func makeSample() throws -> Sample {
        try withTemporaryFolder { folder throws in
            var sample = Sample()
            let engine = try LevelDBEngine(path: "\(folder)/db")
            var entries: Entries = [:]
            for number in 0..<300 { entries["id-\(number)"] = noise(number, 170) }
            try engine.put(entries)
            try engine.compact()
            sample.states = [entries]
            for number in 0..<80 {
                let key = "id-\(number * 5)"
                let new = number % 4 == 3 ? nil : noise(number + 1000, number == 40 ? 70_000 : 170)
                entries[key] = new
                try engine.write { transaction in
                    if let new { try transaction.set(key, new) } else { try transaction.remove(key) }
                }
                sample.states.append(entries)
            }
            try engine.close()
            sample.files = try databaseFiles("\(folder)/db")
            return sample
        }
    }

    /// Opens a possibly damaged database and reads it in every way. Returns `nil` if that throws `corrupt`.
    private static func readAll(_ path: String, _ right: Entries) throws -> Entries? {
        do {
            let engine = try LevelDBEngine(path: path)
            defer { try? engine.close() }
            let all = try engine.all()
            try engine.read { snapshot throws in
                #expect(Entries(try snapshot.entries(descending: true), uniquingKeysWith: { $1 }) == all)
                for key in right.keys { #expect(try snapshot.value(key) == all[key], "\(key)") }
                #expect(try snapshot.value("none") == nil)
            }
            try engine.put(["new": "1"])
            try engine.compact()
            #expect(try engine.read { try $0.value("new") } == "1")
            return all
        } catch let error as StoreError {
            #expect(error.code == .corrupt, "\(error)")
            return nil
        }
    }

    /// Checks that each lookup gives the right value or `corrupt`, even where a scan does not.
    private func look(_ path: String) throws {
        guard let engine = try? LevelDBEngine(path: path) else { return }
        defer { try? engine.close() }
        for key in sample.states[0].keys {
            do {
                let value = try engine.read { try $0.value(key) }
                #expect(value == sample.right[key], "\(key)")
            } catch let error as StoreError { #expect(error.code == .corrupt, "\(error)") }
        }
    }

    /// Damages a file at each of the places, and compares the contents that are then read with the expected contents.
    ///
    /// - Parameter change: Changes the content, and returns a description of the change.
    private func damage(
        _ name: String, at places: some Sequence<Int>, mayLoseTheEnd: Bool = false,
        _ change: (inout Data, _ place: Int) -> String
    ) throws {
        for place in places {
            var content = try #require(sample.files[name])
            let what = change(&content, place)
            let damaged = sample.files.merging([name: content]) { $1 }
            try replaceFiles(path, by: damaged)
            if let rows = try Self.readAll(path, sample.right) {
                let isRight = rows == sample.right || (mayLoseTheEnd && sample.states.contains(rows))
                #expect(isRight, "\(name) \(what)")
            } else {
                try replaceFiles(path, by: damaged)
                try look(path)
            }
        }
    }

    /// Returns the positions to damage: all in a small file, otherwise the first and last ones and some in between.
    private static func places(_ content: Data, step: Int) -> [Int] {
        guard content.count > 400 else { return Array(content.indices) }
        return Array(0..<40) + Array(stride(from: 40, to: content.count - 60, by: step))
            + Array(content.count - 60..<content.count)
    }

    @Test func theSampleHasEveryKindOfFile() throws {
        #expect(names.contains("CURRENT"))
        #expect(names.contains { $0.hasPrefix("MANIFEST-") })
        #expect(names.contains { $0.hasSuffix(".ldb") && (sample.files[$0]?.count ?? 0) > 10_000 })
        #expect(names.contains { $0.hasSuffix(".log") && (sample.files[$0]?.count ?? 0) > 80_000 })
        try damage("CURRENT", at: [0]) { _, _ in "unharmed" }
    }

    @Test func truncatedFilesAreCorruptOrRight() throws {
        for (name, content) in sample.files {
            let sizes = Self.places(content, step: max(1, content.count / 40))
            // A killed process leaves a log that ends early.
            try damage(name, at: sizes, mayLoseTheEnd: name.hasSuffix(".log")) { content, size in
                content = content.prefix(size)
                return "truncated to \(size)"
            }
        }
    }

    @Test func zeroedStretchesAreCorruptOrRight() throws {
        for (name, content) in sample.files {
            for length in [1, 7, 64, 512, 4096, 32_768, content.count] where length <= content.count {
                let places = stride(from: 0, through: content.count - length, by: max(1, length, content.count / 12))
                try damage(name, at: places) { content, place in
                    content.resetBytes(in: place..<place + length)
                    return "\(length) zeros at \(place)"
                }
            }
        }
    }

    @Test func flippedBitsAreCorruptOrRight() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for (name, content) in sample.files {
            try damage(name, at: Self.places(content, step: max(1, content.count / 60))) { content, place in
                let bit = UInt8.random(in: 0..<8, using: &random)
                content[place] ^= 1 << bit
                return "bit \(bit) of \(place) flipped, seed \(seed)"
            }
        }
    }

    /// The headers of the last records of a log have lengths that LevelDB interprets as truncation.
    @Test func flippedBitsAtTheEndOfALogAreCorrupt() throws {
        let name = try #require(names.first { $0.hasSuffix(".log") })
        try damage(name, at: 1...420) { content, back in
            content[content.count - back] ^= 1 << UInt8(back % 8)
            return "bit \(back % 8) of the \(back)th byte from the end flipped"
        }
    }

    @Test func manyFlippedBitsNeverCrash() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        for (name, content) in sample.files where !content.isEmpty {
            try damage(name, at: 0..<20) { content, _ in
                for _ in 0..<Int.random(in: 2...40, using: &random) {
                    let place = Int.random(in: 0..<content.count, using: &random)
                    content[place] = UInt8.random(in: 0...255, using: &random)
                }
                return "many bytes changed, seed \(seed)"
            }
        }
    }

    /// The end of a table has no checksum. LevelDB would allocate as much memory as a length there specifies.
    @Test(
        arguments: [
            [0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F], [0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 5],
            [0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0, 5], Array(repeating: 0xFF, count: 40),
        ] as [[UInt8]])
    func aFooterThatPointsOutsideIsCorrupt(_ handles: [UInt8]) throws {
        let name = try #require(names.first { $0.hasSuffix(".ldb") })
        var damaged = sample.files
        let count = try #require(damaged[name]?.count)
        damaged[name]?.replaceSubrange(count - 48..<count - 48 + handles.count, with: handles)
        try replaceFiles(path, by: damaged)
        let error = expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
        #expect(error?.path?.hasSuffix(name) == true)
    }

    private struct Stop: Error {}

    /// LevelDB skips a block that it cannot read, and reports it only when asked for the status at the end.
    @Test func aScanThatMeetsADamagedBlockIsCorruptHoweverItEnds() throws {
        let name = try #require(names.first { $0.hasSuffix(".ldb") })
        var damaged = sample.files
        damaged[name]?[100] ^= 1
        try replaceFiles(path, by: damaged)
        let engine = try LevelDBEngine(path: path)
        try engine.read { snapshot throws in
            expectError(.corrupt) { _ = try snapshot.entries() }
            expectError(.corrupt) { _ = try snapshot.entries(descending: true) }
            expectError(.corrupt) { _ = try snapshot.entries(limit: 1) }
            expectError(.corrupt) { _ = try snapshot.value("id-1") }
            let nothing = KeyRange(prefix: [0, 0, 0, 7, 1])
            for descending in [true, false] {
                expectError(.corrupt) { try snapshot.scan(nothing, descending: descending) { _, _ in .next } }
            }
            expectError(.corrupt) {
                try snapshot.scan(KeyRange(prefix: [0, 0, 0, 7]), descending: false) { _, _ in throw Stop() }
            }
        }
        try engine.close()
    }

    /// A process that is killed while a log is compacted into a table leaves two logs. The second log does not hide
    /// entries that are missing from the first.
    @Test func aGapBetweenTwoLogsIsCorrupt() throws {
        let first = try #require(names.first { $0.hasSuffix(".log") })
        try replaceFiles(path, by: sample.files)
        let engine = try LevelDBEngine(path: path)
        try engine.put(["later": "1"])
        try engine.close()
        let second = try #require(try files(path).first { $0.key.hasSuffix(".log") })
        let whole = try #require(sample.files[first])
        var both = sample.files
        both[second.key] = second.value
        try replaceFiles(path, by: both)
        #expect(try Self.readAll(path, sample.right) == sample.right.merging(["later": "1"]) { $1 })
        for size in [0, 1, 5_000, whole.count - 300, whole.count - 1] {
            try replaceFiles(path, by: both.merging([first: whole.prefix(size)]) { $1 })
            let error = expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
            #expect(error?.path?.hasSuffix(".log") == true)
        }
    }
}
