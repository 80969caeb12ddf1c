internal import ArgumentParser
internal import TidelineStore

/// `tideline todo add`: new items.
struct AddCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item, or one for each line of standard input.",
        discussion: "Prints \"added ID TEXT\" once the item is stored: from then on it is not lost."
    )

    @OptionGroup var options: TodoOptions

    @Flag(
        help:
            "Read items from standard input, one a line, each acknowledged before the next is read; blank lines are passed over."
    )
    var stdin = false

    @Argument(help: "What to do; several words make one text.")
    var text: [String] = []

    var readsStandardInput: Bool { stdin }

    func validate() throws {
        guard stdin != !text.isEmpty else { throw ValidationError("write a text, or --stdin, one of the two.") }
        if !stdin { try TodoItem.requireText(text) }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        guard stdin else { return try await add(text.joined(separator: " "), session) }
        while let line = readLine() {
            if !TodoItem.isBlank(line) { try await add(line, session) }
        }
    }

    private func add(_ text: String, _ session: TodoSession<some LocalStore>) async throws {
        let item = try await session.items.insert(["text": .string(text), "complete": false])
        StandardOutput.line("added \(item.id) \(printable(shortened(text)))")
    }
}
