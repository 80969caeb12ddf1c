#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

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
