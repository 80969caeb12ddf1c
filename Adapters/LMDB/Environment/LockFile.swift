internal import CLMDB
internal import Foundation
internal import TidelineStore

/// The file `lock.mdb`, on which every process with the environment open holds a shared lock, locked for this one alone.
struct LockFile {
    private let descriptor: Int32

    /// Locks the other processes out; nil when there is no such file, and so nobody has the environment open.
    ///
    /// This process must not have it open: closing any handle of the file lets go of its locks.
    /// - Throws: ``StoreError/Code/locked``.
    init?(lockingOutOf folder: Folder) throws(StoreError) {
        descriptor = Glue.open(folder.lockPath, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw .opening(errno, folder.lockPath) }
            return nil
        }
        let error = tideline_lmdb_lock_out(descriptor)
        guard error != 0 else { return }
        close(descriptor)
        guard error == EAGAIN || error == EACCES else {
            throw .system(error, path: folder.lockPath, doing: "the file could not be locked")
        }
        throw StoreError(
            .locked, "another process has the store open: close it there first", path: folder.path,
            engineCode: Int(error))
    }

    /// Lets the others in.
    func release() { close(descriptor) }
}
