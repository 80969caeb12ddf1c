#if Commands
import Foundation
import Testing

@testable import TidelineBenchmark

@Suite("The directory of a run")
final class BenchmarkFolderTests {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-folder-\(UUID().uuidString)")
    var path: String { root.path }

    deinit { try? FileManager.default.removeItem(at: root) }

    private func names() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
    private func write(_ name: String) throws {
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: root.appendingPathComponent(name))
    }

    private func refusal(_ path: String, force: Bool = false) -> String {
        do {
            _ = try BenchmarkFolder(path: path, replacesEarlier: force)
            return ""
        } catch { return "\(error)" }
    }

    @Test("A new directory is removed at the end, and an existing one is emptied")
    func ends() throws {
        let new = try BenchmarkFolder(path: path + "/inner")
        _ = try new.makeDirectory(for: "a/../b,durability=full")
        new.end()
        #expect(names() == [])
        #expect(FileManager.default.fileExists(atPath: path))
        let existing = try BenchmarkFolder(path: path)
        let directory = try existing.makeDirectory(for: "a/../b,durability=full")
        #expect(directory == "\(existing.path)/databases/1-a----b-durability=full")
        existing.end()
        existing.end()
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(names() == [])
    }

    @Test("A directory with other files is rejected and unchanged, also with --force", arguments: [false, true])
    func foreign(force: Bool) throws {
        try write("letter.txt")
        #expect(refusal(path, force: force).contains("contains files that no benchmark created"))
        #expect(names() == ["letter.txt"])
    }

    @Test("An earlier run beside other files is not deleted, also with --force")
    func mixed() throws {
        let kept = try BenchmarkFolder(path: path, keepsFiles: true)
        _ = try kept.makeDirectory(for: "a")
        kept.end()
        try write("letter.txt")
        #expect(refusal(path, force: true).contains("contains files that no benchmark created (\"letter.txt\")"))
        #expect(names() == ["databases", "letter.txt", "tideline-bench.lock"])
        #expect(FileManager.default.fileExists(atPath: path + "/databases/1-a"))
    }

    @Test("Only --force deletes an earlier run")
    func force() throws {
        let kept = try BenchmarkFolder(path: path, keepsFiles: true)
        _ = try kept.makeDirectory(for: "a")
        kept.end()
        #expect(refusal(path).contains("Use --force to delete them."))
        #expect(FileManager.default.fileExists(atPath: path + "/databases/1-a"))
        let next = try BenchmarkFolder(path: path, replacesEarlier: true)
        #expect(!FileManager.default.fileExists(atPath: path + "/databases/1-a"))
        next.end()
        #expect(names() == [])
    }

    @Test("A link in place of the databases is removed, but not its target")
    func link() throws {
        let mine = root.appendingPathComponent("mine")
        let folder = root.appendingPathComponent("bench")
        try FileManager.default.createDirectory(at: mine, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: mine.appendingPathComponent("letter.txt"))
        try BenchmarkFolder(path: folder.path, keepsFiles: true).end()
        try FileManager.default.removeItem(at: folder.appendingPathComponent("databases"))
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("databases"), withDestinationURL: mine)
        try BenchmarkFolder(path: folder.path, replacesEarlier: true).end()
        #expect(FileManager.default.fileExists(atPath: mine.appendingPathComponent("letter.txt").path))
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
        #expect(names() == ["file"])
    }
}
#endif
