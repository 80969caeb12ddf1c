internal import ArgumentParser
internal import Foundation
internal import Tideline
internal import TidelineMemory
internal import TidelineStore

/// What all commands of the to-do list know.
struct TodoOptions: ParsableArguments {
    /// Named in place of `--store`.
    static let storeVariable = "TIDELINE_STORE"
    static let defaultStore = "sqlite:todo.db"

    @Option(
        help: ArgumentHelp(
            StoreLocation.help.abstract,
            discussion: (StoreLocation.help.discussion ?? "")
                + "\nWithout it, the environment's \(storeVariable), or else \(defaultStore).",
            valueName: "engine:path"),
        transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    /// The store that was named, in this order: option, environment, default.
    func location() throws -> StoreLocation {
        try store
            ?? StoreLocation(parsing: ProcessInfo.processInfo.environment[Self.storeVariable] ?? Self.defaultStore)
    }
}

/// A command of the to-do list: opens the store, does its work, closes the store.
protocol TodoSubcommand: AsyncParsableCommand {
    var options: TodoOptions { get }
    /// The server; commands that work offline have none.
    var url: String? { get }
    /// How the client behaves.
    var syncOptions: SyncOptions { get }
    /// Whether the command reads standard input itself.
    var readsStandardInput: Bool { get }
    /// Whether the command changes nothing: it opens the store for reading only and defines no table.
    var isReadOnly: Bool { get }

    func perform(_ session: TodoSession<some LocalStore>) async throws
}

extension TodoSubcommand {
    var url: String? { nil }
    var syncOptions: SyncOptions { SyncOptions() }
    var readsStandardInput: Bool { false }
    var isReadOnly: Bool { false }

    func run() async throws {
        let location = try options.location()
        location.warnIfForgetful()
        try await withStore(location, isReadOnly: isReadOnly) { try await run(on: $0) }
    }

    /// Does the work on a store that is open.
    func run(on store: some LocalStore) async throws {
        if isReadOnly {
            let tables = try store.tables()
            try StoreRole.requireClient(tables)
            // A store without the list reads like an empty one, which can be defined without touching it.
            guard TodoSession<MemoryStore>.isDefined(in: tables) else { return try await runOnEmptyStore() }
            return try await perform(TodoSession(reading: store))
        }
        let session = try await TodoSession(
            store: store, url: url ?? SyncCommand.defaultURL, options: syncOptions)
        try await perform(session)
    }

    private func runOnEmptyStore() async throws {
        try await perform(
            TodoSession(store: MemoryStore(), url: SyncCommand.defaultURL, options: syncOptions))
    }
}

extension StoreLocation {
    /// Warns that what a command does to a store in memory is gone when it ends.
    func warnIfForgetful() {
        guard !keepsRows else { return }
        StandardOutput.note(
            "Warning: \(text) keeps nothing when this command ends; name a file, such as sqlite:todo.db.")
    }
}
