import CLMDB
import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests a store after LMDB fails to write a meta page: LMDB stops with an error and leaves the page half-written.
@Suite struct LMDBFailedCommitTests {
    private static let full = LMDBOptions(durability: .full)

    /// Commits one more entry while meta pages cannot be written.
    private func failToCommit(_ number: UInt8, to engine: LMDBEngine) throws {
        let heads = try #require(Self.fileOfHeads(engine.environment))
        let file = dup(heads)
        let readOnly = open(engine.environment.folder.dataPath, O_RDONLY)
        dup2(readOnly, heads)
        defer {
            dup2(file, heads)
            close(file)
            close(readOnly)
        }
        let error = expectError(.io) { try engine.write { try $0.put(key(1, "\(number)"), [number]) } }
        #expect(error?.engineCode == Int(EBADF) && error?.message.contains("open it again") == true)
    }

    /// With full durability, LMDB writes the meta pages through a separate descriptor.
    private static func fileOfHeads(_ environment: Environment) -> Int32? {
        (0..<getdtablesize()).prefix(65_536).first { descriptor in
            descriptor != environment.file && fcntl(descriptor, F_GETFL) & O_ACCMODE != O_RDONLY
                && FileIdentity(of: descriptor) == FileIdentity(of: environment.file)
        }
    }

    @Test(arguments: [1, 2, 3, 6] as [UInt8])
    func aHeadThatCouldNotBeWrittenLosesNoCommitBefore(commits: UInt8) throws {
        let folder = try TemporaryFolder()
        let engine = try LMDBEngine(path: folder.path, options: Self.full)
        for number in 0..<commits { try engine.write { try $0.put(key(1, "\(number)"), [number]) } }
        try failToCommit(commits, to: engine)
        // The error is reported until the store is closed.
        for _ in 0..<2 {
            let error = expectError(.io) { try engine.write { try $0.put(key(1, "x"), []) } }
            #expect(error?.engineCode == Int(MDB_PANIC) && error?.message.contains("open it again") == true)
            expectError(.io) { _ = try engine.count(1) }
        }
        try engine.close()
        // The transaction number of the failed commit is used again; that commit fails too, and the next one
        // succeeds.
        let again = try LMDBEngine(path: folder.path, options: Self.full)
        #expect(try again.count(1) == Int(commits))
        try failToCommit(commits, to: again)
        try again.close()
        for number in commits..<(commits + 3) {
            try withEngine(folder.path, Self.full) { third throws in
                #expect(try third.count(1) == Int(number))
                try third.write { try $0.put(key(1, "\(number)"), [number]) }
            }
        }
    }

    /// A meta page whose number was damaged after its commit looks the same, except for the record of the failed
    /// commit.
    @Test(arguments: [0, 1, 100] as [UInt]) func onlyTheCommitThatWasNotedMayHaveFailed(off: UInt) throws {
        let folder = try TemporaryFolder()
        let engine = try LMDBEngine(path: folder.path, options: Self.full)
        for number in 0..<4 as Range<UInt8> { try engine.write { try $0.put(key(1, "\(number)"), [number]) } }
        try failToCommit(4, to: engine)
        try engine.close()
        let path = "\(folder.path)/data.mdb"
        var data = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let heads = try FileHeads.read(try DataFile(path))
        let commit = heads.newest.transaction + 1
        let place = Int(commit & 1) * heads.pageSize + FileLayout.failedCommit
        #expect(heads.heads[Int(commit & 1)].failedCommit == commit)
        withUnsafeBytes(of: (commit + off, ~(commit + off))) {
            data.replaceSubrange(place..<(place + FileLayout.failedCommitSize), with: $0)
        }
        try Data(data).write(to: URL(fileURLWithPath: path))
        if off == 0 {
            try LMDBEngine(path: folder.path, options: LMDBOptions(verification: .always)).close()
        } else {
            expectError(.corrupt) {
                _ = try LMDBEngine(path: folder.path, options: LMDBOptions(verification: .always))
            }
        }
    }
}
