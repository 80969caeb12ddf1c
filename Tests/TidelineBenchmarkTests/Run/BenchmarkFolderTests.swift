import Foundation
import Testing

@testable import TidelineBenchmark

@Suite("The folder of a run")
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

    @Test("One that did not exist is gone at the end; one that was empty is empty again")
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

    @Test("A folder with files of others is refused and left as it is, with --force, too", arguments: [false, true])
    func foreign(force: Bool) throws {
        try write("letter.txt")
        #expect(refusal(path, force: force).contains("is not empty, and no benchmark has made what is in it"))
        #expect(names() == ["letter.txt"])
    }

    @Test("Files of others beside those of an earlier run keep it from being deleted, with --force, too")
    func mixed() throws {
        let kept = try BenchmarkFolder(path: path, keepsFiles: true)
        _ = try kept.makeDirectory(for: "a")
        kept.end()
        try write("letter.txt")
        #expect(refusal(path, force: true).contains("has files that no benchmark has made (\"letter.txt\")"))
        #expect(names() == ["databases", "letter.txt", "tideline-bench.lock"])
        #expect(FileManager.default.fileExists(atPath: path + "/databases/1-a"))
    }

    @Test("What an earlier run has left is deleted with --force only")
    func force() throws {
        let kept = try BenchmarkFolder(path: path, keepsFiles: true)
        _ = try kept.makeDirectory(for: "a")
        kept.end()
        #expect(refusal(path).contains("With --force they are deleted."))
        #expect(FileManager.default.fileExists(atPath: path + "/databases/1-a"))
        let next = try BenchmarkFolder(path: path, replacesEarlier: true)
        #expect(!FileManager.default.fileExists(atPath: path + "/databases/1-a"))
        next.end()
        #expect(names() == [])
    }

    @Test("A link in the place of the databases is removed, and what it leads to stays")
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

    @Test("A folder that another run is using is refused, with --force, too", arguments: [false, true])
    func inUse(force: Bool) throws {
        let first = try BenchmarkFolder(path: path)
        #expect(refusal(path, force: force).contains("is in use by another run"))
        _ = try first.makeDirectory(for: "a")
        first.end()
        #expect(refusal(path) == "")
    }

    @Test("A file is no folder, and one that cannot be made is told")
    func impossible() throws {
        try write("file")
        #expect(refusal(path + "/file").contains("is a file, not a folder"))
        #expect(refusal(path + "/file/inner").contains("cannot be made"))
        #expect(names() == ["file"])
    }
}
