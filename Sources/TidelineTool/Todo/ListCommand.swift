#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

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
#endif
