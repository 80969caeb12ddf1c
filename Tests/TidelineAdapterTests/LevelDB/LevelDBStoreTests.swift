import Foundation
import Testing
import TidelineKeyValue
import TidelineLevelDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite struct LevelDBStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let table = TableSchema("t", columns: [.string("s"), .int("n")], indexes: [["n"]])
    private static let rows: [Row] = (0..<500).map { number in
        ["id": .string("id-\(number)"), "s": .string("text \(number)"), "n": .int(Int64(number % 7))]
    }

    @Test func aStoreIsRepairedWhenItIsClosed() throws {
        let path = "\(folder.path)/db"
        let store = try LevelDBStore(path: path)
        try store.define([Self.table])
        try store.write { try $0.upsert(Self.rows, into: "t") }
        expectError(.locked) { try LevelDBStore.repair(path: path) }
        try store.close()
        try FileManager.default.removeItem(atPath: "\(path)/CURRENT")
        expectError(.corrupt) { _ = try LevelDBStore(path: path) }
        try LevelDBStore.repair(path: path)
        let again = try LevelDBStore(path: path, options: LevelDBOptions(createsIfMissing: false))
        #expect(try again.read { try $0.count(TableQuery("t", predicate: .column("n") == 3)) } == 71)
        #expect(try again.read { try $0.row(in: "t", id: "id-77")?["s"] } == "text 77")
        #expect(try again.read { try $0.count(TableQuery("t")) } == 500)
        try again.close()
    }

    @Test func compactingAnEmptiedStoreGivesRoomBack() throws {
        let path = "\(folder.path)/db"
        let store = try LevelDBStore(path: path, options: LevelDBOptions(compresses: false))
        try store.define([Self.table])
        try store.write { try $0.upsert(Self.rows, into: "t") }
        try store.compact()
        let before = try files(path).values.reduce(0) { $0 + $1.count }
        #expect(try store.write { try $0.delete(matching: TableQuery("t")) } == 500)
        try store.compact()
        #expect(try files(path).values.reduce(0) { $0 + $1.count } < before / 3)
        #expect(try store.read { try $0.count(TableQuery("t")) } == 0)
        try store.close()
        expectError(.closed) { try store.compact() }
    }

    /// A failed open releases its lock.
    @Test func aFolderOfAnotherProgramsDatabaseIsRefusedAndLeftFree() throws {
        let engine = try LevelDBEngine(path: "\(folder.path)/db")
        try engine.put(["mine": "1"])
        try engine.close()
        expectError(.notAStore) { _ = try LevelDBStore(path: "\(folder.path)/db") }
        let again = try LevelDBEngine(path: "\(folder.path)/db")
        #expect(try again.all() == ["mine": "1"])
        try again.close()
    }
}
