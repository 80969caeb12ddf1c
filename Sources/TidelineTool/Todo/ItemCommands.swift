#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// `tideline todo add`: adds items.
struct AddCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add one item, or one for each line of standard input.",
        discussion: """
            Prints "added ID TEXT" once the item is stored. No crash of a command loses it then, and with the setting \
            durability=full of the store, no power failure either.
            """
    )

    @OptionGroup var options: TodoOptions

    @Flag(
        help:
            "Read items from standard input, one per line. Acknowledge each before reading the next. Skip blank lines."
    )
    var stdin = false

    @Argument(help: "The text of the item. Several words form one text.")
    var text: [String] = []

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

/// `tideline todo list`: lists the items.
struct ListCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the items that are not done, or all items.",
        discussion: "An asterisk (*) marks an item with changes that are not synced yet."
    )

    @OptionGroup var options: TodoOptions

    @Flag(help: "Include completed items.")
    var all = false

    @Flag(help: "Print all rows as JSON, including completed items and system columns.")
    var json = false

    var isReadOnly: Bool { true }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        var query = TableQuery(TodoItem.schema.name).order(by: "complete").order(by: "text")
        if !all, !json { query = query.filter(.column("complete") != true) }
        let rows = try await session.items.rows(matching: query).rows
        if json { return try JSONOutput.print(rows.map { try $0.decode(TodoItem.self) }) }
        let pending = Set(try await session.context.pendingOperations().map { $0.itemID.asciiLowercased })
        for row in rows {
            let mark = pending.contains(row.idText.asciiLowercased) ? "*" : " "
            StandardOutput.line("\(shortID(row.idText)) \(mark) \(TodoItem.line(row))")
        }
        if rows.isEmpty { StandardOutput.line("nothing to do") }
    }
}

/// `tideline todo done`: marks an item as done.
struct DoneCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(commandName: "done", abstract: "Mark an item as done.")

    @OptionGroup var options: TodoOptions

    @Flag(help: "Mark the item as not done.")
    var undo = false

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        var item = try await session.item(id)
        item[TodoItem.complete] = !undo
        try await session.items.update(["id": .string(item.idText), "complete": .bool(!undo)])
        StandardOutput.line("changed \(item.idText) \(TodoItem.line(item))")
    }
}

/// `tideline todo edit`: changes an item's text.
struct EditCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(commandName: "edit", abstract: "Change the text of an item.")

    @OptionGroup var options: TodoOptions

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @Argument(help: "The new text. Several words form one text.")
    var text: [String]

    func validate() throws { try TodoItem.requireText(text) }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        var item = try await session.item(id)
        item[TodoItem.text] = text.joined(separator: " ")
        try await session.items.update(["id": .string(item.idText), "text": item["text"] ?? .null])
        StandardOutput.line("changed \(item.idText) \(TodoItem.line(item))")
    }
}

/// `tideline todo rm`: deletes an item.
struct RemoveCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(commandName: "rm", abstract: "Delete an item.")

    @OptionGroup var options: TodoOptions

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let item = try await session.item(id)
        try await session.items.delete(item)
        StandardOutput.line("removed \(item.idText) \(TodoItem.line(item))")
    }
}
#endif
