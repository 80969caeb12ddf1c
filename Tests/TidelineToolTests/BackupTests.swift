#if Tool
import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineMemory
import TidelineSQLite
import TidelineServer
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

@Suite("Backup and restore", .timeLimit(.minutes(10)))
struct BackupTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let engines = StoreEngine.all.filter(\.keepsRows)

    /// Returns the location of a store in the working folder.
    private func location(_ engine: StoreEngine, _ name: String) throws -> StoreLocation {
        try StoreLocation(parsing: tool.location(engine, name))
    }

    /// Restores a backup in the working folder, with its timestamps, and returns the content of the new store.
    private func restored(_ name: String = "file", to target: StoreLocation) async throws -> StoreContent {
        _ = try StoreRestoration(keepsTimestamps: true).run(from: tool.path(name), to: target)
        return try await withStore(target) { try StoreContent($0) }
    }

    /// Fills an SQLite store, backs it up to `good`, and returns the location and the content of the store.
    private func makeBackup() async throws -> (source: String, content: StoreContent) {
        let source = tool.location(.sqlite, "a")
        let content = try await withStore(StoreLocation(parsing: source)) { try Self.fill($0) }
        try tool.run("backup", "--store", source, tool.path("good")).expect(0)
        return (source, content)
    }

    // MARK: Contents

    @Test(
        "A backup restores every row, version, timestamp, tombstone, and definition, into any engine",
        arguments: allPairs(engines, engines))
    func contents(from: StoreEngine, to: StoreEngine) async throws {
        let (source, target) = (try location(from, "a"), try location(to, "b"))
        let before = try await withStore(source) { try Self.fill($0) }
        let backup = try tool.run("backup", "--store", source.text, tool.path("file"))
        #expect(backup.out == "backed up 3001 rows in 2 tables to \(tool.path("file"))\n", "\(backup)")
        let restore = try tool.run("restore", "--keep-timestamps", "--store", target.text, tool.path("file"))
        #expect(restore.out == "restored 3001 rows in 2 tables to \(target.text)\n", "\(restore)")
        #expect(try await withStore(target) { try StoreContent($0) } == before)
        // The server continues with the next timestamp.
        let latest = try #require(before.rows["T"]?.compactMap { $0["updatedAt"]?.timestamp }.max())
        let next = try await withStore(target) { try Self.insert("new", into: $0) }
        #expect(try #require(next["updatedAt"]?.timestamp) > latest)
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        // A store that is opened for reading only keeps its log.
        #expect(files.filter { !$0.hasPrefix("a.") }.sorted() == ["b.\(to.name)", "file"], "\(files)")
    }

    /// Writes rows with every type, a tombstone, and a table that requests created.
    private static func fill(_ store: some LocalStore) throws -> StoreContent {
        let columns: [ColumnSchema] = [
            .string("s", optional: false), .bool("b"), .int("i"), .double("d"), .timestamp("t"), .bytes("y"),
            .json("j"),
        ]
        let schema = TableSchema("Typed", columns: columns, indexes: [["s", "i"]])
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [schema]))
        let row = #"""
            {"id":"Ä b","s":"a\u0000\n","b":true,"i":9007199254740993,"d":-0.5,"t":"2026-01-02T03:04:05.1234567Z",
            "y":"AAEC/w==","j":{"a":[1,null]}}
            """#
        _ = try service.send(.post, "Typed", row)
        for number in 0..<3_000 { _ = try service.send(.post, "T", #"{"id":"\#(number)","n":\#(number)}"#) }
        _ = try service.send(.patch, "T/17", #"{"n":null}"#)
        _ = try service.send(.delete, "T/18")
        return try StoreContent(store)
    }

    private static func insert(_ id: String, into store: some LocalStore) throws -> Row {
        try TableService(store: store).send(.post, "T", #"{"id":"\#(id)"}"#)
    }

    @Test("Clients cannot prevent a backup by the names of the tables that they create", arguments: engines)
    func names(engine: StoreEngine) async throws {
        let names = ["ms_backup", "MS_Backup_", "%C3%A9", "e%CC%81", "Kanban", "%E2%84%AAanban"]
        let before = try await withStore(location(engine, "a")) { store in
            try Self.insert(into: names, of: store)
            _ = try BackupFile.write(store, to: tool.path("file"))
            return try StoreContent(store)
        }
        // Those that differ in their normalization form only are one table.
        let tables = names.compactMap { $0.removingPercentEncoding?.precomposedStringWithCanonicalMapping }
        #expect(Set(tables).count == 4 && Set(tables.map(RowID.string)).isSubset(of: before.rows.keys))
        #expect(try await restored(to: location(engine, "b")) == before)
    }

    private static func insert(into tables: [String], of store: some LocalStore) throws {
        let service = try TableService(store: store)
        for table in tables { _ = try service.send(.post, table, #"{"id":"\#(table)"}"#) }
    }

    @Test("Tables that a server has not written to are restored with new timestamps", arguments: engines)
    func tableWithoutRecord(engine: StoreEngine) async throws {
        let target = try location(engine, "b")
        let stamp = Timestamp.now
        try await withStore(location(engine, "a")) { store in
            try store.define([TableSchema("T", columns: [], systemColumns: .all, indexes: [["updatedAt"]])])
            let row: Row = ["id": "1", "updatedAt": .timestamp(stamp), "version": "v", "deleted": false]
            try store.write { try $0.upsert(row, into: "T") }
            try Self.insert(into: [], of: store)
            _ = try BackupFile.write(store, to: tool.path("file"))
        }
        _ = try StoreRestoration(keepsTimestamps: false).run(from: tool.path("file"), to: target)
        let rows = try await withStore(target) { try StoreContent($0).rows["T"] }
        #expect(rows?.count == 1 && rows?[0]["updatedAt"]?.timestamp.map { $0 > stamp } == true)
    }

    @Test("A row without a value for a column that was required later is backed up and restored", arguments: engines)
    func laterRequirement(engine: StoreEngine) async throws {
        let before = try await withStore(location(engine, "a")) { store in
            try Self.insert(into: ["T"], of: store)
            var schema = try store.read { try $0.schema(of: "T") }
            schema.columns.append(.bool("complete", optional: false))
            try store.define([schema])
            _ = try BackupFile.write(store, to: tool.path("file"))
            return try StoreContent(store)
        }
        #expect(before.schemas.first { $0.name == "T" }?.column("complete")?.isOptional == false)
        #expect(try await restored(to: location(engine, "b")) == before)
    }

    @Test("A restoration that fails in a database leaves the requirements of its tables as they were")
    func failedTransaction() throws {
        let schema = TableSchema("Item", columns: [.string("text", optional: false)])
        let (source, target) = (AnyStore(try MemoryStore()), AnyStore(try MemoryStore()))
        try target.define([schema])
        let before = try target.tables()
        let error = #expect(throws: StoreError.self) {
            try source.read { reader in
                _ = try StoreRestoration.fill(target, [schema], from: reader, nil, true)
            }
        }
        #expect(error?.code == .noSuchTable)
        #expect(try target.tables() == before)
    }

    // MARK: While the server writes

    @Test(
        "A backup during writes has every change that was acknowledged before, in order and without gaps",
        arguments: [StoreEngine.sqlite, .lmdb])
    func online(engine: StoreEngine) async throws {
        let (_, url) = try tool.startServer(engine: engine)
        let progress = WriterProgress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    var number = 0
                    while !progress.isDone.withLock(\.self) {
                        let body = #"{"id":"\#(writer)-\#(number)","writer":\#(writer),"n":\#(number)}"#
                        let answer = try await send(.post, "/tables/T", to: url, body: body)
                        try #require(answer.response.status == .created)
                        number += 1
                        progress.acknowledged.withLock { $0[writer] = number }
                    }
                }
            }
            for round in 0..<3 {
                try await suspendUntil("\(100 * (round + 1)) changes") {
                    progress.acknowledged.withLock { $0.values.reduce(0, +) } >= 100 * (round + 1)
                }
                let before = progress.acknowledged.withLock { $0 }
                try await RawConnection.blocking {
                    try tool.run("backup", "--store", tool.location(engine, "server"), tool.path("file\(round)"))
                }.expect(0)
                try Self.checkPrefixes(of: tool.path("file\(round)"), before)
            }
            progress.isDone.withLock { $0 = true }
            try await group.waitForAll()
        }
    }

    private static func checkPrefixes(of file: String, _ acknowledged: [Int: Int]) throws {
        let (rows, clock) = try BackupFile.read(file) { reader, _ in
            (try reader.rows(matching: TableQuery("T")).rows, try ServedTableRecord.clock(of: "T", in: reader))
        }
        for (writer, count) in acknowledged {
            let own = rows.filter { $0["writer"]?.int == Int64(writer) }
            #expect(own.count >= count)
            let ordered = own.sorted { $0["updatedAt"]!.timestamp! < $1["updatedAt"]!.timestamp! }
            #expect(ordered.map { $0["n"]?.int } == (0..<own.count).map { Int64($0) })
        }
        #expect(clock == rows.compactMap { $0["updatedAt"]?.timestamp }.max())
    }

    // MARK: Backups as stores

    @Test("A server does not start over a backup, and a backup of one that was changed can be restored")
    func backupAsStore() async throws {
        try await withStore(location(.sqlite, "a")) { store in
            try Self.insert(into: ["T"], of: store)
            _ = try BackupFile.write(store, to: tool.path("monday"))
        }
        let monday = "sqlite:\(tool.path("monday"))"
        try tool.run("serve", "--check", "--port", "0", "--store", monday).expect(1, "the store is a backup")
        try tool.run("serve", "--port", "0", "--store", monday).expect(1, "the store is a backup")
        var expected = try await withStore(StoreLocation(parsing: monday)) { store in
            _ = try Self.insert("later", into: store)
            _ = try BackupFile.write(store, to: tool.path("tuesday"))
            return try StoreContent(store)
        }
        #expect(expected.rows.removeValue(forKey: .string("MS_Backup"))?.count == 1)
        expected.schemas.removeAll { $0.name == "MS_Backup" }
        #expect(try await restored("tuesday", to: location(.lmdb, "b")) == expected)
        let error = #expect(throws: StoreError.self) { try BackupFile.read(tool.path("monday")) { _, _ in } }
        #expect(error?.code == .corrupt && error?.message.contains("was changed after it was written") == true)
    }

    // MARK: Failures

    @Test("An existing file is never replaced, and a file that cannot be written leaves nothing")
    func existingFiles() async throws {
        let (source, _) = try await makeBackup()
        try tool.write("mine", to: "file")
        try tool.run("backup", "--store", source, tool.path("file")).expect(1, "\(tool.path("file")) exists")
        #expect(try String(contentsOfFile: tool.path("file"), encoding: .utf8) == "mine")
        try tool.run("backup", "--store", source, tool.path("none/file"))
            .expect(1, "there is no folder \(tool.path("none"))")
        for engine in Self.engines {
            let target = try location(engine, "file")
            try "mine".write(toFile: target.path, atomically: true, encoding: .utf8)
            try tool.run("restore", "--store", target.text, tool.path("good")).expect(1, "\(target.path) exists")
            #expect(try String(contentsOfFile: target.path, encoding: .utf8) == "mine")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        #expect(!files.contains { $0.contains("incomplete") }, "\(files)")
    }

    @Test("An empty path, as from an unset variable in a script, is refused before the copy")
    func emptyPath() throws {
        try tool.run("backup", "").expect(1, "the path is empty")
    }

    @Test("The log of a database that is gone is not applied to a new one", arguments: ["-wal", "-journal"])
    func logOfAnother(suffix: String) throws {
        try tool.write("log", to: "a" + suffix)
        let error = #expect(throws: ToolError.self) { try NewPath.requireFree(tool.path("a")) }
        #expect(error.map { "\($0)" }?.contains("a\(suffix) exists") == true)
    }

    @Test("A database whose log did not fit into it is not complete")
    func logThatRemains() throws {
        #expect(throws: ToolError.self) {
            try NewPath.create(tool.path("a"), remove: SQLiteStore.destroy) { path in
                for file in [path, "\(path)-wal"] { try "x".write(toFile: file, atomically: true, encoding: .utf8) }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).allSatisfy { !$0.hasPrefix("a") })
    }

    @Test("A full disk ends a backup or restoration with an error that names its path, and leaves nothing")
    func fullDisk() async throws {
        let (source, _) = try await makeBackup()
        let commands =
            [["backup", "--store", source, tool.path("file")]]
            + Self.engines.map { ["restore", "--store", tool.location($0, "file"), tool.path("good")] }
        for command in commands {
            // A limit on the size of files: 64 blocks of 1024 bytes. The backup and each store are larger.
            let output = try ToolProcess.run(
                ["-c", #"trap '' XFSZ; ulimit -f 64; exec "$@""#, "sh", tool.executable.path] + command,
                executable: URL(fileURLWithPath: "/bin/bash"))
            output.expect(1, tool.path("file"))
            #expect(!output.err.contains("incomplete"), "\(output)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        #expect(!files.contains { $0.hasPrefix("file") }, "\(files)")
    }

    @Test("An error of a creation names the temporary files only if they remain")
    func namesOfTemporaryFiles() throws {
        func fail(_ path: String) throws { throw StoreError(.full, "cannot write \(path)/x", path: path) }
        let path = tool.path("a")
        let error = #expect(throws: StoreError.self) { try NewPath.create(path, remove: { _ in }, fail) }
        #expect(error?.path == path && error?.message == "cannot write \(path)/x")
        let other = #expect(throws: ToolError.self) { try NewPath.create(path, remove: fail, fail) }
        #expect(other?.message.contains("\(path).incomplete-") == true)
        #expect(other?.message.hasSuffix(" could not be removed, so remove it") == true)
    }

    @Test("A killed backup or restore leaves either nothing under the name, or all of it", arguments: engines)
    func killed(engine: StoreEngine) async throws {
        let (source, content) = try await makeBackup()
        for round in 0..<8 {
            let location = try location(engine, "b\(round)")
            let commands = [
                ["backup", "--store", source, tool.path("file\(round)")],
                ["restore", "--keep-timestamps", "--store", location.text, tool.path("good")],
            ]
            for command in commands {
                let process = try tool.start(command)
                // The time of the kill varies; the test does not wait for an event.
                try await Task.sleep(for: .milliseconds(10 + 30 * round))
                _ = process.killNow()
            }
            if FileManager.default.fileExists(atPath: tool.path("file\(round)")) {
                let count = try BackupFile.read(tool.path("file\(round)")) { reader, _ in
                    try reader.count(TableQuery("T"))
                }
                #expect(count == 3_000)
            }
            if FileManager.default.fileExists(atPath: location.path) {
                #expect(try await withStore(location) { try StoreContent($0) } == content)
            }
        }
    }

    @Test("A damaged backup is an error that names the file, and creates no store")
    func damaged() async throws {
        _ = try await makeBackup()
        let good = try Data(contentsOf: URL(fileURLWithPath: tool.path("good")))
        let file = tool.path("bad")
        let target = try location(.lmdb, "b")
        let bytes = stride(from: 100, to: good.count, by: good.count / 40).map { ($0, good.count) }
        for (position, length) in bytes + [(0, good.count / 2), (0, good.count - 4_096), (0, 100), (0, 0)] {
            var bad = good.prefix(length)
            if position > 0 { bad[position] ^= 0x10 }
            try bad.write(to: URL(fileURLWithPath: file))
            #expect(throws: (any Error).self, "byte \(position) of \(length)") {
                do {
                    _ = try StoreRestoration(keepsTimestamps: true).run(from: file, to: target)
                } catch let error as StoreError {
                    #expect(error.description.contains(file))
                    throw error
                }
            }
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
        try good.write(to: URL(fileURLWithPath: file))
        _ = try StoreRestoration(keepsTimestamps: true).run(from: file, to: target)
    }

    @Test("The stores of clients, stores without a server, and other files are refused")
    func otherStores() async throws {
        #expect(try tool.todo("add", "Milk").status == 0)
        try tool.run("backup", "--store", "sqlite:\(tool.path("client.db"))", tool.path("file"))
            .expect(1, "belongs to a client")
        try tool.run("backup", "--store", "sqlite:\(tool.path("none.db"))", tool.path("file"))
            .expect(1, "none.db; name the server's store")
        try tool.run("backup", "--store", "memory", tool.path("file")).expect(64)
        try tool.write(String(repeating: "A letter. ", count: 1_000), to: "letter")
        for (name, message) in [
            ("client.db", " is a store but not a backup"), ("letter", " is not a backup"), ("", " is not a backup"),
        ] {
            let file = name.isEmpty ? tool.folder.path : tool.path(name)
            try tool.run("restore", "--store", "sqlite:\(tool.path("b.db"))", file).expect(1, file + message)
        }
        try tool.run("restore", "--store", "sqlite:\(tool.path("b.db"))", tool.path("none.backup"))
            .expect(1, "there is no file \(tool.path("none.backup"))")
        _ = try tool.startServer(engine: .leveldb)
        try tool.run("backup", "--store", tool.location(.leveldb, "server"), tool.path("file"))
            .expect(1, "stop the server")
        let files = try FileManager.default.contentsOfDirectory(atPath: tool.folder.path)
        #expect(!files.contains { $0.hasPrefix("file") || $0.hasPrefix("b.db") || $0.hasPrefix("none") }, "\(files)")
    }

    // MARK: Timestamps

    @Test("New timestamps are later than the server's clock, even if the machine's clock is behind")
    func clockBehind() async throws {
        let ahead = Timestamp.now.advanced(byTicks: 365 * 86_400 * Timestamp.ticksPerSecond)
        try await withStore(location(.sqlite, "a")) { store in
            try Self.write(to: store, clock: { ahead }, backup: tool.path("file"))
        }
        let target = try location(.sqlite, "b")
        _ = try StoreRestoration(keepsTimestamps: false).run(from: tool.path("file"), to: target)
        try await withStore(target) { store in
            let rows = try StoreContent(store).rows["T"] ?? []
            let stamps = rows.compactMap { $0["updatedAt"]?.timestamp }
            #expect(stamps.allSatisfy { $0 > ahead.advanced(byTicks: 1_000) } && stamps == stamps.sorted())
            #expect(Set(stamps).count == 3)
            let next = try Self.insert("next", into: store)
            #expect(try #require(next["updatedAt"]?.timestamp) > stamps.max()!)
        }
    }

    private static func write(
        to store: some LocalStore, clock: @escaping @Sendable () -> Timestamp, backup: String
    ) throws {
        let service = try TableService(store: store, options: TableServiceOptions(clock: clock))
        for number in 0..<3 { _ = try service.send(.post, "T", #"{"id":"\#(number)"}"#) }
        _ = try BackupFile.write(store, to: backup)
    }
}

/// The number of changes that were acknowledged to each writer.
private final class WriterProgress: Sendable {
    let acknowledged = Mutex<[Int: Int]>([:])
    let isDone = Mutex(false)
}

/// The definitions of all tables, and their rows.
private struct StoreContent: Equatable {
    var schemas: [TableSchema]
    /// The rows by the names of the tables, which compare by their bytes.
    var rows: [RowID: [Row]] = [:]

    init(_ store: some LocalStore) throws {
        schemas = try store.tables()
        try store.read { reader in
            for schema in schemas {
                rows[.string(schema.name)] = try reader.rows(matching: TableQuery(schema.name)).rows
            }
        }
    }
}

extension TableService {
    /// Sends a request, which must succeed, and returns the row in the response.
    fileprivate func send(_ method: HTTPRequest.Method, _ path: String, _ body: String = "") throws -> Row {
        var request = HTTPRequest(method: method, scheme: "http", authority: "a", path: "/tables/\(path)")
        request.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
        let answer = handle(request, body: Array(body.utf8))
        let text = String(decoding: answer.body, as: UTF8.self)
        try #require(answer.response.status.kind == .successful, "\(text)")
        let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        let stamp = (object?["updatedAt"] as? String).flatMap { Timestamp($0) }
        return ["id": .string(object?["id"] as? String ?? ""), "updatedAt": stamp.map(Value.timestamp) ?? .null]
    }
}
#endif
