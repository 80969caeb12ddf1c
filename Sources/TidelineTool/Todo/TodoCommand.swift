internal import ArgumentParser

/// `tideline todo`: a to-do list that works offline, as a command.
struct TodoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "todo",
        abstract: "A to-do list that works offline and syncs.",
        discussion: """
            All commands but sync work on the local store alone; what they change waits in a queue until sync. An id may \
            be shortened to its first letters.
            """,
        subcommands: [
            AddCommand.self, ListCommand.self, DoneCommand.self, EditCommand.self, RemoveCommand.self,
            SyncCommand.self, StatusCommand.self, ResolveCommand.self, ShellCommand.self,
        ]
    )
}
