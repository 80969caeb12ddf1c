import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

/// Tests files in unusual states: on a read-only medium, without the main file, truncated while they are open.
@Suite struct OpenFileTests {
    private static let table = GrowingTable.schema
    private static let readOnly = SQLiteOptions(isReadOnly: true)

    private static func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? -1
    }

    /// Makes a closed store with two commits.
    private static func make(_ path: String, options: SQLiteOptions = .init()) throws {
        let store = try SQLiteStore(path: path, options: options)
        try store.define([table])
        for number in 0..<2 { try store.write { try GrowingTable.add(number, to: $0) } }
        try store.close()
    }

    private static func run(_ program: String, _ arguments: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        try process.finish()
        return process.terminationStatus == 0
    }

    @Test("On a read-only medium, a store is readOnly for writing and opens for reading", .enabled(if: geteuid() == 0))
    func readOnlyMedium() throws {
        try withTemporaryFolder { folder in
            guard try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder) else { return }
            defer { _ = try? Self.run("/bin/umount", folder) }
            for checksums in [true, false] {
                try Self.make("\(folder)/store\(checksums)", options: SQLiteOptions(checksums: checksums))
            }
            try #require(try Self.run("/bin/mount", "-o", "remount,ro", folder))
            for path in ["\(folder)/storetrue", "\(folder)/storefalse"] {
                expectError(.readOnly) { _ = try SQLiteStore(path: path) }
                let store = try SQLiteStore(path: path, options: Self.readOnly)
                #expect(try store.read { try $0.count(Query(Self.table.name)) } == 2 * GrowingTable.rowsPerCommit)
                try store.close()
            }
            expectError(.readOnly) { _ = try SQLiteStore(path: "\(folder)/new") }
        }
    }

    @Test("A log whose store is missing or empty is corrupt until it is destroyed", arguments: [true, false])
    func logWithoutFile(_ isMissing: Bool) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/store"
            let store = try SQLiteStore(path: "\(folder)/open")
            try store.define([Self.table])
            try FileManager.default.copyItem(atPath: "\(folder)/open-wal", toPath: "\(path)-wal")
            if !isMissing { try Data().write(to: URL(fileURLWithPath: path)) }
            let log = try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal"))
            try #require(!log.isEmpty)
            for options in [SQLiteOptions(), Self.readOnly] {
                expectError(.corrupt) {
                    _ = try SQLiteStore(path: path, options: options)
                }
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal")) == log)
            try SQLiteStore.destroy(path: path)
            let new = try SQLiteStore(path: path)
            #expect(try new.tables() == [])
            try new.close()
            try store.close()
        }
    }

    @Test("A removal that was interrupted is finished by the next opening or removal", arguments: [true, false])
    func interruptedRemoval(_ opens: Bool) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/store"
            let store = try SQLiteStore(path: "\(folder)/open")
            try store.define([Self.table])
            for (from, to) in [("open", "store-removed"), ("open-wal", "store-wal")] {
                try FileManager.default.copyItem(atPath: "\(folder)/\(from)", toPath: "\(folder)/\(to)")
            }
            try store.close()
            try SQLiteStore.destroy(path: "\(folder)/open")
            if opens {
                let new = try SQLiteStore(path: path)
                #expect(try new.tables() == [])
                try new.close()
            }
            try SQLiteStore.destroy(path: path)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test("The reason for a path that is too long is given")
    func longPath() throws {
        try withTemporaryFolder { folder in
            let long = (0..<3).reduce(folder) { path, _ in "\(path)/\(String(repeating: "n", count: 200))" }
            try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
            let error = expectError(.io) { _ = try SQLiteStore(path: "\(long)/store") }
            #expect(error?.message.contains("bytes") == true, "\(error?.message ?? "")")
            #expect(try FileManager.default.contentsOfDirectory(atPath: long) == [])
        }
    }

    @Test("The log shrinks while the store is open, after a read that kept it")
    func logAfterLongRead() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/store"
            try Self.make(path)
            let store = try SQLiteStore(path: path)
            let reader = try SQLiteStore(path: path)
            try reader.read { snapshot throws in
                #expect(try snapshot.count(Query(Self.table.name)) == 2 * GrowingTable.rowsPerCommit)
                for number in 2..<70 { try store.write { try GrowingTable.add(number, to: $0) } }
                #expect(try Self.size("\(path)-wal") > 60_000_000)
            }
            for number in 70..<73 { try store.write { try GrowingTable.add(number, length: 10, to: $0) } }
            #expect(try Self.size("\(path)-wal") < 34_000_000)
            try reader.close()
            try store.close()
        }
    }

    @Test("A file that is truncated while it is open is corrupt, not the end of the process")
    func truncatedFile() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/store"
            try Self.make(path)
            let store = try SQLiteStore(path: path)
            #expect(try store.read { try $0.row(in: Self.table.name, id: "0-0") } != nil)
            try #require(truncate(path, 8_192) == 0)
            #expect(throws: StoreError.self) { try store.read { _ = try $0.rows(matching: Query(Self.table.name)) } }
            try? store.close()
        }
    }

    @Test("A wait for another process ends when the task is cancelled")
    func cancelledWait() async throws {
        let kind = StoreKind.sqliteWithChecksums
        let files = try StoreFiles(kind)
        let path = kind.path(in: files.path)
        let store = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .seconds(600)))
        try store.define([TableSchema("Item", columns: [.int("number")], systemColumns: [])])
        let other = try EditingProcess(kind, files.path)
        try other.start("hold 1")
        try other.expect("holding")
        other.setSuspended(true)
        defer { other.setSuspended(false) }
        let task = Task { try store.write { try $0.upsert(["id": "2"], into: "Item") } }
        // Whether the task already waits makes no difference to the result.
        task.cancel()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        let waiting = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try Deadline(after: .seconds(600)).retrying { () throws(StoreError) in throw StoreError(.busy, "") }
        }
        let second = await #expect(throws: StoreError.self) { try await waiting.value }
        #expect(second?.code == .cancelled)
        other.setSuspended(false)
        try other.start("")
        try other.expect("done")
        try store.close()
        try other.finish()
    }

    @Test("The versions of SQLite that can lose commits are known")
    func versions() {
        let cases: [(Int32, Bool)] = [
            (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_044_005, true), (3_044_006, false),
            (3_045_000, true), (3_050_006, true), (3_050_007, false), (3_051_000, true), (3_051_002, true),
            (3_051_003, false), (3_053_000, false),
        ]
        for (version, canLose) in cases { #expect(LibraryVersion.canLoseCommits(version) == canLose, "\(version)") }
    }
}
