#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// `tideline todo add`: adds items.
struct AddCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add one item, or one for each line of standard input.",
        discussion: "Prints \"added ID TEXT\" once the item is stored. It cannot be lost after that."
    )

    @OptionGroup var options: TodoOptions

    @Flag(
        help:
            "Read items from standard input, one per line. Acknowledge each before reading the next. Skip blank lines."
    )
    var stdin = false

    @Argument(help: "The text of the item. Several words form one text.")
    var text: [String] = []

    var readsStandardInput: Bool { stdin }

    func validate() throws {
        guard stdin != !text.isEmpty else { throw ValidationError("specify either a text or --stdin.") }
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
        StandardOutput.line("added \(item.idText) \(printable(shortened(text)))")
    }
}
#endif
