import Testing
import TidelineMemory
import TidelineStore
import TidelineTestStores

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

    @Test(arguments: Folding.all)
    func randomOperationsDoWhatTheModelDoes(_ folding: Folding) throws {
        let lengths = [0, 1, 113, 114, 115, 124, 200, 496, 497, 498, 507, 1_090]
        var script = RandomScript(seed: .random(in: 0...99_999), stemLengths: lengths)
        for _ in 0..<12 {
            try engine.write { transaction throws in
                let map = LongKeys(KeyStoreMap(LimitedTransaction(transaction, folding.maximum), folding.keys))
                for _ in 0..<60 { try script.runOperation(on: map) }
                try script.expectAgreement(map, ranges: 10)
            }
            try engine.read { snapshot throws in
                try script.expectAgreement(LongKeys(KeyMap(snapshot, folding.keys)), ranges: 10)
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
            let map = LongKeys(KeyStoreMap(LimitedTransaction(transaction, folding.maximum), folding.keys))
            for (number, key) in keys.enumerated().shuffled() { try map.put(key, [UInt8(number & 0xFF)]) }
        }
        let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
        try engine.read { snapshot throws in
            let map = LongKeys(KeyMap(snapshot, folding.keys))
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
            let map = LongKeys(KeyStoreMap(transaction, folding.keys))
            for _ in 0..<3 {
                for key in keys { #expect(try map.insert(key, key) == nil) }
                for key in keys { #expect(try map.insert(key, [1]) == key) }
                for key in keys.shuffled() {
                    #expect(try map.delete(key))
                    #expect(try !map.delete(key))
                    #expect(try map.value(key) == nil)
                }
                #expect(try transaction.entries(in: KeySpace(number: 1).range) == [])
            }
        }
    }

    @Test func valuesOfLongKeysAreThoseOfTheKeyAndNotOfOneThatBeginsAlike() throws {
        let keys = OverflowKey(maximum: 128) { _ in 1 }
        let long = KeySpace(number: 1).prefix + [UInt8](repeating: 1, count: 400)
        try engine.write { transaction throws in
            let map = LongKeys(KeyStoreMap(transaction, keys))
            try map.put(long + [1], [1])
            #expect(try map.value(long + [2]) == nil)
            #expect(try map.value(long) == nil)
            #expect(try !map.delete(long + [2]))
            #expect(try map.value(Array(long.prefix(118))) == nil)
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
            let map = LongKeys(KeyStoreMap(transaction, keys))
            expectError(.corrupt) { _ = try map.value(key) }
            expectError(.corrupt) { _ = try map.keys(in: KeySpace(number: 1).range) }
            expectError(.corrupt) { try map.put(key, [1]) }
        }
    }

    /// A flipped bit in a stored whole key would make it the key of another row.
    @Test(
        arguments: [0, 3, 50, 117, 118, 399, 403].map { (4 + $0, true) } + [4, 100, 117, 118, 125].map { ($0, false) })
    func aDamagedWholeOrStoredKeyIsCorrupt(_ position: Int, isWholeKey: Bool) throws {
        let keys = OverflowKey(maximum: 128)
        let key = KeySpace(number: 1).prefix + [UInt8](repeating: 1, count: 400)
        try engine.write { transaction in
            let map = LongKeys(KeyStoreMap(transaction, keys))
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
            if isWholeKey { expectError(.corrupt) { _ = try map.value(key) } }
            expectError(.corrupt) { _ = try map.keys(in: KeySpace(number: 1).range) }
        }
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

/// A map of keys of any length, as a snapshot or a transaction.
private struct LongKeys<Map: KeySource>: KeyValueSnapshot {
    private let map: Map

    init(_ map: Map) { self.map = map }

    func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try map.find(key, body)
    }

    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try map.scan(range, descending: descending, body)
    }

    func keys(in range: KeyRange, descending: Bool = false, limit: Int = .max) throws -> [[UInt8]] {
        try entries(in: range, descending: descending, limit: limit).map(\.key)
    }
}

extension LongKeys: KeyValueTransaction where Map: KeyStore {
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws { try map.put(key, value) }

    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        try map.put(key, value, over: replaces)
    }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool { try map.delete(key) }
}
