internal import ArgumentParser
internal import Foundation
internal import TidelineCommandSupport
public import TidelineConformance

/// The stores that a command can check.
public struct ConformanceStores: Sendable {
    /// Makes the harness of a store with settings, such as `durability=normal`.
    public typealias Configuring = @Sendable (_ store: String, _ settings: [String]) throws -> StoreHarness

    /// Those that are checked by default.
    public var harnesses: [StoreHarness]
    /// Makes a harness with settings; nil where stores have none.
    public var configuring: Configuring?

    /// Stores, each of a name of its own; one without a name is asked for the one it declares.
    ///
    /// - Parameters:
    ///   - harnesses: The stores, as they are checked by default.
    ///   - configuring: Makes the harness of one of them with settings. It throws `ValidationError` for one that it does not
    ///     know.
    public init(_ harnesses: [StoreHarness], configuring: Configuring? = nil) {
        self.harnesses = harnesses
        self.configuring = configuring
    }

    /// Where there is a folder with stores of earlier releases for each store, by its name; nil for nowhere.
    var fixtures: String?

    /// The store that a word of `--store` names.
    func store(_ word: StoreWord) throws -> StoreHarness {
        var harness = try find(word)
        let folder = fixtures.map { "\($0)/\(word.place == nil ? word.name : harness.name ?? "")" }
        if harness.fixtures == nil, let folder, FileManager.default.fileExists(atPath: folder) {
            harness.fixtures = folder
        }
        return harness
    }

    private func find(_ word: StoreWord) throws -> StoreHarness {
        // A worker of a store without a name is told its place.
        if let place = word.place, harnesses.indices.contains(place) { return harnesses[place] }
        guard let harness = harnesses.first(where: { $0.name == word.name }) else {
            let names = harnesses.compactMap(\.name)
            throw ValidationError(
                "there is no store \(word.name.debugDescription)." + suggestion(for: word.name, among: names)
                    + " The stores are: \(names.joined(separator: ", ")).")
        }
        if word.settings.isEmpty { return harness }
        guard let configuring else { throw ValidationError("the store \(word.name) has no settings.") }
        var configured = try configuring(word.name, word.settings)
        configured.name = word.text
        return configured
    }
}
