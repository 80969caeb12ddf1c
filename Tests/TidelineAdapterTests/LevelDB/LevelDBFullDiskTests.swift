import Foundation
import Testing
import TidelineConformance
import TidelineLevelDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite(.serialized) struct LevelDBFullDiskTests {
    private static let big = Entries(uniqueKeysWithValues: (0..<64).map { ("big\($0)", noise($0, 65_536)) })

    /// Works without a small disk: the next log is a device that is always full.
    @Test func aLogThatCannotBeWrittenIsFullAndIsMended() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        let engine = try LevelDBEngine(path: path, options: LevelDBOptions(writeBufferSize: 65_536))
        try engine.put(["small": "1"])
        let full = (3..<40).map { "\(path)/\(String(repeating: "0", count: $0 < 10 ? 5 : 4))\($0).log" }
            .filter { !FileManager.default.fileExists(atPath: $0) }
        for log in full {
            try FileManager.default.createSymbolicLink(atPath: log, withDestinationPath: "/dev/full")
        }
        var committed: Entries = ["small": "1"]
        var failure: StoreError?
        for number in 0..<10 where failure == nil {
            let entry = ["n\(number)": noise(number, 40_000)]
            do {
                try engine.put(entry)
                committed.merge(entry) { $1 }
            } catch let error as StoreError { failure = error }
        }
        #expect(failure?.code == .full)
        #expect(failure?.engineCode == Int(ENOSPC))
        #expect(try engine.all() == committed)
        for log in full where (try? FileManager.default.destinationOfSymbolicLink(atPath: log)) != nil {
            try FileManager.default.removeItem(atPath: log)
            #expect(FileManager.default.createFile(atPath: log, contents: nil))
        }
        try engine.put(["after": "2"])
        committed["after"] = "2"
        #expect(try engine.all() == committed)
        try engine.close()
        #expect(try contents(of: path) == committed)
    }

    /// Tests on a real full file system. It needs a file system of a few megabytes, named by
    /// `TIDELINE_TEST_SMALL_DISK`.
    @Test(
        .enabled(if: smallDisk != nil),
        arguments: [StoreCapabilities.Durability.normal, .full], [65_536, 16 << 20])
    func aFullDiskRollsBackAndTheStoreWorksAfterRoomIsMade(
        _ durability: StoreCapabilities.Durability, _ buffer: Int
    ) throws {
        let disk = try #require(smallDisk)
        let path = "\(disk)/store-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let options = LevelDBOptions(durability: durability, writeBufferSize: buffer)
        let engine = try LevelDBEngine(path: path, options: options)
        var committed: Entries = ["small": "1", "small2": noise(1, 30_000)]
        try engine.put(committed)
        // Repeat this, with the disk full at another point each time.
        for round in 0..<6 {
            let entries = Dictionary(uniqueKeysWithValues: Self.big.map { ("\(round)-\($0.key)", $0.value) })
            try withFullDisk(disk, butFor: round * 9_000) { () throws in
                for _ in 0..<2 { expectError(.full) { try engine.put(entries) } }
                #expect(try engine.all() == committed)
            }
            committed["after\(round)"] = "1"
            try engine.put(["after\(round)": "1"])
            #expect(try engine.all() == committed)
        }
        try engine.close()
        let again = try LevelDBEngine(path: path, options: options)
        #expect(try again.all() == committed)
        try again.compact()
        #expect(try again.all() == committed)
        try again.close()
    }

    /// Checks the contents after a series of commits, one of which finds the disk full.
    @Test(.enabled(if: smallDisk != nil))
    func everyAcknowledgedCommitIsThereAfterTheRoomEnded() throws {
        let disk = try #require(smallDisk)
        let path = "\(disk)/store-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var committed: Entries = [:]
        for round in 0..<8 {
            try withFullDisk(disk, butFor: 700_000 + round * 13_001) { () throws in
                let engine = try LevelDBEngine(path: path, options: LevelDBOptions(writeBufferSize: 65_536))
                for number in 0..<60 {
                    let entry = ["\(round)-\(number)": noise(number, 5_000)]
                    do {
                        try engine.put(entry)
                        committed.merge(entry) { $1 }
                    } catch let error as StoreError {
                        #expect(error.code == .full, "\(error)")
                        #expect(try engine.all() == committed)
                        break
                    }
                }
                // Close the engine without another write.
                try engine.close()
            }
            let again = try LevelDBEngine(path: path)
            #expect(try again.all() == committed)
            try again.write { transaction in
                for key in committed.keys where !key.hasSuffix("-0") { try transaction.remove(key) }
            }
            committed = committed.filter { $0.key.hasSuffix("-0") }
            try again.compact()
            try again.close()
        }
    }
}
