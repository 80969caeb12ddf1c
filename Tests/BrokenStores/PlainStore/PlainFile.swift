internal import Foundation
internal import TidelineStore

/// A file with a lock, read and written by offsets. It is closed when nobody refers to it any more, too.
///
/// `@unchecked Sendable`: the descriptor changes in ``close()`` and ``replace(with:)`` only, which the store's gate lets in
/// alone.
final class PlainFile: @unchecked Sendable {
    private var descriptor: Int32
    private let path: String
    private let flaw: Flaw?

    /// Opens a file; one that does not exist is made with what `content` says, as a whole or not at all.
    init(_ path: String, mayCreate: Bool, isReadOnly: Bool, flaw: Flaw?, content: () -> [UInt8]) throws {
        self.path = path
        self.flaw = flaw
        guard !path.utf8.contains(0) else { throw StoreError(.io, "the path has a NUL in it", path: path) }
        let flags = (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC
        descriptor = Self.open(path, flags)
        if descriptor < 0, errno == ENOENT, mayCreate {
            try Self.make(path, content())
            descriptor = Self.open(path, flags)
        }
        if descriptor < 0, flaw == .openErrorUntyped { throw CocoaError(.fileReadUnknown) }
        guard descriptor >= 0 else { throw Self.failure("the file cannot be opened", path) }
        guard flaw == .secondOpenerAdmitted || Self.lock(descriptor, path) else {
            Foundation.close(descriptor)
            descriptor = -1
            throw StoreError(.locked, "another store has the file open; close it first", path: path)
        }
    }

    /// Locks a file that is still the one of that path: a store that tidies up puts another in its place.
    private static func lock(_ descriptor: Int32, _ path: String) -> Bool {
        var (locked, named) = (stat(), stat())
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &locked) == 0
            && stat(path, &named) == 0 && locked.st_ino == named.st_ino
    }

    /// Removes the file of a store that is not open.
    static func remove(_ path: String) throws {
        guard access(path, F_OK) == 0 else { return }
        let file = try PlainFile(path, mayCreate: false, isReadOnly: false, flaw: nil) { [] }
        guard unlink(path) == 0 else { throw failure("the file cannot be removed", path) }
        try file.close()
    }

    /// Puts another content in place of the file's, as a whole or not at all; the lock stays.
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
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
        descriptor = file
        try Self.synchronizeFolder(of: path)
    }

    deinit { if descriptor >= 0 { Foundation.close(descriptor) } }

    func close() throws {
        let closing = descriptor
        descriptor = -1
        // A process that is being started has a copy of the descriptor for a moment, and with it the lock.
        flock(closing, LOCK_UN)
        guard Foundation.close(closing) == 0 else { throw Self.failure("the file cannot be closed", path) }
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
        guard fsync(descriptor) == 0 else { throw Self.failure("the file cannot be synced", path) }
    }

    func truncate(to size: Int) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Self.failure("the file cannot be cut", path) }
    }

    /// Makes the file under another name first, so that nobody sees half of it.
    private static func make(_ path: String, _ content: [UInt8]) throws {
        let draft = "\(path).\(UUID().uuidString)"
        let file = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
        guard file >= 0 else { throw failure("the file cannot be made", path) }
        defer {
            Foundation.close(file)
            unlink(draft)
        }
        try write(content, to: file, at: 0, path, flaw: nil)
        guard fsync(file) == 0 else { throw failure("the file cannot be synced", path) }
        // Of several that make it at once, the first has its way.
        guard link(draft, path) == 0 || errno == EEXIST else { throw failure("the file cannot be made", path) }
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
