import Testing
import TidelineConformance
import TidelineStore
import TidelineSupport
import TidelineTestStores

@testable import TidelineKeyValue

@Suite struct OrderedMapTests {
    /// The length of keys and values, and their number: short ones make wide nodes, long ones a deep tree.
    struct Load: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var keyCounts: ClosedRange<Int>
        var alphabet: ClosedRange<UInt8>
        var valueCounts: ClosedRange<Int>
        var operations: Int
    }

    static let loads = [
        Load(
            testDescription: "short keys, many of them the same", keyCounts: 0...2, alphabet: 0...255,
            valueCounts: 0...3, operations: 20_000),
        Load(
            testDescription: "rows", keyCounts: 8...40, alphabet: 97...100, valueCounts: 0...400, operations: 8_000),
        Load(
            testDescription: "keys that fill a node", keyCounts: 500...2_000, alphabet: 0...1, valueCounts: 0...10,
            operations: 3_000),
        Load(
            testDescription: "values larger than a node", keyCounts: 1...3, alphabet: 254...255,
            valueCounts: 0...20_000, operations: 4_000),
    ]

    @Test(arguments: loads)
    func itDoesWhatASortedDictionaryDoes(_ load: Load) throws {
        var random = SplitMix64(seed: .random(in: 0...9999))
        let seed: Comment = "\(random)"
        var map = OrderedMap()
        var model = MapModel()
        for step in 0..<load.operations {
            // Phases of growth and of shrinking alternate.
            let grows = (step / 1000).isMultiple(of: 2)
            try requireSameChange(of: &map, &model, load, grows: grows, &random, seed)
            if step % (load.operations / 20) == 0 {
                try map.requireInvariants()
                let isSame = map.entries() == model.entries
                try #require(isSame, seed)
            }
        }
        for _ in 0..<50 {
            let range = KeyRange(from: load.randomKey(model, &random), to: load.randomKey(model, &random))
            for descending in [false, true] {
                let expected = model.entries(in: range, descending: descending)
                let found = map.entries(in: range, descending: descending)
                let limit = Int.random(in: 1...5, using: &random)
                let some = map.entries(in: range, descending: descending, limit: limit)
                let isSame = found == expected && some == Array(expected.prefix(limit))
                try #require(isSame, seed)
            }
        }
        let isEveryKeyFound = model.entries.shuffled(using: &random).allSatisfy { map.delete($0.key) }
        #expect(isEveryKeyFound, seed)
        try map.requireInvariants()
        #expect(map.count == 0 && map.byteCount == 0 && map.entries().isEmpty, seed)
    }

    /// Changes the map and the model in the same way, and requires the same result.
    private func requireSameChange(
        of map: inout OrderedMap, _ model: inout MapModel, _ load: Load, grows: Bool, _ random: inout SplitMix64,
        _ seed: Comment
    ) throws {
        let key = load.randomKey(model, &random)
        let value = load.randomValue(&random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<(grows ? 5 : 2):
            map.put(key, value)
            model[key] = value
        case ..<(grows ? 7 : 3):
            let isStored = map.insert(key, value)
            try #require(isStored == (model[key] == nil), seed)
            if model[key] == nil { model[key] = value }
        case ..<9:
            let wasThere = map.delete(key)
            try #require(wasThere == (model.remove(key) != nil), seed)
        default:
            let isSame = map.get(key) == model[key]
            try #require(isSame, seed)
        }
    }

    @Test func aCopyStandsStillWhileTheOriginalChanges() throws {
        var random = SplitMix64(seed: 3)
        let load = Self.loads[1]
        var map = OrderedMap()
        var model = MapModel()
        var copies: [(OrderedMap, [KeyValueEntry])] = []
        for step in 0..<5_000 {
            let key = load.randomKey(model, &random)
            if step % 3 == 0 {
                let wasThere = map.delete(key)
                try #require(wasThere == (model.remove(key) != nil))
            } else {
                let value = load.randomValue(&random)
                map.put(key, value)
                model[key] = value
            }
            if step % 100 == 0 { copies.append((map, model.entries)) }
        }
        for (copy, entries) in copies {
            try copy.requireInvariants()
            let isSame = copy.entries() == entries
            try #require(isSame)
        }
        // A change of one copy does not affect the others.
        var changed = copies[20].0
        let isEveryKeyFound = copies[20].1.allSatisfy { changed.delete($0.key) }
        #expect(isEveryKeyFound && changed.count == 0)
        let isSame = copies[20].0.entries() == copies[20].1
        #expect(isSame)
    }

    @Test func aCursorStaysInTheMapItWasMadeOf() {
        var map = OrderedMap()
        for number in 0..<1000 { map.put(key(number), [1, 2, 3]) }
        var cursor = map.cursor()
        var numbers = 0
        while !cursor.isAtEnd {
            let found = cursor.withEntry { key, _ in Array(key) }
            #expect(found == key(numbers))
            let wasThere = map.delete(found)
            #expect(wasThere)
            numbers += 1
            cursor.advance()
        }
        #expect(numbers == 1000)
        #expect(map.count == 0)
    }

    @Test func copiesAreReadOnOtherThreadsWhileTheOriginalChanges() async {
        var map = OrderedMap()
        for number in 0..<5000 { map.put(key(number), [0]) }
        await withTaskGroup(of: Bool.self) { group in
            for round in 1...20 {
                for number in 0..<5000 where number % 20 == round % 20 { map.put(key(number), [UInt8(round)]) }
                let copy = map
                let expected = copy.entries().map(\.value)
                group.addTask { (0..<5).allSatisfy { _ in copy.entries().map(\.value) == expected } }
                let wasThere = map.delete(key(round))
                #expect(wasThere)
                map.put(key(round), Array(repeating: 9, count: round))
            }
            for await isSame in group { #expect(isSame) }
        }
    }

    @Test func keysInAscendingOrderFillTheTreeEvenly() throws {
        var map = OrderedMap()
        for number in 0..<100_000 { map.put(key(number), []) }
        try map.requireInvariants()
        // At least 65 entries in a leaf and at least 17 children in a branch.
        #expect(map.root.depth == 3)
        let isEveryKeyFound = (0..<100_000).reversed().allSatisfy { map.delete(key($0)) }
        #expect(isEveryKeyFound)
        try map.requireInvariants()
        #expect(map.root.isLeaf)
    }

    /// A value whose size changes each time leaves a hole each time.
    @Test func replacedValuesDoNotPileUp() throws {
        var map = OrderedMap()
        for number in 0..<2_000 {
            map.put([1], [UInt8](repeating: 1, count: 1000 + number % 7))
            map.put([2], [UInt8](repeating: 2, count: 50_000 + number % 2))
        }
        try map.requireInvariants()
        #expect(map.get([1]) == [UInt8](repeating: 1, count: 1000 + 1_999 % 7))
    }

    /// A branch with one remaining child is merged into its neighbor even if that is full; the neighbor is then split.
    @Test func aFullBranchTakesInWhatIsLeftOfItsNeighbour() throws {
        var map = OrderedMap()
        var last = 0
        while map.root.depth < 2 {
            last += 1
            map.put(key(last * 1000), [])
        }
        #expect(map.root.children.count == 2)
        var filler = 0
        while map.root.children[0].entries.count < MapNode.maximumBranchCount {
            filler += 1
            if !filler.isMultiple(of: 1000) { map.put(key(filler), []) }
        }
        while map.root.children.count == 2, map.root.children[1].children.count > 2 {
            let wasThere = map.delete(key(last * 1000))
            try #require(wasThere)
            last -= 1
        }
        #expect(map.root.children[0].entries.count == MapNode.maximumBranchCount)
        while map.root.depth == 2, map.root.children[0].entries.count == MapNode.maximumBranchCount {
            let wasThere = map.delete(key(last * 1000))
            try #require(wasThere)
            last -= 1
        }
        try map.requireInvariants()
    }

    @Test func anEmptyRangeHasNoEntries() {
        var map = OrderedMap()
        for number in 0..<10 { map.put(key(number), []) }
        for range in [
            KeyRange(from: key(5), to: key(5)), KeyRange(from: key(7), to: key(2)), KeyRange(from: [], to: []),
        ] {
            for descending in [false, true] { #expect(map.entries(in: range, descending: descending).isEmpty) }
        }
    }

    private func key(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
}

extension OrderedMapTests.Load {
    /// Returns a key, every second time one that the model contains.
    func randomKey(_ model: MapModel, _ random: inout SplitMix64) -> [UInt8] {
        if Bool.random(using: &random), let key = model.randomKey(&random) { return key }
        return (0..<Int.random(in: keyCounts, using: &random)).map { _ in UInt8.random(in: alphabet, using: &random) }
    }

    func randomValue(_ random: inout SplitMix64) -> [UInt8] {
        let filler = UInt8.random(in: 0...255, using: &random)
        return [UInt8](repeating: filler, count: Int.random(in: valueCounts, using: &random))
    }
}

/// The map with arrays as keys and values, which are convenient for tests.
extension OrderedMap {
    fileprivate func get(_ key: [UInt8]) -> [UInt8]? { key.withUnsafeBytes { get($0) { Array($0) } } }

    fileprivate mutating func put(_ key: [UInt8], _ value: [UInt8]) {
        key.withUnsafeBytes { key in value.withUnsafeBytes { put(key, $0) } }
    }

    fileprivate mutating func insert(_ key: [UInt8], _ value: [UInt8]) -> Bool {
        key.withUnsafeBytes { key in value.withUnsafeBytes { put(key, $0, over: { _ in false }) } }
    }

    fileprivate mutating func delete(_ key: [UInt8]) -> Bool { key.withUnsafeBytes { delete($0) } }

    fileprivate func entries() -> [KeyValueEntry] {
        var entries: [KeyValueEntry] = []
        var cursor = cursor()
        while !cursor.isAtEnd {
            cursor.withEntry { entries.append(KeyValueEntry(key: Array($0), value: Array($1))) }
            cursor.advance()
        }
        return entries
    }

    fileprivate func entries(in range: KeyRange, descending: Bool, limit: Int = .max) -> [KeyValueEntry] {
        var entries: [KeyValueEntry] = []
        scan(range, descending: descending) { key, value in
            entries.append(KeyValueEntry(key: Array(key), value: Array(value)))
            return entries.count < limit ? .next : .stop
        }
        return entries
    }
}
