import Foundation
import Synchronization
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

private let faults = StoreKind.simplest.harness.faults

/// Tests that the log contains neither a failed commit nor anything after it.
@Suite(.enabled(if: faults?.isAvailable == true)) struct LevelDBFailedCommitTests {
    /// A compaction ends with a record in the log.
    @Test(arguments: [false, true])
    func aCompactionWritesNothingAfterAFailedCommit(_ continues: Bool) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        let engine = try LevelDBEngine(path: path)
        var expected: Entries = ["a": "1", "b": "2"]
        try engine.put(["a": "1"])
        let failure = Mutex<(any Error)?>(nil)
        let interruption = TableInterruption {
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
        let again = try LevelDBEngine(path: path)
        #expect(try again.all() == expected)
        try again.close()
    }

    /// After a failed sync, the whole commit is in the log, which may not be truncated before the engine is closed.
    @Test func closingRemovesAFailedCommit() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/db"
        let engine = try LevelDBEngine(path: path, options: LevelDBOptions(durability: .full))
        try engine.put(["a": "1"])
        try #require(faults).observing(path, by: UnchangeableLog()) {
            _ = expectError(.io) { try engine.put(["b": "2"]) }
        }
        try engine.close()
        let again = try LevelDBEngine(path: path)
        #expect(try again.all() == ["a": "1"])
        try again.close()
    }
}

/// Calls a closure once, when a compaction creates a table. LevelDB holds no lock then, so that commits go on.
private final class TableInterruption: FileObserver {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func decide(_ operation: FileOperation) -> FileDecision {
        guard operation.kind == .create, operation.path?.hasSuffix(".ldb") == true else { return .perform }
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
        return .perform
    }

    func performed(_ operation: FileOperation) {}
}

/// Fails to sync and to truncate logs.
private struct UnchangeableLog: FileObserver {
    func decide(_ operation: FileOperation) -> FileDecision {
        let isAffected = [.sync, .resize].contains(operation.kind) && operation.path?.hasSuffix(".log") == true
        return isAffected ? .fail(EIO) : .perform
    }

    func performed(_ operation: FileOperation) {}
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
