internal import ArgumentParser
internal import Foundation
internal import TidelineCommandSupport
internal import TidelineConformance

/// The stores that a run checks, each with a name, and the words by which its processes find them.
struct StoreChoice {
    /// The harnesses, named.
    let harnesses: [StoreHarness]
    /// The word for `--store` of each, by its name.
    let words: [String: StoreWord]

    /// The stores of `--store`, all by default.
    /// - Throws: `ValidationError` for a store that does not exist, and for two of one name.
    init(_ options: ConformanceOptions, stores: ConformanceStores, program: ConformanceProgram) throws {
        let isInProcess = options.inProcess
        var named = stores
        named.harnesses = stores.harnesses.enumerated().map { place, harness in
            var named = harness
            named.name = harness.name ?? Self.declaredName(harness, at: place, isInProcess ? nil : program)
            return named
        }
        let names = named.harnesses.compactMap(\.name)
        guard Set(names).count == names.count else {
            throw ValidationError(
                "two stores are called alike: \(names.joined(separator: ", ")). Name their harnesses.")
        }
        let places = names.indices.map {
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

    /// What a store without a name declares to be called, by its own process, which it might end.
    private static func declaredName(_ harness: StoreHarness, at place: Int, _ program: ConformanceProgram?) -> String {
        let declared =
            program.map { Workers(program: $0, words: [:]).declaredName(.at(place)) }
            ?? ConformanceSuite(harness).name
        return declared ?? "store \(place + 1)"
    }
}
