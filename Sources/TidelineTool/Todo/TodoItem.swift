internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// A row of the to-do list, as the commands print it.
struct TodoItem: Codable, Sendable {
    var id: String
    var text: String?
    var complete: Bool?
    var createdAt: Timestamp?
    var updatedAt: Timestamp?
    var version: String?

    /// The table of the to-do list, here and on the server.
    static let schema = TableSchema(
        "TodoItem", columns: [.string("text"), .bool("complete")], indexes: [["complete", "text"]])

    static let text = Column<String>("text")
    static let complete = Column<Bool>("complete")

    /// `[x] Buy milk`, a long text cut.
    static func line(_ row: Row) -> String {
        "[\(row[complete] == true ? "x" : " ")] \(row[text].map { printable(shortened($0)) } ?? "(no text)")"
    }

    /// Whether there is nothing to read in `text`.
    static func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

    /// Refuses the words of a command line that make no text.
    static func requireText(_ words: [String]) throws {
        guard !words.allSatisfy(isBlank) else { throw ValidationError("the text is empty.") }
    }
}
