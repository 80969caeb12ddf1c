#if Serve
internal import Foundation

/// A small file that the user names, such as one with a key, a token, or a schema.
enum InputFile {
    /// - Parameter kind: The word for the file in messages.
    /// - Throws: ``ToolError``, which names the file, but never its content.
    static func read(_ path: String, maximumSize: Int, kind: String = "file") throws -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ToolError("the \(kind) \(path) cannot be opened")
        }
        let data: Data?
        do {
            data = try file.read(upToCount: maximumSize + 1)
        } catch {
            throw ToolError("the \(kind) \(path) cannot be read; is it a folder?")
        }
        // Nothing is read from an empty file.
        guard let data else { return [] }
        guard data.count <= maximumSize else {
            throw ToolError("the \(kind) \(path) is larger than \(maximumSize) bytes")
        }
        return Array(data)
    }
}
#endif
