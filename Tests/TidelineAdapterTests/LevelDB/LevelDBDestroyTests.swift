import Foundation
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineLevelDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests of destroying a store. The conformance suite checks that a store open in another process is refused.
@Suite struct LevelDBDestroyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func otherFilesStayAndTheFolderWithThem() throws {
        try filled(LevelDBStore(path: folder.path)).close()
        for name in ["mine.txt", "mine.log"] { try write("mine", to: "\(folder.path)/\(name)") }
        try LevelDBStore.destroy(path: folder.path)
        #expect(try fileNames(in: folder.path) == ["mine.log", "mine.txt"])
    }

    @Test func whatTheSystemPutsIntoTheFolderIsNoMatter() throws {
        let path = "\(folder.path)/store"
        for _ in 0..<2 {
            try filled(LevelDBStore(path: path)).close()
            try write("", to: "\(path)/.DS_Store")
            // The second time, there is nothing to destroy.
            for _ in 0..<2 { try LevelDBStore.destroy(path: path) }
            #expect(try fileNames(in: path) == [".DS_Store"])
        }
    }

    @Test func aStoreThatIsOpenIsLocked() throws {
        let path = "\(folder.path)/store"
        let store = try filled(LevelDBStore(path: path))
        for _ in 0..<2 {
            let error = expectError(.locked) { try LevelDBStore.destroy(path: path) }
            #expect(error?.path == path)
        }
        expectError(.locked) { _ = try LevelDBStore(path: path) }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 300)
        try store.close()
        try LevelDBStore.destroy(path: path)
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test func whatIsNotAStoreIsNamedAndKept() throws {
        let logs = ["20261121.log": Data("mine".utf8), "1.log": Data(), "LOG": Data()]
        for content in [logs, ["letter.txt": Data("x".utf8)], ["LOCK": Data(), "mine.log": Data()]] {
            try replaceFiles("\(folder.path)/other", by: content)
            let error = expectError(.notAStore) { try LevelDBStore.destroy(path: "\(folder.path)/other") }
            #expect(error?.path == "\(folder.path)/other")
            #expect(try files("\(folder.path)/other") == content)
        }
        expectError(.io) { try LevelDBStore.destroy(path: "\(folder.path)/other/LOCK") }
        expectError(.io) { try LevelDBStore.destroy(path: "") }
    }

    @Test func anotherProgramsDatabaseIsNamedAndKept() throws {
        let engine = try LevelDBEngine(path: "\(folder.path)/other")
        try engine.write { transaction in
            Array("their key".utf8).withUnsafeBytes { transaction.put($0, $0) }
        }
        try engine.close()
        // With and without the marker of a repair that was interrupted.
        try write("", to: "\(folder.path)/other/tideline.repair")
        expectError(.notAStore) { try LevelDBStore.destroy(path: "\(folder.path)/other") }
        try FileManager.default.removeItem(atPath: "\(folder.path)/other/tideline.repair")
        let error = expectError(.notAStore) { try LevelDBStore.destroy(path: "\(folder.path)/other") }
        #expect(error?.path == "\(folder.path)/other")
        let again = try LevelDBEngine(path: "\(folder.path)/other", options: LevelDBOptions(createsIfMissing: false))
        let isFound = try again.read { snapshot in
            try Array("their key".utf8).withUnsafeBytes { try snapshot.get($0) { #expect($0.count == 9) } }
        }
        #expect(isFound)
        try again.close()
    }

    /// The first key is in a log until the database is opened again, then in a table.
    @Test(.enabled(if: faults?.isAvailable == true), arguments: [false, true])
    func aStoreOnAFullDiskGoesAndAnotherProgramsDatabaseIsKept(isReopened: Bool) throws {
        let (path, other) = ("\(folder.path)/store", "\(folder.path)/other")
        try filled(LevelDBStore(path: path)).close()
        let engine = try LevelDBEngine(path: other)
        try engine.put(["their": "key"])
        try engine.close()
        if isReopened {
            try LevelDBStore(path: path).close()
            try LevelDBEngine(path: other).close()
        }
        try #require(faults).observing(folder.path, by: FailingFiles(error: ENOSPC) { $0.kind == .create }) {
            expectError(.full) { _ = try LevelDBStore(path: path) }
            try LevelDBStore.destroy(path: path)
            expectError(.full) { try LevelDBStore.destroy(path: other) }
        }
        #expect(try fileNames(in: folder.path) == ["other"])
        #expect(try contents(of: other) == ["their": "key"])
    }

    @Test func whereNothingIsNothingIsDone() throws {
        try expectNoDestruction(in: folder.path) { try LevelDBStore.destroy(path: $0) }
    }

    @Test func whatAnInterruptedCreationOrDestructionLeftGoes() throws {
        let leftovers: [[String: Data]] = [
            ["LOCK": Data()], ["LOCK": Data(), "LOG": Data("x".utf8), "000001.dbtmp": Data()],
            ["LOCK": Data(), "MANIFEST-000001": Data(), "000003.log": Data()],
            ["LOCK": Data(), "tideline.room": Data("x".utf8)],
        ]
        for content in leftovers {
            try replaceFiles("\(folder.path)/store", by: content)
            try LevelDBStore.destroy(path: "\(folder.path)/store")
            #expect(try fileNames(in: folder.path) == [])
        }
    }

    @Test func aDamagedStoreGoesWithWhatARepairKept() throws {
        let path = "\(folder.path)/store"
        try filled(LevelDBStore(path: path)).close()
        let log = try #require(try fileNames(in: path).first { $0.hasSuffix(".log") })
        var content = try #require(FileManager.default.contents(atPath: "\(path)/\(log)"))
        content.replaceSubrange(content.count / 2..<content.count / 2 + 8, with: Data(repeating: 0x55, count: 8))
        try content.write(to: URL(fileURLWithPath: "\(path)/\(log)"))
        expectError(.corrupt) { _ = try LevelDBStore(path: path) }
        try FileManager.default.copyItem(atPath: path, toPath: "\(folder.path)/copy")
        try LevelDBStore.destroy(path: "\(folder.path)/copy")
        #expect(try fileNames(in: folder.path) == ["store"])
        _ = try? LevelDBStore.repair(path: path)
        #expect(try fileNames(in: path).contains("lost"))
        for name in [".DS_Store", "._\(log)"] { try write("", to: "\(path)/lost/\(name)") }
        try LevelDBStore.destroy(path: path)
        #expect(try fileNames(in: folder.path) == [])
    }
}
