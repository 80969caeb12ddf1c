import Testing
import TidelineKeyValue
import TidelineStore

/// Tests of keys, values, their order, and ranges.
@Suite struct EngineOrderTests {
    /// Keys that are easily confused with each other, in order.
    static let keys: [[UInt8]] = [
        [], [0], [0, 0], [0, 1], [0, 255], [1], [65], [97], [97, 0], [97, 0, 0], [97, 97], [97, 98], [127], [127, 255],
        [128], [128, 0], [200, 1], [254], [254, 255], [255], [255, 0], [255, 255], [255, 255, 255],
    ].map { EngineOrderTests.space + $0 }
    static let space: [UInt8] = [0, 0, 0, 9]
    static let whole = KeyRange(prefix: space)

    /// The value of each key is its position, so that a wrong value is detected; the first value is empty.
    static let entries = keys.enumerated()
        .map { MapModel.Entry(key: $1, value: [UInt8](repeating: UInt8($0), count: $0 * 3)) }

    private func store(_ entries: some Sequence<MapModel.Entry>, in engine: any OrderedKeyValueEngine) throws {
        try engine.write { writer throws in for entry in entries { try writer.put(entry.key, entry.value) } }
    }

    @Test(arguments: EngineUnderTest.all)
    func anEmptyEngineHasNothing(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try engine.read { reader throws in
                #expect(try reader.value(Self.space + [1]) == nil)
                for descending in [false, true] {
                    #expect(try reader.entries(in: Self.whole, descending: descending).isEmpty)
                }
            }
            try engine.write { writer throws in
                #expect(try !writer.delete(Self.space + [1]))
                #expect(try writer.entries(in: Self.whole).isEmpty)
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func keysComeInOrderOfUnsignedBytes(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try store(Self.entries.shuffled(), in: engine)
            try engine.read { reader throws in
                #expect(try reader.entries(in: Self.whole) == Self.entries)
                #expect(try reader.entries(in: Self.whole, descending: true) == Self.entries.reversed())
                for entry in Self.entries { #expect(try reader.value(entry.key) == entry.value) }
                for key in Self.keys.map({ $0 + [7] }) { #expect(try reader.value(key) == nil, "\(key)") }
            }
        }
    }

    /// Every second key is stored, so that bounds are both present and absent. Half of the keys are committed, half are
    /// uncommitted changes of the transaction.
    @Test(arguments: EngineUnderTest.all)
    func aRangeHasItsLowerBoundAndNotItsUpper(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            let stored = Self.entries.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            var model = MapModel()
            for entry in stored { model[entry.key] = entry.value }
            try store(stored.prefix(5), in: engine)
            try engine.write { writer throws in
                for entry in stored.dropFirst(5) { try writer.put(entry.key, entry.value) }
                try expectEveryRange(in: writer, model)
            }
            try engine.read { try expectEveryRange(in: $0, model) }
        }
    }

    private func expectEveryRange(in snapshot: some KeyValueSnapshot, _ model: MapModel) throws {
        for lower in Self.keys {
            for upper in Self.keys + [Self.whole.upper] {
                for descending in [false, true] {
                    let range = KeyRange(from: lower, to: upper)
                    let found = try snapshot.entries(in: range, descending: descending)
                    #expect(
                        found == model.entries(in: range, descending: descending), "\(range) descending \(descending)")
                }
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func aScanStopsWhereItsBodySays(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try store(Self.entries.prefix(9), in: engine)
            try engine.write { writer throws in
                for entry in Self.entries.dropFirst(6) { try writer.put(entry.key, entry.value) }
                for limit in 1...Self.entries.count {
                    #expect(
                        try writer.entries(in: Self.whole, limit: limit) == Array(Self.entries.prefix(limit)))
                    let last = Array(Self.entries.reversed().prefix(limit))
                    #expect(try writer.entries(in: Self.whole, descending: true, limit: limit) == last)
                }
            }
            try engine.read { reader throws in
                let last = Array(Self.entries.reversed().prefix(2))
                #expect(try reader.entries(in: Self.whole, descending: true, limit: 2) == last)
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func anErrorOfABodyEndsTheScanAndIsThrownOn(_ engine: EngineUnderTest) throws {
        struct Own: Error {}
        try engine.withEngine { engine in
            try store(Self.entries, in: engine)
            for limit in 1...3 {
                var calls = 0
                #expect(throws: Own.self) {
                    try engine.read { reader throws in
                        try reader.scan(Self.whole, descending: limit == 2) { _, _ in
                            calls += 1
                            if calls == limit { throw Own() }
                            return .next
                        }
                    }
                }
                #expect(calls == limit)
            }
            #expect(throws: Own.self) {
                try engine.read { reader throws in
                    _ = try Self.keys[3].withUnsafeBytes { try reader.get($0) { _ in throw Own() } }
                }
            }
            #expect(try engine.read { try $0.entries(in: Self.whole) } == Self.entries)
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func keySpacesDoNotReachIntoEachOther(_ engine: EngineUnderTest) throws {
        let spaces: [[UInt8]] = [
            [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 255], [0, 0, 1, 0], [127, 255, 255, 255],
            [128, 0, 0, 0], [255, 255, 255, 254],
        ]
        try engine.withEngine { engine in
            try engine.write { writer throws in
                for space in spaces {
                    for key in [[], [0], [255, 255], space] { try writer.put(space + key, space) }
                }
            }
            for space in spaces {
                try engine.read { reader throws in
                    for descending in [false, true] {
                        let entries = try reader.entries(in: KeyRange(prefix: space), descending: descending)
                        #expect(entries.count == 4)
                        #expect(entries.allSatisfy { $0.key.starts(with: space) && $0.value == space })
                    }
                }
                try engine.write { writer throws in
                    for entry in try writer.entries(in: KeyRange(prefix: space)) { _ = try writer.delete(entry.key) }
                    #expect(try writer.entries(in: KeyRange(prefix: space)).isEmpty)
                }
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func theLongestKeysAreKept(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            let length = min(engine.maximumKeyLength, 20_000)
            #expect(engine.maximumKeyLength >= 128)
            let keys = (0..<20).map { [0, 0, 0, 9] + [UInt8](repeating: 120, count: length - 5) + [UInt8($0 * 12)] }
            try engine.write { writer throws in for key in keys.shuffled() { try writer.put(key, Array(key.suffix(1))) }
            }
            try engine.read { reader throws in
                #expect(try reader.entries(in: Self.whole).map(\.key) == keys)
                for key in keys { #expect(try reader.value(key) == Array(key.suffix(1))) }
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func largeValuesAreKept(_ engine: EngineUnderTest) throws {
        func value(_ number: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000_000 + number)
        }
        try engine.withEngine { engine in
            for round in 0..<3 {
                try engine.write { writer throws in
                    for number in 0..<5 { try writer.put(Self.space + [UInt8(number)], value(number * 7 + round)) }
                    try writer.put(Self.space + [2, 2], [])
                    let isOwnSeen = try writer.value(Self.space + [4]) == value(28 + round)
                    #expect(isOwnSeen)
                }
            }
            #expect(try engine.write { try $0.delete(Self.space + [3]) })
            try engine.read { reader throws in
                let expected = [value(2), value(9), value(16), [], value(30)]
                let isSame = try reader.entries(in: Self.whole).map(\.value) == expected
                #expect(isSame)
            }
        }
    }
}
