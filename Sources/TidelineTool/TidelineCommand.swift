internal import ArgumentParser

/// The command `tideline`.
@main
struct TidelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tideline",
        abstract: "Offline sync with a local store you choose.",
        discussion: """
            Exit status: 0 when all went well, 1 when something failed (the reason is on standard error), 64 when the \
            command line is not understood.
            """,
        version: "0.1.0-dev",
        subcommands: [ServeCommand.self, TodoCommand.self, DemoCommand.self]
    )
}
