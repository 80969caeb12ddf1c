internal import CLMDB
internal import Foundation
internal import TidelineStore

/// An exclusive lock on the file `lock.mdb`, on which every process with the environment open holds a shared lock.
struct LockFile {
    private let descriptor: Int32

    /// Locks out other processes; returns `nil` if the file does not exist, so that no process has the environment
    /// open.
    ///
    /// This process must not have it open: closing any handle of the file releases the locks of the process.
    ///
    /// - Throws: ``StoreError/Code/locked`` if another process has the environment open.
    init?(lockingOutOf folder: Folder) throws(StoreError) {
        descriptor = SystemCalls.open(folder.lockPath, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else {
                throw .system(errno, path: folder.lockPath, doing: "the file could not be opened")
            }
            return nil
        }
        let error = tideline_lmdb_lock_out(descriptor)
        guard error != 0 else { return }
        close(descriptor)
        guard error == EAGAIN || error == EACCES else {
            throw .system(error, path: folder.lockPath, doing: "the file could not be locked")
        }
        throw StoreError(
            .locked, "the store is open in another process; close it there first", path: folder.path,
            engineCode: Int(error))
    }

    /// Releases the lock.
    func release() { close(descriptor) }
}
