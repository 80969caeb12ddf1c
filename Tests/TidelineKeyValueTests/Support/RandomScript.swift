import Testing
import TidelineKeyValue
import TidelineStore
import TidelineSupport
import TidelineTestStores

/// Random operations from a seed, and the model of their expected results.
struct RandomScript {
    private struct Dropped: Error {}

    let seed: UInt64
    private(set) var operations = 0
    private var random: SplitMix64
    private var model = MapModel()
    /// The bytes of keys after their space, but for a few random ones.
    private let stems: [[UInt8]]

    init(seed: UInt64, stemLengths: [Int] = [0]) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        stems = stemLengths.map { count in (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        self.random = random
    }

    mutating func decides(_ chances: Int, of total: Int) -> Bool {
        Int.random(in: 0..<total, using: &random) < chances
    }

    /// Runs a group of operations as one transaction; one in five is rolled back at the end.
    mutating func runTransaction(on engine: any OrderedKeyValueEngine) throws {
        let before = model
        do {
            try engine.write { writer throws in
                for _ in 0..<Int.random(in: 0...120, using: &random) { try runOperation(on: writer) }
                try expectAgreement(writer)
                if decides(1, of: 5) { throw Dropped() }
            }
        } catch is Dropped {
            model = before
        }
    }

    mutating func runOperation(on writer: some KeyValueTransaction) throws {
        operations += 1
        let key = randomKey()
        switch Int.random(in: 0..<11, using: &random) {
        case 0...2:
            let value = randomValue()
            try writer.put(key, value)
            model[key] = value
        case 3...4:
            let value = randomValue()
            let existing = try writer.insert(key, value)
            let isSame = existing == model[key]
            try #require(isSame, "seed \(seed)")
            if model[key] == nil { model[key] = value }
        case 5...6: try #require(try writer.delete(key) == (model.remove(key) != nil), "seed \(seed)")
        case 7: try expectValue(key, writer)
        case 8...9:
            let value = randomValue()
            let isSame = try writer.replace(key, by: value) == model[key]
            try #require(isSame, "seed \(seed)")
            model[key] = value
        default: try expectRange(KeyRange(from: key, to: Array(key.prefix(4)) + randomKey().dropFirst(4)), writer)
        }
    }

    /// - Parameter ranges: The number of ranges between two keys, and of those of all keys with a prefix.
    mutating func expectAgreement(_ snapshot: some KeyValueSnapshot, ranges: Int = 0) throws {
        for space in 1...2 as ClosedRange<UInt8> { try expectRange(KeyRange(prefix: [0, 0, 0, space]), snapshot) }
        for _ in 0..<max(5, ranges) { try expectValue(randomKey(), snapshot) }
        for _ in 0..<ranges {
            let (key, other) = (randomKey(), randomKey())
            let isReversed = other.lexicographicallyPrecedes(key)
            try expectRange(isReversed ? KeyRange(from: other, to: key) : KeyRange(from: key, to: other), snapshot)
            try expectRange(KeyRange(prefix: key), snapshot)
        }
    }

    /// The comparison is made outside of the expectation, which would describe the difference of large values.
    private func expectValue(_ key: [UInt8], _ snapshot: some KeyValueSnapshot) throws {
        let isSame = try snapshot.value(key) == model[key]
        try #require(isSame, "seed \(seed), \(key)")
    }

    private mutating func expectRange(_ range: KeyRange, _ snapshot: some KeyValueSnapshot) throws {
        for descending in [false, true] {
            let limit = decides(1, of: 3) ? Int.random(in: 1...10, using: &random) : .max
            let found = try snapshot.entries(in: range, descending: descending, limit: limit)
            let isSame = found.elementsEqual(model.entries(in: range, descending: descending).prefix(limit))
            try #require(isSame, "seed \(seed), \(range), descending \(descending), limit \(limit)")
        }
    }

    /// Returns a key of one of two spaces, every second time an existing one or its neighbor.
    private mutating func randomKey() -> [UInt8] {
        if decides(1, of: 2), let known = model.randomKey(&random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return known + [UInt8.random(in: 0...1, using: &random)]
            case 1: return Array(known.prefix(max(4, known.count - 1)))
            default: return known
            }
        }
        let stem = stems.randomElement(using: &random) ?? []
        let alphabet: [UInt8] = [0, 1, 97, 98, 254, 255]
        let length = Int.random(in: 0...5, using: &random)
        let end = (0..<length).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        return [0, 0, 0, UInt8.random(in: 1...2, using: &random)] + stem + end
    }

    private mutating func randomValue() -> [UInt8] {
        let most = decides(1, of: 30) ? 10_000 : 200
        let filler = UInt8.random(in: 0...255, using: &random)
        return [UInt8](repeating: filler, count: Int.random(in: 0...most, using: &random))
    }
}
