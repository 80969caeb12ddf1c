internal import Foundation
internal import TidelineStore

extension DatabaseFolder {
    /// Whether there is anything of a database in the folder at a path, be it an unfinished or a damaged one.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` for a folder with other files only, ``StoreError/Code/io`` for a file.
    static func hasDatabase(at path: String) throws(StoreError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
        guard isFolder.boolValue else { throw StoreError(.io, "the path is a file, not a folder", path: path) }
        let names = try FolderCheck.names(in: path)
        let files = names.map { FileName($0) }
        if files.contains(where: { $0?.beginsDatabase == true }) { return true }
        // A log by itself may be anybody's; what is left of an unfinished database has no data.
        guard files.allSatisfy({ $0?.holdsData == false }) else {
            throw StoreError(
                .corrupt, "the folder holds other files: it is not a store's, and nothing was removed", path: path)
        }
        return files.contains(.lock)
    }

    /// Removes the files of a database that nobody has open, and the folder when nothing else is in it.
    /// - Throws: ``StoreError/Code/locked``.
    static func destroy(_ path: String) throws(StoreError) {
        let lock = try FolderLock(path)
        defer { lock.release() }
        let names = try FolderCheck.names(in: path)
        // Without CURRENT what is left is no database that could be opened, and with a manifest it can be destroyed again.
        try remove(names.filter { FileName($0) == .current }, in: path)
        try remove(names.filter { FileName($0)?.beginsDatabase == false && FileName($0) != .lock }, in: path)
        try remove(names.filter { FileName($0)?.beginsDatabase == true }, in: path)
        if names.contains(LostFiles.folderName) { try LostFiles(folder: path).remove() }
        // Last, as it keeps others out.
        try remove(["LOCK"], in: path)
        rmdir(path)
    }

    private static func remove(_ names: [String], in folder: String) throws(StoreError) {
        for name in names where unlink("\(folder)/\(name)") != 0 && errno != ENOENT {
            throw .system(errno, path: "\(folder)/\(name)", doing: "the file cannot be removed")
        }
    }
}
