internal import Foundation
internal import TidelineStore

/// The environments open in this process. LMDB forbids two for the same folder, because closing one would release the
/// locks of the other.
final class EnvironmentRegistry: Sendable {
    static let shared = EnvironmentRegistry()

    /// The state of one folder. It exists while the folder's environment is open, or a thread uses the slot.
    ///
    /// `@unchecked Sendable`: `environment` and `users` are accessed inside a write of the lock, and `references` under
    /// the lock of `slots`.
    private final class Slot: @unchecked Sendable {
        let lock = ReadWriteLock()
        var environment: Environment?
        /// The number of open stores.
        var users = 0
        /// The number of threads that use the slot.
        var references = 0
    }

    private let slots = LockedValue<[FileIdentity: Slot]>([:])

    /// Returns the environment of a folder, which is opened if necessary. Release it with ``release(_:)``.
    func environment(at path: String, options: LMDBOptions) throws(StoreError) -> Environment {
        let folder = try Folder.open(path, options)
        return try withSlot(of: folder) { slot throws(StoreError) in
            if let environment = slot.environment {
                try environment.requireSharable(at: folder, options)
                slot.users += 1
                return environment
            }
            do throws(StoreError) {
                let environment = try Environment.open(folder, options)
                slot.environment = environment
                slot.users = 1
                return environment
            } catch {
                // A folder that another process has locked is that one's.
                if error.code != .busy, error.code != .cancelled { folder.removeIfMade() }
                throw error
            }
        }
    }

    func release(_ environment: Environment) throws(StoreError) {
        let isClosed = try withSlot(of: environment.folder) { slot throws(StoreError) in
            slot.users -= 1
            guard slot.users == 0 else { return false }
            environment.close()
            slot.environment = nil
            return true
        }
        if isClosed { environment.folder.release() }
    }

    /// Removes the files of a store that is not open; no thread of this process can open it in the meantime.
    func destroy(at path: String) throws(StoreError) {
        guard let folder = try Folder.existing(path) else { return }
        do throws(StoreError) {
            try withSlot(of: folder) { slot throws(StoreError) in
                guard slot.environment == nil else {
                    throw StoreError(.locked, "the store is open in this process; close it first", path: folder.path)
                }
                try folder.locked { () throws(StoreError) in try Environment.destroy(folder) }
            }
        } catch {
            // Another process or thread has destroyed it meanwhile.
            guard error.code == .io, FileIdentity(at: folder.path) == nil else { throw error }
        }
    }

    /// Removes the files of a closed store whose creation failed, unless others use them or have stored something.
    func abandonCreation(of environment: Environment) {
        guard environment.isNew, let folder = try? Folder.existing(environment.path) else { return }
        try? withSlot(of: folder) { slot throws(StoreError) in
            guard slot.environment == nil else { return }
            try folder.locked { () throws(StoreError) in
                guard try FileHeads.read(try DataFile(folder.dataPath)).newest.transaction == 0 else { return }
                try Environment.destroy(folder, removesFolder: environment.folder.isMade)
            }
        }
    }

    /// Calls `body` with the slot of a folder. One thread at a time can open or close the folder's environment.
    private func withSlot<T>(
        of folder: Folder, _ body: (Slot) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        let slot = slots.withLock { slots in
            let slot = slots[folder.identity] ?? Slot()
            slot.references += 1
            slots[folder.identity] = slot
            return slot
        }
        defer {
            slots.withLock { slots in
                slot.references -= 1
                if slot.references == 0, slot.environment == nil { slots[folder.identity] = nil }
            }
        }
        try slot.lock.beginWriting()
        defer { slot.lock.endWriting() }
        return try body(slot)
    }
}

extension Environment {
    /// Throws an error if this environment cannot serve another store.
    fileprivate func requireSharable(at folder: Folder, _ options: LMDBOptions) throws(StoreError) {
        guard options.isReadOnly || !isReadOnly else {
            throw StoreError(
                .locked, "the folder is open for reading only in this process; close that store first", path: path)
        }
        try requireFiles()
    }
}
