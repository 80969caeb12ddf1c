import CSQLite
import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite struct SQLiteFileTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/store.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    private static let table = TableSchema(
        "t", columns: [.string("s"), .int("n"), .double("d"), .timestamp("at"), .bool("b"), .bytes("x"), .json("j")],
        indexes: [["n"], ["s", "n"]])

    /// Returns the file of a closed store with 400 rows. It has no checksums, because these tests cover the damage that
    /// SQLite itself detects, and the changes that its tools may write.
    private static func makeFile(_ folder: String) throws -> Data {
        let path = "\(folder)/store.sqlite"
        let store = try SQLiteStore(path: path, options: SQLiteOptions(checksums: false))
        try store.define([table])
        try store.write { writer throws in
            try writer.upsert(
                (0..<400).map { n -> Row in
                    [
                        "id": .string("id-\(n)"), "s": .string("text \(n)"), "n": .int(Int64(n)), "d": .double(0.5),
                        "at": .timestamp(Timestamp(clampingTicks: Int64(n))), "b": true, "x": .bytes([1, 2]),
                        "j": .json("[\(n)]"),
                    ]
                }, into: "t")
        }
        try store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// Opens, reads and writes a possibly damaged file; every failure must be a typed error.
    private static func exercise(_ path: String) throws -> [Row]? {
        do {
            let store = try SQLiteStore(path: path)
            defer { try? store.close() }
            let rows = try store.read { reader throws in
                _ = try reader.rows(matching: TableQuery("t", predicate: .column("n") > 100).order(by: "s"))
                _ = try reader.row(in: "t", id: "id-77")
                return try reader.rows(matching: TableQuery("t")).rows
            }
            try store.write { writer throws in
                try writer.upsert(["id": "new", "s": "x", "n": 5], into: "t")
                try writer.delete(matching: TableQuery("t", predicate: .column("n") < 50))
            }
            return rows
        } catch let error as StoreError {
            let codes: [StoreError.Code] = [.corrupt, .notAStore, .newerFormat, .io, .full, .readOnly, .noSuchTable]
            #expect(codes.contains(error.code), "\(error)")
            return nil
        }
    }

    private static func replaceFile(_ path: String, by content: Data) throws {
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try content.write(to: URL(fileURLWithPath: path))
    }

    @Test func aLinkLeadsToItsFile() throws {
        _ = try Self.makeFile(folder.path)
        let link = "\(folder.path)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "store.sqlite")
        for _ in 0..<2 {
            let store = try SQLiteStore(path: link)
            #expect(try store.read { try $0.count(TableQuery("t")) } == 400)
            try store.close()
        }
        // Truncation is detected through the link, too.
        let whole = try Data(contentsOf: URL(fileURLWithPath: link))
        try Self.replaceFile(path, by: whole.dropLast(100))
        expectError(.corrupt) { _ = try SQLiteStore(path: link) }
    }

    @Test func whatIsInTheWayIsSaid() throws {
        let cases: [(String, SQLiteOptions, String)] = [
            (folder.path, .init(), "a folder"), (folder.path, .init(isReadOnly: true), "a folder"),
            ("\(folder.path)/none/store", .init(), "does not exist"),
            ("\(folder.path)/store", .init(createsIfMissing: false), "does not exist"),
            ("\(folder.path)/store", .init(isReadOnly: true), "does not exist"), ("", .init(), "empty"),
            ("\(folder.path)/a\0b", .init(), "NUL"),
        ]
        for (path, options, reason) in cases {
            let error = expectError(.io) { _ = try SQLiteStore(path: path, options: options) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            #expect(error?.path == path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test(arguments: [
        "größe 日本 😀.db", ":memory:", "file:x?mode=memory", "%41 b?c#d", String(repeating: "n", count: 200),
    ])
    func oddFileNamesAreNames(_ name: String) throws {
        let path = "\(folder.path)/\(name)"
        let store = try SQLiteStore(path: path)
        try store.define([Self.table])
        try store.close()
        #expect(FileManager.default.fileExists(atPath: path))
        let reader = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
        #expect(try reader.tables() == [Self.table])
        try reader.close()
    }

    @Test func whatIsNotAStoreIsSaidToBeNone() throws {
        let path = "\(folder.path)/x"
        for content in [
            Data("hello, this is no database".utf8), Data(count: 8192),
            Data((0..<9000).map { UInt8(truncatingIfNeeded: $0) }),
        ] {
            try content.write(to: URL(fileURLWithPath: path))
            expectError(.notAStore) { _ = try SQLiteStore(path: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
        }
        try FileManager.default.removeItem(atPath: path)
        try sql(path, "CREATE TABLE mine (a)")
        expectError(.notAStore) { _ = try SQLiteStore(path: path) }
        try Data().write(to: URL(fileURLWithPath: path))
        expectError(.notAStore) { _ = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true)) }
        expectError(.notAStore) { _ = try SQLiteStore(path: path, options: SQLiteOptions(createsIfMissing: false)) }
    }

    /// The number of a store's file, at byte 68, is what identifies it.
    @Test func aStoreWithADamagedHeaderIsCorruptAsLongAsItsNumberIsThere() throws {
        let whole = try Self.makeFile(folder.path)
        for (range, code) in [(0..<16, .corrupt), (68..<72, .notAStore)] as [(Range<Int>, StoreError.Code)] {
            var damaged = whole
            damaged.replaceSubrange(range, with: Data(repeating: 0x55, count: range.count))
            try Self.replaceFile(path, by: damaged)
            expectError(code) { _ = try SQLiteStore(path: path) }
        }
    }

    @Test func aNewerFormatIsRefused() throws {
        _ = try Self.makeFile(folder.path)
        try sql(path, "PRAGMA user_version = 3")
        let error = expectError(.newerFormat) { _ = try SQLiteStore(path: path) }
        #expect(error?.message.contains("3") == true)
    }

    /// Returns a store with long values whose last commits are in the log: its file, the log, and the file with the log
    /// merged.
    private static func makeLogged(_ folder: String) throws -> (file: Data, log: Data, closed: Data) {
        _ = try makeFile(folder)
        let path = "\(folder)/store.sqlite"
        func writeLongValues(_ first: Int) throws -> SQLiteStore {
            let store = try SQLiteStore(path: path)
            try store.write { writer throws in
                for n in 0..<20 {
                    let bytes = [UInt8](repeating: UInt8(n + 1), count: 9_000)
                    try writer.upsert(["id": .string("id-\(n * 7 + first)"), "x": .bytes(bytes)], into: "t")
                }
            }
            return store
        }
        try writeLongValues(0).close()
        let store = try writeLongValues(1)
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let log = try Data(contentsOf: URL(fileURLWithPath: "\(path)-wal"))
        try store.close()
        return (file, log, try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// SQLite reads pages that are in neither the file nor the log as zeros, which can occur in long values.
    @Test func aFileThatWasCutOffBesideALogIsCorruptOrRight() throws {
        let (file, log, _) = try Self.makeLogged(folder.path)
        let path = "\(folder.path)/copy.sqlite"
        func rows(_ size: Int) throws -> [Row]? {
            try Self.replaceFile(path, by: file.prefix(size))
            try log.write(to: URL(fileURLWithPath: "\(path)-wal"))
            return try Self.exercise(path)
        }
        let right = try #require(try rows(file.count))
        var corrupt = 0
        for size in stride(from: 4096, to: file.count, by: 4096).flatMap({ [$0, $0 + 1_000] }) {
            if let found = try rows(size) {
                #expect(found == right, "cut off to \(size)")
            } else {
                corrupt += 1
                // The refused opening leaves the log in place.
                let again = try Self.exercise(path)
                #expect(again == nil || again == right, "cut off to \(size), opened again")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == file.prefix(size))
            }
        }
        #expect(corrupt > 20)
    }

    @Test func aDamagedPageCountBesideALogTakesNoMemory() throws {
        let (file, log, _) = try Self.makeLogged(folder.path)
        let path = "\(folder.path)/copy.sqlite"
        for bit in 0..<8 {
            var damaged = file
            damaged[damaged.startIndex + 28] ^= 1 << bit
            try Self.replaceFile(path, by: damaged)
            try log.write(to: URL(fileURLWithPath: "\(path)-wal"))
            _ = try Self.exercise(path)
        }
    }

    /// A process that is killed while it moves pages from the log to the file leaves a file that is too short.
    @Test func aFileIntoWhichTheLogWasOnlyPartlyMovedIsRight() throws {
        let (file, log, closed) = try Self.makeLogged(folder.path)
        #expect(closed.count > file.count)
        let path = "\(folder.path)/copy.sqlite"
        let right = try #require(try Self.exercise(self.path))
        for size in stride(from: file.count, through: closed.count, by: 9_000) {
            try Self.replaceFile(path, by: closed.prefix(size))
            try log.write(to: URL(fileURLWithPath: "\(path)-wal"))
            #expect(try Self.exercise(path) == right, "moved up to \(size)")
        }
    }

    @Test func truncatedAndZeroedFilesAreCorruptOrRight() throws {
        let whole = try Self.makeFile(folder.path)
        let right = try #require(try Self.exercise(path))
        for size in stride(from: 1, to: whole.count, by: whole.count / 23) {
            try Self.replaceFile(path, by: whole.prefix(size))
            let isWrong = try Self.exercise(path).map { $0 != right } ?? false
            #expect(!isWrong, "truncated to \(size)")
        }
        for page in 0..<(whole.count / 4096) {
            var damaged = whole
            damaged.resetBytes(in: (page * 4096)..<((page + 1) * 4096))
            try Self.replaceFile(path, by: damaged)
            let isWrong = try Self.exercise(path).map { $0 != right } ?? false
            #expect(!isWrong, "page \(page) zeroed")
        }
    }

    /// A value that SQLite's tools can write, but that the column's type does not allow, is an error with its location.
    @Test(arguments: [
        ("n", "'text'"), ("n", "1.5"), ("n", "x'00'"), ("s", "x'00'"), ("s", "CAST(x'ff' AS TEXT)"),
        ("s", "CAST(x'eda080' AS TEXT)"), ("d", "'x'"), ("d", "9007199254740993"), ("at", "9223372036854775807"),
        ("at", "'soon'"), ("b", "2"), ("b", "'true'"), ("x", "'text'"), ("j", "x'5b5d'"), ("id", "x'6162'"),
        ("id", "''"), ("id", "CAST(x'c3' AS TEXT)"),
    ])
    func storedValuesOfAnotherKindAreCorrupt(_ column: String, _ value: String) throws {
        _ = try Self.makeFile(folder.path)
        try sql(path, "UPDATE t SET \"\(column)\" = \(value) WHERE n = 7")
        let store = try SQLiteStore(path: path)
        let error = expectError(.corrupt) { try store.read { _ = try $0.rows(matching: TableQuery("t")) } }
        #expect(error?.table == "t")
        #expect(error?.column == column)
        if column != "id" { #expect(error?.id == "id-7") }
        // Queries over it give a result or a typed error.
        try store.read { reader throws in
            for predicate in [
                RowPredicate.column("s").length > 2, .column("at").year == 1970, .column("d") % 2 > 0,
            ] {
                _ = try reader.count(TableQuery("t", predicate: predicate))
            }
        }
        try store.close()
    }

    @Test func damagedDefinitionsAreCorrupt() throws {
        let changes = [
            "UPDATE tideline_tables SET definition = '{'", "UPDATE tideline_tables SET name = 'u'",
            "UPDATE tideline_tables SET definition = replace(definition, 'TEXT', 'x') || ' '|| x'ff'",
            "DELETE FROM tideline_meta", "DROP TABLE tideline_meta", "DROP TABLE tideline_tables",
        ]
        for change in changes {
            try withTemporaryFolder { folder throws in
                _ = try Self.makeFile(folder)
                let path = "\(folder)/store.sqlite"
                try sql(path, change)
                let error = #expect(throws: StoreError.self, "\(change)") { _ = try SQLiteStore(path: path) }
                #expect(error?.code == .corrupt, "\(change): \(error.map { "\($0)" } ?? "")")
            }
        }
        _ = try Self.makeFile(folder.path)
        try sql(path, "DROP TABLE t")
        let store = try SQLiteStore(path: path)
        expectError(.corrupt) { try store.read { _ = try $0.rows(matching: TableQuery("t")) } }
        expectError(.corrupt) { try store.read { _ = try $0.row(in: "t", id: "1") } }
        expectError(.corrupt) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
        try store.close()
    }

    @Test func aReadOnlyStoreAcceptsItsDefinitionAndSeesTheChangesOfAWriter() throws {
        _ = try Self.makeFile(folder.path)
        let store = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
        try store.define([Self.table])
        #expect(try store.read { try $0.count(TableQuery("t")) } == 400)
        let writer = try SQLiteStore(path: path)
        try writer.write { _ = try $0.delete(matching: TableQuery("t")) }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 0)
        try writer.close()
        try store.close()
    }

    /// The documentation promises that SQLite's own tools can read the file.
    @Test func sqliteReadsTheFile() throws {
        let store = try SQLiteStore(path: path)
        try store.define([Self.table])
        let date = try #require(Timestamp("2026-11-21T10:20:30.5Z"))
        try store.write { writer throws in
            try writer.upsert(
                ["id": "Ä1", "s": "it's", "n": 7, "d": 2.0, "at": .timestamp(date), "b": true, "j": .json("{}")],
                into: "t")
        }
        try store.close()
        #expect(try sql(path, "SELECT s, n, d, b, j, typeof(d) FROM t WHERE id = 'Ä1'") == "it's|7|2.0|1|{}|real")
        #expect(
            try sql(path, "SELECT datetime(at / 10000000, 'unixepoch') FROM t") == "2026-11-21 10:20:30")
        #expect(try sql(path, "PRAGMA integrity_check") == "ok")
        #expect(try sql(path, "PRAGMA journal_mode") == "wal")
    }

    @Test func definingTheSameAgainWritesNothing() throws {
        let whole = try Self.makeFile(folder.path)
        let store = try SQLiteStore(path: path)
        try store.define([Self.table])
        let log = try FileManager.default.attributesOfItem(atPath: "\(path)-wal")[.size] as? Int
        #expect(log == 0)
        try store.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == whole)
    }
}

/// Runs SQL on a separate connection, as another tool would, and returns the first row.
@discardableResult
func sql(_ path: String, _ text: String) throws -> String {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    defer {
        sqlite3_finalize(statement)
        sqlite3_close(database)
    }
    try #require(sqlite3_open(path, &database) == SQLITE_OK)
    try #require(sqlite3_prepare_v2(database, text, -1, &statement, nil) == SQLITE_OK, "\(text)")
    guard sqlite3_step(statement) == SQLITE_ROW else {
        try #require(sqlite3_errcode(database) == SQLITE_DONE, "\(text)")
        return ""
    }
    return (0..<sqlite3_column_count(statement))
        .map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "null" }
        .joined(separator: "|")
}
