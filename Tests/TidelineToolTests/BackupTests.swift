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

    // MARK: Contents

    @Test(
        "A backup restores every row, version, timestamp, tombstone, and definition, into any engine",
        arguments: allPairs(engines, engines))
    func contents(from: StoreEngine, to: StoreEngine) async throws {
        let (source, target) = (tool.location(from, "a"), tool.location(to, "b"))
        let before = try await withStore(StoreLocation(parsing: source)) { try Self.fill($0) }
        let backup = try tool.run("backup", "--store", source, tool.path("file"))
        #expect(backup.out == "backed up 3001 rows in 2 tables to \(tool.path("file"))\n", "\(backup)")
        let restore = try tool.run("restore", "--keep-timestamps", "--store", target, tool.path("file"))
        #expect(restore.out == "restored 3001 rows in 2 tables to \(target)\n", "\(restore)")
        let after = try await withStore(StoreLocation(parsing: target)) { try StoreContent($0) }
        #expect(after == before)
        // The server continues with the next timestamp.
        let latest = try #require(before.rows["T"]?.compactMap { $0["updatedAt"]?.timestamp }.max())
        let next = try await withStore(StoreLocation(parsing: target)) { store in
            try Self.answer(store, .post, "T", #"{"id":"new"}"#)
        }
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

    private static func answer(
        _ store: some LocalStore, _ method: HTTPRequest.Method, _ path: String, _ body: String
    ) throws -> Row {
        try TableService(store: store).send(method, path, body)
    }

    @Test("Clients cannot prevent a backup by the names of the tables that they create", arguments: engines)
    func names(engine: StoreEngine) async throws {
        let source = try StoreLocation(parsing: tool.location(engine, "a"))
        let target = try StoreLocation(parsing: tool.location(engine, "b"))
        let names = ["ms_backup", "MS_Backup_", "%C3%A9", "e%CC%81", "Kanban", "%E2%84%AAanban"]
        let before = try await withStore(source) { store in
            try Self.insert(into: names, of: store)
            _ = try BackupFile.write(store, to: tool.path("file"))
            return try StoreContent(store)
        }
        // Those that differ in their normalization form only are one table.
        let tables = names.compactMap { $0.removingPercentEncoding?.precomposedStringWithCanonicalMapping }
        #expect(Set(tables).count == 4 && Set(tables.map(RowID.string)).isSubset(of: before.rows.keys))
        _ = try StoreRestoration(keepsTimestamps: true).run(from: tool.path("file"), to: target)
        #expect(try await withStore(target) { try StoreContent($0) } == before)
    }

    private static func insert(into tables: [String], of store: some LocalStore) throws {
        let service = try TableService(store: store)
        for table in tables { _ = try service.send(.post, table, #"{"id":"\#(table)"}"#) }
    }

    @Test("Tables that a server has not written to are restored with new timestamps", arguments: engines)
    func tableWithoutRecord(engine: StoreEngine) async throws {
        let source = try StoreLocation(parsing: tool.location(engine, "a"))
        let target = try StoreLocation(parsing: tool.location(engine, "b"))
        let stamp = Timestamp.now
        try await withStore(source) { store in
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
        let source = try StoreLocation(parsing: tool.location(engine, "a"))
        let target = try StoreLocation(parsing: tool.location(engine, "b"))
        let before = try await withStore(source) { store in
            try Self.insert(into: ["T"], of: store)
            var schema = try store.read { try $0.schema(of: "T") }
            schema.columns.append(.bool("complete", optional: false))
            try store.define([schema])
            _ = try BackupFile.write(store, to: tool.path("file"))
            return try StoreContent(store)
        }
        #expect(before.schemas.first { $0.name == "T" }?.column("complete")?.isOptional == false)
        _ = try StoreRestoration(keepsTimestamps: true).run(from: tool.path("file"), to: target)
        #expect(try await withStore(target) { try StoreContent($0) } == before)
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

    private static func serve(_ schemas: [TableSchema], of store: some LocalStore) throws {
        _ = try TableService(store: store, options: TableServiceOptions(schemas: schemas))
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
                        let body = Array(#"{"id":"\#(writer)-\#(number)","writer":\#(writer),"n":\#(number)}"#.utf8)
                        let answer = try await send(.post, "/tables/T", to: url, body: body)
                        try #require(answer.response.status == .created)
                        number += 1
                        progress.acknowledged.withLock { $0[writer] = number }
                    }
                }
            }
            for round in 0..<3 {
                while progress.acknowledged.withLock({ $0.values.reduce(0, +) }) < 100 * (round + 1) {
                    try await Task.sleep(for: .milliseconds(1))
                }
                let before = progress.acknowledged.withLock { $0 }
                let output = try await RawConnection.blocking {
                    try tool.run("backup", "--store", tool.location(engine, "server"), tool.path("file\(round)"))
                }
                #expect(output.status == 0, "\(output)")
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
        let source = try StoreLocation(parsing: tool.location(.sqlite, "a"))
        let target = try StoreLocation(parsing: tool.location(.lmdb, "b"))
        try await withStore(source) { store in
            try Self.insert(into: ["T"], of: store)
            _ = try BackupFile.write(store, to: tool.path("monday"))
        }
        let monday = "sqlite:\(tool.path("monday"))"
        try tool.run("serve", "--check", "--port", "0", "--store", monday).expect(1, "the store is a backup")
        try tool.run("serve", "--port", "0", "--store", monday).expect(1, "the store is a backup")
        var expected = try await withStore(StoreLocation(parsing: monday)) { store in
            _ = try Self.answer(store, .post, "T", #"{"id":"later"}"#)
            _ = try BackupFile.write(store, to: tool.path("tuesday"))
            return try StoreContent(store)
        }
        _ = try StoreRestoration(keepsTimestamps: true).run(from: tool.path("tuesday"), to: target)
        #expect(expected.rows.removeValue(forKey: .string("MS_Backup"))?.count == 1)
        expected.schemas.removeAll { $0.name == "MS_Backup" }
        #expect(try await withStore(target) { try StoreContent($0) } == expected)
        let error = #expect(throws: StoreError.self) { try BackupFile.read(tool.path("monday")) { _, _ in } }
        #expect(error?.code == .corrupt && error?.message.contains("was changed after it was written") == true)
    }

    // MARK: Failures

    @Test("An existing file is never replaced, and a file that cannot be written leaves nothing")
    func existingFiles() async throws {
        let source = tool.location(.sqlite, "a")
        try await withStore(StoreLocation(parsing: source)) { _ = try Self.fill($0) }
        try "mine".write(toFile: tool.path("file"), atomically: true, encoding: .utf8)
        try tool.run("backup", "--store", source, tool.path("file")).expect(1, "\(tool.path("file")) exists")
        #expect(try String(contentsOfFile: tool.path("file"), encoding: .utf8) == "mine")
        let folder = try tool.run("backup", "--store", source, tool.path("none/file"))
        #expect(folder.status == 1 && folder.err.contains("there is no folder \(tool.path("none"))"), "\(folder)")

        #expect(try tool.run("backup", "--store", source, tool.path("good")).status == 0)
        for engine in Self.engines {
            let target = try StoreLocation(parsing: tool.location(engine, "file"))
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
        try "log".write(toFile: tool.path("a") + suffix, atomically: true, encoding: .utf8)
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
        let source = tool.location(.sqlite, "a")
        try await withStore(StoreLocation(parsing: source)) { _ = try Self.fill($0) }
        #expect(try tool.run("backup", "--store", source, tool.path("good")).status == 0)
        let targets = Self.engines.map { tool.location($0, "file") }
        let commands =
            [["backup", "--store", source, tool.path("file")]]
            + targets.map { ["restore", "--store", $0, tool.path("good")] }
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
        let source = tool.location(.sqlite, "a")
        let content = try await withStore(StoreLocation(parsing: source)) { try Self.fill($0) }
        #expect(try tool.run("backup", "--store", source, tool.path("good")).status == 0)
        for round in 0..<8 {
            let target = tool.location(engine, "b\(round)")
            let commands = [
                ["backup", "--store", source, tool.path("file\(round)")],
                ["restore", "--keep-timestamps", "--store", target, tool.path("good")],
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
            let location = try StoreLocation(parsing: target)
            if FileManager.default.fileExists(atPath: location.path) {
                let restored = try await withStore(location) { try StoreContent($0) }
                #expect(restored == content)
            }
        }
    }

    @Test("A damaged backup is an error that names the file, and creates no store")
    func damaged() async throws {
        let source = tool.location(.sqlite, "a")
        try await withStore(StoreLocation(parsing: source)) { _ = try Self.fill($0) }
        #expect(try tool.run("backup", "--store", source, tool.path("good")).status == 0)
        let good = try Data(contentsOf: URL(fileURLWithPath: tool.path("good")))
        let file = tool.path("bad")
        let target = try StoreLocation(parsing: tool.location(.lmdb, "b"))
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
        let memory = try tool.run("backup", "--store", "memory", tool.path("file"))
        #expect(memory.status == 64, "\(memory)")
        try String(repeating: "A letter. ", count: 1_000)
            .write(toFile: tool.path("letter"), atomically: true, encoding: .utf8)
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
        let source = try StoreLocation(parsing: tool.location(.sqlite, "a"))
        let ahead = Timestamp.now.advanced(byTicks: 365 * 86_400 * Timestamp.ticksPerSecond)
        try await withStore(source) { store in
            try Self.write(to: store, count: 3, clock: { ahead }, backup: tool.path("file"))
        }
        let target = try StoreLocation(parsing: tool.location(.sqlite, "b"))
        _ = try StoreRestoration(keepsTimestamps: false).run(from: tool.path("file"), to: target)
        try await withStore(target) { store in
            let rows = try StoreContent(store).rows["T"] ?? []
            let stamps = rows.compactMap { $0["updatedAt"]?.timestamp }
            #expect(stamps.allSatisfy { $0 > ahead.advanced(byTicks: 1_000) } && stamps == stamps.sorted())
            #expect(Set(stamps).count == 3)
            let next = try Self.answer(store, .post, "T", #"{"id":"next"}"#)
            #expect(try #require(next["updatedAt"]?.timestamp) > stamps.max()!)
        }
    }

    private static func write(
        to store: some LocalStore, count: Int, clock: @escaping @Sendable () -> Timestamp, backup: String
    ) throws {
        let service = try TableService(store: store, options: TableServiceOptions(clock: clock))
        for number in 0..<count { _ = try service.send(.post, "T", #"{"id":"\#(number)"}"#) }
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
