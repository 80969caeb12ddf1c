#if Serve
internal import Foundation
internal import Yams

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

    /// The maximum size of a text in bytes. Texts are written by hand, so a larger file is rejected.
    static let maximumTextSize = 1 << 20

    /// Returns the text of a file.
    ///
    /// - Parameter kind: The words for the file in messages.
    /// - Throws: ``ToolError``, which names the file.
    static func text(_ path: String, kind: String) throws -> String {
        let bytes = try read(path, maximumSize: maximumTextSize, kind: kind)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ToolError("the \(kind) \(path) is not UTF-8 text")
        }
        return text
    }

    /// Parses a text in YAML or JSON. Returns `nil` if it is empty.
    ///
    /// - Parameter file: The name of its file in messages.
    /// - Throws: ``ToolError``, with the line.
    static func yaml(_ text: String, file: String) throws -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch {
            throw ToolError("\(file): \(String(describing: error).trimmingCharacters(in: .whitespacesAndNewlines))")
        }
    }
}
#endif
