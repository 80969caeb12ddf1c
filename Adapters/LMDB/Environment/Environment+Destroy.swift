internal import Foundation
internal import TidelineStore

extension Environment {
    /// Removes the store in a folder that this process does not have open, and the folder when it is empty then.
    ///
    /// The folder's lock is held, so that no store opens it meanwhile.
    static func destroy(_ folder: Folder) throws(StoreError) {
        let isWhole = try exists(folder.dataPath)
        try isWhole ? requireStore(in: folder) : requireNoOtherFiles(folder.path)
        let lock = try LockFile(lockingOutOf: folder)
        defer { lock?.release() }
        // Without its data there is no store, so what is left when the process is killed now is in nobody's way.
        let draft = "\(workshop(in: folder))/data.mdb"
        var isChanged = false
        for path in [folder.dataPath, draft, workshop(in: folder), folder.lockPath] where try exists(path) {
            try remove(path)
            isChanged = true
        }
        if isChanged { rmdir(folder.path) }
    }

    /// Refuses another program's files.
    ///
    /// Of a damaged file nobody can tell whose it is: it is taken to be the store's, as it is where one is looked for.
    private static func requireStore(in folder: Folder) throws(StoreError) {
        guard try FileHeads.areBegun(in: try DataFile(folder.dataPath)) else {
            throw StoreError(
                .corrupt, "the folder holds other files: it is not a store's, and nothing was removed",
                path: folder.path)
        }
        do throws(StoreError) {
            let environment = try openFiles(folder, LMDBOptions())
            defer { environment.close() }
            try environment.verify()
        } catch {
            guard error.code == .corrupt, !error.isForeign else {
                var error = error
                error.path = folder.path
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
