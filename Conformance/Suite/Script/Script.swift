internal import Foundation
internal import TidelineStore

/// A sequence of store operations: generated from a seed, run beside a model, shrunk, and printed as Swift.
struct Script: Sendable {
    /// One call within a write.
    enum Change: Sendable {
        case upsert([Row], into: String)
        /// An upsert whose error the body catches.
        case attempt([Row], into: String)
        case delete([RowID], from: String)
        case deleteMatching(TableQuery)
        /// A query within the write.
        case look(TableQuery)
    }

    /// One step.
    enum Step: Sendable {
        case define([TableSchema])
        /// Changes in one write, which throws at its end if it does not commit.
        case write([Change], commits: Bool)
        /// The store is closed and reopened if it keeps its rows.
        case reopen
        /// Another thread begins a read, unless one is already open.
        case hold
        /// That read ends.
        case release
    }

    var steps: [Step]
}

/// The environment of scripts: stores of one kind, empty for each script.
struct ScriptStage: Sendable {
    /// Opens the store in a directory, or creates an empty one there.
    let open: @Sendable (_ directory: String) throws -> any LocalStore
    /// The directory that contains a directory for each script.
    let directory: String
    let capabilities: StoreCapabilities
    /// The maximum time in seconds that one thread waits for another.
    let patience: Double

    init(
        directory: String, capabilities: StoreCapabilities, patience: Double,
        open: @escaping @Sendable (_ directory: String) throws -> any LocalStore
    ) {
        self.directory = directory
        self.capabilities = capabilities
        self.patience = patience
        self.open = open
    }

    init(_ context: CheckContext) {
        self.init(directory: context.directory, capabilities: context.capabilities, patience: context.patience) {
            directory in
            try context.harness.open(StoreOpening(directory: directory))
        }
    }

    /// A model in the state of a new store.
    var emptyModel: StoreModel { StoreModel(maximumIDLength: capabilities.maximumIDLength) }

    /// Calls `body` with a directory that exists until it returns.
    func withFolder<T>(_ body: (String) throws -> T) throws -> T {
        let path = "\(directory)/\(UUID().uuidString)"
        try CheckFolder.make(path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}
