#if Commands
internal import ArgumentParser
internal import Foundation
public import TidelineStore
internal import TidelineSupport

/// The stores that a command can measure, and their baselines.
public struct BenchStores: Sendable {
    /// Creates a store with settings, such as `durability=full`.
    public typealias Configuring = @Sendable (_ store: String, _ settings: [String]) throws -> BenchmarkSubject

    /// The names of the stores, all of which are measured by default.
    public var names: [String]
    /// The names of stores that are measured only if `--store` names them, such as those that need a server.
    public var moreNames: [String] = []
    /// Creates a store. Throws `ValidationError` for unknown settings.
    public var configuring: Configuring
    /// Returns the names of a store's settings.
    public var settings: @Sendable (_ store: String) -> [String]
    /// Returns the baseline of an engine with a durability, or `nil` if there is none.
    public var baseline: @Sendable (_ engine: String, _ durability: StoreCapabilities.Durability) -> BenchmarkSubject?
    /// Other subjects, which are always measured, such as JSON parsers.
    public var others: [BenchmarkSubject]

    /// Creates a list of stores; see the properties.
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

    /// Creates a list of stores without settings and baselines.
    /// - Throws: An error of a store that is opened to read its name.
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

/// The subjects of a run.
struct SubjectSelection {
    /// The stores in the order of the options, the baselines of their engines, and the other subjects.
    let subjects: [BenchmarkSubject]
    /// The directories of subjects that have their own, by name.
    let directories: [String: String]

    /// Selects the stores of `--store`, or all stores.
    /// - Throws: `ValidationError` for an unknown store or setting, and for duplicate names.
    init(_ options: BenchOptions, stores: BenchStores) throws {
        guard Set(stores.allNames).count == stores.allNames.count else {
            throw ValidationError("two stores have the same name: \(stores.allNames.joined(separator: ", ")).")
        }
        let words = try StoreWord.words(options.stores, names: Set(stores.allNames), acceptsFolders: true)
        let asked = words.isEmpty ? stores.names.map { StoreWord(name: $0) } : words
        var chosen = try asked.map { try Self.store($0, options.durability, stores) }
        if let durability = options.durability, !asked.contains(where: { stores.hasDurability($0) }) {
            throw ValidationError("--durability \(durability): none of the stores has this setting.")
        }
        if options.baseline { chosen += Self.baselines(of: chosen, stores) }
        chosen += stores.others.filter { options.baseline || $0.kind != .baseline }.map { ($0, nil) }
        subjects = chosen.map(\.subject)
        directories = chosen.reduce(into: [:]) { $0[$1.subject.name] = $1.directory }
    }

    private typealias Choice = (subject: BenchmarkSubject, directory: String?)

    private static func store(_ word: StoreWord, _ durability: String?, _ stores: BenchStores) throws -> Choice {
        let (name, directory) = stores.parts(word)
        guard stores.allNames.contains(name) else {
            throw ValidationError(
                "there is no store \(name.debugDescription)." + suggestion(for: name, among: stores.allNames)
                    + " The stores are: \(stores.allNames.joined(separator: ", ")).")
        }
        guard word.settings.isEmpty || !stores.settings(name).isEmpty else {
            throw ValidationError("the store \(name) has no settings.")
        }
        var settings = word.settings
        if let durability, stores.hasDurability(word), !settings.contains(where: { $0.hasPrefix("durability=") }) {
            settings.append("durability=\(durability)")
        }
        var subject = try stores.configuring(name, settings)
        subject.name = word.text
        if let directory { subject.settings.append("folder=\(directory)") }
        return (subject, directory)
    }

    /// A baseline for each engine and durability, in the directory of the first store that has both.
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
    fileprivate var allNames: [String] { names + moreNames }

    /// Splits a store's name and the directory after a colon.
    fileprivate func parts(_ word: StoreWord) -> (name: String, directory: String?) {
        // The name of a store may contain a colon.
        guard !allNames.contains(word.name), let colon = word.name.firstIndex(of: ":") else { return (word.name, nil) }
        return (String(word.name[..<colon]), String(word.name[word.name.index(after: colon)...]))
    }

    /// Whether a store has the setting `durability`.
    fileprivate func hasDurability(_ word: StoreWord) -> Bool { settings(parts(word).name).contains("durability") }
}
#endif
