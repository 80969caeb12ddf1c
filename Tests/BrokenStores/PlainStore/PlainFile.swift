internal import Foundation
internal import TidelineStore

/// A file with a lock, read and written by offsets. It is also closed when it is deinitialized.
///
/// `@unchecked Sendable`: the descriptor changes only in ``close()`` and ``replace(with:)``, which run with exclusive
/// access under the store's gate.
final class PlainFile: @unchecked Sendable {
    private var descriptor: Int32
    private let path: String
    private let flaw: Flaw?
    private var hasForgiven = false

    /// Opens a file, shared with other stores or not. A missing file is created with `content`, atomically.
    init(
        _ path: String, mayCreate: Bool, isReadOnly: Bool, isShared: Bool = false, flaw: Flaw?, content: () -> [UInt8]
    ) throws {
        self.path = path
        self.flaw = flaw
        guard !path.utf8.contains(0) else { throw StoreError(.io, "the path has a NUL in it", path: path) }
        let flags = (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC
        descriptor = Self.open(path, flags)
        if descriptor < 0, errno == ENOENT, mayCreate {
            try Self.make(path, content(), isAtomic: flaw != .creationLeavesPart)
            descriptor = Self.open(path, flags)
        }
        if descriptor < 0, flaw == .openErrorUntyped { throw CocoaError(.fileReadUnknown) }
        guard descriptor >= 0 else { throw Self.openingFailure(path, flaw) }
        guard isShared || flaw == .secondOpenerAdmitted || Self.lock(descriptor, path) else {
            Foundation.close(descriptor)
            descriptor = -1
            throw StoreError(.locked, "another store has the file open; close it first", path: path)
        }
    }

    /// Locks a file if it is still the file at its path. A store that compacts its log replaces the file.
    private static func lock(_ descriptor: Int32, _ path: String) -> Bool {
        var (locked, named) = (stat(), stat())
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &locked) == 0
            && stat(path, &named) == 0 && locked.st_ino == named.st_ino
    }

    /// Removes the file of a closed store.
    static func remove(_ path: String) throws {
        guard access(path, F_OK) == 0 else { return }
        let file = try PlainFile(path, mayCreate: false, isReadOnly: false, flaw: nil) { [] }
        guard unlink(path) == 0 else { throw failure("the file cannot be removed", path) }
        try file.close()
    }

    /// Replaces the content of the file atomically; the lock is kept.
    func replace(with content: [UInt8]) throws {
        let draft = "\(path).\(UUID().uuidString)"
        let file = Foundation.open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw Self.failure("the file cannot be made", path) }
        do {
            try Self.write(content, to: file, at: 0, path, flaw: flaw)
            guard flaw == .neverSynced || fsync(file) == 0 else {
                throw Self.failure("the file cannot be synced", path)
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0, rename(draft, path) == 0 else {
                throw Self.failure("the file cannot be replaced", path)
            }
        } catch {
            unlink(draft)
            Foundation.close(file)
            throw error
        }
        _ = Self.release(descriptor)
        descriptor = file
        try Self.synchronizeFolder(of: path)
    }

    deinit { if descriptor >= 0 { _ = Self.release(descriptor) } }

    /// Unlocks and closes a file. A starting child process has a copy of the descriptor, and with it the lock.
    private static func release(_ descriptor: Int32) -> Int32 {
        flock(descriptor, LOCK_UN)
        return Foundation.close(descriptor)
    }

    func close() throws {
        let closing = descriptor
        descriptor = -1
        if flaw == .descriptorLeaked { _ = dup(closing) }
        guard Self.release(closing) == 0 else { throw Self.failure("the file cannot be closed", path) }
    }

    /// Waits for the lock of a shared file.
    func lock() throws {
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Self.failure("the file cannot be locked", path) }
        }
    }

    func unlock() { flock(descriptor, LOCK_UN) }

    /// Returns the first bytes of the file.
    func read(_ count: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        guard pread(descriptor, &buffer, count, 0) == count else { throw Self.failure("the file cannot be read", path) }
        return buffer
    }

    func readAll() throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(bytes.count))
            guard count >= 0 else { throw Self.failure("the file cannot be read", path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    func write(_ bytes: [UInt8], at offset: Int) throws {
        try Self.write(bytes, to: descriptor, at: offset, path, flaw: flaw)
    }

    func synchronize() throws {
        guard flaw != .neverSynced else { return }
        guard fsync(descriptor) == 0 else {
            if flaw == .firstFailedSyncForgiven, !hasForgiven {
                hasForgiven = true
                return
            }
            throw Self.failure("the file cannot be synced", path)
        }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("the file cannot be cut", path) }
    }

    /// Creates the file under another name first, so that no process sees a partial file.
    private static func make(_ path: String, _ content: [UInt8], isAtomic: Bool) throws {
        let draft = isAtomic ? "\(path).\(UUID().uuidString)" : path
        let file = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else { throw failure("the file cannot be made", path) }
        defer {
            Foundation.close(file)
            if isAtomic { unlink(draft) }
        }
        try write(content, to: file, at: 0, path, flaw: nil)
        guard fsync(file) == 0 else { throw failure("the file cannot be synced", path) }
        // If several processes create the file at the same time, the first one succeeds.
        guard !isAtomic || link(draft, path) == 0 || errno == EEXIST else {
            throw failure("the file cannot be made", path)
        }
        try synchronizeFolder(of: path)
    }

    private static func synchronizeFolder(of path: String) throws {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("the folder cannot be opened", path) }
        defer { Foundation.close(folder) }
        guard fsync(folder) == 0 else { throw failure("the folder cannot be synced", path) }
    }

    private static func write(
        _ bytes: [UInt8], to descriptor: Int32, at offset: Int, _ path: String, flaw: Flaw?
    ) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + written))
            }
            if count < 0, flaw == .writeErrorsIgnored { return }
            guard count > 0 else { throw failure("the file cannot be written", path) }
            written += count
        }
    }

    private static func openingFailure(_ path: String, _ flaw: Flaw?) -> StoreError {
        var error = failure("the file cannot be opened", path)
        guard error.code == .readOnly else { return error }
        let readable = open(path, O_RDONLY | O_CLOEXEC)
        if readable >= 0 { Foundation.close(readable) } else { error.code = .accessDenied(at: path) }
        if flaw == .deniedWritingIsCalledIO { error.code = .io }
        return error
    }

    private static func open(_ path: String, _ flags: Int32) -> Int32 { Foundation.open(path, flags, 0o644) }

    private static func failure(_ message: String, _ path: String) -> StoreError {
        let number = errno
        let code: StoreError.Code =
            switch number {
            case ENOSPC, EDQUOT: .full
            case EROFS, EACCES, EPERM: .readOnly
            default: .io
            }
        return StoreError(code, "\(message): \(String(cString: strerror(number)))", path: path, engineCode: Int(number))
    }
}
