internal import ArgumentParser
internal import Foundation
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

/// Who takes part in a run.
struct SubjectChoice {
    /// Stores in the order in which they were named, then the baselines of their engines, then the others.
    let subjects: [BenchmarkSubject]
    /// Where the databases of single subjects are, by their names.
    let directories: [String: String]

    /// The stores of `--store`, all by default.
    /// - Throws: `ValidationError` for a store or a setting that does not exist, and for two of one name.
    init(_ options: BenchOptions, stores: BenchStores) throws {
        guard Set(stores.names).count == stores.names.count else {
            throw ValidationError("two stores are called alike: \(stores.names.joined(separator: ", ")). Name them.")
        }
        let words = try StoreWord.words(options.stores, names: Set(stores.names))
        let asked = words.isEmpty ? stores.names.map { StoreWord(name: $0) } : words
        var chosen = try asked.map { try Self.store($0, options.durability, stores) }
        if let durability = options.durability, !asked.contains(where: { stores.hasDurability($0) }) {
            throw ValidationError("--durability \(durability): none of the stores has the setting.")
        }
        if options.baseline { chosen += Self.baselines(of: chosen, stores) }
        chosen += stores.others.filter { options.baseline || $0.kind != .baseline }.map { ($0, nil) }
        subjects = chosen.map(\.subject)
        directories = chosen.reduce(into: [:]) { $0[$1.subject.name] = $1.directory }
    }

    private typealias Choice = (subject: BenchmarkSubject, directory: String?)

    private static func store(_ word: StoreWord, _ durability: String?, _ stores: BenchStores) throws -> Choice {
        let (name, directory) = stores.parts(word)
        guard stores.names.contains(name) else {
            throw ValidationError(
                "there is no store \(name.debugDescription)." + suggestion(for: name, among: stores.names)
                    + " The stores are: \(stores.names.joined(separator: ", ")).")
        }
        guard word.settings.isEmpty || !stores.settings(name).isEmpty else {
            throw ValidationError("the store \(name) has no settings.")
        }
        guard directory != "" else { throw ValidationError("\(word.text.debugDescription) names no folder.") }
        var settings = word.settings
        if let durability, stores.hasDurability(word), !settings.contains(where: { $0.hasPrefix("durability=") }) {
            settings.append("durability=\(durability)")
        }
        var subject = try stores.configuring(name, settings)
        subject.name = word.text
        if let directory { subject.settings.append("folder=\(directory)") }
        return (subject, directory)
    }

    /// A baseline for each engine and durability, beside the first store that has it.
    private static func baselines(of chosen: [Choice], _ stores: BenchStores) -> [Choice] {
        var baselines: [Choice] = []
        for (subject, directory) in chosen {
            let isThere = baselines.contains {
                $0.subject.engine == subject.engine && $0.subject.durability == subject.durability
            }
            guard !isThere, var baseline = stores.baseline(subject.engine, subject.durability) else { continue }
            if baselines.contains(where: { $0.subject.name == baseline.name }) {
                baseline.name += ",durability=\(subject.durability.rawValue)"
            }
            baselines.append((baseline, directory))
        }
        return baselines
    }
}

extension BenchStores {
    /// The name of a store, and the folder behind a colon.
    fileprivate func parts(_ word: StoreWord) -> (name: String, directory: String?) {
        // A store's own name may have a colon.
        guard !names.contains(word.name), let colon = word.name.firstIndex(of: ":") else { return (word.name, nil) }
        return (String(word.name[..<colon]), String(word.name[word.name.index(after: colon)...]))
    }

    /// Whether a store can be told its durability.
    fileprivate func hasDurability(_ word: StoreWord) -> Bool { settings(parts(word).name).contains("durability") }
}
