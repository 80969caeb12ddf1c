#if Serve
internal import ArgumentParser
internal import Foundation
internal import Tideline
internal import TidelineMemory
internal import TidelineStore
internal import TidelineSupport
internal import TidelineWire

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

/// The options that all commands of the to-do list share.
struct TodoOptions: ParsableArguments {
    /// The environment variable that replaces `--store`.
    static let storeVariable = "TIDELINE_STORE"
    static let defaultStore = "sqlite:todo.db"

    @Option(
        help: StoreLocation.help(default: "the environment variable \(storeVariable), or \(defaultStore)"),
        transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    /// Returns the words of a command of the list, to be entered in the shell if this is one, or in the terminal.
    ///
    /// - Parameter store: The store of `--store`, which the command then names.
    static func command(_ name: String, store: StoreLocation?) -> [String] {
        (ShellCommand.isRunning ? [name] : ["tideline", "todo", name]) + (store.map { ["--store", $0.text] } ?? [])
    }

    /// Returns the location of the store from the option, the environment, or the default, in this order.
    func location() throws -> StoreLocation {
        try store
            ?? StoreLocation(parsing: ProcessInfo.processInfo.environment[Self.storeVariable] ?? Self.defaultStore)
    }
}

/// A command of the to-do list. It opens the store, performs its work, and closes the store.
protocol TodoSubcommand: AsyncParsableCommand {
    var options: TodoOptions { get }
    /// The URL of the server, to which a command that works offline sends nothing.
    var url: String { get }
    var syncOptions: SyncOptions { get }
    /// Whether the command makes no changes. It then opens the store for reading only and defines no table.
    var isReadOnly: Bool { get }

    func perform(_ session: TodoSession<some LocalStore>) async throws
}

extension TodoSubcommand {
    var url: String { SyncCommand.defaultURL }
    var syncOptions: SyncOptions { SyncOptions() }
    var isReadOnly: Bool { false }

    func run() async throws {
        let location = try options.location()
        location.warnIfForgetful()
        do {
            try await withStore(location, isReadOnly: isReadOnly) { try await run(on: $0) }
        } catch let error as StoreError where isReadOnly && location.isMissing(after: error) {
            throw ToolError("there is no list in \(location.text); add an item, or name a store with --store")
        }
    }

    /// Performs the command on an open store.
    func run(on store: some LocalStore) async throws {
        if isReadOnly {
            let tables = try store.tables()
            try StoreRole.requireClient(tables)
            // A store without the list reads like an empty memory store, which can be defined without changing the
            // former.
            guard TodoSession<MemoryStore>.isDefined(in: tables) else {
                return try await perform(TodoSession(store: MemoryStore(), url: url, options: syncOptions))
            }
            return try await perform(TodoSession(reading: store))
        }
        try await perform(TodoSession(store: store, url: url, options: syncOptions))
    }
}

extension StoreLocation {
    /// Prints a warning, with another store, if the store loses its rows when the command ends.
    func warnIfForgetful(
        instead store: String = TodoOptions.defaultStore,
        _ warn: (String) -> Void = { Output.note("Warning: \($0)") }
    ) {
        guard !keepsRows else { return }
        warn("\(text) keeps nothing when this command ends; specify a file, such as \(store).")
    }
}
#endif
