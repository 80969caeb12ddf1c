#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The stores that a command can check.
public struct ConformanceStores: Sendable {
    /// Creates the harness of a store with settings, such as `durability=normal`.
    public typealias Configuring = @Sendable (_ store: String, _ settings: [String]) throws -> StoreHarness

    /// The stores that are checked by default.
    public var harnesses: [StoreHarness]
    /// The names of stores that are checked only if `--store` names them, such as those that need a server.
    /// ``configuring`` creates their harnesses, also without settings.
    public var others: [String] = []
    /// Creates a harness with settings, or `nil` if the stores have none.
    public var configuring: Configuring?

    /// Creates a list of stores with distinct names. A store without a name uses the name that it declares.
    ///
    /// - Parameters:
    ///   - harnesses: The stores that are checked by default.
    ///   - configuring: Creates the harness of a store with settings. It throws `ValidationError` for a store or
    ///     setting that does not exist.
    public init(_ harnesses: [StoreHarness], configuring: Configuring? = nil) {
        self.harnesses = harnesses
        self.configuring = configuring
    }

    /// The directory with stores from earlier releases, in a directory named after each store, or `nil`.
    var fixtures: String?

    /// Returns the store that an argument of `--store` names.
    func store(_ word: StoreWord) throws -> StoreHarness {
        var harness = try find(word)
        let folder = fixtures.map { "\($0)/\(word.place == nil ? word.name : harness.name ?? "")" }
        if harness.fixtures == nil, let folder, FileManager.default.fileExists(atPath: folder) {
            harness.fixtures = folder
        }
        return harness
    }

    /// The names of all stores.
    var names: [String] { harnesses.compactMap(\.name) + others }

    private func find(_ word: StoreWord) throws -> StoreHarness {
        // A worker of a store without a name receives its index.
        if let place = word.place, harnesses.indices.contains(place) { return harnesses[place] }
        let harness = harnesses.first { $0.name == word.name }
        guard harness != nil || others.contains(word.name) else {
            let names = self.names
            throw ValidationError(
                "there is no store \(word.name.debugDescription)." + suggestion(for: word.name, among: names)
                    + " Available stores: \(names.joined(separator: ", ")).")
        }
        if let harness, word.settings.isEmpty { return harness }
        guard let configuring else { throw ValidationError("the store \(word.name) has no settings.") }
        var configured = try configuring(word.name, word.settings)
        configured.name = word.text
        return configured
    }
}
#endif
