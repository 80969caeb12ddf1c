internal import CLevelDB
internal import Foundation
internal import Synchronization
internal import TidelineStore

/// An exclusive lock on a folder, against other processes and other stores of this process.
///
/// LevelDB takes the same lock, on the file `LOCK`, but only while it has the folder open. This lock also covers the
/// checks before that. The operating system releases it when the process ends in any way, but also when the process
/// closes any descriptor of the file, as LevelDB does when it closes the folder, and locks of one process do not
/// exclude each other. Therefore the descriptor stays open, locked files are registered so that none is opened twice,
/// and the folder itself has another lock, which keeps other stores out until ``release()``, also while LevelDB is
/// closed.
struct FolderLock: Sendable {
    private static let held = Mutex<Set<FileIdentity>>([])

    private let folder: String
    private let identity: FileIdentity
    private let descriptor: Int32
    private let folderDescriptor: Int32
    private let lockPath: String

    /// Locks an existing folder, without changing anything in it except `LOCK`.
    ///
    /// - Throws: ``StoreError/Code/locked`` if another store or process has the folder open.
    init(_ folder: String) throws(StoreError) {
        self.folder = folder
        lockPath = "\(folder)/LOCK"
        (descriptor, identity, folderDescriptor) = try Self.held.withLock { held throws(StoreError) in
            if let identity = FileIdentity(at: "\(folder)/LOCK"), held.contains(identity) {
                throw StoreError(
                    .locked, "the folder is already open in a store of this process; use that store, or close it first",
                    path: folder)
            }
            let folderDescriptor = try Self.lockFolder(folder)
            do throws(StoreError) {
                let (descriptor, identity) = try Self.lockFile(in: folder)
                held.insert(identity)
                return (descriptor, identity, folderDescriptor)
            } catch {
                Self.unlock(folderDescriptor)
                throw error
            }
        }
    }

    /// Locks the folder itself. On a file system without such locks, the folder is only opened.
    private static func lockFolder(_ folder: String) throws(StoreError) -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(errno, path: folder, doing: "the folder cannot be locked") }
        let number = tideline_flock(descriptor, LOCK_EX | LOCK_NB)
        guard number == EWOULDBLOCK else { return descriptor }
        close(descriptor)
        throw openElsewhere(folder, number)
    }

    private static func lockFile(in folder: String) throws(StoreError) -> (descriptor: Int32, identity: FileIdentity) {
        var status = stat()
        let descriptor = tideline_open_lock("\(folder)/LOCK")
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw .system(errno, path: folder, doing: "the folder cannot be locked")
        }
        do throws(StoreError) {
            try lock(descriptor, folder)
        } catch {
            close(descriptor)
            throw error
        }
        return (descriptor, FileIdentity(status))
    }

    private static func unlock(_ folderDescriptor: Int32) {
        // A process that is being started has a copy of the descriptor, so closing it may not release the lock.
        _ = tideline_flock(folderDescriptor, LOCK_UN)
        close(folderDescriptor)
    }

    /// Returns whether the locked file is still at its path.
    var isInPlace: Bool { FileIdentity(at: lockPath) == identity }

    /// Takes the lock of the file again; it is lost when LevelDB closes the folder.
    func take() throws(StoreError) {
        try Self.lock(descriptor, folder)
        guard isInPlace else { throw .filesMoved(path: folder) }
    }

    /// Releases the lock, after LevelDB has closed the folder. The lock must not be used afterwards.
    func release() {
        Self.held.withLock { held in
            held.remove(identity)
            close(descriptor)
            Self.unlock(folderDescriptor)
        }
    }

    private static func lock(_ descriptor: Int32, _ folder: String) throws(StoreError) {
        let number = tideline_lock(descriptor)
        switch number {
        case 0: return
        case EAGAIN, EACCES: throw openElsewhere(folder, number)
        default: throw .system(number, path: folder, doing: "the folder cannot be locked")
        }
    }

    private static func openElsewhere(_ folder: String, _ number: Int32) -> StoreError {
        StoreError(
            .locked, "the folder is open in another process; close the store there", path: folder,
            engineCode: Int(number))
    }
}

/// The identity of a file, unique while the file is open.
struct FileIdentity: Hashable {
    private let device: dev_t
    private let file: ino_t

    init(_ status: stat) {
        device = status.st_dev
        file = status.st_ino
    }

    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
