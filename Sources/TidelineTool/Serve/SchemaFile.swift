internal import Foundation
internal import TidelineStore
internal import Yams

/// A file of tables and columns in YAML or JSON, from which a server makes its tables.
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
/// A table's `id`, `createdAt`, `updatedAt`, `version` and `deleted` are there without being listed.
enum SchemaFile {
    /// Files beyond this are refused: a schema is written by hand.
    static let maximumSize = 1 << 20

    /// The tables of the file at `path`, in its order.
    /// - Throws: ``ToolError`` with file, line, table and column.
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
            throw ToolError("the schema file \(path) is not text in UTF-8")
        }
        return try parse(text, file: path)
    }

    /// The tables that `text` defines; `file` is for messages.
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
