internal import Foundation
internal import Synchronization
internal import TidelineSupport

/// The folder in which a run has its databases. It is the run's alone, and what was made in it is removed at the end.
///
/// A file in it marks it as such a folder; only a folder with that mark is ever emptied of what was there before, and only of
/// what a run has made.
public final class BenchmarkFolder: Sendable {
    /// Where it is.
    public let path: String
    private let keepsFiles: Bool
    private let isMade: Bool
    private let state: Mutex<State>

    private struct State {
        /// The mark, locked as long as the run goes on.
        var lock: Int32
        var number = 0
    }

    /// Takes a folder for a run.
    ///
    /// - Parameters:
    ///   - path: A folder that is empty or does not exist; by default a new one among the temporary files.
    ///   - replacesEarlier: Whether what an earlier run has left there is removed first.
    ///   - keepsFiles: Whether the databases stay at the end.
    /// - Throws: ``BenchmarkError`` for a folder that has other files or is in use.
    public init(path: String? = nil, replacesEarlier: Bool = false, keepsFiles: Bool = false) throws {
        let path = path ?? FileManager.default.temporaryDirectory.path + "/tideline-bench-\(UUID().uuidString)"
        // Engines are told whole paths, whatever becomes of the current folder.
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        self.keepsFiles = keepsFiles
        isMade = try Self.make(self.path)
        do {
            state = Mutex(State(lock: try Self.take(self.path, replacesEarlier: replacesEarlier)))
        } catch {
            if isMade { rmdir(self.path) }
            throw error
        }
    }

    /// A new folder for a database.
    /// - Parameter name: What it is for; what a file's name should not have is left out.
    func makeDirectory(for name: String) throws -> String {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let word = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "=") ? $0 : "-" }.prefix(60))
        let directory = "\(path)/\(Self.databases)/\(number)-\(word)"
        // When the run has been ended from another thread, the folder around it is gone, and must not be made again.
        guard mkdir(directory, 0o755) == 0 else { throw Self.error(directory, "cannot be made", errno) }
        return directory
    }

    /// Removes a database's folder.
    func remove(_ directory: String) { try? FileManager.default.removeItem(atPath: directory) }

    /// Removes the folder of a database that was closed for good, unless the databases stay.
    func removeUnlessKept(_ directory: String) { if !keepsFiles { remove(directory) } }

    /// Removes everything that the run has made, unless it is kept. It may be called on any thread, while the run goes on, too,
    /// which then finds its files gone; and more than once.
    public func end() {
        state.withLock { state in
            guard state.lock >= 0 else { return }
            if !keepsFiles {
                Self.removeDatabases(in: path)
                unlink("\(path)/\(Self.mark)")
                if isMade { rmdir(path) }
            }
            close(state.lock)
            state.lock = -1
        }
    }

    deinit { end() }

    // MARK: Taking a folder

    /// The file that marks a folder as a run's.
    static let mark = "tideline-bench.lock"
    /// The folder with all databases.
    static let databases = "databases"
    /// What that folder is called while it is removed.
    private static let removed = "databases.removed"

    private static let markText = """
        This folder is a benchmark's: "tideline bench" has made everything in "\(databases)", and deletes it.

        """

    /// - Returns: Whether the folder did not exist.
    private static func make(_ path: String) throws -> Bool {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw BenchmarkError("\(path.debugDescription) is a file, not a folder.") }
            return false
        }
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw BenchmarkError("the folder \(path.debugDescription) cannot be made: \(error.reason)")
        }
        return true
    }

    /// Marks a folder, locks the mark, and makes the folder for databases.
    /// - Returns: The file that holds the lock.
    private static func take(_ path: String, replacesEarlier: Bool) throws -> Int32 {
        let others = try names(in: path).filter { ![mark, databases, removed].contains($0) }.sorted()
        let isMarked = access("\(path)/\(mark)", F_OK) == 0
        let isEmpty = try names(in: path).isEmpty
        guard isMarked || isEmpty else {
            throw BenchmarkError(
                "the folder \(path.debugDescription) is not empty, and no benchmark has made what is in it; it is left as "
                    + "it is. Name an empty folder, or one that does not exist.")
        }
        guard others.isEmpty else {
            throw BenchmarkError(
                "the folder \(path.debugDescription) has files that no benchmark has made (\(list(others))); it is left as "
                    + "it is. Name an empty folder, or one that does not exist.")
        }
        let lock = try lock(path)
        do {
            guard !isMarked || replacesEarlier else {
                throw BenchmarkError(
                    "the folder \(path.debugDescription) has the databases of an earlier run. With --force they are "
                        + "deleted.")
            }
            removeDatabases(in: path)
            guard mkdir("\(path)/\(databases)", 0o755) == 0 else {
                throw error("\(path)/\(databases)", "cannot be made", errno)
            }
        } catch {
            close(lock)
            throw error
        }
        return lock
    }

    /// - Throws: ``BenchmarkError`` when another run has the lock.
    private static func lock(_ path: String) throws -> Int32 {
        let file = open("\(path)/\(mark)", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { throw error(path, "cannot be written", errno) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw BenchmarkError("the folder \(path.debugDescription) is in use by another run.")
        }
        _ = markText.withCString { write(file, $0, strlen($0)) }
        return file
    }

    private static func names(in path: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw BenchmarkError("the folder \(path.debugDescription) cannot be read: \(error.reason)")
        }
    }

    /// The folder gets another name first: an engine that is still at work on another thread can then make no files in it.
    private static func removeDatabases(in path: String) {
        let removed = "\(path)/\(removed)"
        let manager = FileManager.default
        // What an earlier attempt has left.
        try? manager.removeItem(atPath: removed)
        rename("\(path)/\(databases)", removed)
        // A file that was opened under the old name may come into being meanwhile.
        for _ in 0..<10 where manager.fileExists(atPath: removed) { try? manager.removeItem(atPath: removed) }
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(3).map(\.debugDescription).joined(separator: ", ") + (names.count > 3 ? ", …" : "")
    }

    private static func error(_ path: String, _ what: String, _ code: Int32) -> BenchmarkError {
        BenchmarkError("\(path.debugDescription) \(what): \(String(cString: strerror(code))).")
    }
}
