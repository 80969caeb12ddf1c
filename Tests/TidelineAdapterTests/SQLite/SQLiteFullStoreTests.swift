import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

@Suite struct SQLiteFullStoreTests {
    private static let table = TableSchema("t", columns: [.bytes("x")])
    private static let big = (0..<64).map {
        ["id": .string("big\($0)"), "x": .bytes([UInt8](repeating: 1, count: 65_536))] as Row
    }

    @Test func aFullStoreRollsBackAndWorksAfterRoomIsMade() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: "\(folder.path)/store.sqlite")
        try store.define([Self.table])
        try store.write { try $0.upsert(["id": "small", "x": .bytes([1])], into: "t") }
        try store.limitPages(50)
        let error = expectError(.full) { try store.write { try $0.upsert(Self.big, into: "t") } }
        #expect(error?.engineCode == 13)
        #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.id) } == ["small"])
        try store.write { try $0.upsert(["id": "other", "x": .bytes([2])], into: "t") }
        try store.limitPages(100_000)
        try store.write { try $0.upsert(Self.big, into: "t") }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 66)
        try store.close()
    }
}

extension SQLiteStore {
    /// Limits the database to the given number of pages.
    fileprivate func limitPages(_ count: Int) throws {
        try write { _ = try $0.session.connection().integer("PRAGMA max_page_count = \(count)") }
    }
}
