internal import CLevelDB
internal import Foundation
internal import Synchronization
internal import TidelineStore

/// An exclusive lock on a folder, against other processes and other stores of this process.
///
/// LevelDB takes the same lock, on the file `LOCK`, but only while it has the folder open. This lock also covers the
/// checks before that and the time between closing and reopening. The operating system releases it when the process
/// ends in any way, but also when the process closes any descriptor of the file, and locks of one process do not
/// exclude each other. Therefore the descriptor stays open, and locked files are registered so that none is opened
/// twice.
struct FolderLock: Sendable {
    /// The identity of a file, unique while the file is open.
    private struct Identity: Hashable {
        var device: dev_t
        var file: ino_t

        init(_ status: stat) {
            device = status.st_dev
            file = status.st_ino
        }
    }

    private static let held = Mutex<Set<Identity>>([])

    private let folder: String
    private let identity: Identity
    private let descriptor: Int32
    private let lockPath: String

    /// Locks an existing folder, without changing anything in it except `LOCK`.
    ///
    /// - Throws: ``StoreError/Code/locked`` if another store or process has the folder open.
    init(_ folder: String) throws(StoreError) {
        self.folder = folder
        lockPath = "\(folder)/LOCK"
        (descriptor, identity) = try Self.held.withLock { held throws(StoreError) in
            var status = stat()
            if stat("\(folder)/LOCK", &status) == 0, held.contains(Identity(status)) {
                throw StoreError(
                    .locked, "the folder is already open in a store of this process; use that store, or close it first",
                    path: folder)
            }
            let descriptor = tideline_open_lock("\(folder)/LOCK")
            guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
                throw .system(errno, path: folder, doing: "the folder cannot be locked")
            }
            do throws(StoreError) {
                try Self.lock(descriptor, folder)
            } catch {
                close(descriptor)
                throw error
            }
            held.insert(Identity(status))
            return (descriptor, Identity(status))
        }
    }

    /// Returns whether the locked file is still at its path.
    var isInPlace: Bool {
        var status = stat()
        return stat(lockPath, &status) == 0 && Identity(status) == identity
    }

    /// Takes the lock again; it is lost when LevelDB closes the folder.
    func take() throws(StoreError) { try Self.lock(descriptor, folder) }

    /// Releases the lock, after LevelDB has closed the folder. The lock must not be used afterwards.
    func release() {
        Self.held.withLock { held in
            held.remove(identity)
            close(descriptor)
        }
    }

    private static func lock(_ descriptor: Int32, _ folder: String) throws(StoreError) {
        let number = tideline_lock(descriptor)
        switch number {
        case 0: return
        case EAGAIN, EACCES:
            throw StoreError(
                .locked, "the folder is open in another process; close the store there", path: folder,
                engineCode: Int(number))
        default: throw .system(number, path: folder, doing: "the folder cannot be locked")
        }
    }
}
