internal import Foundation
internal import TidelineStore

extension Environment {
    /// Removes the store in a folder that this process does not have open, and the folder if it is empty afterwards.
    ///
    /// The caller holds the folder's lock, so that no store opens it in the meantime.
    ///
    /// - Parameter removesFolder: Whether the folder is removed, too.
    static func destroy(_ folder: Folder, removesFolder: Bool = true) throws(StoreError) {
        let isWhole = try exists(folder.dataPath)
        try isWhole ? requireStore(in: folder) : requireNoOtherFiles(folder.path)
        let lock = try LockFile(lockingOutOf: folder)
        defer { lock?.release() }
        // The data file goes first: without it there is no store, so leftovers do no harm if the process is killed
        // here.
        let draft = "\(workshop(in: folder))/data.mdb"
        var isChanged = false
        let paths = [
            folder.dataPath, draft, workshop(in: folder), folder.markerPath, folder.signalPath, folder.lockPath,
        ]
        for path in paths where try exists(path) {
            try remove(path)
            isChanged = true
        }
        if isChanged, removesFolder { rmdir(folder.path) }
    }

    /// Throws an error if the folder contains another program's files.
    ///
    /// A damaged file cannot be attributed to a program. It is treated as the store's, because a store is expected
    /// here.
    private static func requireStore(in folder: Folder) throws(StoreError) {
        // An empty file is the rest of a truncated one and belongs to no program.
        guard try DataFile(folder.dataPath).size() > 0 else { return }
        do throws(StoreError) {
            let environment = try openFiles(folder, LMDBOptions())
            defer { environment.close(isFolderLocked: true) }
            try environment.verify()
        } catch {
            guard error.code == .corrupt else {
                var error = error
                error.path = folder.path
                if error.code == .notAStore { error.message += "; nothing was removed" }
                throw error
            }
        }
    }

    private static func remove(_ path: String) throws(StoreError) {
        guard Foundation.remove(path) == 0 || errno == ENOENT else {
            throw .system(errno, path: path, doing: "the file could not be removed")
        }
    }
}
