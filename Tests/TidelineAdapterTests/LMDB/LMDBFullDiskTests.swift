import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests on a real full file system. They need a file system of a few megabytes, named by `TIDELINE_TEST_SMALL_DISK`.
@Suite(.serialized, .enabled(if: smallDisk != nil)) struct LMDBFullDiskTests {
    private let disk = smallDisk ?? ""

    @Test(arguments: [0, 4096, 40_960, 300_000])
    func aFullDiskRollsBackAndTheStoreWorksAfterRoomIsMade(left: Int) throws {
        let path = "\(disk)/store-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let engine = try LMDBEngine(path: path)
        try engine.write { try $0.put(key(1, "small"), [1]) }
        let big = Array(repeating: 1, count: 30_000) as [UInt8]
        try withFullDisk(disk, butFor: left) { () throws in
            for space in 2..<5 as Range<UInt32> {
                expectError(.full) { try engine.write { for n in 0..<64 { try $0.put(key(space, "\(n)"), big) } } }
                try onThreads(20) { _ in
                    guard try engine.read({ try $0.value(key(1, "small")) }) == [1] else {
                        throw CocoaError(.fileReadUnknown)
                    }
                }
                #expect(try engine.count(space) == 0)
            }
        }
        try engine.write { for number in 0..<8 { try $0.put(key(2, "\(number)"), big) } }
        #expect(try engine.count(2) == 8)
        try engine.close()
        #expect(try withEngine(path) { try $0.count(2) } == 8)
    }

    @Test(arguments: [0, 4096, 8192, 12_288, 65_536, 73_728, 90_112])
    func aStoreThatFindsNoRoomLeavesNothing(left: Int) throws {
        let path = "\(disk)/store-\(UUID().uuidString)"
        try withFullDisk(disk, butFor: left) { () throws in
            do {
                try LMDBEngine(path: path).close()
                try FileManager.default.removeItem(atPath: path)
            } catch let error as StoreError {
                #expect(error.code == .full, "\(error)")
                #expect(!FileManager.default.fileExists(atPath: path))
            }
        }
        try LMDBEngine(path: path).close()
        try FileManager.default.removeItem(atPath: path)
    }
}
