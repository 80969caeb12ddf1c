import Foundation
import Testing
import TidelineConformance
import TidelineSQLite
import TidelineStore
import TidelineSupport
import TidelineTestStores
import TidelineTestSupport

/// Tests that damage to a file with checksums is an error, never a wrong result.
@Suite struct SQLiteChecksumTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let pageSize = 4_096
    private static let table = TableSchema(
        "t", columns: [.string("s"), .int("n"), .bytes("x")], indexes: [["n"], ["s", "n"]])

    /// Returns the file of a store with 300 rows, some longer than a page, before and after an update of each row.
    private static func makeFiles(_ folder: String) throws -> (before: Data, after: Data) {
        let path = "\(folder)/made.sqlite"
        func write(_ change: Int) throws -> Data {
            let store = try SQLiteStore(path: path, options: SQLiteOptions(checksums: true))
            #expect(store.capabilities.detectsBitFlips)
            try store.define([table])
            try store.write { writer in
                for n in 0..<300 {
                    let bytes = [UInt8](repeating: UInt8(n % 250), count: n % 60 == 0 ? 9_000 : n % 40)
                    let number = Int64((n * 7) % 300 + change * 1_000)
                    try writer.upsert(
                        ["id": .string("id-\(n)"), "s": .string("text \(n)"), "n": .int(number), "x": .bytes(bytes)],
                        into: "t")
                }
            }
            try store.close()
            return try Data(contentsOf: URL(fileURLWithPath: path))
        }
        return (try write(0), try write(1))
    }

    /// Reads the store in different ways. Returns `nil` if an error reports damage.
    private static func answers(_ file: Data, _ folder: String) throws -> [[Row]]? {
        let path = "\(folder)/read.sqlite"
        try file.write(to: URL(fileURLWithPath: path))
        do {
            let store = try SQLiteStore(path: path)
            defer { try? store.close() }
            return try store.read { reader in
                let looked = try (0..<300).compactMap { try reader.row(in: "t", id: .string("id-\($0)")) }
                let queries = [
                    TableQuery("t"), TableQuery("t").order(by: "n"), TableQuery("t").order(by: "s"),
                    TableQuery("t", predicate: .column("n") >= 1_100),
                ]
                return [looked] + (try queries.map { try reader.rows(matching: $0).rows })
            }
        } catch let error as StoreError {
            #expect([.corrupt, .newerFormat].contains(error.code), "\(error)")
            return nil
        }
    }

    /// Returns the error that `verify()` or opening reports for a file, or `nil` if there is none.
    private static func verificationError(of file: Data, _ folder: String) throws -> StoreError? {
        let path = "\(folder)/read.sqlite"
        try file.write(to: URL(fileURLWithPath: path))
        do {
            let store = try SQLiteStore(path: path)
            defer { try? store.close() }
            try store.verify()
            return nil
        } catch let error as StoreError {
            #expect(error.code == .corrupt, "\(error)")
            return error
        }
    }

    @Test("A flipped bit, zeros or garbage in any page is corrupt, never a different result")
    func damage() throws {
        let file = try Self.makeFiles(folder.path).after
        let right = try #require(try Self.answers(file, folder.path))
        var random = SplitMix64(seed: 12)
        var refusals = 0
        for page in 0..<(file.count / Self.pageSize) {
            for kind in 0..<4 {
                var damaged = file
                let place = page * Self.pageSize + Int.random(in: 0..<Self.pageSize, using: &random)
                let end = min(place + Int.random(in: 1...600, using: &random), file.count)
                switch kind {
                case 0, 1: damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: damaged.resetBytes(in: place..<end)
                default: for place in place..<end { damaged[place] = UInt8.random(in: 0...255, using: &random) }
                }
                if damaged == file { continue }
                guard let found = try Self.answers(damaged, folder.path) else {
                    refusals += 1
                    continue
                }
                #expect(found == right, "page \(page), damage \(kind) at \(place)")
            }
        }
        #expect(refusals > file.count / Self.pageSize * 3)
    }

    @Test("A page replaced by another one is corrupt")
    func misplacedPage() throws {
        let file = try Self.makeFiles(folder.path).after
        let right = try #require(try Self.answers(file, folder.path))
        var refusals = 0
        for page in 2..<(file.count / Self.pageSize) {
            var damaged = file
            let (from, to) = ((page - 1) * Self.pageSize, page * Self.pageSize)
            damaged.replaceSubrange(to..<to + Self.pageSize, with: file[from..<from + Self.pageSize])
            // Only a page that is not in use may have any contents.
            if let found = try Self.answers(damaged, folder.path) { #expect(found == right, "page \(page)") }
            if try Self.verificationError(of: damaged, folder.path) != nil { refusals += 1 }
        }
        #expect(refusals > file.count / Self.pageSize / 2)
    }

    @Test("A page of an earlier state has a valid checksum; verify() finds the index that contradicts its table")
    func earlierPage() throws {
        let (before, after) = try Self.makeFiles(folder.path)
        let right = try #require(try Self.answers(after, folder.path))
        var count = 0
        for page in 1..<(before.count / Self.pageSize) {
            let range = page * Self.pageSize..<(page + 1) * Self.pageSize
            guard before[range] != after[range] else { continue }
            var damaged = after
            damaged.replaceSubrange(range, with: before[range])
            if let error = try Self.verificationError(of: damaged, folder.path) {
                #expect(error.path == "\(folder.path)/read.sqlite", "\(error)")
                count += 1
            } else {
                // A page that is not in use may have any contents.
                #expect(try Self.answers(damaged, folder.path) == right, "page \(page)")
            }
        }
        #expect(count > 10)
    }

    @Test("verify() accepts an intact store: a file with its log, one without checksums, memory")
    func wholeStores() throws {
        let stores = [
            try SQLiteStore(path: "\(folder.path)/a", options: SQLiteOptions(checksums: true)),
            try SQLiteStore(path: "\(folder.path)/b", options: SQLiteOptions(checksums: false)),
            try SQLiteStore.inMemory(),
        ]
        for store in stores {
            try store.verify()
            try store.define([Self.table])
            for n in 0..<50 { try store.write { try $0.upsert(["id": .string("\(n)"), "n": 1], into: "t") } }
            try store.verify()
            try store.close()
            expectError(.closed) { try store.verify() }
        }
        #expect(stores.map(\.capabilities.detectsBitFlips) == [true, false, false])
    }

    @Test("A file keeps its setting for checksums", arguments: [true, false])
    func existingFile(_ checksums: Bool) throws {
        let path = "\(folder.path)/store.sqlite"
        for options in [SQLiteOptions(checksums: checksums), SQLiteOptions(checksums: !checksums)] {
            let store = try SQLiteStore(path: path, options: options)
            #expect(store.capabilities.detectsBitFlips == checksums)
            try store.define([Self.table])
            try store.write { writer in
                let bytes = [UInt8](repeating: 7, count: 20_000)
                for n in 0..<50 { try writer.upsert(["id": .string("\(n)"), "x": .bytes(bytes)], into: "t") }
            }
            try store.verify()
            try store.close()
        }
        #expect(try sql(path, "PRAGMA integrity_check") == "ok")
        #expect(try sql(path, "SELECT count(*) FROM t") == "50")
        let reader = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
        #expect(reader.capabilities.detectsBitFlips == checksums)
        try reader.close()
    }

    /// The store is created in the log. A checkpoint writes the header that marks the file as one with checksums.
    @Test("A store opened before the first checkpoint writes checksums too")
    func openedBeforeFirstCheckpoint() throws {
        let path = "\(folder.path)/store.sqlite"
        let first = try SQLiteStore(path: path, options: SQLiteOptions(checksums: true))
        try first.define([Self.table])
        try first.write { try $0.upsert(["id": "a", "n": 5], into: "t") }
        let second = try SQLiteStore(path: path, options: SQLiteOptions(checksums: true))
        // More pages than the log keeps, so that the commit ends with a checkpoint.
        let bytes = [UInt8](repeating: 7, count: 1_000_000)
        try first.write { writer in
            for n in 0..<36 { try writer.upsert(["id": .string("b\(n)"), "x": .bytes(bytes)], into: "t") }
        }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        try #require(size ?? 0 > 36_000_000)
        // The header is not among the changed pages, which the second store moves into the file when it is closed.
        try first.write { try $0.upsert(["id": "a", "n": 7], into: "t") }
        try first.close()
        try second.close()
        let store = try SQLiteStore(path: path)
        try store.verify()
        #expect(try store.read { try $0.row(in: "t", id: "a") }?["n"] == 7)
        try store.close()
    }

    /// The documentation specifies this step before other tools write to the file.
    @Test("Setting the format to 1 turns off the checksums of a file")
    func otherTools() throws {
        _ = try Self.makeFiles(folder.path)
        let path = "\(folder.path)/made.sqlite"
        try sql(path, "PRAGMA user_version = 1")
        try sql(path, "UPDATE t SET s = 'changed'")
        let store = try SQLiteStore(path: path)
        #expect(!store.capabilities.detectsBitFlips)
        #expect(try store.read { try $0.row(in: "t", id: "id-7") }?["s"] == "changed")
        try store.verify()
        try store.close()
    }
}
