#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// `tideline todo resolve`: resolves an item that was not synced.
struct ResolveCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve a conflict: use the server's version, or keep yours.",
        discussion: """
            Without --server or --mine, prints both versions and changes nothing. --server removes an item that the \
            server refused to insert.
            """
    )

    @OptionGroup var options: TodoOptions

    @Flag(help: "Discard the local change and use the server's version.")
    var server = false

    @Flag(help: "Keep the local change. The next sync overwrites the server's version with it.")
    var mine = false

    @Argument(help: "The item's id, or the beginning of it. Not needed if only one item failed.")
    var id: String?

    func validate() throws {
        guard !(server && mine) else { throw ValidationError("specify --server or --mine, not both.") }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let failure = try await session.failure(id)
        let itemID = printable(failure.itemID)
        if server {
            try await failure.cancelOperationAndDiscardItem()
            let isRemoved = try await session.items.row(id: failure.itemID) == nil
            StandardOutput.line(
                isRemoved
                    ? "removed \(itemID), which the server lacks; the local change is discarded"
                    : "restored the server's \(itemID); the local change is discarded")
        } else if mine {
            let mine = failure.item ?? Row(id: .string(failure.itemID))
            try await failure.keepOperationAndUpdateItem(mine.filteringColumns { $0 != "version" })
            StandardOutput.line("kept \(itemID); the next sync sends it")
        } else {
            StandardOutput.line(ConflictText.describe(failure, store: options.store))
        }
    }
}
#endif
