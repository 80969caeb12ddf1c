#if Commands
internal import ArgumentParser
internal import Foundation
internal import TidelineSupport

/// The stores that a run checks, with distinct names, and the arguments by which its processes identify them.
struct StoreChoice {
    /// The harnesses, with names.
    let harnesses: [StoreHarness]
    /// The argument for `--store` of each store, keyed by its name.
    let words: [String: StoreWord]

    /// Selects the stores of `--store`, by default all; throws for a store that is unknown or given twice.
    init(_ options: ConformanceOptions, stores: ConformanceStores, program: ConformanceProgram) throws {
        let isInProcess = options.inProcess
        var named = stores
        named.harnesses = stores.harnesses.enumerated().map { place, harness in
            var named = harness
            named.name = harness.name ?? Self.declaredName(harness, at: place, isInProcess ? nil : program)
            return named
        }
        let names = named.names
        guard Set(names).count == names.count else {
            throw ValidationError(
                "two stores have the same name: \(names.joined(separator: ", ")). Set the names of their harnesses.")
        }
        let places = named.harnesses.indices.map {
            (StoreWord(name: names[$0]), stores.harnesses[$0].name == nil ? StoreWord.at($0) : nil)
        }
        let asked = try StoreWord.words(options.stores, names: Set(names))
        var words: [String: StoreWord] = [:]
        harnesses = try (asked.isEmpty ? places.map(\.0) : asked).map { word in
            let harness = try named.store(word)
            words[harness.name ?? word.text] = places.first { $0.0 == word }?.1 ?? word
            return harness
        }
        self.words = words
    }

    /// Returns the name that an unnamed store declares, read in a separate process because the store might crash it.
    private static func declaredName(_ harness: StoreHarness, at place: Int, _ program: ConformanceProgram?) -> String {
        let declared =
            program.map { Workers(program: $0, words: [:]).declaredName(.at(place)) }
            ?? ConformanceSuite(harness).name
        return declared ?? "store \(place + 1)"
    }
}
#endif
