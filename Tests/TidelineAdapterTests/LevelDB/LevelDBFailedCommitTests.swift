import Foundation
import Synchronization
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

/// Tests that the log contains neither a failed commit nor anything after it.
@Suite(.enabled(if: faults?.isAvailable == true)) struct LevelDBFailedCommitTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/db" }

    init() throws { folder = try TemporaryFolder() }

    /// A compaction ends with a record in the log.
    @Test(arguments: [false, true])
    func aCompactionWritesNothingAfterAFailedCommit(_ continues: Bool) throws {
        let engine = try LevelDBEngine(path: path)
        var expected: Entries = ["a": "1", "b": "2"]
        try engine.put(["a": "1"])
        let failure = Mutex<(any Error)?>(nil)
        // LevelDB holds no lock when a compaction has created a table, so that commits go on.
        let interruption = FileInterruption {
            $0.kind == .create && $0.path?.hasSuffix(".ldb") == true
        } body: {
            do {
                try engine.put(["b": "2"])
                try withUnwritableLog(in: path) { try engine.put(["c": "3"]) }
            } catch {
                failure.withLock { $0 = error }
            }
        }
        try #require(faults).observing(path, by: interruption) {
            _ = expectError(.io) { try engine.compact() }
        }
        #expect((failure.withLock { $0 } as? StoreError)?.code == .io)
        #expect(try engine.all() == expected)
        if continues {
            try engine.put(["d": "4"])
            expected["d"] = "4"
        }
        try engine.close()
        #expect(try contents(of: path) == expected)
    }

    /// After a failed sync, the whole commit is in the log, which may not be truncated before the engine is closed.
    @Test func closingRemovesAFailedCommit() throws {
        let engine = try LevelDBEngine(path: path, options: LevelDBOptions(durability: .full))
        try engine.put(["a": "1"])
        let unchangeableLog = FailingFiles(error: EIO) { operation in
            [.sync, .resize].contains(operation.kind) && operation.path?.hasSuffix(".log") == true
        }
        try #require(faults).observing(path, by: unchangeableLog) {
            _ = expectError(.io) { try engine.put(["b": "2"]) }
        }
        try engine.close()
        #expect(try contents(of: path) == ["a": "1"])
    }

    /// Until it is closed, LevelDB removes logs after compactions, at any time.
    @Test(arguments: [false, true])
    func aLogThatIsRemovedMeanwhileIsSkipped(_ isForWriting: Bool) throws {
        try LevelDBEngine(path: path).close()
        // Both logs contain only zeros, which are an incomplete record.
        let logs = ["000100.log", "000101.log"]
        for log in logs { try write("\0\0\0", to: "\(path)/\(log)") }
        let removal = FailingFiles(error: EIO) { [path] operation in
            let isOpened = operation.kind == .open && operation.isForWriting == isForWriting
            if isOpened, operation.path == logs[0] { unlink("\(path)/\(logs[0])") }
            return false
        }
        try #require(faults).observing(path, by: removal) { try LogRepair.cut(logsIn: path, after: 1) }
        #expect(try !fileNames(in: path).contains(logs[0]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(logs[1])")).isEmpty)
    }

    @Test(
        "A store that could not be reopened keeps its folder locked, and works again afterwards",
        arguments: [true, false])
    func lockedWhileItCannotBeReopened(_ readsFirst: Bool) throws {
        let kind = StoreKind.levelDB
        let files = try StoreFiles(kind)
        try files.open().close()
        let engine = try LevelDBEngine(path: kind.path(in: files.path))
        try engine.put(["a": "1"])
        try failToReopen(engine)
        let other = try EditingProcess(kind, files.path)
        #expect(throws: (any Error).self) { try other.edit("define") }
        if readsFirst { #expect(try engine.all() == ["a": "1"]) }
        try engine.put(["d": "4"])
        #expect(try engine.all() == ["a": "1", "d": "4"])
        try engine.close()
    }

    /// The other program here does not lock the folder, as any program does on a file system without locks.
    @Test("A store that could not be reopened leaves the commits of another program alone", arguments: [true, false])
    func commitsOfAnotherProgram(_ reads: Bool) throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        try failToReopen(engine)
        let other = try Database(path, LevelDBOptions(), createsIfMissing: false)
        var batch = WriteBatch()
        try Data([0, 0, 0, 7, UInt8(ascii: "x")]).withUnsafeBytes { key in
            try Data("9".utf8).withUnsafeBytes { try batch.put(key, $0) }
        }
        try other.write(batch)
        batch.destroy()
        other.close()
        for _ in 0..<2 {
            expectError(.io) { if reads { _ = try engine.all() } else { try engine.put(["d": "4"]) } }
        }
        try engine.close()
        #expect(try contents(of: path) == ["a": "1", "x": "9"])
    }

    @Test("A store that could not be reopened does not use another folder at its path")
    func anotherFolder() throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        try failToReopen(engine)
        try FileManager.default.moveItem(atPath: path, toPath: "\(path)-moved")
        let other = try LevelDBEngine(path: path)
        try other.put(["b": "2"])
        try other.close()
        expectError(.io) { try engine.put(["d": "4"]) }
        try engine.close()
        #expect(try contents(of: path) == ["b": "2"])
    }

    /// Makes a write fail, and then the reopening before the next one.
    private func failToReopen(_ engine: LevelDBEngine) throws {
        let path = try #require(engine.path)
        try withUnwritableLog(in: path) { _ = expectError(.io) { try engine.put(["b": "2"]) } }
        // LevelDB cannot open a folder without creating a manifest.
        let noManifest = FailingFiles(error: EIO) { operation in
            operation.kind == .create && operation.path?.hasPrefix("MANIFEST") == true
        }
        try #require(faults).observing(path, by: noManifest) {
            _ = expectError(.io) { try engine.put(["c": "3"]) }
        }
    }
}

private struct LogNotOpen: Error {}

/// Calls `body` while LevelDB cannot write to its log. An observer's own calls are not observed, so that it cannot make
/// them fail.
private func withUnwritableLog(in folder: String, _ body: () throws -> Void) throws {
    guard let log = try FolderCheck.logs(in: folder).last.map({ FolderCheck.path(ofLog: $0, in: folder) }),
        let descriptor = writingDescriptor(of: log)
    else { throw LogNotOpen() }
    let original = dup(descriptor)
    let readOnly = open(log, O_RDONLY)
    dup2(readOnly, descriptor)
    defer {
        dup2(original, descriptor)
        close(original)
        close(readOnly)
    }
    try body()
}

/// Returns the descriptor through which this process writes to a file.
private func writingDescriptor(of path: String) -> Int32? {
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    return (0..<getdtablesize()).prefix(65_536).first { descriptor in
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_dev == file.st_dev && status.st_ino == file.st_ino
            && fcntl(descriptor, F_GETFL) & O_ACCMODE == O_WRONLY
    }
}
