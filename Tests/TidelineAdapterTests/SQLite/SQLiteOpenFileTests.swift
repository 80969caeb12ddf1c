import CSQLite
import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

/// Tests files in unusual states: on a read-only medium, without the main file, truncated while they are open.
@Suite struct SQLiteOpenFileTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/store" }

    init() throws { folder = try TemporaryFolder() }

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
        guard try Self.run("/bin/mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder.path) else { return }
        defer { _ = try? Self.run("/bin/umount", folder.path) }
        for checksums in [true, false] {
            try Self.make("\(folder.path)/store\(checksums)", options: SQLiteOptions(checksums: checksums))
        }
        try #require(try Self.run("/bin/mount", "-o", "remount,ro", folder.path))
        for path in ["\(folder.path)/storetrue", "\(folder.path)/storefalse"] {
            let error = expectError(.readOnly) { _ = try SQLiteStore(path: path) }
            #expect(error?.message.contains("open it for reading only") == true)
            let store = try SQLiteStore(path: path, options: Self.readOnly)
            #expect(try store.read { try $0.count(TableQuery(Self.table.name)) } == 2 * GrowingTable.rowsPerCommit)
            try store.close()
        }
        expectError(.readOnly) { _ = try SQLiteStore(path: "\(folder.path)/new") }
    }

    @Test("A log whose store is missing or empty is corrupt until it is destroyed", arguments: [true, false])
    func logWithoutFile(_ isMissing: Bool) throws {
        let store = try SQLiteStore(path: "\(folder.path)/open")
        try store.define([Self.table])
        try FileManager.default.copyItem(atPath: "\(folder.path)/open-wal", toPath: "\(path)-wal")
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

    @Test("A removal that was interrupted is finished by the next opening or removal", arguments: [true, false])
    func interruptedRemoval(_ opens: Bool) throws {
        let store = try SQLiteStore(path: "\(folder.path)/open")
        try store.define([Self.table])
        for (from, to) in [("open", "store-removed"), ("open-wal", "store-wal")] {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(from)", toPath: "\(folder.path)/\(to)")
        }
        try store.close()
        try SQLiteStore.destroy(path: "\(folder.path)/open")
        let remover = try Connection.alone(at: "\(path)-removed")
        expectError(.locked) { try SQLiteStore.destroy(path: path) }
        expectError(.locked) { _ = try SQLiteStore(path: path) }
        remover.close()
        if opens {
            let new = try SQLiteStore(path: path)
            #expect(try new.tables() == [])
            try new.close()
        }
        try SQLiteStore.destroy(path: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("A removal that fails can be finished")
    func failedRemoval() throws {
        try Self.make(path)
        try FileManager.default.createDirectory(atPath: "\(path)-wal", withIntermediateDirectories: false)
        #expect(throws: StoreError.self) { try DatabaseFile.remove(path) }
        #expect(try fileNames(in: folder.path) == ["store-removed", "store-wal"])
        try FileManager.default.removeItem(atPath: "\(path)-wal")
        try SQLiteStore.destroy(path: path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test(
        "A failed creation removes only a store that is empty and not open elsewhere",
        arguments: [(true, false, false), (false, false, true), (true, true, false), (false, true, false)])
    func abandonedCreation(_ hasTables: Bool, _ isOpen: Bool, _ isRemoved: Bool) throws {
        let store = try SQLiteStore(path: path)
        if hasTables { try store.define([Self.table]) }
        let connection = try Connection.open(path, for: .writing, options: SQLiteOptions())
        if !isOpen { try store.close() }
        connection.abandonCreation()
        #expect(FileManager.default.fileExists(atPath: path) != isRemoved)
        try store.close()
    }

    @Test("The reason for a path that is too long is given")
    func longPath() throws {
        let long = (0..<3).reduce(folder.path) { path, _ in "\(path)/\(String(repeating: "n", count: 200))" }
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: true)
        let error = expectError(.io) { _ = try SQLiteStore(path: "\(long)/store") }
        #expect(error?.message.contains("bytes") == true, "\(error?.message ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: long) == [])
    }

    @Test("The log shrinks while the store is open, after a read that kept it")
    func logAfterLongRead() throws {
        try Self.make(path)
        let store = try SQLiteStore(path: path)
        let reader = try SQLiteStore(path: path)
        try reader.read { snapshot throws in
            #expect(try snapshot.count(TableQuery(Self.table.name)) == 2 * GrowingTable.rowsPerCommit)
            for number in 2..<70 { try store.write { try GrowingTable.add(number, to: $0) } }
            #expect(try Self.size("\(path)-wal") > 60_000_000)
        }
        for number in 70..<73 { try store.write { try GrowingTable.add(number, length: 10, to: $0) } }
        #expect(try Self.size("\(path)-wal") < 34_000_000)
        try reader.close()
        try store.close()
    }

    @Test(
        "A file that is truncated while it is open, even during a read, is corrupt and does not end the process",
        arguments: [false, true], [false, true])
    func truncatedFile(_ checksums: Bool, _ isReading: Bool) throws {
        let options = SQLiteOptions(checksums: checksums)
        var store = try SQLiteStore(path: path, options: options)
        try store.define([Self.table])
        // Short values: SQLite never maps the rest of a long one.
        try store.write { for number in 0..<200 { try GrowingTable.add(number, length: 100, to: $0) } }
        try store.close()
        store = try SQLiteStore(path: path, options: options)
        #expect(try store.read { try $0.row(in: Self.table.name, id: "0-0") } != nil)
        func cut() throws { try #require(truncate(path, 8_192) == 0) }
        if !isReading { try cut() }
        expectError(.corrupt) {
            try store.read { reader in
                if isReading {
                    _ = try reader.row(in: Self.table.name, id: "0-0")
                    try cut()
                }
                _ = try reader.rows(matching: TableQuery(Self.table.name))
            }
        }
        try? store.close()
    }

    @Test("A process that opens and closes the file leaves the log of an open store in place")
    func closingProcess() throws {
        let kind = StoreKind.sqliteFile
        let files = try StoreFiles(kind)
        let store = try kind.open(files.path)
        try store.define([TableSchema("Item", columns: [.int("number")], systemColumns: [])])
        for number in 1...3 {
            let other = try EditingProcess(kind, files.path)
            try other.edit("upsert 1 \(number)")
            try other.finish()
            try store.write { try $0.upsert(["id": "2", "number": 0], into: "Item") }
        }
        try store.close()
    }

    @Test("A wait for another process ends when the task is cancelled")
    func cancelledWait() async throws {
        let kind = StoreKind.sqliteWithChecksums
        let files = try StoreFiles(kind)
        let path = kind.path(in: files.path)
        let store = try kind.open(files.path)
        try store.define([TableSchema("Item", columns: [.int("number")], systemColumns: [])])
        try store.close()
        let other = try EditingProcess(kind, files.path)
        try other.start("hold 1")
        try other.expect("holding")
        other.setSuspended(true)
        defer { other.setSuspended(false) }
        // Both SQLite's wait and the repetition after it end.
        let options = SQLiteOptions(busyTimeout: .seconds(600))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let connection = try Connection.open(path, for: .writing, options: options)
            try Deadline(after: options.busyTimeout).retrying { () throws(StoreError) in
                try connection.perform(.beginWriting)
            }
        }
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        other.setSuspended(false)
        try other.start("")
        try other.expect("done")
        try other.finish()
    }

    @Test("Reads map the file only if the options say so")
    func mapping() throws {
        try Self.make(path)
        for mapsFile in [false, true] {
            let options = SQLiteOptions(mapsFile: mapsFile)
            let connection = try Connection.open(path, for: .reading, options: options)
            #expect(try (connection.integer("PRAGMA mmap_size") > 0) == mapsFile)
            connection.close()
        }
    }

    @Test("A version of SQLite that can lose commits is logged once")
    func loggedVersion() throws {
        let probe = try ProbeProcess("StoreProbe")
        let output = try probe.run("sqlite", "--log", probe.folder.path)
        #expect(output.status == 0)
        let warnings = output.out.split(separator: "\n").count { $0.contains("can lose commits") }
        #expect(warnings == (LibraryVersion.canLoseCommits(sqlite3_libversion_number()) ? 1 : 0))
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
