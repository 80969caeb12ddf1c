#if Serve
internal import Foundation
internal import TidelineServer
internal import TidelineStore
internal import Yams

/// A YAML or JSON file that defines the tables and columns of a server, and who may do what with them. The help of
/// ``ServeCommand`` has an example.
struct SchemaFile: Sendable {
    /// The tables, in the order of the file.
    var tables: [TableSchema]
    /// The rights of the tables for which the file specifies an owner or rights.
    var rights: [String: TableRights] = [:]
    /// The location of the first owner or rights, for an error of a server that cannot enforce them.
    var firstRights: String?

    /// The maximum size of a file, in bytes. Schemas are written by hand, so a larger file is rejected.
    static let maximumSize = 1 << 20

    /// Reads the file at `path`.
    /// - Throws: ``ToolError``, with the file, line, table and column, if the file is invalid.
    static func read(_ path: String) throws -> SchemaFile {
        let bytes = try InputFile.read(path, maximumSize: maximumSize, kind: "schema file")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ToolError("the schema file \(path) is not UTF-8 text")
        }
        return try parse(text, file: path)
    }

    /// Parses the text of a file. `file` is its name in error messages.
    static func parse(_ text: String, file: String) throws -> SchemaFile {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ToolError("\(file): \(String(describing: error).trimmingCharacters(in: .whitespacesAndNewlines))")
        }
        return try SchemaReader(file: file).schema(root)
    }
}
#endif
