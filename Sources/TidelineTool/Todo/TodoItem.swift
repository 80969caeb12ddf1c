#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// A row of the to-do list, as the commands print it.
struct TodoItem: Codable, Equatable, Sendable {
    var id: String
    var text: String?
    var complete: Bool?
    var createdAt: Timestamp?
    var updatedAt: Timestamp?
    var version: String?

    /// The schema of the to-do list's table, on the client and the server.
    static let schema = TableSchema(
        "TodoItem", columns: [.string("text"), .bool("complete")], indexes: [["complete", "text"]])

    static let text = Column<String>("text")
    static let complete = Column<Bool>("complete")

    /// Returns a line such as `[x] Buy milk`. A long text is shortened.
    static func line(_ row: Row) -> String {
        "[\(row[complete] == true ? "x" : " ")] \(row[text].map { printable(shortened($0)) } ?? "(no text)")"
    }

    /// Whether `text` is empty or consists of whitespace only.
    static func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

    /// Checks that the words of a command line form a text that is not blank.
    static func requireText(_ words: [String]) throws {
        guard !words.allSatisfy(isBlank) else { throw ValidationError("the text is empty.") }
    }
}
#endif
