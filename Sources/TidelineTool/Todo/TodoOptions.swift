internal import ArgumentParser
internal import Foundation
internal import Tideline
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

    func perform(_ session: TodoSession<some LocalStore>) async throws
}

extension TodoSubcommand {
    var url: String? { nil }
    var syncOptions: SyncOptions { SyncOptions() }
    var readsStandardInput: Bool { false }

    func run() async throws {
        try await withStore(options.location()) { try await run(on: $0) }
    }

    /// Does the work on a store that is open.
    func run(on store: some LocalStore) async throws {
        let session = try await TodoSession(
            store: store, url: url ?? SyncCommand.defaultURL, options: syncOptions)
        try await perform(session)
    }
}
