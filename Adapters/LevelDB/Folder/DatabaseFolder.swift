internal import Foundation
internal import TidelineStore

/// The folder of a database, locked from its opening to ``release()``.
final class DatabaseFolder: Sendable {
    let path: String
    private let lock: FolderLock
    /// What of an unfinished creation to remove: all that was not there before, and the folder if it was not.
    private let before: Set<String>
    private let existed: Bool
    /// Whether there is no database in it yet.
    let isNew: Bool

    /// Locks the folder at `path`, and makes it if that is asked for.
    init(_ path: String, createsIfMissing: Bool) throws(StoreError) {
        let path = try Self.absolute(path)
        existed = try Self.requireFolder(path, createsIfMissing: createsIfMissing)
        self.path = path
        do throws(StoreError) {
            // Nothing is made in a folder of another program, not even a lock.
            before = Set(try FolderCheck.names(in: path))
            guard try !Self.isNew(before, path) || createsIfMissing else {
                throw StoreError(.io, "there is no store in the folder, and none was to be created", path: path)
            }
            lock = try FolderLock(path)
        } catch {
            if !existed { rmdir(path) }
            throw error
        }
        do throws(StoreError) {
            // Another process may have made one before the lock was had.
            isNew = try Self.isNew(Set(FolderCheck.names(in: path)), path)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Gives the lock back.
    func release() { lock.release() }

    /// Takes the lock again after LevelDB closed the folder.
    func lockAgain() throws(StoreError) { try lock.take() }

    /// Removes what an opening that failed has made, if it was to make the database; gives the lock back.
    func abandon() {
        if isNew {
            for name in (try? FolderCheck.names(in: path)) ?? [] where !before.contains(name) {
                unlink("\(path)/\(name)")
            }
            if !existed { rmdir(path) }
        }
        release()
    }

    // MARK: Checks

    /// The path from the root on.
    static func absolute(_ path: String) throws(StoreError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.io, "the path is empty or has a NUL in it", path: path)
        }
        // A relative path would change its meaning with the current folder.
        return path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    /// Makes sure that there is a folder. Returns whether there was one before.
    private static func requireFolder(_ path: String, createsIfMissing: Bool) throws(StoreError) -> Bool {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw StoreError(.io, "the path is a file, not a folder", path: path) }
            return true
        }
        guard createsIfMissing else {
            throw StoreError(.io, "the folder does not exist, and was not to be created", path: path)
        }
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            let number = errno
            let reason = number == ENOENT ? "its parent folder does not exist" : "the folder cannot be created"
            throw .system(number, path: path, doing: reason)
        }
        return false
    }

    /// Whether a folder with these names has no database yet, so that one may be made in it.
    ///
    /// A process that was killed while it made one may have left a lock, a report, and the first manifest. LevelDB would
    /// begin an empty database in any folder without `CURRENT`, over the tables and logs there are.
    private static func isNew(_ names: Set<String>, _ path: String) throws(StoreError) -> Bool {
        let files = Set(names.map { FileName($0) })
        if files.contains(.current) { return false }
        let unfinished: Set<FileName?> = [.lock, .report, .manifest(1), .temporary(1)]
        if files.isSubset(of: unfinished) { return true }
        guard files.contains(where: { $0.map { !unfinished.contains($0) } ?? false }) else {
            throw StoreError(
                .corrupt, "the folder holds other files: it is not a store's; name another one", path: path)
        }
        throw .damaged("\(path)/CURRENT", "the file that names the manifest is missing")
    }
}
