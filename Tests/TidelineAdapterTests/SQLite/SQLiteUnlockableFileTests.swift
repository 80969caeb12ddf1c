import Foundation
import Testing
import TidelineConformance
import TidelineSQLite
import TidelineStore
import TidelineTestStores

/// Tests stores for reading where this process can create and change no file, but others can.
@Suite(.enabled(if: faults?.isAvailable == true)) struct SQLiteUnlockableFileTests {
    private let kind = StoreKind.sqliteFile
    private let files: StoreFiles
    private var path: String { kind.path(in: files.path) }

    /// Makes a closed store with a row.
    init() throws {
        files = try StoreFiles(kind)
        let process = try edit("define", "upsert 1 1")
        try process.finish()
        try #require(!FileManager.default.fileExists(atPath: "\(path)-wal"))
    }

    /// Starts a process that edits the store.
    @discardableResult
    private func edit(_ lines: String...) throws -> EditingProcess {
        let process = try EditingProcess(kind, files.path)
        for line in lines { try process.edit(line) }
        return process
    }

    /// Calls `body` with a store for reading, while the system rejects all changes of this process with an error.
    private func withReader(_ error: Int32, _ body: (SQLiteStore) throws -> Void) throws {
        try #require(faults).observing(files.path, by: FailingFiles.unwritable(error)) {
            let reader = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
            #expect(try numbers(reader) == [1])
            try body(reader)
            try reader.close()
        }
    }

    private func numbers(_ store: SQLiteStore) throws -> [Value?] {
        try store.read { try $0.rows(matching: TableQuery("Item").order(by: "id")).rows.map { $0["number"] } }
    }

    @Test("A store for reading sees the commits of a process that opens the file later", arguments: [EROFS, EACCES])
    func laterWriter(_ error: Int32) throws {
        try withReader(error) { reader in
            #expect(reader.capabilities.sharesFilesWithProcesses)
            let commits = try #require(reader.externalCommits)
            var seen = [try commits.number()]
            func expect(_ expected: [Value?]) throws {
                let number = try commits.number()
                #expect(!seen.contains(number))
                #expect(try commits.number() == number)
                seen.append(number)
                #expect(try numbers(reader) == expected)
            }
            // With a log, and after the log was removed.
            let writer = try edit("upsert 2 2")
            try expect([1, 2])
            try writer.edit("upsert 1 3")
            try expect([3, 2])
            try writer.finish()
            #expect(try numbers(reader) == [3, 2])
            try edit("delete 2").finish()
            try expect([3])
        }
    }

    @Test(
        "A read during which another process changes the file is busy, and the next one sees the change",
        arguments: [EROFS, EACCES])
    func changeDuringRead(_ error: Int32) throws {
        try withReader(error) { reader in
            let busy = expectError(.busy) {
                try reader.read { snapshot throws in
                    #expect(try snapshot.count(TableQuery("Item")) == 1)
                    try edit("upsert 1 2", "upsert 2 2").finish()
                    _ = try snapshot.rows(matching: TableQuery("Item"))
                }
            }
            #expect(busy?.path == path)
            #expect(try numbers(reader) == [2, 2])
            try reader.verify()
        }
    }

    @Test("A file opens for reading if a process has left the shared memory of its log", arguments: [EROFS, EACCES])
    func leftSharedMemory(_ error: Int32) throws {
        try Data(count: 32_768).write(to: URL(fileURLWithPath: "\(path)-shm"))
        try withReader(error) { _ in }
    }
}
