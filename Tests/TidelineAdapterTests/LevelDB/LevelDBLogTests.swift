import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

@Suite struct LevelDBLogTests {
    /// The check value of the standard, and inputs that reach all branches of the implementation.
    @Test func theChecksumIsCRC32C() {
        for (text, expected) in [("", 0), ("a", 0xC1D0_4330), ("123456789", 0xE306_9283)] as [(String, UInt32)] {
            var checksum = CRC32C()
            Array(text.utf8).withUnsafeBytes { checksum.add($0) }
            #expect(checksum.value == expected)
        }
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        for count in 0...100 {
            var whole = CRC32C()
            var single = CRC32C()
            bytes.withUnsafeBytes { bytes in
                whole.add(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                for index in 0..<count { single.add(UnsafeRawBufferPointer(rebasing: bytes[index...index])) }
            }
            #expect(whole.value == single.value)
        }
    }

    /// Creates a database of 20 commits with two changes each, all in the log, as a killed process leaves it. Some
    /// commits are longer than a block.
    private func make(_ path: String) throws {
        let engine = try LevelDBEngine(path: path)
        for number in 0..<20 {
            let value = String(repeating: "x", count: number % 5 == 4 ? 50_000 : 100)
            try engine.put(["a\(number)": value, "b\(number)": value])
        }
        try engine.close()
        CleanShutdownMarker.remove(in: path)
    }

    /// After a failed sync, the log contains the whole of a commit that was not acknowledged.
    @Test(arguments: [40, 39, 38, 21, 20, 10, 9, 2, 1, 0])
    func commitsThatWereNotAcknowledgedAreCutOff(_ lastSequence: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        try make(path)
        #expect(try FolderCheck(folder: path).lastSequence() == 40)
        try LogRepair.cut(logsIn: path, after: lastSequence)
        let kept = Int(lastSequence / 2)
        #expect(try FolderCheck(folder: path).lastSequence() == UInt64(kept * 2))
        #expect(try Set(contents(of: path).keys) == Set((0..<kept).flatMap { ["a\($0)", "b\($0)"] }))
    }

    /// The remainder of an incomplete commit is cut off as well.
    @Test func theRestOfACommitIsCutOff() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        try make(path)
        let log = try #require(try files(path).first { $0.key.hasSuffix(".log") })
        for size in [log.value.count - 1, 60_000, 40_000, 5] {
            try log.value.prefix(size).write(to: URL(fileURLWithPath: "\(path)/\(log.key)"))
            let last = try FolderCheck(folder: path).lastSequence()
            try LogRepair.cut(logsIn: path, after: last)
            let left = try #require(try files(path)[log.key])
            #expect(left.count < size && left == log.value.prefix(left.count))
            #expect(try FolderCheck(folder: path).lastSequence() == last)
        }
    }

    /// Commits until an error, which it returns.
    private func fill(_ engine: LevelDBEngine, _ committed: inout Entries) throws -> StoreError? {
        for number in 0..<20 {
            let entry = ["n\(number)": noise(number, 40_000)]
            do { try engine.put(entry) } catch let error as StoreError { return error }
            committed.merge(entry) { $1 }
        }
        return nil
    }

    /// The next log is a device that is always full.
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
        let failure = try fill(engine, &committed)
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

    @Test(.enabled(if: faults?.isAvailable == true), arguments: [StoreCapabilities.Durability.normal, .full])
    func aTableThatCannotBeWrittenIsFullAndIsMended(_ durability: StoreCapabilities.Durability) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        let options = LevelDBOptions(durability: durability, writeBufferSize: 65_536)
        let engine = try LevelDBEngine(path: path, options: options)
        var committed: Entries = ["small": "1"]
        try engine.put(committed)
        let full = FailingFiles(error: ENOSPC) { call in
            call.kind == .write && call.path?.hasSuffix(".ldb") == true
        }
        try #require(faults).observing(path, by: full) {
            let failure = try fill(engine, &committed)
            #expect(failure?.code == .full)
            #expect(try engine.all() == committed)
        }
        try engine.put(["after": "2"])
        committed["after"] = "2"
        try engine.close()
        #expect(try contents(of: path) == committed)
    }
}
