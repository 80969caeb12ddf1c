internal import ArgumentParser
public import TidelineBenchmark
internal import TidelineCommandSupport
public import TidelineStore

/// The stores that a command can measure, and what they are held against.
public struct BenchStores: Sendable {
    /// Makes a store with settings, such as `durability=full`.
    public typealias Configuring = @Sendable (_ store: String, _ settings: [String]) throws -> BenchmarkSubject

    /// The names of the stores that are measured by default.
    public var names: [String]
    /// Makes one of them. It throws `ValidationError` for settings that it does not know.
    public var configuring: Configuring
    /// The names of a store's settings; empty where it has none.
    public var settings: @Sendable (_ store: String) -> [String]
    /// The same work on the bare engine; nil where there is no baseline of an engine with that durability.
    public var baseline: @Sendable (_ engine: String, _ durability: StoreCapabilities.Durability) -> BenchmarkSubject?
    /// Who else is always measured, such as readers of JSON.
    public var others: [BenchmarkSubject]

    /// Stores; see the properties.
    public init(
        names: [String], settings: @escaping @Sendable (_ store: String) -> [String] = { _ in [] },
        baseline: @escaping @Sendable (String, StoreCapabilities.Durability) -> BenchmarkSubject? = { _, _ in nil },
        others: [BenchmarkSubject] = [], configuring: @escaping Configuring
    ) {
        self.names = names
        self.settings = settings
        self.baseline = baseline
        self.others = others
        self.configuring = configuring
    }

    /// Stores that are what they are: they have no settings here, and nothing is known of their engines.
    /// - Throws: What a store throws that has to be opened to be asked for its name.
    public init(_ stores: [BenchmarkStore]) throws {
        let subjects = try stores.map { try $0.makeSubject() }
        self.init(names: subjects.map(\.name)) { name, _ in
            guard let subject = subjects.first(where: { $0.name == name }) else {
                throw ValidationError("there is no store \(name.debugDescription).")
            }
            return subject
        }
    }
}
