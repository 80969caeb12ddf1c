internal import Foundation
internal import TidelineStore

extension FileHandle {
    /// Opens a file for reading; returns `nil` if it does not exist.
    ///
    /// - Throws: The system's error in all other cases: an unreadable file is not a missing one.
    static func reading(_ path: String) throws(StoreError) -> FileHandle? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
        let number = errno
        guard number != ENOENT else { return nil }
        var error = StoreError.system(number, path: path, doing: "the file cannot be read")
        if number == EACCES || number == EPERM { error.code = .io }
        throw error
    }

    /// Returns all bytes from the current position on.
    func all(of path: String) throws(StoreError) -> [UInt8] {
        do {
            return [UInt8](try readToEnd() ?? Data())
        } catch {
            throw StoreError(.io, "the file cannot be read", path: path, cause: error)
        }
    }
}
