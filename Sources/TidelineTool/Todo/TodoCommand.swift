#if Serve
internal import ArgumentParser

/// `tideline todo`: a to-do list that works offline.
struct TodoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "A to-do list that works offline and syncs.",
        discussion: """
            All commands except sync use only the local store. Their changes are queued until the next sync. An id may \
            be shortened to its first characters.
            """,
        subcommands: [
            AddCommand.self, ListCommand.self, DoneCommand.self, EditCommand.self, RemoveCommand.self,
            SyncCommand.self, StatusCommand.self, ResolveCommand.self, ShellCommand.self,
        ]
    )
}
#endif
