internal import CLevelDB
internal import Foundation
internal import Synchronization
internal import TidelineStore

/// A folder that no other process and no other store of this one has open.
///
/// LevelDB takes the same lock, of the file `LOCK`, but only while it has the folder open; this one covers the checks
/// before and the time between closing and opening again. The operating system drops both when the process ends, however
/// it ends, and also when the process closes any descriptor of the file: hence this one stays open, and the folders of
/// this process are kept in a list, for locks of one process do not exclude each other.
final class FolderLock: Sendable {
    private struct Identity: Hashable {
        var device: Int
        var file: Int
    }

    private static let held = Mutex<Set<Identity>>([])

    private let path: String
    private let identity: Identity
    private let descriptor = Mutex<Int32>(-1)

    /// Locks a folder that exists, without changing anything in it but `LOCK`.
    ///
    /// - Throws: ``StoreError/Code/locked``.
    init(_ folder: String) throws(StoreError) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: folder),
            let device = attributes[.systemNumber] as? Int, let file = attributes[.systemFileNumber] as? Int
        else { throw StoreError(.io, "the folder cannot be read", path: folder) }
        path = folder
        identity = Identity(device: device, file: file)
        guard Self.held.withLock({ $0.insert(identity).inserted }) else {
            throw StoreError(
                .locked, "a store of this process has the folder open already; use that one, or close it first",
                path: folder)
        }
        do {
            try take()
        } catch {
            release()
            throw error
        }
    }

    /// Takes the lock again; it was lost if LevelDB closed the folder.
    func take() throws(StoreError) {
        try descriptor.withLock { descriptor throws(StoreError) in
            if descriptor < 0 { descriptor = tideline_open_lock("\(path)/LOCK") }
            guard descriptor >= 0 else { throw .system(errno, path: path, doing: "the folder cannot be locked") }
            let number = tideline_lock(descriptor)
            switch number {
            case 0: return
            case EAGAIN, EACCES:
                throw StoreError(
                    .locked, "another process has the folder open; close the store there", path: path,
                    engineCode: Int(number))
            default: throw .system(number, path: path, doing: "the folder cannot be locked")
            }
        }
    }

    /// Gives the lock back, after LevelDB closed the folder.
    func release() {
        descriptor.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
        Self.held.withLock { _ = $0.remove(identity) }
    }
}
