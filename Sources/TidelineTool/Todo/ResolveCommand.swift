internal import ArgumentParser
internal import Tideline
internal import TidelineStore

/// `tideline todo resolve`: settles an item that was not synced.
struct ResolveCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Settle a conflict: take the server's version, or keep yours.",
        discussion: """
            Without --server or --mine it prints both versions and changes nothing. --server removes an item that the \
            server refused to insert.
            """
    )

    @OptionGroup var options: TodoOptions

    @Flag(help: "Drop the local change and take what the server has.")
    var server = false

    @Flag(help: "Keep the local change; the next sync writes it over the server's.")
    var mine = false

    @Argument(help: "The item's id, or how it begins; not needed when there is only one.")
    var id: String?

    func validate() throws {
        guard !(server && mine) else { throw ValidationError("choose --server or --mine, not both.") }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let failure = try await session.failure(id)
        if server {
            try await failure.cancelOperationAndDiscardItem()
            let isRemoved = try await session.items.row(id: failure.itemID) == nil
            StandardOutput.line(
                isRemoved
                    ? "removed \(shortID(failure.itemID)), which the server does not have; the local change is dropped"
                    : "took the server's \(shortID(failure.itemID)); the local change is dropped")
        } else if mine {
            let mine = failure.item ?? Row(id: .string(failure.itemID))
            try await failure.keepOperationAndUpdateItem(mine.filteringColumns { $0 != "version" })
            StandardOutput.line("kept \(shortID(failure.itemID)); the next sync sends it")
        } else {
            StandardOutput.line(ConflictText.describe(failure))
        }
    }
}
