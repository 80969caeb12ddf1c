internal import CLMDB
internal import Foundation
internal import TidelineStore

/// System calls whose names are hidden by Swift declarations where they are used.
enum SystemCalls {
    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 { Foundation.open(path, flags, mode) }

    /// Takes the exclusive lock of a file, for which it waits if another process has it.
    ///
    /// A process that is suspended does not release the lock, and a blocked system call would end neither in time nor
    /// with the task. So the lock is tried at intervals, more often the longer it takes, like the lock of SQLite.
    /// - Returns: `false` on a file system without such locks.
    /// - Throws: ``StoreError/Code/busy`` after `timeout`; ``StoreError/Code/cancelled``, if `isCancellable`.
    static func lock(
        _ descriptor: Int32, within timeout: Duration, isCancellable: Bool = true, at path: String
    ) throws(StoreError) -> Bool {
        if tideline_lmdb_flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        var number = errno
        let start = ContinuousClock.now
        while number == EWOULDBLOCK || number == EINTR {
            guard !isCancellable || !Task.isCancelled else {
                throw StoreError(.cancelled, "the task was cancelled; nothing was written")
            }
            let waited = start.duration(to: .now)
            guard waited < timeout else {
                throw StoreError(
                    .busy, "another process has locked the files for too long; it may be suspended. Try again",
                    path: path, engineCode: Int(number))
            }
            // A lock of a file that is waited for cannot end with a time limit or the task, so the thread tries again.
            usleep(waited < .milliseconds(5) ? 100 : waited < .milliseconds(250) ? 2_000 : 200)
            if tideline_lmdb_flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            number = errno
        }
        return false
    }

    static func unlock(_ descriptor: Int32) { _ = tideline_lmdb_flock(descriptor, LOCK_UN) }
}

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

    func release() { close(descriptor) }
}
