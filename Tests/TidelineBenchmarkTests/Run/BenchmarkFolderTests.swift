#if Commands
import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineBenchmark

@Suite("The directory of a run")
struct BenchmarkFolderTests {
    private let root: TemporaryFolder
    private var path: String { root.path }

    init() throws { root = try TemporaryFolder() }

    private func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }
    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }
    private func write(_ name: String) throws { try Data("mine".utf8).write(to: URL(filePath: "\(path)/\(name)")) }

    private func refusal(_ path: String, force: Bool = false) -> String {
        do {
            _ = try BenchmarkFolder(path: path, replacesEarlier: force)
            return ""
        } catch { return "\(error)" }
    }

    private func makeEarlierRun() throws {
        let kept = try BenchmarkFolder(path: path, keepsFiles: true)
        _ = try kept.makeDirectory(for: "a")
        kept.end()
    }

    @Test("A new directory is removed at the end, and an existing one is emptied")
    func ends() throws {
        let new = try BenchmarkFolder(path: path + "/outer/inner")
        _ = try new.makeDirectory(for: "a/../b,durability=full")
        new.end()
        #expect(try names(in: "outer") == [])
        let existing = try BenchmarkFolder(path: path + "/outer")
        let directory = try existing.makeDirectory(for: "a/../b,durability=full")
        #expect(directory == "\(existing.path)/databases/1-a----b-durability=full")
        existing.end()
        existing.end()
        #expect(try names(in: "outer") == [])
    }

    @Test("A directory with other files is rejected and unchanged, also with --force", arguments: [false, true])
    func foreign(force: Bool) throws {
        try write("letter.txt")
        #expect(refusal(path, force: force).contains("contains files that no benchmark created"))
        #expect(try names() == ["letter.txt"])
    }

    @Test("An earlier run beside other files is not deleted, also with --force")
    func mixed() throws {
        try makeEarlierRun()
        try write("letter.txt")
        #expect(refusal(path, force: true).contains("contains files that no benchmark created (\"letter.txt\")"))
        #expect(try names() == ["databases", "letter.txt", "tideline-bench.lock"])
        #expect(exists("databases/1-a"))
    }

    @Test("Only --force deletes an earlier run")
    func force() throws {
        try makeEarlierRun()
        #expect(refusal(path).contains("Use --force to delete them."))
        #expect(exists("databases/1-a"))
        let next = try BenchmarkFolder(path: path, replacesEarlier: true)
        #expect(!exists("databases/1-a"))
        next.end()
        #expect(try names() == [])
    }

    @Test("A link in place of the databases is removed, but not its target")
    func link() throws {
        try FileManager.default.createDirectory(atPath: "\(path)/mine", withIntermediateDirectories: true)
        try write("mine/letter.txt")
        try BenchmarkFolder(path: "\(path)/bench", keepsFiles: true).end()
        let databases = "\(path)/bench/databases"
        try FileManager.default.removeItem(atPath: databases)
        try FileManager.default.createSymbolicLink(atPath: databases, withDestinationPath: "\(path)/mine")
        try BenchmarkFolder(path: "\(path)/bench", replacesEarlier: true).end()
        #expect(exists("mine/letter.txt"))
    }

    @Test("A directory in use by another run is rejected, also with --force", arguments: [false, true])
    func inUse(force: Bool) throws {
        let first = try BenchmarkFolder(path: path)
        #expect(refusal(path, force: force).contains("is in use by another run"))
        _ = try first.makeDirectory(for: "a")
        first.end()
        #expect(refusal(path) == "")
    }

    @Test("A file and a directory that cannot be created are rejected")
    func impossible() throws {
        try write("file")
        #expect(refusal(path + "/file").contains("is a file, not a directory"))
        #expect(refusal(path + "/file/inner").contains("cannot be created"))
        #expect(try names() == ["file"])
    }
}
#endif
