import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests when a file is verified: the record of a clean shutdown must never follow a crash.
@Suite(.serialized) struct LMDBCleanShutdownTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func isClean(_ path: String) throws -> Bool {
        let folder = try Folder.open(path, LMDBOptions())
        defer { folder.release() }
        return CleanShutdownMarker.isClean(folder)
    }

    private func write(_ path: String, _ options: LMDBOptions = .init()) throws {
        try withEngine(path, options) { engine in
            try engine.write { try $0.put(key(1, "a"), Array(repeating: 7, count: 100)) }
        }
    }

    /// Flips a bit of the stored value, and keeps the time of the last change, as a failing device does.
    private func damage(_ folder: String) throws {
        let path = "\(folder)/data.mdb"
        var status = stat()
        #expect(stat(path, &status) == 0)
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        var data = try #require(try file.readToEnd())
        // The newest copy of the value is on one of the pages; a flip on every page with it damages that copy.
        for place in data.indices.dropLast(100) where data[place..<place + 100].allSatisfy({ $0 == 7 }) {
            data[place + 50] ^= 1
        }
        try file.seek(toOffset: 0)
        try file.write(contentsOf: data)
        try file.close()
        #if canImport(Darwin)
        let times = [status.st_atimespec, status.st_mtimespec]
        #else
        let times = [status.st_atim, status.st_mtim]
        #endif
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }

    @Test(arguments: [StoreCapabilities.Durability.none, .normal, .full])
    func aFileIsNotVerifiedAfterACleanShutdown(durability: StoreCapabilities.Durability) throws {
        #expect(try !isClean(folder.path))
        try write(folder.path, LMDBOptions(durability: durability))
        #expect(try isClean(folder.path))
        try damage(folder.path)
        let engine = try LMDBEngine(path: folder.path)
        // Checksums are compared when a file is verified, not when a value is read.
        #expect(try engine.read { try $0.value(key(1, "a")) }?.contains(6) == true)
        try engine.close()
        expectError(.corrupt) { _ = try LMDBEngine(path: folder.path, options: LMDBOptions(verification: .always)) }
    }

    @Test func aStoreThatIsNeverVerifiedPromisesNoDetectionOfFlippedBits() throws {
        for verification in [LMDBOptions.Verification.always, .afterUncleanShutdown, .never] {
            let engine = try LMDBEngine(path: folder.path, options: LMDBOptions(verification: verification))
            #expect(engine.capabilities.detectsBitFlips == (verification != .never))
            try engine.close()
        }
    }

    @Test func aKilledProcessLeavesNoCleanShutdown() throws {
        try write(folder.path)
        let other = try OtherProcess("hold", folder.path)
        other.wait(for: 1)
        #expect(try !isClean(folder.path))
        _ = other.end()
        #expect(try !isClean(folder.path))
        try damage(folder.path)
        expectError(.corrupt) { _ = try LMDBEngine(path: folder.path) }
        expectError(.corrupt) { _ = try LMDBEngine(path: folder.path) }
    }

    @Test func aVerifiedFileIsCleanAgain() throws {
        let other = try OtherProcess("hold", folder.path)
        other.wait(for: 1)
        _ = other.end()
        // Without verification, nothing is known about the file.
        try write(folder.path, LMDBOptions(verification: .never))
        #expect(try !isClean(folder.path))
        try LMDBEngine(path: folder.path).close()
        #expect(try isClean(folder.path))
        try write(folder.path, LMDBOptions(verification: .never))
        #expect(try isClean(folder.path))
    }

    /// The last process to close a shared store records the shutdown, whichever it is.
    @Test(arguments: [false, true], [false, true])
    func theLastProcessRecordsTheShutdown(writes: Bool, isFirst: Bool) throws {
        let engine = try LMDBEngine(path: folder.path)
        if writes { try engine.write { try $0.put(key(1, "a"), [1]) } }
        let other = try OtherProcess("hold", folder.path)
        other.wait(for: 1)
        if isFirst { try engine.close() } else { other.endInput() }
        if isFirst { #expect(try !isClean(folder.path)) } else { #expect(other.finish().isWell) }
        #expect(try !isClean(folder.path))
        if isFirst { other.endInput() } else { try engine.close() }
        if isFirst { #expect(other.finish().isWell) }
        #expect(try isClean(folder.path))
    }

    /// A process that was killed while another one had the store open.
    @Test func aSharedStoreIsNotCleanAfterOneProcessWasKilled() throws {
        let engine = try LMDBEngine(path: folder.path)
        try engine.write { try $0.put(key(1, "a"), [1]) }
        let other = try OtherProcess("hold", folder.path)
        other.wait(for: 1)
        _ = other.end()
        try engine.write { try $0.put(key(1, "b"), [1]) }
        try engine.close()
        #expect(try !isClean(folder.path))
        try LMDBEngine(path: folder.path).close()
        #expect(try isClean(folder.path))
    }

    @Test func aChangedOrReplacedFileIsVerified() throws {
        let (path, copy) = ("\(folder.path)/data.mdb", "\(folder.path)/copy")
        try write(folder.path)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: copy, toPath: path)
        #expect(try !isClean(folder.path))
        try LMDBEngine(path: folder.path).close()
        #expect(try isClean(folder.path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 0, count: 4096))
        try file.close()
        #expect(try !isClean(folder.path))
    }

    /// A record that is cut off or has a flipped bit claims nothing.
    @Test(arguments: [0, 8, 16, 40, 56, 63]) func aDamagedRecordIsNone(place: Int) throws {
        let path = "\(folder.path)/\(CleanShutdownMarker.fileName)"
        try write(folder.path)
        let record = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(record.count == 64)
        var flipped = record
        flipped[place] ^= 1
        for damaged in [flipped, record.prefix(place), Data()] {
            try damaged.write(to: URL(fileURLWithPath: path))
            #expect(try !isClean(folder.path))
        }
        try LMDBEngine(path: folder.path).close()
        #expect(try isClean(folder.path))
    }
}
