import Foundation
import Testing
import TidelineKeyValue
import TidelineLMDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests the whole store over this engine. The conformance suite tests the requirements of every store.
@Suite struct LMDBStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let table = TableSchema("t", columns: [.int("n"), .string("text")])

    private static func rows(_ numbers: Range<Int>, _ text: String = "x") -> [Row] {
        numbers.map { ["id": .string("row \($0)"), "n": .int(Int64($0)), "text": .string(text)] }
    }

    @Test func aStoreOutgrowsItsMapAndIsThereAgain() throws {
        let path = "\(folder.path)/store"
        let store = try LMDBStore(path: path, options: LMDBOptions(durability: .none, mapSize: 1 << 16))
        try store.define([Self.table])
        try store.write { try $0.upsert(Self.rows(0..<20_000), into: "t") }
        try store.write { try $0.upsert(Self.rows(10_000..<30_000, "y"), into: "t") }
        try store.close()
        let again = try LMDBStore(path: path)
        #expect(try again.read { try $0.count(TableQuery("t")) } == 30_000)
        #expect(try again.read { try $0.row(in: "t", id: "row 15000") }?["text"] == .string("y"))
        try again.close()
    }

    @Test(arguments: EarlierNames.definitions)
    func aNameThatIsNotInNormalizationFormCIsRefused(_ definitions: [TableSchema]) throws {
        let store = try LMDBStore(path: folder.path)
        try EarlierNames.fill(store, definitions)
        let reader = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        try store.replaceStoredName(EarlierNames.name, with: EarlierNames.stored)
        try reader.close()
        try store.close()
        EarlierNames.expectRefusal(definitions) { _ = try LMDBStore(path: folder.path) }
        EarlierNames.expectRefusal(definitions) {
            _ = try LMDBStore(path: folder.path, options: LMDBOptions(isReadOnly: true))
        }
        try LMDBStore.destroy(path: folder.path)
    }

    @Test func aFolderOfAnotherProgramIsRefused() throws {
        let engine = try LMDBEngine(path: folder.path)
        try engine.write { try $0.put(key(1, "not a store's"), [1]) }
        try engine.close()
        expectError(.notAStore) { _ = try LMDBStore(path: folder.path) }
        // The store was closed when opening failed: an engine can open it for reading only.
        let reader = try LMDBEngine(path: folder.path, options: LMDBOptions(isReadOnly: true))
        try reader.close()
    }
}
