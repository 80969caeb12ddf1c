import Foundation
import Testing
import TidelineLevelDB
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@Suite struct LevelDBOpeningTests {
    private let folder: TemporaryFolder
    private var path: String { "\(folder.path)/db" }

    init() throws { folder = try TemporaryFolder() }

    @Test func whatIsInTheWayIsSaid() throws {
        let file = "\(folder.path)/file"
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createDirectory(atPath: "\(folder.path)/empty", withIntermediateDirectories: false)
        let cases: [(String, Bool, String)] = [
            (file, true, "file"), ("\(file)/db", true, "cannot be created"), ("\(folder.path)/none/db", true, "parent"),
            (path, false, "not allow creating"), ("\(folder.path)/empty", false, "not allow creating"),
            ("", true, "empty"), ("\(folder.path)/a\0b", true, "NUL"),
        ]
        for (path, creates, reason) in cases {
            let options = LevelDBOptions(createsIfMissing: creates)
            let error = expectError(.io) { _ = try LevelDBEngine(path: path, options: options) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
            #expect(error?.path == path)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["empty", "file"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/empty") == [])
    }

    @Test func anEngineThatIsLetGoOfGivesTheFolderBack() throws {
        for _ in 0..<3 {
            let engine = try LevelDBEngine(path: path)
            try engine.put(["a": "1"])
        }
        let engine = try LevelDBEngine(path: path)
        for _ in 0..<2 { try engine.close() }
        expectError(.closed) { try engine.put(["a": "2"]) }
        expectError(.closed) { _ = try engine.all() }
    }

    @Test func aLinkThatLeadsNowhereIsAnErrorWithTheReason() throws {
        let path = "\(folder.path)/link"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(folder.path)/nowhere")
        let error = expectError(.io) { _ = try LevelDBEngine(path: path) }
        #expect(error?.message.contains("No such file") == true, "\(error?.message ?? "")")
        #expect(error?.engineCode == Int(ENOENT))
    }

    @Test func aFolderOfOtherFilesIsNotAStoreAndLeftAlone() throws {
        for content in [["letter.txt": Data("x".utf8)], ["LOCK": Data(), "mine.log": Data()]] {
            try replaceFiles(path, by: content)
            let error = expectError(.notAStore) { _ = try LevelDBEngine(path: path) }
            #expect(error?.message.contains("other files") == true)
            #expect(try files(path) == content)
        }
    }

    /// LevelDB itself would create an empty database over the existing files.
    @Test(arguments: ["MANIFEST", ".log", ".ldb"])
    func aMissingCurrentIsCorrupt(_ kept: String) throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        try engine.compact()
        try engine.put(["b": "2"])
        try engine.close()
        let content = try files(path).filter { $0.key.contains(kept) }
        #expect(content.count == 1)
        try replaceFiles(path, by: content)
        let error = expectError(.corrupt) { _ = try LevelDBEngine(path: path) }
        #expect(error?.path == "\(path)/CURRENT")
        #expect(try files(path) == content)
    }

    /// Names alone do not identify a database: `000003.log` can belong to any program.
    @Test(arguments: [
        ["000003.log"], ["000005.ldb"], ["MANIFEST-000002", "LOCK"], ["000007.sst", "LOG", "x"],
        ["CURRENT", "MANIFEST-000002", "000003.log", "LOCK"],
    ])
    func filesThatOnlyHaveLevelDBsNamesAreNotAStore(_ names: [String]) throws {
        for text in ["", "x", String(repeating: "text ", count: 20_000)] {
            let content = Dictionary(uniqueKeysWithValues: names.map { ($0, Data(text.utf8)) })
            try replaceFiles(path, by: content)
            let error = expectError(.notAStore) { _ = try LevelDBEngine(path: path) }
            #expect(error?.path == path)
            #expect(try files(path) == content)
        }
    }

    @Test(arguments: [
        ["LOCK"], ["LOCK", "LOG"], ["LOCK", "LOG", "MANIFEST-000001"], ["LOCK", "MANIFEST-000001", "000001.dbtmp"],
        ["tideline.room"], [".DS_Store"],
    ])
    func anInterruptedCreationIsDoneAgain(_ names: [String]) throws {
        try replaceFiles(path, by: Dictionary(uniqueKeysWithValues: names.map { ($0, Data()) }))
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        #expect(try engine.all() == ["a": "1"])
        try engine.close()
    }

    @Test func aCreationThatFailsLeavesNothing() throws {
        // A folder at the path of LevelDB's first manifest.
        try FileManager.default.createDirectory(
            atPath: "\(path)/MANIFEST-000001", withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { _ = try LevelDBEngine(path: path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["MANIFEST-000001"])
        try FileManager.default.removeItem(atPath: path)
        try LevelDBEngine(path: path).close()
    }

    @Test func aFolderIsOneStoresInAProcess() throws {
        let engine = try LevelDBEngine(path: path)
        try FileManager.default.createSymbolicLink(atPath: "\(folder.path)/link", withDestinationPath: path)
        for spelling in [path, "\(path)/", "\(folder.path)/./db", "\(folder.path)/link"] {
            let error = expectError(.locked) { _ = try LevelDBEngine(path: spelling) }
            #expect(error?.message.contains("this process") == true)
        }
        try engine.put(["a": "1"])
        try engine.close()
        #expect(try contents(of: "\(folder.path)/link") == ["a": "1"])
    }

    /// Before the first commit, too.
    @Test(arguments: [".log", "MANIFEST-"])
    func aReplacedFileIsNoticed(_ part: String) throws {
        let engine = try LevelDBEngine(path: path)
        let name = try #require(try files(path).keys.first { $0.contains(part) })
        let file = "\(path)/\(name)"
        try FileManager.default.copyItem(atPath: file, toPath: "\(file)-copy")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: "\(file)-copy", toPath: file)
        for _ in 0..<2 { expectError(.io) { try engine.put(["a": "1"]) } }
        try engine.close()
    }

    @Test func aCurrentThatNamesAnotherManifestIsNoticedAndACopyIsAccepted() throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["a": "1"])
        let current = URL(fileURLWithPath: "\(path)/CURRENT")
        let content = try Data(contentsOf: current)
        try content.write(to: current, options: .atomic)
        try engine.put(["a": "2"])
        try Data("MANIFEST-000001\n".utf8).write(to: current, options: .atomic)
        expectError(.io) { try engine.put(["a": "3"]) }
        try content.write(to: current, options: .atomic)
        try engine.put(["a": "4"])
        #expect(try engine.all() == ["a": "4"])
        try engine.close()
    }

    /// A failed open releases its lock.
    @Test func aFolderOfAnotherProgramsDatabaseIsRefusedAndLeftFree() throws {
        let engine = try LevelDBEngine(path: path)
        try engine.put(["mine": "1"])
        try engine.close()
        expectError(.notAStore) { _ = try LevelDBStore(path: path) }
        #expect(try contents(of: path) == ["mine": "1"])
    }
}
