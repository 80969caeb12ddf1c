import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests of destroying a store. The conformance suite checks that a store open in another process is refused.
@Suite struct SQLiteDestroyTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/store.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    @Test func aStoreGoesWithItsLogAndNothingElseDoes() throws {
        for name in ["store.sqlite.txt", "store.sqlite-mine", "store"] {
            try write("mine", to: "\(folder.path)/\(name)")
        }
        let store = try filled(SQLiteStore(path: path))
        // The files that a killed process leaves.
        try FileManager.default.createDirectory(atPath: "\(folder.path)/killed", withIntermediateDirectories: false)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: "\(folder.path)/killed/s\(suffix)")
        }
        try store.close()
        try SQLiteStore.destroy(path: path)
        try SQLiteStore.destroy(path: "\(folder.path)/killed/s")
        #expect(try fileNames(in: folder.path) == ["killed", "store", "store.sqlite-mine", "store.sqlite.txt"])
        #expect(try fileNames(in: "\(folder.path)/killed") == [])
    }

    @Test(.enabled(if: faults?.isAvailable == true))
    func aStoreThatReplacesTheOneToDestroyStays() throws {
        try expectReplacementKept(
            at: path, after: { $0.kind == .read && $0.path == "store.sqlite" }, .locked,
            { try SQLiteStore(path: $0) }, SQLiteStore.destroy)
    }

    @Test func aStoreThatIsOpenIsLocked() throws {
        let first = try filled(SQLiteStore(path: path))
        let second = try SQLiteStore(path: path)
        expectError(.locked) { try SQLiteStore.destroy(path: path) }
        try first.close()
        let error = expectError(.locked) { try SQLiteStore.destroy(path: path) }
        #expect(error?.path == path)
        try second.write { try $0.upsert(["id": "new"], into: "t") }
        try second.close()
        let reading = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
        #expect(try reading.read { try $0.count(TableQuery("t")) } == 301)
        expectError(.locked) { try SQLiteStore.destroy(path: path) }
        #expect(try reading.read { try $0.count(TableQuery("t")) } == 301)
        try reading.close()
        try SQLiteStore.destroy(path: path)
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test func whatIsNotAStoreIsNamedAndKept() throws {
        let text = "\(folder.path)/text"
        let database = "\(folder.path)/database"
        try write("mine", to: text)
        try sql(database, "CREATE TABLE mine (x)")
        let content = FileManager.default.contents(atPath: database)
        for path in [text, database] {
            let error = expectError(.notAStore) { try SQLiteStore.destroy(path: path) }
            #expect(error?.path == path)
        }
        expectError(.io) { try SQLiteStore.destroy(path: folder.path) }
        expectError(.io) { try SQLiteStore.destroy(path: "") }
        #expect(try fileNames(in: folder.path) == ["database", "text"])
        #expect(FileManager.default.contents(atPath: database) == content)
    }

    @Test func whereNothingIsNothingIsDone() throws {
        try write("mine", to: "\(folder.path)/file")
        for path in ["\(folder.path)/none", "\(folder.path)/none/deeper", "\(folder.path)/file/below"] {
            try SQLiteStore.destroy(path: path)
        }
        #expect(try fileNames(in: folder.path) == ["file"])
    }

    @Test func whatAnInterruptedCreationOrDestructionLeftGoes() throws {
        try write("", to: "\(folder.path)/empty")
        for suffix in ["-wal", "-shm"] { try write("left", to: "\(folder.path)/gone\(suffix)") }
        for name in ["empty", "gone"] { try SQLiteStore.destroy(path: "\(folder.path)/\(name)") }
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test(arguments: [70, 4096 * 2, 4096 * 3 + 100])
    func aDamagedStoreThatSaysWhoseItIsGoes(_ length: Int) throws {
        try filled(SQLiteStore(path: path)).close()
        let whole = try #require(FileManager.default.contents(atPath: path))
        try whole.prefix(length).write(to: URL(fileURLWithPath: path))
        if length < 72 {
            expectError(.notAStore) { try SQLiteStore.destroy(path: path) }
        } else {
            try SQLiteStore.destroy(path: path)
        }
        #expect(try fileNames(in: folder.path) == (length < 72 ? ["store.sqlite"] : []))
    }

    @Test func aStoreWhoseTablesAreDamagedOrOfALaterFormatGoes() throws {
        let damaged = "\(folder.path)/damaged"
        let later = "\(folder.path)/later"
        try filled(SQLiteStore(path: damaged)).close()
        var content = try #require(FileManager.default.contents(atPath: damaged))
        content.replaceSubrange(100..<4096, with: Data(repeating: 0xFF, count: 3996))
        try content.write(to: URL(fileURLWithPath: damaged))
        try filled(SQLiteStore(path: later)).close()
        try sql(later, "PRAGMA user_version = 1000")
        for path in [damaged, later] { try SQLiteStore.destroy(path: path) }
        #expect(try fileNames(in: folder.path) == [])
    }

    @Test func aLinkStaysAndWhatItLeadsToGoes() throws {
        try filled(SQLiteStore(path: path)).close()
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/link", withDestinationPath: path)
        let store = try SQLiteStore(path: "\(folder.path)/link")
        expectError(.locked) { try SQLiteStore.destroy(path: path) }
        try store.close()
        try SQLiteStore.destroy(path: "\(folder.path)/link")
        #expect(try fileNames(in: folder.path) == ["link"])
        try filled(SQLiteStore(path: "\(folder.path)/link")).close()
        #expect(try fileNames(in: folder.path) == ["link", "store.sqlite"])
    }

    /// A process loses its locks on a file when it closes any handle of it.
    @Test func aRefusedDestructionAndASecondStoreLeaveTheLocksOfTheFirst() throws {
        let store = try filled(SQLiteStore(path: path))
        let before = try locks(on: path)
        #expect(before > 0)
        expectError(.locked) { try SQLiteStore.destroy(path: path) }
        try SQLiteStore(path: path).close()
        #expect(try locks(on: path) == before)
        try store.close()

        /// Returns the number of locks that this process has on a file, if the system lists the locks of each handle.
        func locks(on path: String) throws -> Int {
            let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            let inode = ":\(try #require(number))"
            guard let handles = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo") else {
                return 1
            }
            let locks = handles.flatMap { handle in
                let text = FileManager.default.contents(atPath: "/proc/self/fdinfo/\(handle)") ?? Data()
                // The line contains `lock:`, a number within the list, and the description of the lock.
                return String(decoding: text, as: UTF8.self).split(separator: "\n").map { $0.split { $0.isWhitespace } }
                    .filter { $0.first == "lock:" && $0.contains { $0.hasSuffix(inode) } }.map { $0.dropFirst(2) }
            }
            return Set(locks).count
        }
    }
}
