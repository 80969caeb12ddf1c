internal import Foundation
internal import TidelineStore

/// The folder of a database, locked from the time it is opened until ``release()``.
final class DatabaseFolder: Sendable {
    let path: String
    private let lock: FolderLock
    private let changes: LockedValue<FolderChanges>
    /// `nil` if they could not be determined yet.
    private let openFiles = LockedValue<OpenFiles?>(nil)
    /// The files that existed before. An interrupted creation removes all others, and the folder if it did not exist.
    private let before: Set<String>
    private let existed: Bool
    /// Whether the folder contains no database yet.
    let isNew: Bool

    /// Locks the folder at `path`, which is created if `createsIfMissing` is `true`.
    init(_ path: String, createsIfMissing: Bool) throws(StoreError) {
        let path = try path.absolutePath()
        existed = try Self.requireFolder(path, createsIfMissing: createsIfMissing)
        self.path = path
        changes = LockedValue(FolderChanges(path))
        do throws(StoreError) {
            // Nothing is created in a folder of another program, not even a lock.
            before = Set(try FolderCheck.names(in: path))
            guard try !Self.isNew(before, path) || createsIfMissing else {
                throw StoreError(
                    .io, "the folder contains no store, and the options do not allow creating one", path: path)
            }
            // Missing permission to read has another code than missing permission to create the lock.
            _ = try FileHandle.reading("\(path)/CURRENT")
            lock = try FolderLock(path)
        } catch {
            // A folder that another process has locked is that one's.
            if !existed, error.code != .locked { rmdir(path) }
            throw error
        }
        do throws(StoreError) {
            // Another process may have created a database before the lock was taken.
            isNew = try Self.isNew(Set(FolderCheck.names(in: path)), path)
        } catch {
            lock.release()
            throw error
        }
    }

    func release() { lock.release() }

    /// Throws an error if the files are not at their paths anymore, before a commit is acknowledged. Tables are not
    /// checked: LevelDB replaces them at any time.
    func requireFiles() throws(StoreError) {
        try changes.withLock { changes throws(StoreError) in
            try changes.recheck { () throws(StoreError) in
                guard lock.isInPlace, try hasOpenFiles() else { throw .filesMoved(path: path) }
            }
        }
    }

    private func hasOpenFiles() throws(StoreError) -> Bool {
        try openFiles.withLock { files throws(StoreError) -> Bool in
            if files == nil { files = try OpenFiles(in: path) }
            return try files?.areInPlace() == true
        }
    }

    /// Notes the files of a database that LevelDB has just opened, so that it is noticed if they are replaced. If that
    /// fails, the next commit tries again.
    func noteOpenFiles() { openFiles.withLock { $0 = try? OpenFiles(in: path) } }

    /// Takes the lock again after LevelDB has closed the folder.
    func lockAgain() throws(StoreError) { try lock.take() }

    /// Removes the files created by a failed opening of a new database, and releases the lock.
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

    /// Returns the kinds of files with these names, with `nil` for those of other programs. Names that begin with a dot
    /// belong to the system, and are omitted.
    static func files(_ names: some Sequence<String>) -> Set<FileName?> {
        Set(names.filter { !$0.hasPrefix(".") }.map { FileName($0) })
    }

    /// Ensures that the folder exists. Returns whether it existed before.
    private static func requireFolder(_ path: String, createsIfMissing: Bool) throws(StoreError) -> Bool {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw StoreError(.io, "the path is a file, not a folder", path: path) }
            return true
        }
        guard createsIfMissing else {
            throw StoreError(.io, "the folder does not exist, and the options do not allow creating it", path: path)
        }
        guard mkdir(path, 0o755) == 0 else {
            let number = errno
            // Another process has just created it, and may not have locked it yet.
            if number == EEXIST { return true }
            let reason = number == ENOENT ? "its parent folder does not exist" : "the folder cannot be created"
            var error = StoreError.system(number, path: path, doing: reason)
            if number == EACCES || number == EPERM { error.code = .accessDenied(at: path) }
            throw error
        }
        return false
    }

    /// Returns whether a folder with these files contains no database yet, so that one can be created in it.
    ///
    /// A process that was killed while creating one may have left a lock, a report, and the first manifest. LevelDB
    /// would create an empty database in any folder without `CURRENT`, over existing tables and logs.
    private static func isNew(_ names: Set<String>, _ path: String) throws(StoreError) -> Bool {
        let files = files(names)
        if files.contains(.current) { return false }
        let unfinished: Set<FileName?> = [.lock, .report, .manifest(1), .temporary(1), .room]
        if files.isSubset(of: unfinished) { return true }
        guard files.contains(where: { $0.map { !unfinished.contains($0) } ?? false }) else {
            throw StoreError(
                .notAStore, "the folder contains other files and is not a store; choose another folder", path: path)
        }
        try FolderCheck(folder: path).requireRecognizable()
        throw .damaged("\(path)/CURRENT", "the file that names the manifest is missing")
    }
}

/// The log and the manifest to which LevelDB appends. It replaces the log by others with greater numbers, and the
/// manifest, which `CURRENT` names, only when it opens the folder.
struct OpenFiles {
    private let folder: String
    private let manifestName: String
    private let manifest: OpenFile
    private var log: (number: UInt64, file: OpenFile)?
    /// The changes of `CURRENT`. Its content is compared, because it is not open, and a file system may give a file
    /// another identity while it is not open.
    private var currentChanges: FolderChanges

    private struct OpenFile {
        let path: String
        let identity: FileIdentity

        init?(_ path: String) {
            guard let identity = FileIdentity(at: path) else { return nil }
            self.path = path
            self.identity = identity
        }

        var isInPlace: Bool { FileIdentity(at: path) == identity }
    }

    /// Notes the files of an open database.
    init(in folder: String) throws(StoreError) {
        manifestName = try FileName.current(in: folder)
        guard let manifest = OpenFile("\(folder)/\(manifestName)") else { throw .filesMoved(path: folder) }
        self.folder = folder
        self.manifest = manifest
        currentChanges = FolderChanges("\(folder)/CURRENT")
        try noteNewestLog()
    }

    /// Returns whether the files, or a newer log, are in the folder.
    mutating func areInPlace() throws(StoreError) -> Bool {
        guard try isManifestInPlace() else { return false }
        // A list of a folder that changes at the same time may lack files, so it is read more than once.
        for _ in 0..<3 {
            if log?.file.isInPlace == true { return true }
            try noteNewestLog()
        }
        return log?.file.isInPlace == true
    }

    private mutating func isManifestInPlace() throws(StoreError) -> Bool {
        let folder = self.folder
        let name = manifestName
        try currentChanges.recheck { () throws(StoreError) in
            do throws(StoreError) {
                if access("\(folder)/CURRENT", F_OK) == 0, try FileName.current(in: folder) == name { return }
            } catch {
                guard error.code == .corrupt else { throw error }
            }
            throw .filesMoved(path: folder)
        }
        return manifest.isInPlace
    }

    /// A log that is known keeps its identity: LevelDB never creates a second one with the same number.
    private mutating func noteNewestLog() throws(StoreError) {
        for name in try FolderCheck.names(in: folder) {
            guard case .log(let number) = FileName(name), number > log?.number ?? 0,
                let file = OpenFile("\(folder)/\(name)")
            else { continue }
            log = (number: number, file: file)
        }
    }
}
