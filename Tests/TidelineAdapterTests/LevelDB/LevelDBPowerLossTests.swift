import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

/// Tests the log after a power loss: any sector that was not synced may read as zeros.
@Suite struct LevelDBPowerLossTests {
    private struct Sample {
        var files: [String: Data]
        var log: String
        var states: [Entries]

        var content: Data { files[log] ?? Data() }
    }

    /// Returns the files of a database with thirty commits in its log, either after or before closing.
    private func makeSample(_ durability: StoreCapabilities.Durability, closed: Bool = false) throws -> Sample {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/db"
            let engine = try LevelDBEngine(path: path, options: LevelDBOptions(durability: durability))
            var states: [Entries] = [[:]]
            for number in 0..<30 {
                let length = number == 15 ? 70_000 : 300
                let change = ["id-\(number % 7)": String(repeating: "\(number % 10)", count: length)]
                try engine.put(change)
                states.append(states[number].merging(change) { $1 })
            }
            if closed { try engine.close() }
            let files = try databaseFiles(path)
            if !closed { try engine.close() }
            let log = try #require(files.keys.first { $0.hasSuffix(".log") })
            return Sample(files: files, log: log, states: states)
        }
    }

    /// Returns the contents of a database with zeros in its log, or `nil` if it is `corrupt`.
    private func open(
        _ sample: Sample, zeros: Range<Int>, _ durability: StoreCapabilities.Durability
    ) throws -> Entries? {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/db"
            var files = sample.files
            files[sample.log]?.resetBytes(in: zeros)
            try replaceFiles(path, by: files)
            do {
                let options = LevelDBOptions(durability: durability)
                let engine = try LevelDBEngine(path: path, options: options)
                let found = try engine.all()
                try engine.put(["new": "1"])
                try engine.close()
                #expect(try contents(of: path, options) == found.merging(["new": "1"]) { $1 })
                return found
            } catch let error as StoreError where error.code == .corrupt {
                return nil
            }
        }
    }

    private func sectors(_ count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: 512).map { $0..<min($0 + 512, count) }
    }

    @Test func withNormalDurabilityTheCommitsBeforeASectorThatIsMissingAreThere() throws {
        let sample = try makeSample(.normal)
        var found: Set<Int> = []
        for sector in sectors(sample.content.count) {
            let entries = try #require(try open(sample, zeros: sector, .normal), "\(sector)")
            found.insert(try #require(sample.states.firstIndex(of: entries), "\(sector)"))
        }
        #expect(found.count > 15)
        #expect(!found.contains(30))
    }

    @Test func withFullDurabilityOnlyTheLastCommitCanBeMissing() throws {
        let sample = try makeSample(.full)
        let last = try #require(logRecords(sample.content).last)
        for sector in sectors(last.start) { #expect(try open(sample, zeros: sector, .full) == nil, "\(sector)") }
        #expect(try open(sample, zeros: last.start..<last.end, .full) == sample.states[29])
    }

    @Test(arguments: [StoreCapabilities.Durability.normal, .full])
    func whatIsMissingFromAStoreThatWasClosedIsDamage(_ durability: StoreCapabilities.Durability) throws {
        let sample = try makeSample(durability, closed: true)
        #expect(sample.files[CleanShutdownMarker.fileName] != nil)
        for sector in sectors(sample.content.count) {
            #expect(try open(sample, zeros: sector, durability) == nil, "\(sector)")
        }
        #expect(try open(sample, zeros: 0..<0, durability) == sample.states[30])
    }

    @Test func aStoreThatWasClosedIsRefusedWhenItsLogWasCut() throws {
        let sample = try makeSample(.normal, closed: true)
        let folder = try TemporaryFolder()
        for size in [0, 100, sample.content.count - 1] {
            let cut = sample.files.merging([sample.log: sample.content.prefix(size)]) { $1 }
            try replaceFiles("\(folder.path)/db", by: cut)
            let error = expectError(.corrupt) { _ = try LevelDBEngine(path: "\(folder.path)/db") }
            #expect(error?.path?.hasSuffix(sample.log) == true)
        }
    }

    /// Zeros in the middle of a sector, which no power loss leaves.
    @Test func zerosWithinASectorAreDamage() throws {
        let sample = try makeSample(.normal)
        for place in [600, 2_100, 5_300] {
            #expect(try open(sample, zeros: place..<place + 40, .normal) == nil, "\(place)")
        }
    }

    /// A damaged clean-shutdown marker is ignored.
    @Test(arguments: ["", "x", "3 100 1", "3", "99999999999999999999 1 1"])
    func aSealThatIsDamagedIsPassedOver(_ text: String) throws {
        let sample = try makeSample(.normal, closed: true)
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        try replaceFiles(path, by: sample.files.merging([CleanShutdownMarker.fileName: Data(text.utf8)]) { $1 })
        #expect(try contents(of: path) == sample.states[30])
    }
}

/// Tests that files that cannot be read temporarily are neither missing nor damaged.
@Suite struct LevelDBUnreadableFileTests {
    @Test(arguments: ["CURRENT", ".log", ".ldb"])
    func aFileThatCannotBeOpenedIsNotCorrupt(_ suffix: String) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        try engine.compact()
        try engine.put(["b": "2"])
        try engine.close()
        let name = try #require(try files(path).keys.first { $0.hasSuffix(suffix) })
        // A symbolic link to itself, which no process can open.
        let content = try #require(try files(path)[name])
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: name)
        let error = expectError(.io) { _ = try LevelDBEngine(path: path) }
        #expect(error?.engineCode == Int(ELOOP))
        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        try content.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        #expect(try contents(of: path) == ["a": "1", "b": "2"])
    }
}
