import CLMDB
import Foundation
import Testing
import TidelineKeyValue
import TidelineLMDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests of destroying a store. The conformance suite checks that a store open in another process is refused.
@Suite struct LMDBDestroyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func otherFilesStayAndTheFolderWithThem() throws {
        try filled(LMDBStore(path: folder.path)).close()
        try write("mine", to: "\(folder.path)/mine.txt")
        try LMDBStore.destroy(path: folder.path)
        #expect(try fileNames(in: folder.path) == ["mine.txt"])
    }

    @Test(.enabled(if: faults?.isAvailable == true))
    func aStoreThatReplacesTheOneToDestroyStays() throws {
        try expectReplacementKept(
            at: "\(folder.path)/store", after: { $0.kind == .open && $0.path == "store" }, .io,
            { try LMDBStore(path: $0) }, LMDBStore.destroy)
    }

    @Test func aStoreThatIsOpenIsLocked() throws {
        let path = "\(folder.path)/store"
        let first = try filled(LMDBStore(path: path))
        let second = try LMDBStore(path: path)
        expectError(.locked) { try LMDBStore.destroy(path: path) }
        try first.close()
        let error = expectError(.locked) { try LMDBStore.destroy(path: "\(folder.path)/./store") }
        #expect(error?.path == "\(folder.path)/./store")
        try second.write { try $0.upsert(["id": "new"], into: "t") }
        try second.close()
        let reading = try LMDBStore(path: path, options: LMDBOptions(isReadOnly: true))
        expectError(.locked) { try LMDBStore.destroy(path: path) }
        #expect(try reading.read { try $0.count(TableQuery("t")) } == 301)
        try reading.close()
        try LMDBStore.destroy(path: path)
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test func whatIsNotAStoreIsNamedAndKept() throws {
        let other = "\(folder.path)/other"
        let text = "\(folder.path)/text"
        let database = "\(folder.path)/database"
        for path in [other, text, database] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        try write("mine", to: "\(other)/mine.txt")
        try write("mine", to: "\(text)/data.mdb")
        try makeForeign(database)
        let content = FileManager.default.contents(atPath: "\(database)/data.mdb")
        for path in [other, text, database] {
            let error = expectError(.notAStore) { try LMDBStore.destroy(path: path) }
            #expect(error?.path == path)
        }
        expectError(.io) { try LMDBStore.destroy(path: "\(other)/mine.txt") }
        expectError(.io) { try LMDBStore.destroy(path: "") }
        #expect(try fileNames(in: other) == ["mine.txt"])
        #expect(try fileNames(in: text) == ["data.mdb"])
        #expect(FileManager.default.contents(atPath: "\(database)/data.mdb") == content)
    }

    @Test func whereNothingIsNothingIsDone() throws {
        try expectNoDestruction(in: folder.path) { try LMDBStore.destroy(path: $0) }
    }

    @Test func whatAnInterruptedCreationOrDestructionLeftGoes() throws {
        try FileManager.default.createDirectory(
            atPath: "\(folder.path)/store/.creating", withIntermediateDirectories: true)
        for name in ["lock.mdb", ".creating/data.mdb"] { try write("", to: "\(folder.path)/store/\(name)") }
        try LMDBStore.destroy(path: "\(folder.path)/store")
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test(arguments: [0, 5_000, 20_000], [false, true])
    func aDamagedStoreGoes(_ length: Int, _ isOverwritten: Bool) throws {
        let path = "\(folder.path)/store"
        try filled(LMDBStore(path: path)).close()
        var content = try #require(FileManager.default.contents(atPath: "\(path)/data.mdb"))
        if isOverwritten {
            content.replaceSubrange(max(length, 100)..<content.count, with: Data(repeating: 0x55, count: 100))
        } else {
            content = content.prefix(length)
        }
        try content.write(to: URL(fileURLWithPath: "\(path)/data.mdb"))
        expectError(content.isEmpty ? .notAStore : .corrupt) { _ = try LMDBStore(path: path) }
        try LMDBStore.destroy(path: path)
        #expect(try fileNames(in: folder.path) == [])
    }

    /// Creates an LMDB environment as another program would.
    private func makeForeign(_ path: String) throws {
        var environment: OpaquePointer?
        #expect(mdb_env_create(&environment) == 0)
        defer { mdb_env_close(environment) }
        #expect(mdb_env_open(environment, path, 0, 0o644) == 0)
        var transaction: OpaquePointer?
        #expect(mdb_txn_begin(environment, nil, 0, &transaction) == 0)
        var database: MDB_dbi = 0
        #expect(mdb_dbi_open(transaction, nil, 0, &database) == 0)
        var bytes = Array("mine".utf8)
        let size = bytes.count
        bytes.withUnsafeMutableBytes { bytes in
            var key = MDB_val(mv_size: size, mv_data: bytes.baseAddress)
            var value = key
            #expect(mdb_put(transaction, database, &key, &value, 0) == 0)
        }
        #expect(mdb_txn_commit(transaction) == 0)
    }
}
