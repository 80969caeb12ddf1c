internal import Foundation
internal import TidelineStore

/// The environments open in this process. LMDB forbids two for the same folder, because closing one would release the
/// locks of the other.
///
/// `@unchecked Sendable`: `entries` is accessed only under the lock of `condition`.
final class EnvironmentRegistry: @unchecked Sendable {
    static let shared = EnvironmentRegistry()

    private enum Entry {
        /// A thread is opening or closing the environment.
        case changing
        case open(Environment, users: Int)
    }

    private let condition = NSCondition()
    private var entries: [FileIdentity: Entry] = [:]

    /// Returns the environment of a folder, which is opened if necessary. Release it with ``release(_:)``.
    func environment(at path: String, options: LMDBOptions) throws(StoreError) -> Environment {
        let folder = try Folder.open(path, options)
        if let environment = try join(folder, options) { return environment }
        do {
            let environment = try Environment.open(folder, options)
            set(.open(environment, users: 1), for: folder.identity)
            return environment
        } catch {
            folder.removeIfMade()
            set(nil, for: folder.identity)
            throw error
        }
    }

    func release(_ environment: Environment) {
        guard leave(environment) else { return }
        environment.close()
        set(nil, for: environment.folder.identity)
        environment.folder.release()
    }

    /// Removes the files of a store that is not open; no thread of this process can open it in the meantime.
    func destroy(at path: String) throws(StoreError) {
        guard let folder = try Folder.existing(path) else { return }
        try reserve(folder)
        defer { set(nil, for: folder.identity) }
        try folder.locked { () throws(StoreError) in try Environment.destroy(folder) }
    }

    /// Prevents a folder from being opened until its entry is set again.
    private func reserve(_ folder: Folder) throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch entries[folder.identity] {
            case nil:
                entries[folder.identity] = .changing
                return
            case .changing?:
                condition.wait()
            case .open?:
                throw StoreError(.locked, "the store is open in this process; close it first", path: folder.path)
            }
        }
    }

    /// Returns the open environment; `nil` if the caller must open it.
    private func join(_ folder: Folder, _ options: LMDBOptions) throws(StoreError) -> Environment? {
        condition.lock()
        defer { condition.unlock() }
        while true {
            switch entries[folder.identity] {
            case nil:
                entries[folder.identity] = .changing
                return nil
            case .changing?:
                condition.wait()
            case .open(let environment, let users)?:
                try environment.requireSharable(at: folder, options)
                entries[folder.identity] = .open(environment, users: users + 1)
                return environment
            }
        }
    }

    /// Removes one user; returns `true` if the caller must close the environment.
    private func leave(_ environment: Environment) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let identity = environment.folder.identity
        guard case .open(_, let users)? = entries[identity] else { return false }
        entries[identity] = users > 1 ? .open(environment, users: users - 1) : .changing
        return users == 1
    }

    private func set(_ entry: Entry?, for identity: FileIdentity) {
        condition.lock()
        entries[identity] = entry
        condition.broadcast()
        condition.unlock()
    }
}

extension Environment {
    /// Throws an error if this environment cannot serve another store.
    fileprivate func requireSharable(at folder: Folder, _ options: LMDBOptions) throws(StoreError) {
        guard options.isReadOnly || !isReadOnly else {
            throw StoreError(
                .locked, "the folder is open for reading only in this process; close that store first", path: path)
        }
        guard FileIdentity(of: file) == FileIdentity(at: folder.dataPath) else {
            throw StoreError(
                .io, "the files were removed or replaced while open in this process; close that store first",
                path: path)
        }
    }
}
