internal import Foundation
internal import TidelineStore

/// The environments open in this process: LMDB forbids two on one folder, because closing one would let go of the
/// other's locks.
///
/// `@unchecked Sendable`: `entries` is used under `condition`'s lock only.
final class EnvironmentRegistry: @unchecked Sendable {
    static let shared = EnvironmentRegistry()

    private enum Entry {
        /// A thread opens or closes it.
        case changing
        case open(Environment, users: Int)
    }

    private let condition = NSCondition()
    private var entries: [FileIdentity: Entry] = [:]

    /// The environment of a folder: the one that is open, or one opened now. It is given back by ``release(_:)``.
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

    /// Removes the files of a store that nobody has open; nobody in this process opens it meanwhile.
    func destroy(at path: String) throws(StoreError) {
        guard let folder = try Folder.existing(path) else { return }
        try reserve(folder)
        defer { set(nil, for: folder.identity) }
        try folder.locked { () throws(StoreError) in try Environment.destroy(folder) }
    }

    /// Keeps a folder from being opened until the entry is set again.
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
                throw StoreError(.locked, "this process has the store open: close it first", path: folder.path)
            }
        }
    }

    /// The environment that is open; nil when the caller is to open it.
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

    /// Counts a user less; true when the caller is to close it.
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
    /// Refuses a second store that this environment cannot serve.
    fileprivate func requireSharable(at folder: Folder, _ options: LMDBOptions) throws(StoreError) {
        guard options.isReadOnly || !isReadOnly else {
            throw StoreError(
                .locked, "this process has the folder open for reading only: close that store first", path: path)
        }
        guard FileIdentity(of: file) == FileIdentity(at: folder.dataPath) else {
            throw StoreError(
                .io, "the files were removed or replaced while this process had them open: close that store first",
                path: path)
        }
    }
}
