internal import CDispatch
internal import Foundation
internal import Synchronization
internal import TidelineStore

/// The identity of a file or folder, independent of its path: device and inode number.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    init?(at path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// The folder of a store, kept open so that the system does not reuse its identity.
final class Folder: Sendable {
    /// The absolute path.
    let path: String
    let identity: FileIdentity
    private let descriptor: Int32
    /// Whether the folder was created by this opening.
    let isMade: Bool
    private let isReleased = Atomic(false)

    var dataPath: String { "\(path)/data.mdb" }
    var lockPath: String { "\(path)/lock.mdb" }
    var markerPath: String { "\(path)/\(CleanShutdownMarker.fileName)" }
    var signalPath: String { "\(path)/\(Self.signalName)" }
    /// The name of the file by which processes tell each other of commits.
    static let signalName = "tideline.signal"

    private init(path: String, identity: FileIdentity, descriptor: Int32, isMade: Bool) {
        self.path = path
        self.identity = identity
        self.descriptor = descriptor
        self.isMade = isMade
    }

    deinit { release() }

    /// Closes the folder; its identity may be reused afterwards. Releasing it again does nothing.
    func release() {
        if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { close(descriptor) }
    }

    /// Opens the folder at a path, and creates it if the options allow it.
    static func open(_ path: String, _ options: LMDBOptions) throws(StoreError) -> Folder {
        let absolute = try path.absolutePath()
        let isMade = try make(absolute, options)
        let descriptor = SystemCalls.open(absolute, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0, let identity = FileIdentity(of: descriptor) else {
            let error = errno
            if descriptor >= 0 { close(descriptor) }
            throw obstacle(error, at: absolute, options)
        }
        return Folder(path: absolute, identity: identity, descriptor: descriptor, isMade: isMade)
    }

    /// Opens the folder at a path; returns `nil` if nothing exists there.
    static func existing(_ path: String) throws(StoreError) -> Folder? {
        do {
            return try open(path, LMDBOptions(createsIfMissing: false))
        } catch {
            let isAbsent = error.engineCode == Int(ENOENT) || error.engineCode == Int(ENOTDIR)
            guard isAbsent, !FileManager.default.fileExists(atPath: path) else { throw error }
            return nil
        }
    }

    /// - Returns: Whether the folder did not exist.
    private static func make(_ path: String, _ options: LMDBOptions) throws(StoreError) -> Bool {
        guard options.createsIfMissing, !options.isReadOnly else { return false }
        if mkdir(path, 0o777) == 0 { return true }
        guard errno != EEXIST else { return false }
        throw obstacle(errno, at: path, options)
    }

    private static func obstacle(_ error: Int32, at path: String, _ options: LMDBOptions) -> StoreError {
        let parent = (path as NSString).deletingLastPathComponent
        let reason =
            switch error {
            case ENOENT where !FileManager.default.fileExists(atPath: parent): "its parent folder does not exist"
            case ENOENT where options.createsIfMissing && !options.isReadOnly: "it cannot be created there"
            case ENOENT: "it does not exist, and the options do not allow creating it"
            case ENOTDIR where FileManager.default.fileExists(atPath: path): "the path is a file, not a folder"
            case ENOTDIR: "its parent folder is a file"
            case EACCES, EPERM: "there is no permission to read it, or to create it in its folder"
            default: String(cString: strerror(error))
            }
        let code: StoreError.Code =
            switch error {
            case EROFS: .readOnly
            case EACCES, EPERM: .accessDenied(at: path)
            case ENOSPC, EDQUOT: .full
            default: .io
            }
        return StoreError(code, "the folder could not be opened: \(reason)", path: path, engineCode: Int(error))
    }

    /// Removes the folder if it was created here and is empty.
    func removeIfMade() {
        if isMade, FileIdentity(at: path) == identity { rmdir(path) }
    }

    /// Runs `body` under a lock that keeps other processes with this engine from opening the folder.
    ///
    /// - Throws: ``StoreError/Code/busy`` if another process has the lock for longer than `timeout`;
    ///   ``StoreError/Code/io`` if the folder is not at its path anymore.
    func locked<T>(
        within timeout: Duration = .seconds(10), isCancellable: Bool = true, _ body: () throws(StoreError) -> T
    ) throws(StoreError) -> T {
        // On a file system without such locks, only the creation of a store by two processes at once is at risk.
        let isLocked = try SystemCalls.lock(
            descriptor, within: timeout, isCancellable: isCancellable, at: path)
        defer { if isLocked { SystemCalls.unlock(descriptor) } }
        // Until the lock was taken, another process may have destroyed the store, and made another one at its path.
        guard FileIdentity(at: path) == identity else {
            throw StoreError(
                .io, "the folder was removed, renamed, or replaced; close the store if it is open, and try again",
                path: path)
        }
        return try body()
    }

    /// Makes the names in the folder as durable as the files.
    func sync() { fsync(descriptor) }
}
