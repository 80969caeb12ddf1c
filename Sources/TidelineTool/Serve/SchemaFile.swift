internal import Foundation
internal import TidelineStore
internal import Yams

/// A YAML or JSON file that defines the tables and columns of a server.
///
/// ```yaml
/// tables:
///   TodoItem:
///     columns:
///       text: string
///       complete: bool
///       listId: { type: string, required: true }
///     indexes:
///       - [complete, text]
///     references:
///       listId: TodoList
///   TodoList:
///     columns:
///       name: string
/// ```
///
/// Each table has `id`, `createdAt`, `updatedAt`, `version` and `deleted` without listing them.
enum SchemaFile {
    /// The maximum size of a file, in bytes. Schemas are written by hand, so a larger file is rejected.
    static let maximumSize = 1 << 20

    /// Returns the tables of the file at `path`, in the order of the file.
    /// - Throws: ``ToolError``, with the file, line, table and column, if the file is invalid.
    static func read(_ path: String) throws -> [TableSchema] {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw ToolError("the schema file \(path) cannot be opened")
        }
        let data: Data
        do {
            data = try file.read(upToCount: maximumSize + 1) ?? Data()
        } catch {
            throw ToolError("the schema file \(path) cannot be read; is it a folder?")
        }
        guard data.count <= maximumSize else {
            throw ToolError("the schema file \(path) is larger than \(maximumSize) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw ToolError("the schema file \(path) is not UTF-8 text")
        }
        return try parse(text, file: path)
    }

    /// Returns the tables that `text` defines. `file` is the file name in error messages.
    static func parse(_ text: String, file: String) throws -> [TableSchema] {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ToolError("\(file): \(String(describing: error).trimmingCharacters(in: .whitespacesAndNewlines))")
        }
        return try SchemaReader(file: file).tables(root)
    }
}
