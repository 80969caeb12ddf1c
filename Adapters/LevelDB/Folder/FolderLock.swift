internal import CLevelDB
internal import Foundation
internal import Synchronization
internal import TidelineStore

/// A folder that no other process and no other store of this one has open.
///
/// LevelDB takes the same lock, of the file `LOCK`, but only while it has the folder open; this one covers the checks
/// before and the time between closing and opening again. The operating system drops it when the process ends, however
/// it ends, but also when the process closes any descriptor of the file; and locks of one process do not exclude each
/// other. Hence this one stays open, and the files that are locked are listed: none of them is opened twice.
struct FolderLock: Sendable {
    /// A file is known by what no other has while it is open.
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

    /// Locks a folder that exists, without changing anything in it but `LOCK`.
    ///
    /// - Throws: ``StoreError/Code/locked``.
    init(_ folder: String) throws(StoreError) {
        self.folder = folder
        (descriptor, identity) = try Self.held.withLock { held throws(StoreError) in
            var status = stat()
            if stat("\(folder)/LOCK", &status) == 0, held.contains(Identity(status)) {
                throw StoreError(
                    .locked, "a store of this process has the folder open already; use that one, or close it first",
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

    /// Takes the lock again; it was lost if LevelDB closed the folder.
    func take() throws(StoreError) { try Self.lock(descriptor, folder) }

    /// Gives the lock back, after LevelDB closed the folder. It must not be used afterwards.
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
                .locked, "another process has the folder open; close the store there", path: folder,
                engineCode: Int(number))
        default: throw .system(number, path: folder, doing: "the folder cannot be locked")
        }
    }
}
