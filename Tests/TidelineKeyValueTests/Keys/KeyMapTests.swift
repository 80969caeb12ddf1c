import Testing
import TidelineConformance
import TidelineMemory
import TidelineStore
import TidelineSupport

@testable import TidelineKeyValue

/// Tests keys of any length over an engine with a maximum key length, against a model without one.
@Suite struct KeyMapTests {
    private let engine = MemoryEngine()

    /// The maximum length of keys in the engine, and the hash of overflow keys.
    struct Folding: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let keys: OverflowKey
        let maximum: Int

        init(_ maximum: Int, _ name: String, hash: @escaping @Sendable (UnsafeRawBufferPointer) -> UInt64) {
            testDescription = "\(maximum == .max ? "no" : "\(maximum)") bytes, \(name)"
            keys = OverflowKey(maximum: maximum, hash: hash)
            self.maximum = maximum
        }

        static let all: [Folding] = [128, 511, .max].flatMap { maximum in
            [
                Folding(maximum, "the hash in use", hash: OverflowKey.hash),
                Folding(maximum, "four hashes") { UInt64($0.last ?? 0) & 3 },
                Folding(maximum, "one hash", hash: { _ in .max }),
            ]
        }
    }

    private struct Dropped: Error {}

    @Test(arguments: Folding.all)
    func randomOperationsDoWhatTheModelDoes(_ folding: Folding) throws {
        let seed = UInt64.random(in: 0...99_999)
        var script = LongKeyScript(seed: seed)
        for _ in 0..<12 {
            try engine.write { transaction throws in
                let map = KeyStoreMap(LimitedTransaction(transaction, folding.maximum), folding.keys)
                for _ in 0..<60 { try script.runOperation(on: map) }
            }
            try engine.read { snapshot throws in
                try script.expectAgreement(KeyMap(snapshot, folding.keys), checks: 10)
            }
        }
    }

    @Test(arguments: Folding.all)
    func keysThatDifferInTheirLastByteAloneComeInOrder(_ folding: Folding) throws {
        let hashedPrefix = KeySpace(number: 9).prefix + [UInt8](repeating: 0xFF, count: 600)
        let keys =
            (0..<200).map { hashedPrefix + [UInt8($0)] } + [
                hashedPrefix, Array(hashedPrefix.dropLast(500)), hashedPrefix + [7, 7],
            ]
        try engine.write { transaction throws in
            let map = KeyStoreMap(LimitedTransaction(transaction, folding.maximum), folding.keys)
            for (number, key) in keys.enumerated().shuffled() { try map.put(key, [UInt8(number & 0xFF)]) }
        }
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        try engine.read { snapshot throws in
            let map = KeyMap(snapshot, folding.keys)
            #expect(try map.keys(in: KeySpace(number: 9).range) == sorted)
            #expect(try map.keys(in: KeySpace(number: 9).range, descending: true) == sorted.reversed())
            #expect(try map.keys(in: KeySpace(number: 8).range) == [])
            #expect(try map.keys(in: KeySpace(number: 10).range) == [])
            let part = KeyRange(from: hashedPrefix + [5], to: hashedPrefix + [9])
            #expect(
                try map.keys(in: part) == [
                    hashedPrefix + [5], hashedPrefix + [6], hashedPrefix + [7], hashedPrefix + [7, 7],
                    hashedPrefix + [8],
                ])
            #expect(try map.keys(in: part, descending: true, limit: 2) == [hashedPrefix + [8], hashedPrefix + [7, 7]])
        }
    }

    @Test(arguments: Folding.all)
    func aDeletedKeyLeavesNothingAndMayComeBack(_ folding: Folding) throws {
        let keys = (0..<20).map { KeySpace(number: 1).prefix + [UInt8](repeating: 65, count: 700) + [UInt8($0)] }
        try engine.write { transaction throws in
            let map = KeyStoreMap(transaction, folding.keys)
            for _ in 0..<3 {
                for key in keys { #expect(try map.insert(key, key) == nil) }
                for key in keys { #expect(try map.insert(key, [1]) == key) }
                for key in keys.shuffled() {
                    #expect(try map.delete(key))
                    #expect(try !map.delete(key))
                    #expect(try map.value(of: key) == nil)
                }
                #expect(try transaction.entries(in: KeySpace(number: 1).range) == [])
            }
        }
    }

    @Test func valuesOfLongKeysAreThoseOfTheKeyAndNotOfOneThatBeginsAlike() throws {
        let keys = OverflowKey(maximum: 128) { _ in 1 }
        let long = KeySpace(number: 1).prefix + [UInt8](repeating: 1, count: 400)
        try engine.write { transaction throws in
            let map = KeyStoreMap(transaction, keys)
            try map.put(long + [1], [1])
            #expect(try map.value(of: long + [2]) == nil)
            #expect(try map.value(of: long) == nil)
            #expect(try !map.delete(long + [2]))
            #expect(try map.value(of: Array(long.prefix(118))) == nil)
        }
    }

    /// The entries of a file are not trusted.
    @Test(arguments: [[], [1], [1, 0, 0], [1, 0, 0, 0], [255, 255, 255, 255, 1], [0, 0, 0, 128]] as [[UInt8]])
    func aDamagedEntryOfALongKeyIsCorrupt(_ content: [UInt8]) throws {
        let keys = OverflowKey(maximum: 128)
        let key = KeySpace(number: 1).prefix + [UInt8](repeating: 1, count: 400)
        try engine.write { transaction throws in
            let stored = key.withUnsafeBytes { keys.hashedPrefix(of: $0) } + [0, 0]
            try transaction.put(stored, content)
            let map = KeyStoreMap(transaction, keys)
            expectCorrupt { _ = try map.value(of: key) }
            expectCorrupt { _ = try map.keys(in: KeySpace(number: 1).range) }
            expectCorrupt { try map.put(key, [1]) }
        }
    }

    /// A flipped bit in a stored whole key would make it the key of another row.
    @Test(
        arguments: [0, 3, 50, 117, 118, 399, 403].map { (4 + $0, true) } + [4, 100, 117, 118, 125].map { ($0, false) })
    func aDamagedWholeOrStoredKeyIsCorrupt(_ position: Int, isWholeKey: Bool) throws {
        let keys = OverflowKey(maximum: 128)
        let key = KeySpace(number: 1).prefix + [UInt8](repeating: 1, count: 400)
        try engine.write { transaction in
            let map = KeyStoreMap(transaction, keys)
            try map.put(key, [7])
            var entry = try #require(try transaction.entries(in: KeySpace(number: 1).range).first)
            if isWholeKey {
                entry.value[position] ^= 4
            } else {
                let isRemoved = try transaction.delete(entry.key)
                #expect(isRemoved)
                entry.key[position] ^= 4
            }
            try transaction.put(entry.key, entry.value)
            if isWholeKey { expectCorrupt { _ = try map.value(of: key) } }
            expectCorrupt { _ = try map.keys(in: KeySpace(number: 1).range) }
        }
    }

    private func expectCorrupt(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
        let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
        #expect(error?.code == .corrupt, sourceLocation: sourceLocation)
    }

    /// The hash is part of the format: each version reads files written by earlier versions.
    @Test func theHashOfAKeyNeverChanges() {
        #expect(Array("".utf8).withUnsafeBytes(OverflowKey.hash) == 0xCBF2_9CE4_8422_2325)
        #expect(Array("a".utf8).withUnsafeBytes(OverflowKey.hash) == 0xAF63_DC4C_8601_EC8C)
        #expect(Array("foobar".utf8).withUnsafeBytes(OverflowKey.hash) == 0x8594_4171_F739_67E8)
    }
}

/// A transaction that enforces a maximum key length.
private struct LimitedTransaction: KeyValueTransaction {
    private let base: MemoryTransaction
    private let maximum: Int

    init(_ base: MemoryTransaction, _ maximum: Int) {
        self.base = base
        self.maximum = maximum
    }

    private func check(_ key: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        #expect(key.count >= KeySpace.length && key.count <= maximum)
        return key
    }

    func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try base.get(check(key), body)
    }

    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try base.scan(range, descending: descending) { try body(check($0), $1) }
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { base.put(check(key), value) }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool { base.delete(check(key)) }
}

/// Random operations from a seed, over keys of up to 1,100 bytes, many of which have a common prefix.
private struct LongKeyScript {
    let seed: UInt64
    private var random: SplitMix64
    private var model = MapModel()
    private let stems: [[UInt8]]

    init(seed: UInt64) {
        self.seed = seed
        random = SplitMix64(seed: seed)
        var random = SplitMix64(seed: seed &+ 1)
        stems = [0, 1, 113, 114, 115, 124, 200, 496, 497, 498, 507, 1_090].map { count in
            (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
    }

    mutating func runOperation(on map: KeyStoreMap<some KeyValueTransaction>) throws {
        let key = key()
        let value = [UInt8](repeating: .random(in: 0...255, using: &random), count: .random(in: 0...40, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            try map.put(key, value)
            model[key] = value
        case 3...4:
            try #require(try map.insert(key, value) == model[key], "seed \(seed)")
            if model[key] == nil { model[key] = value }
        case 5...6: try #require(try map.delete(key) == (model.remove(key) != nil), "seed \(seed)")
        default: try expectAgreement(map, checks: 1)
        }
    }

    mutating func expectAgreement(_ map: KeyMap<some KeyValueSnapshot>, checks: Int) throws {
        for _ in 0..<checks {
            let key = key()
            try #require(try map.value(of: key) == model[key], "seed \(seed)")
            let other = self.key()
            let isReversed = other.lexicographicallyPrecedes(key)
            try expectScan(isReversed ? KeyRange(from: other, to: key) : KeyRange(from: key, to: other), map)
            try expectScan(KeyRange(prefix: key), map)
        }
        for space in [1, 2] as [UInt32] { try expectScan(KeySpace(number: space).range, map) }
    }

    private mutating func expectScan(_ range: KeyRange, _ map: KeyMap<some KeyValueSnapshot>) throws {
        for descending in [false, true] {
            let limit = Bool.random(using: &random) ? Int.random(in: 1...5, using: &random) : .max
            let expected = model.entries(in: range, descending: descending).prefix(limit)
            let found = try map.entries(in: range, descending: descending, limit: limit)
            let isSame = found.elementsEqual(expected)
            try #require(isSame, "seed \(seed), descending \(descending), limit \(limit), \(range)")
        }
    }

    /// Returns a key of one of two spaces, every second time an existing key or its neighbor.
    private mutating func key() -> [UInt8] {
        if Bool.random(using: &random), let known = model.randomKey(&random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return known + [.random(in: 0...1, using: &random)]
            case 1: return Array(known.prefix(max(KeySpace.length, known.count - 1)))
            default: return known
            }
        }
        let hashedPrefix = stems.randomElement(using: &random) ?? []
        let end = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            [0, 1, 0xFE, 0xFF].randomElement(using: &random) ?? 0 as UInt8
        }
        return KeySpace(number: .random(in: 1...2, using: &random)).prefix + hashedPrefix + end
    }
}

/// Maps with arrays as keys and values, which are convenient for tests.
extension KeyMap {
    fileprivate func value(of key: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { try get($0) { Array($0) } }
    }

    fileprivate func entries(
        in range: KeyRange, descending: Bool = false, limit: Int = .max
    ) throws -> [MapModel.Entry] {
        var entries: [MapModel.Entry] = []
        try scan(range, descending: descending) { key, value in
            entries.append(MapModel.Entry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }

    fileprivate func keys(in range: KeyRange, descending: Bool = false, limit: Int = .max) throws -> [[UInt8]] {
        try entries(in: range, descending: descending, limit: limit).map(\.key)
    }
}

extension KeyStoreMap {
    fileprivate func put(_ key: [UInt8], _ value: [UInt8]) throws {
        try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } }
    }

    fileprivate func delete(_ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete($0) } }

    fileprivate func insert(_ key: [UInt8], _ value: [UInt8]) throws -> [UInt8]? {
        try key.withUnsafeBytes { key in
            try value.withUnsafeBytes { value in
                var found: [UInt8]?
                _ = try put(key, value) {
                    found = Array($0)
                    return false
                }
                return found
            }
        }
    }
}
