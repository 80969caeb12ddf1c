internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// Where scripts are carried out: a store of one kind, empty for each.
struct ScriptStage: Sendable {
    /// Opens the store in a folder, or makes an empty one there.
    let open: @Sendable (_ directory: String) throws -> any LocalStore
    /// A folder within which each script has one of its own.
    let directory: String
    let capabilities: StoreCapabilities
    /// How many seconds one thread waits for another.
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

    init(_ trial: Trial) {
        self.init(directory: trial.directory, capabilities: trial.capabilities, patience: trial.patience) { directory in
            try trial.harness.open(StoreOpening(directory: directory))
        }
    }

    /// A model as empty as a new store.
    var emptyModel: StoreModel { StoreModel(maximumIDLength: capabilities.maximumIDLength) }

    /// Calls `body` with a folder that is there until it returns.
    func withFolder<T>(_ body: (String) throws -> T) throws -> T {
        let path = "\(directory)/\(UUID().uuidString)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw KitError("the folder \(path) cannot be made: \(error.reason)")
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}
