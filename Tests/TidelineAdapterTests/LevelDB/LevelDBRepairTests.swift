import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLevelDB

@Suite struct LevelDBRepairTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/db" }

    init() throws { folder = try TemporaryFolder() }

    private static let first = Entries(uniqueKeysWithValues: (0..<200).map { ("a\($0)", "first \($0)") })
    private static let second = Entries(uniqueKeysWithValues: (0..<200).map { ("b\($0)", "second \($0)") })

    /// Creates a closed database: tables with `first`, changed several times, and a log with `second`, one commit each.
    private func make(_ path: String) throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(Self.first.mapValues { _ in "old" })
        try engine.put(["gone": "x"])
        try engine.compact()
        try engine.put(Self.first)
        _ = try engine.write { try $0.remove("gone") }
        try engine.compact()
        for (key, value) in Self.second.sorted(by: { $0.key < $1.key }) { try engine.put([key: value]) }
        try engine.close()
    }

    private func reopened(_ path: String) throws -> Entries {
        let engine = try LevelDBEngine(path: path)
        defer { try? engine.close() }
        let all = try engine.all()
        for (key, value) in all { #expect(try engine.read { try $0.value(key) } == value) }
        try engine.put(["new": "1"])
        return all
    }

    private static let whole = first.merging(second) { $1 }

    @Test func aRepairOfWhatIsWholeKeepsEverything() throws {
        try make(path)
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path) == Self.whole)
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path) == Self.whole.merging(["new": "1"]) { $1 })
    }

    @Test(arguments: ["CURRENT", "MANIFEST", "both"])
    func aLostManifestIsMadeAnew(_ lost: String) throws {
        try make(path)
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix(lost) || (lost == "both" && (name == "CURRENT" || name.hasPrefix("MANIFEST"))) {
            try FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path) == Self.whole)
    }

    /// LevelDB's own repair would accept damaged commits.
    @Test(arguments: [0, 4, 5, 6, 9, 20, 3000, 5000])
    func aDamagedLogKeepsTheCommitsBefore(_ place: Int) throws {
        try make(path)
        let name = try #require(try files(path).keys.first { $0.hasSuffix(".log") })
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        var damaged = try Data(contentsOf: url)
        damaged[place] ^= 0x10
        try damaged.write(to: url)
        expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
        try LevelDBEngine.repair(path: path, options: .init())
        let rows = try reopened(path)
        let kept = rows.keys.filter { $0.hasPrefix("b") }.sorted()
        #expect(rows.filter { $0.key.hasPrefix("a") } == Self.first)
        #expect(kept == Array(Self.second.keys.sorted().prefix(kept.count)))
        #expect(kept.count < 200)
        #expect(place < 3000 || kept.count > 50)
        #expect(rows.allSatisfy { Self.whole[$0.key] == $0.value })
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/lost/\(name).damaged")) == damaged)
    }

    /// Damages the footer, a block, or the beginning of a table.
    @Test(arguments: [[-20], [-47], [-1], [100], Array(0..<500)])
    func aDamagedTableLosesWhatWasInIt(_ places: [Int]) throws {
        try make(path)
        let name = try #require(
            try files(path).filter { $0.key.hasSuffix(".ldb") }.max { $0.value.count < $1.value.count })
        var damaged = name.value
        for place in places { damaged[place < 0 ? damaged.count + place : place] ^= 0xFF }
        try damaged.write(to: URL(fileURLWithPath: "\(path)/\(name.key)"))
        try LevelDBEngine.repair(path: path, options: .init())
        let rows = try reopened(path)
        #expect(rows.filter { $0.key.hasPrefix("b") } == Self.second)
        #expect(rows.allSatisfy { Self.whole[$0.key] == $0.value })
    }

    /// LevelDB's own repair would allocate as much memory as the footer of the table specifies, and end the process.
    @Test func aTableWhoseFooterPointsOutsideIsPutAside() throws {
        try make(path)
        let name = try #require(try files(path).keys.first { $0.hasSuffix(".ldb") })
        var damaged = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        let footer: [UInt8] = [0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F]
        damaged.replaceSubrange(damaged.count - 48..<damaged.count - 48 + footer.count, with: footer)
        try damaged.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path).filter { $0.key.hasPrefix("b") } == Self.second)
        #expect(try files("\(path)/lost")[name] == damaged)
    }

    /// A repaired database searches tables by number, and a table with a higher number may contain older changes.
    @Test func theLastChangeCountsWhateverItsTableIsCalled() throws {
        for value in ["old", "new"] {
            let engine = try LevelDBEngine(path: path)
            try engine.put(["a": value])
            try engine.close()
        }
        try LevelDBEngine(path: path).close()
        var content = try files(path).filter { $0.key.hasSuffix(".ldb") }
        let names = content.keys.sorted()
        try #require(names.count == 2)
        content = [names[0]: content[names[1]] ?? Data(), names[1]: content[names[0]] ?? Data()]
        try replaceFiles(path, by: content)
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path) == ["a": "new"])
    }

    /// A manifest without its last entries names neither the log nor the later tables.
    @Test func whatAnOldManifestDoesNotNameIsKept() throws {
        try LevelDBEngine(path: path).close()
        let old = try files(path).filter { $0.key == "CURRENT" || $0.key.hasPrefix("MANIFEST") }
        try make(path)
        try LevelDBEngine(path: path).close()
        let later = try files(path).filter { $0.key.hasSuffix(".ldb") || $0.key.hasSuffix(".log") }
        try replaceFiles(path, by: later.merging(old) { $1 })
        expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
        try LevelDBEngine.repair(path: path, options: .init())
        #expect(try reopened(path) == Self.whole)
    }

    @Test func anOpenFolderIsNotRepaired() throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        expectError(.locked) { try LevelDBEngine.repair(path: path, options: .init()) }
        #expect(try engine.all() == ["a": "1"])
        try engine.close()
    }

    @Test func whatIsNoStoreIsNotRepaired() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder.path)/file"))
        for path in ["", "\(folder.path)/none", folder.path, "\(folder.path)/file"] {
            expectError(.io) { try LevelDBEngine.repair(path: path, options: .init()) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }
}
