#if Serve
internal import Foundation

/// A file with a key or a token.
enum KeyFile {
    /// - Throws: ``ToolError``, which names the file, but never its content.
    static func read(_ path: String, maximumSize: Int) throws -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ToolError("the file \(path) cannot be opened")
        }
        guard let data = try? file.read(upToCount: maximumSize + 1) else {
            throw ToolError("the file \(path) cannot be read; is it a folder?")
        }
        guard data.count <= maximumSize else { throw ToolError("the file \(path) is larger than \(maximumSize) bytes") }
        return Array(data)
    }
}
#endif
