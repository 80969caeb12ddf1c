#if Commands
internal import Foundation
internal import Synchronization
internal import TidelineSupport

/// The directory that holds a run's databases, removed when the run ends.
///
/// A lock file marks the directory. Only a marked directory is ever cleared, and only of files that a run created.
package final class BenchmarkFolder: Sendable {
    /// The path of the directory.
    package let path: String
    private let keepsFiles: Bool
    private let isCreated: Bool
    private let state: Mutex<State>

    private struct State {
        /// The descriptor of the lock file, which stays locked during the run.
        var lock: Int32
        var number = 0
    }

    /// Claims a directory for a run.
    ///
    /// - Parameters:
    ///   - path: A directory that is empty or does not exist; by default a new temporary directory.
    ///   - replacesEarlier: Whether to delete the databases of an earlier run.
    ///   - keepsFiles: Whether to keep the databases when the run ends.
    /// - Throws: ``BenchmarkError`` if the directory contains other files or is in use.
    package init(path: String? = nil, replacesEarlier: Bool = false, keepsFiles: Bool = false) throws {
        let path = path ?? FileManager.default.temporaryDirectory.path + "/tideline-bench-\(UUID().uuidString)"
        // An absolute path stays valid if the current directory changes.
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        self.keepsFiles = keepsFiles
        isCreated = try Self.create(self.path)
        do {
            state = Mutex(State(lock: try Self.claim(self.path, replacesEarlier: replacesEarlier)))
        } catch {
            if isCreated { rmdir(self.path) }
            throw error
        }
    }

    /// Creates a directory for a database.
    /// - Parameter name: The purpose, which becomes part of the name; invalid characters are replaced.
    func makeDirectory(for name: String) throws -> String {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let word = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "=") ? $0 : "-" }.prefix(60))
        let directory = "\(path)/\(Self.databases)/\(number)-\(word)"
        // After `end()` on another thread the parent is gone; do not create it again.
        guard mkdir(directory, 0o755) == 0 else { throw Self.error(directory, "cannot be created", errno) }
        return directory
    }

    /// Removes the directory of a database.
    func remove(_ directory: String) { try? FileManager.default.removeItem(atPath: directory) }

    /// Removes the directory of a closed database, unless the databases are kept.
    func removeUnlessKept(_ directory: String) { if !keepsFiles { remove(directory) } }

    /// Removes all files of the run, unless they are kept. Safe to call repeatedly, from any thread, and during the
    /// run.
    package func end() {
        state.withLock { state in
            guard state.lock >= 0 else { return }
            if !keepsFiles {
                Self.removeDatabases(in: path)
                unlink("\(path)/\(Self.mark)")
                if isCreated { rmdir(path) }
            }
            Self.unlock(state.lock)
            state.lock = -1
        }
    }

    deinit { end() }

    // MARK: Claiming a directory

    /// The name of the lock file.
    static let mark = "tideline-bench.lock"
    /// The name of the directory that contains the databases.
    static let databases = "databases"
    /// The name of that directory while it is deleted.
    private static let removed = "databases.removed"

    private static let markText = """
        "tideline bench" created the directory "\(databases)" beside this file, and deletes it when the benchmark ends.

        """

    /// - Returns: Whether the directory was created.
    private static func create(_ path: String) throws -> Bool {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else {
                throw BenchmarkError("\(path.debugDescription) is a file, not a directory.")
            }
            return false
        }
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw BenchmarkError("the directory \(path.debugDescription) cannot be created: \(error.reason)")
        }
        return true
    }

    /// Creates and locks the lock file, then creates the directory for databases.
    /// - Returns: The descriptor of the lock file.
    private static func claim(_ path: String, replacesEarlier: Bool) throws -> Int32 {
        let others = try names(in: path).filter { ![mark, databases, removed].contains($0) }.sorted()
        let isMarked = access("\(path)/\(mark)", F_OK) == 0
        guard others.isEmpty, try isMarked || names(in: path).isEmpty else {
            throw BenchmarkError(
                "the directory \(path.debugDescription) contains files that no benchmark created"
                    + "\(others.isEmpty ? "" : " (\(list(others)))"); nothing was changed. "
                    + "Use a directory that is empty or does not exist.")
        }
        let lock = try lock(path)
        do {
            guard !isMarked || replacesEarlier else {
                throw BenchmarkError(
                    "the directory \(path.debugDescription) contains the databases of an earlier run. "
                        + "Use --force to delete them.")
            }
            removeDatabases(in: path)
            guard mkdir("\(path)/\(databases)", 0o755) == 0 else {
                throw error("\(path)/\(databases)", "cannot be created", errno)
            }
        } catch {
            unlock(lock)
            throw error
        }
        return lock
    }

    private static func unlock(_ lock: Int32) {
        // A process that is being started has a copy of the descriptor, so closing it may not release the lock.
        flock(lock, LOCK_UN)
        close(lock)
    }

    /// - Throws: ``BenchmarkError`` if another run holds the lock.
    private static func lock(_ path: String) throws -> Int32 {
        let file = open("\(path)/\(mark)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { throw error(path, "cannot be written", errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw BenchmarkError("the directory \(path.debugDescription) is in use by another run.")
        }
        _ = markText.withCString { write(file, $0, strlen($0)) }
        return file
    }

    private static func names(in path: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw BenchmarkError("the directory \(path.debugDescription) cannot be read: \(error.reason)")
        }
    }

    /// Renames the directory before deleting it, so that an engine on another thread can no longer create files in it.
    private static func removeDatabases(in path: String) {
        let removed = "\(path)/\(removed)"
        let manager = FileManager.default
        // An earlier attempt may have failed.
        try? manager.removeItem(atPath: removed)
        rename("\(path)/\(databases)", removed)
        // A file opened under the old name may still appear.
        for _ in 0..<10 where manager.fileExists(atPath: removed) { try? manager.removeItem(atPath: removed) }
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(3).map(\.debugDescription).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }

    private static func error(_ path: String, _ problem: String, _ code: Int32) -> BenchmarkError {
        BenchmarkError("\(path.debugDescription) \(problem): \(String(cString: strerror(code))).")
    }
}
#endif
