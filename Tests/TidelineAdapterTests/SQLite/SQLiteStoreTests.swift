import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineSQLite

/// Tests a store that is full, its settings for durability, and scans whose body writes.
@Suite struct SQLiteStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let table = TableSchema("t", columns: [.bytes("x")])
    private static let big = (0..<64).map {
        ["id": .string("big\($0)"), "x": .bytes([UInt8](repeating: 1, count: 65_536))] as Row
    }

    @Test func aFullStoreRollsBackAndWorksAfterRoomIsMade() throws {
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

    @Test(
        "Each level syncs when it promises, through the drive's cache",
        arguments: [
            (StoreCapabilities.Durability.full, ["synchronous": 2, "fullfsync": 1]),
            (.normal, ["synchronous": 1, "checkpoint_fullfsync": 1]),
        ])
    func syncs(durability: StoreCapabilities.Durability, settings: [String: Int64]) throws {
        let store = try SQLiteStore(path: "\(folder.path)/store.sqlite", options: SQLiteOptions(durability: durability))
        for (name, value) in settings {
            let found = try store.write { try $0.session.connection().integer("PRAGMA \(name)") }
            #expect(found == value, "\(name)")
        }
        try store.close()
    }

    /// The rows of a scan in a write transaction do not change while its body writes.
    @Test(arguments: [1, 2, nil])
    func aBodyThatMovesRowsAheadGetsEachOnce(_ limit: Int?) throws {
        let store = try SQLiteStore.inMemory()
        try store.define([TableSchema("t", columns: [.string("s"), .int("n")], indexes: [["n"]])])
        try store.write {
            try $0.upsert((0..<4).map { ["id": .string("\($0)"), "s": "old", "n": .int($0)] }, into: "t")
        }
        let query = TableQuery("t", predicate: .column("n") >= 0, limit: limit).order(by: "n")
        try store.write { writer in
            var seen: [String] = []
            try writer.scan(query) { view in
                let id = view.idText
                for number in 10..<14 {
                    try writer.upsert(["id": .string(id), "s": "new", "n": .int(Int64(number))], into: "t")
                }
                #expect(view.idText == id && view.owned()["s"] == "old" && view.owned()["n"] == .int(Int64(seen.count)))
                seen.append(id)
                return .next
            }
            #expect(seen == (0..<(limit ?? 4)).map { "\($0)" })
        }
    }
}

extension SQLiteStore {
    /// Limits the database to the given number of pages.
    fileprivate func limitPages(_ count: Int) throws {
        try write { _ = try $0.session.connection().integer("PRAGMA max_page_count = \(count)") }
    }
}
