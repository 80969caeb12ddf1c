import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

@testable import TidelineSQLite

@Suite struct FullDiskTests {
    private static let table = TableSchema("t", columns: [.bytes("x")])
    private static let big = (0..<64).map {
        ["id": .string("big\($0)"), "x": .bytes(Array(repeating: 1, count: 65_536))] as Row
    }

    @Test func aFullStoreRollsBackAndWorksAfterRoomIsMade() throws {
        try withTemporaryFolder { folder throws in
            let store = try SQLiteStore(path: "\(folder)/store.sqlite")
            try store.define([Self.table])
            try store.write { try $0.upsert(["id": "small", "x": .bytes([1])], into: "t") }
            try store.limitPages(50)
            let error = expectError(.full) { try store.write { try $0.upsert(Self.big, into: "t") } }
            #expect(error?.engineCode == 13)
            #expect(try store.read { try $0.rows(matching: Query("t")).rows.map(\.id) } == ["small"])
            try store.write { try $0.upsert(["id": "other", "x": .bytes([2])], into: "t") }
            try store.limitPages(100_000)
            try store.write { try $0.upsert(Self.big, into: "t") }
            #expect(try store.read { try $0.count(Query("t")) } == 66)
            try store.close()
        }
    }

    /// On a real file system that is full. It takes one of a few megabytes, named by `TIDELINE_TEST_SMALL_DISK`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TIDELINE_TEST_SMALL_DISK"] != nil))
    func aFullDiskRollsBackAndTheStoreWorksAfterRoomIsMade() throws {
        let disk = try #require(ProcessInfo.processInfo.environment["TIDELINE_TEST_SMALL_DISK"])
        let ballast = "\(disk)/ballast"
        let store = try SQLiteStore(path: "\(disk)/store-\(UUID().uuidString).sqlite")
        try store.define([Self.table])
        try store.write { try $0.upsert(["id": "small", "x": .bytes([1])], into: "t") }
        #expect(FileManager.default.createFile(atPath: ballast, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: ballast))
        do {
            while true { try handle.write(contentsOf: Data(count: 4096)) }
        } catch {
            // The disk is full now.
        }
        expectError(.full) { try store.write { try $0.upsert(Self.big, into: "t") } }
        #expect(try store.read { try $0.rows(matching: Query("t")).rows.map(\.id) } == ["small"])
        try handle.close()
        try FileManager.default.removeItem(atPath: ballast)
        try store.write { try $0.upsert(Array(Self.big.prefix(4)), into: "t") }
        #expect(try store.read { try $0.count(Query("t")) } == 5)
        try store.close()
    }
}

extension SQLiteStore {
    /// Lets the database grow to so many pages.
    fileprivate func limitPages(_ count: Int) throws {
        try write { _ = try $0.session.connection().integer("PRAGMA max_page_count = \(count)") }
    }
}
