#if Serve
internal import ArgumentParser
internal import TidelineStore
internal import TidelineSupport

/// Splits a line into words as a shell does: spaces separate words; single quotes, double quotes, and backslashes keep
/// characters together.
enum CommandWords {
    /// Returns the words of a line.
    /// - Throws: ``ToolError`` if a quote is not closed or the line ends in a backslash.
    static func split(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            if character == "\\", quote != "'" {
                guard let escaped = rest.popFirst() else { throw ToolError("the line ends in a backslash") }
                word = (word ?? "") + String(escaped)
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if quote == nil, character.isWhitespace {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let quote { throw ToolError("the quote \(quote) is not closed") }
        return words + (word.map { [$0] } ?? [])
    }
}

/// Returns a word for a shell, quoted if necessary.
func shellWord(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-_./,:=+@%".utf8.contains($0) }
    return isPlain && !word.isEmpty ? word : "'\(word.replacingUTF8("'", with: "'\\''"))'"
}

/// Checks that the words begin with a command of `parent`.
/// - Throws: `ValidationError`, with the most similar command, if they do not.
func requireKnownCommand(_ words: ArraySlice<String>, of parent: any ParsableCommand.Type) throws {
    let commands = parent.configuration.subcommands
    guard let word = words.first, !word.hasPrefix("-"), word != "help", !commands.isEmpty else { return }
    let names = commands.compactMap { $0.configuration.commandName }
    for command in commands where command.configuration.commandName == word {
        return try requireKnownCommand(words.dropFirst(), of: command)
    }
    throw ValidationError(
        "there is no command \(word.debugDescription)." + suggestion(for: word, among: names)
            + " The commands are: \(names.joined(separator: ", ")).")
}
#endif
