import Foundation
import Testing
import TidelineLevelDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests the repair of a store, with its format record, its rows, and its tokens.
@Suite struct LevelDBStoreRepairTests {
    private static let item = TableSchema("Item", columns: [.int("number")], systemColumns: [], indexes: [["number"]])
    private static let other = TableSchema("Other", columns: [.string("text")], systemColumns: [])
    private static let settings = SystemTables().configSchema
    private static let token: Row = ["id": "t", "table": "Item", "key": "q", "keyType": 1, "value": "{}"]
    private static let counter: Row = ["id": "c", "table": "", "key": "c", "keyType": 2, "value": "7"]

    private static func row(_ number: Int) -> Row { ["id": .string("\(number)"), "number": .int(Int64(number))] }

    /// Creates a closed store with two files of tables: 300 rows, and those of another table.
    private func make(_ path: String) throws {
        let store = try LevelDBStore(path: path)
        try store.define([Self.item, Self.other, Self.settings])
        try store.write { writer in
            try writer.upsert((0..<300).map(Self.row), into: "Item")
            try writer.upsert([Self.token, Self.counter], into: Self.settings.name)
        }
        try store.compact()
        try store.write { writer in
            try writer.upsert((0..<50).map { ["id": .string("o\($0)"), "text": "text"] }, into: "Other")
        }
        try store.close()
        // The next opening turns the log into a table.
        try LevelDBStore(path: path).close()
    }

    /// Calls `body` with the path of a store that ``make(_:)`` created.
    private func withMade(_ body: (_ path: String) throws -> Void) throws {
        try withTemporaryFolder { folder in
            try make("\(folder)/s")
            try body("\(folder)/s")
        }
    }

    private func withStore<T>(_ path: String, _ body: (LevelDBStore) throws -> T) throws -> T {
        let store = try LevelDBStore(path: path)
        defer { try? store.close() }
        return try body(store)
    }

    @Test("A whole store loses nothing, not even its tokens")
    func whole() throws {
        try withMade { path in
            let repair = try LevelDBStore.repair(path: path)
            #expect(repair.lostFiles.isEmpty && repair.lostRows.isEmpty && !repair.isFormatRecordRebuilt)
            #expect(repair.removedTokens == 0 && repair.removedEntries == 0)
            try withStore(path) { store throws in
                #expect(try store.read { try $0.count(TableQuery(Self.settings.name)) } == 2)
                #expect(try store.read { try $0.count(TableQuery("Item")) } == 300)
            }
        }
    }

    @Test(
        "A store with a name that is not in normalization form C is refused, and a repair keeps it",
        arguments: EarlierNames.definitions)
    func earlierNames(_ definitions: [TableSchema]) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/s"
        try withStore(path) { store throws in
            try EarlierNames.fill(store, definitions)
            try store.replaceStoredName(EarlierNames.name, with: EarlierNames.stored)
        }
        EarlierNames.expectRefusal(definitions) { try withStore(path) { _ in } }
        expectError(.schemaMismatch) { try LevelDBStore.repair(path: path) }
        let engine = try LevelDBEngine(path: path)
        let key: [UInt8] = [0, 0, 0, 1] + Array("1".utf8)
        #expect(try engine.read { snapshot in try key.withUnsafeBytes { try snapshot.get($0) { _ in } } })
        try engine.close()
    }

    /// The change or removal of an entry, and what a repair then loses.
    struct Loss {
        var key: String
        var content: [UInt8]?
        var lostRows: [String: Int] = [:]
        var removedEntries = 0
        var isRecordRebuilt = false
        var rowsLeft = 300
    }

    private static let losses = [
        Loss(key: "\0\0\0\0f", isRecordRebuilt: true),
        Loss(key: "\0\0\0\0f", content: Array("{}".utf8), isRecordRebuilt: true),
        Loss(key: "\0\0\0\u{1}7", lostRows: ["Item": 1], rowsLeft: 299),
        Loss(key: "\0\0\0\u{1}7", content: [1, 2, 3], lostRows: ["Item": 1], removedEntries: 1, rowsLeft: 299),
        // The definition, the number of rows, the rows, and their index.
        Loss(key: "\0\0\0\0t\0\0\0\u{1}", content: [1, 2, 3], removedEntries: 602, rowsLeft: 0),
    ]

    @Test("A format record is rebuilt, damaged entries are moved to a file, and the tokens go", arguments: losses)
    func entries(_ loss: Loss) throws {
        try withMade { path in
            try change(path, key: Array(loss.key.utf8), to: loss.content)
            if loss.isRecordRebuilt { expectError(.corrupt) { try withStore(path) { _ in } } }
            let repair = try LevelDBStore.repair(path: path)
            #expect(repair.isFormatRecordRebuilt == loss.isRecordRebuilt && repair.removedTokens == 1)
            #expect(repair.lostRows == loss.lostRows && repair.removedEntries == loss.removedEntries)
            let lines = (try? String(contentsOfFile: "\(path)/lost/entries.txt", encoding: .utf8)) ?? ""
            #expect(lines.count { $0 == "\n" } == loss.removedEntries)
            let digits = loss.key.utf8.map { String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
            #expect(loss.removedEntries == 0 || lines.contains("\(digits) 010203\n"))
            try withStore(path) { store throws in
                try store.define([Self.item])
                let indexed = TableQuery("Item", predicate: .column("number") >= 0)
                #expect(try store.read { try $0.count(indexed) } == loss.rowsLeft)
                #expect(try store.read { try $0.rows(matching: TableQuery(Self.settings.name)).rows } == [Self.counter])
            }
            try LevelDBStore.destroy(path: path)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(
        "A store without one of its tables, lost or damaged, keeps the others and can be used",
        arguments: [true, false])
    func lostTable(_ isRemoved: Bool) throws {
        try withMade { path in
            let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".ldb") }
                .sorted()
            try #require(names.count == 2)
            for (index, name) in names.enumerated() {
                let copy = "\(path)-copy\(index)"
                try FileManager.default.copyItem(atPath: path, toPath: copy)
                try FileManager.default.removeItem(atPath: "\(copy)/\(name)")
                if !isRemoved { try Data(count: 5_000).write(to: URL(fileURLWithPath: "\(copy)/\(name)")) }
                expectError(.corrupt) { try withStore(copy) { _ in } }
                let repair = try LevelDBStore.repair(path: copy)
                #expect(repair.lostFiles == (isRemoved ? [] : [name]))
                #expect(repair.isFormatRecordRebuilt == (index == 0))
                try withStore(copy) { store throws in
                    try store.define([Self.item, Self.other, Self.settings])
                    let counts = try ["Item", "Other", Self.settings.name].map { name in
                        try store.read { try $0.count(TableQuery(name)) }
                    }
                    #expect(counts == (index == 0 ? [0, 0, 0] : [300, 0, 1]))
                    try store.write { try $0.upsert(Self.row(1_000), into: "Item") }
                    #expect(
                        try store.read { try $0.count(TableQuery("Item", predicate: .column("number") == 1_000)) } == 1)
                }
            }
        }
    }

    /// A change of a file that LevelDB's repair, or the search before it, finds.
    enum Damage: CaseIterable {
        case remove, overwrite, changeFirstBlock

        func apply(to path: String) throws {
            var content = try Data(contentsOf: URL(fileURLWithPath: path))
            switch self {
            case .remove: return try FileManager.default.removeItem(atPath: path)
            case .overwrite: content = Data(count: 5_000)
            case .changeFirstBlock: content[100] ^= 0xFF
            }
            try content.write(to: URL(fileURLWithPath: path))
        }
    }

    @Test("The tokens go if a table with newer versions of rows is lost or damaged", arguments: Damage.allCases)
    func lostVersions(_ damage: Damage) throws {
        try withMade { path in
            try withStore(path) { store throws in
                try store.write { writer in
                    let rows = (0..<300).map { ["id": .string("\($0)"), "number": .int(Int64($0 + 1_000))] as Row }
                    try writer.upsert(rows, into: "Item")
                }
            }
            // The next opening turns the log into a table.
            try withStore(path) { _ in }
            let name = try #require(
                FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".ldb") }.max())
            try damage.apply(to: "\(path)/\(name)")
            let repair = try LevelDBStore.repair(path: path)
            #expect(repair.lostFiles == (damage == .remove ? [] : [name]))
            #expect(repair.removedTokens == 1 && repair.lostRows.isEmpty)
            #expect(try withStore(path) { try $0.read { try $0.count(TableQuery("Item")) } } == 300)
        }
    }

    @Test("A store stays closed after a repair that was interrupted, and the next repair removes the tokens")
    func interrupted() throws {
        try withMade { path in
            let name = try #require(
                FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".ldb") }.max())
            let table = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            try Data(count: 5_000).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            // The repair cannot move the table to the folder "lost".
            try write("", to: "\(path)/lost")
            expectError(.io) { try LevelDBStore.repair(path: path) }
            // All files look whole, as after LevelDB has replaced a damaged table.
            try table.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
            try FileManager.default.removeItem(atPath: "\(path)/lost")
            let error = expectError(.corrupt) { try withStore(path) { _ in } }
            #expect(error?.message.contains("interrupted") == true, "\(error?.message ?? "")")
            try FileManager.default.copyItem(atPath: path, toPath: "\(path)-copy")
            try LevelDBStore.destroy(path: "\(path)-copy")
            #expect(!FileManager.default.fileExists(atPath: "\(path)-copy"))
            let repair = try LevelDBStore.repair(path: path)
            #expect(repair.lostFiles.isEmpty && repair.lostRows.isEmpty && repair.removedTokens == 1)
            #expect(try withStore(path) { try $0.read { try $0.count(TableQuery("Item")) } } == 300)
            // The last repair was complete.
            #expect(try LevelDBStore.repair(path: path).lostFiles.isEmpty)
        }
    }

    @Test("The disk space of many deleted rows is freed, and scans do not read them anymore")
    func deletions() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/s"
        let store = try LevelDBStore(path: path)
        try store.define([Self.item])
        for part in 0..<10 {
            try store.write { try $0.upsert((part * 3_000..<part * 3_000 + 3_000).map(Self.row), into: "Item") }
        }
        try store.compact()
        func size() throws -> Int {
            try files(path).filter { $0.key.hasSuffix(".ldb") }.reduce(0) { $0 + $1.value.count }
        }
        let before = try size()
        try store.write { _ = try $0.delete(matching: TableQuery("Item")) }
        try waitUntil("the compaction") { try size() < before / 10 }
        #expect(try store.read { try $0.count(TableQuery("Item")) } == 0)
        try store.close()
    }

    /// Changes an entry, or removes it.
    private func change(_ path: String, key: [UInt8], to content: [UInt8]?) throws {
        let engine = try LevelDBEngine(path: path)
        try engine.write { transaction throws in
            try key.withUnsafeBytes { key throws in
                guard let content else {
                    #expect(try transaction.delete(key))
                    return
                }
                content.withUnsafeBytes { transaction.put(key, $0) }
            }
        }
        try engine.close()
    }
}
