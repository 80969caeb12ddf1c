import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

/// Tests a database after a process was killed while LevelDB compacted a full log: that log and a newer one are left.
@Suite struct LevelDBTwoLogsTests {
    /// The time when the manifest named the older of the two logs.
    enum Naming: CaseIterable {
        /// When the database was opened.
        case opening
        /// When the previous log had become a table.
        case switching
        /// As ``switching``, but the log was already full, because its writer was faster than the disk.
        case switchingLate
    }

    private struct Sample {
        var files: [String: Data]
        /// The rows of the database after each commit.
        var states: [Entries]
        /// The log that became a table.
        var oldest: Data
        /// The two remaining logs.
        var older: String
        var newer: String
    }

    private static let keys = 7
    /// The number of commits in the table, the older log, and the newer log.
    private static let counts = [20, 25, 5]

    /// Every commit changes two rows, so that a mixture of rows of different commits is always detected.
    private static func commit(_ range: Range<Int>, to engine: LevelDBEngine, _ states: inout [Entries]) throws {
        for number in range {
            let change = [
                "id-\(number % keys)": "\(number)" + String(repeating: "x", count: number % 9 == 4 ? 40_000 : 200),
                "last": "\(number)",
            ]
            try engine.put(change)
            states.append((states.last ?? [:]).merging(change) { $1 })
        }
    }

    private func makeSample(_ naming: Naming, _ durability: StoreCapabilities.Durability) throws -> Sample {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/db"
            let options = LevelDBOptions(durability: durability)
            let (first, second) = (Self.counts[0], Self.counts[0] + Self.counts[1])
            var states: [Entries] = [[:]]
            var engine = try LevelDBEngine(path: path, options: options)
            try Self.commit(0..<first, to: engine, &states)
            let oldest = try #require(try files(path).first { $0.key.hasSuffix(".log") }).value
            if naming == .opening {
                try engine.close()
                engine = try LevelDBEngine(path: path, options: options)
            } else {
                try engine.compact()
            }
            try Self.commit(first..<second, to: engine, &states)
            var found = try databaseFiles(path)
            try engine.close()
            engine = try LevelDBEngine(path: path, options: options)
            try Self.commit(second..<(second + Self.counts[2]), to: engine, &states)
            let newer = try #require(try files(path).first { $0.key.hasSuffix(".log") })
            try engine.close()
            let older = try #require(found.keys.first { $0.hasSuffix(".log") })
            found[newer.key] = newer.value
            if naming == .switchingLate {
                let manifest = try #require(found.keys.first { $0.hasPrefix("MANIFEST-") })
                found[manifest] = try ManifestEdit.replacingLastSequence(in: found[manifest], by: UInt64(2 * second))
            }
            return Sample(files: found, states: states, oldest: oldest, older: older, newer: newer.key)
        }
    }

    /// Returns the rows of a database with these files, or `nil` if it is `corrupt`.
    private func open(_ files: [String: Data], _ durability: StoreCapabilities.Durability) throws -> Entries? {
        try withTemporaryFolder { folder throws in
            try replaceFiles("\(folder)/db", by: files)
            do {
                let engine = try LevelDBEngine(path: "\(folder)/db", options: LevelDBOptions(durability: durability))
                defer { try? engine.close() }
                let all = try engine.all()
                for (key, value) in all { #expect(try engine.read { try $0.value(key) } == value, "\(key)") }
                return all
            } catch let error as StoreError {
                #expect(error.code == .corrupt, "\(error)")
                return nil
            }
        }
    }

    /// Returns the ends of a log's records and positions in between.
    private func places(_ log: Data) throws -> [Int] {
        try ([0, 1] + logRecords(log).flatMap { [$0.end, $0.end + 5] }).filter { $0 < log.count }
    }

    private static let cases = Naming.allCases.flatMap { naming in
        [StoreCapabilities.Durability.normal, .full].map { (naming, $0) }
    }

    @Test(
        "After a repair, changes can be missing between others only if the older log is damaged",
        arguments: Naming.allCases)
    func repair(_ naming: Naming) throws {
        let sample = try makeSample(naming, .normal)
        for (name, isConsistent) in [(sample.older, false), (sample.newer, true)] {
            try withTemporaryFolder { folder in
                var files = sample.files
                files[name]?[100] ^= 0xFF
                try replaceFiles("\(folder)/db", by: files)
                let repair = try LevelDBEngine.repair(path: "\(folder)/db", options: LevelDBOptions())
                #expect(repair.isConsistent == isConsistent)
                #expect(repair.lostFiles == ["\(name).damaged"])
            }
        }
    }

    @Test("Two complete logs are read, whenever the manifest named the older one", arguments: cases)
    func whole(_ naming: Naming, _ durability: StoreCapabilities.Durability) throws {
        let sample = try makeSample(naming, durability)
        #expect(try open(sample.files, durability) == sample.states.last)
        let withoutNewer = sample.files.filter { $0.key != sample.newer }
        #expect(try open(withoutNewer, durability) == sample.states[Self.counts[0] + Self.counts[1]])
    }

    @Test("A truncated log next to a newer one never gives a mixture of old and new rows", arguments: cases)
    func cut(_ naming: Naming, _ durability: StoreCapabilities.Durability) throws {
        let sample = try makeSample(naming, durability)
        let log = try #require(sample.files[sample.older])
        for size in try places(log) {
            let found = try open(sample.files.merging([sample.older: log.prefix(size)]) { $1 }, durability)
            // Without a sync at each commit, a power loss may have removed the end; the earlier commits are there.
            let isRight = found == nil || (durability == .normal && sample.states.contains(found ?? [:]))
            #expect(isRight, "cut to \(size)")
        }
    }

    @Test("A log replaced by another one is corrupt, next to a newer one and alone", arguments: cases)
    func replaced(_ naming: Naming, _ durability: StoreCapabilities.Durability) throws {
        let sample = try makeSample(naming, durability)
        let newer = try #require(sample.files[sample.newer])
        let older = try #require(sample.files[sample.older])
        let alone = sample.files.filter { $0.key != sample.newer }
        for size in try places(sample.oldest) + [sample.oldest.count] where size > 300 {
            let log = [sample.older: sample.oldest.prefix(size)]
            #expect(try open(sample.files.merging(log) { $1 }, durability) == nil, "the oldest, cut to \(size)")
            #expect(try open(alone.merging(log) { $1 }, durability) == nil, "the oldest alone, cut to \(size)")
        }
        #expect(try open(sample.files.merging([sample.older: newer]) { $1 }, durability) == nil)
        // A log that the manifest named when it was full may begin at the same position as the newer one.
        if naming != .switchingLate {
            #expect(try open(alone.merging([sample.older: newer]) { $1 }, durability) == nil)
        }
        for other in [older, sample.oldest] {
            #expect(try open(sample.files.merging([sample.newer: other]) { $1 }, durability) == nil)
        }
    }

    /// A kill during a compaction immediately after opening leaves an empty log that is not the last one.
    @Test("An unused log next to a newer one does no harm")
    func empty() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        var states: [Entries] = [[:]]
        var engine = try LevelDBEngine(path: path)
        try Self.commit(0..<5, to: engine, &states)
        try engine.close()
        engine = try LevelDBEngine(path: path)
        let before = try databaseFiles(path)
        try engine.compact()
        try Self.commit(5..<9, to: engine, &states)
        let newer = try #require(try files(path).first { $0.key.hasSuffix(".log") })
        try engine.close()
        #expect(try open(before.merging([newer.key: newer.value]) { $1 }, .normal) == states.last)
    }
}

/// Returns the records of a log or a manifest.
func logRecords(_ content: Data) throws -> [LogRecord] {
    try withTemporaryFolder { folder throws in
        try content.write(to: URL(fileURLWithPath: "\(folder)/log"))
        var reader = try LogReader("\(folder)/log")
        var records: [LogRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }
}

/// Edits the last entry of a manifest.
enum ManifestEdit {
    /// Replaces the last sequence number in the last entry.
    static func replacingLastSequence(in manifest: Data?, by sequence: UInt64) throws -> Data {
        let records = try logRecords(#require(manifest)).map(\.bytes)
        let last = try #require(records.last)
        return Data((records.dropLast() + [edit(last, sequence)]).flatMap(framed))
    }

    /// Before the last sequence number, field 4, an entry contains only pairs of numbers.
    private static func edit(_ record: [UInt8], _ sequence: UInt64) -> [UInt8] {
        var result: [UInt8] = []
        var rest = record[...]
        while let field = rest.first {
            let end = rest.dropFirst().firstIndex { $0 < 0x80 } ?? rest.endIndex - 1
            if field == 4 { return result + [4] + varint(sequence) + rest[(end + 1)...] }
            result += rest[...end]
            rest = rest[(end + 1)...]
        }
        return result
    }

    private static func varint(_ number: UInt64) -> [UInt8] {
        number < 0x80 ? [UInt8(number)] : [UInt8(number & 0x7F) | 0x80] + varint(number >> 7)
    }

    /// Returns a record of one fragment, the format in a file smaller than a block.
    private static func framed(_ record: [UInt8]) -> [UInt8] {
        var checksum = CRC32C()
        ([1] + record).withUnsafeBytes { checksum.add($0) }
        let header = (0..<4).map { UInt8(truncatingIfNeeded: checksum.masked >> UInt32(8 * $0)) }
        return header + [UInt8(record.count & 0xFF), UInt8(record.count >> 8), 1] + record
    }
}
