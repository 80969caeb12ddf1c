internal import Foundation
internal import TidelineStore

/// The file `data.mdb`, read by calls and not through a map: what is missing or cannot be read is an error then, and
/// does not end the process.
final class DataFile {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws(StoreError) {
        self.path = path
        descriptor = Glue.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .opening(errno, path) }
    }

    deinit { close(descriptor) }

    /// The size in bytes.
    func size() throws(StoreError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno, path: path, doing: "the file has no size") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.io, "what should be the file is something else", path: path)
        }
        return Int(status.st_size)
    }

    /// Fills `buffer` from `offset` on.
    /// - Returns: How many bytes there were.
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
    /// Why a file of the store could not be opened.
    static func opening(_ error: Int32, _ path: String) -> StoreError {
        var result = StoreError.system(error, path: path, doing: "the file could not be opened")
        if error == EACCES || error == EPERM { result.code = .io }
        return result
    }

    static func damaged(_ what: String, path: String) -> StoreError {
        StoreError(.corrupt, "the file is damaged: \(what); restore it from a copy, or begin anew and pull", path: path)
    }
}
