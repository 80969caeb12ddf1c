internal import Foundation
internal import TidelineStore

extension FileHandle {
    /// Opens a file to read it; nil where there is none.
    /// - Throws: What the system says otherwise: a file that cannot be read now is not missing.
    static func reading(_ path: String) throws(StoreError) -> FileHandle? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
        let number = errno
        guard number == ENOENT else { throw .system(number, path: path, doing: "the file cannot be read") }
        return nil
    }

    /// All bytes from here on.
    func all(of path: String) throws(StoreError) -> [UInt8] {
        do {
            return [UInt8](try readToEnd() ?? Data())
        } catch {
            throw StoreError(.io, "the file cannot be read", path: path, cause: error)
        }
    }
}
