internal import Foundation
internal import TidelineStore

/// The file `data.mdb`, read by system calls and not through a map, so that missing or unreadable parts are errors and
/// do not crash the process.
final class DataFile {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws(StoreError) {
        self.path = path
        descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .opening(errno, path) }
    }

    deinit { close(descriptor) }

    /// Returns the size in bytes.
    func size() throws(StoreError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .system(errno, path: path, doing: "the size of the file could not be read")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.io, "the path is not a regular file", path: path)
        }
        return Int(status.st_size)
    }

    /// Fills `buffer` with bytes from `offset`.
    ///
    /// - Returns: The number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        var count = 0
        while count < buffer.count {
            let read = pread(
                descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(offset + count))
            if read == 0 { break }
            if read < 0 {
                if errno == EINTR { continue }
                throw .system(errno, path: path, doing: "the file could not be read")
            }
            count += read
        }
        return count
    }
}

extension StoreError {
    /// Creates the error for a file of the store that could not be opened for reading.
    static func opening(_ error: Int32, _ path: String) -> StoreError {
        var result = StoreError.system(error, path: path, doing: "the file could not be opened")
        if error == EACCES || error == EPERM { result.code = .io }
        return result
    }

    static func damaged(_ what: String, path: String) -> StoreError {
        StoreError(
            .corrupt, "the file is damaged: \(what); restore a backup, or start with an empty store and pull",
            path: path)
    }

    /// Creates the error for a database whose name no store uses.
    ///
    /// - Parameter isFirst: Whether no database precedes it. The first one of a store always has a name that the store
    ///   uses, so the file is another program's; a later one is damaged.
    static func unknownTable(isFirst: Bool, path: String) -> StoreError {
        guard isFirst else { return .damaged("it has a table that no store creates", path: path) }
        return StoreError(
            .notAStore, "the folder contains another program's database; choose another folder", path: path)
    }
}
