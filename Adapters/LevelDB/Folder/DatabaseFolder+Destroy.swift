internal import Foundation
internal import TidelineStore

extension DatabaseFolder {
    /// Returns whether the folder at a path contains any part of a database, even if incomplete or damaged.
    ///
    /// - Throws: ``StoreError/Code/notAStore`` for a folder with only other files, ``StoreError/Code/io`` for a file.
    static func hasDatabase(at path: String) throws(StoreError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
        guard isFolder.boolValue else { throw StoreError(.io, "the path is a file, not a folder", path: path) }
        let files = files(try FolderCheck.names(in: path))
        if files.contains(where: { $0?.beginsDatabase == true }) { return true }
        // A log alone may belong to any program; an incomplete database has no data files.
        guard files.allSatisfy({ $0?.holdsData == false }) else {
            throw StoreError(
                .notAStore, "the folder contains other files and is not a store; nothing was removed", path: path)
        }
        return files.contains(.lock)
    }

    /// Removes the files of a database that is not open, and the folder if it contains nothing else.
    ///
    /// - Throws: ``StoreError/Code/locked`` if the database is open.
    static func destroy(_ path: String) throws(StoreError) {
        let lock = try FolderLock(path)
        defer { lock.release() }
        let names = try FolderCheck.names(in: path)
        // CURRENT goes first: without it, the rest cannot be opened as a database. The manifest goes last among the
        // data files: with it, the rest can be destroyed again.
        try remove(names.filter { FileName($0) == .current }, in: path)
        try remove(names.filter { FileName($0)?.beginsDatabase == false && FileName($0) != .lock }, in: path)
        try remove(names.filter { FileName($0)?.beginsDatabase == true }, in: path)
        if names.contains(LostFiles.folderName) { try LostFiles(folder: path).remove() }
        // Last, because it locks out others.
        try remove(["LOCK"], in: path)
        rmdir(path)
    }

    private static func remove(_ names: [String], in folder: String) throws(StoreError) {
        for name in names where unlink("\(folder)/\(name)") != 0 && errno != ENOENT {
            throw .system(errno, path: "\(folder)/\(name)", doing: "the file cannot be removed")
        }
    }
}
