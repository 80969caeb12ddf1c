import Testing
import TidelineKeyValue
import TidelineStore
import TidelineSupport
import TidelineTestStores

/// Tests the part of the overlay that engines call. The engine tests cover the part that transaction bodies call.
@Suite struct OverlayTransactionTests {
    private let base = SortedEntries()
    private let overlay: OverlayTransaction<SortedEntries>

    init() throws {
        for key in [1, 3, 5, 7] as [UInt8] { try base.put([0, 0, 0, 1, key], [key]) }
        overlay = OverlayTransaction(over: base)
    }

    private func changes() -> [[UInt8]: [UInt8]?] {
        var changes: [[UInt8]: [UInt8]?] = [:]
        overlay.forEachChange { changes.updateValue($1.map { Array($0) }, forKey: Array($0)) }
        return changes
    }

    @Test func changesComeInOrderOfKeysEachOnce() throws {
        #expect(overlay.isEmpty)
        for key in [7, 2, 9, 3, 2] as [UInt8] { try overlay.put([0, 0, 0, 1, key], [key, key]) }
        #expect(try overlay.delete([0, 0, 0, 1, 7]))
        #expect(try overlay.delete([0, 0, 0, 1, 5]))
        try overlay.put([0, 0, 0, 1, 9], [])
        var keys: [UInt8] = []
        overlay.forEachChange { key, _ in keys.append(key[4]) }
        #expect(keys == [2, 3, 5, 7, 9])
        #expect(
            changes() == [
                [0, 0, 0, 1, 2]: [2, 2], [0, 0, 0, 1, 3]: [3, 3], [0, 0, 0, 1, 5]: nil, [0, 0, 0, 1, 7]: nil,
                [0, 0, 0, 1, 9]: [],
            ])
        #expect(!overlay.isEmpty)
    }

    @Test func whatChangesNothingIsNoChange() throws {
        #expect(try !overlay.delete([0, 0, 0, 1, 2]))
        #expect(try overlay.insert([0, 0, 0, 1, 3], [9]) == [3])
        #expect(overlay.isEmpty)
        #expect(changes().isEmpty)
    }

    @Test func anErrorOfTheBodyEndsTheChanges() throws {
        struct Own: Error {}
        try overlay.put([0, 0, 0, 1, 2], [])
        try overlay.put([0, 0, 0, 1, 4], [])
        var calls = 0
        #expect(throws: Own.self) {
            try overlay.forEachChange { _, _ in
                calls += 1
                throw Own()
            }
        }
        #expect(calls == 1)
    }

    @Test func theSnapshotIsAskedOnceAtMost() throws {
        try overlay.put([0, 0, 0, 1, 1], [])
        #expect(try overlay.value([0, 0, 0, 1, 1]) == [])
        #expect(base.lookedUp == 0)
        #expect(try overlay.value([0, 0, 0, 1, 3]) == [3])
        #expect(base.lookedUp == 1)
        for key in [1, 2, 3, 3] as [UInt8] { _ = try overlay.insert([0, 0, 0, 1, key], [8]) }
        #expect(base.lookedUp == 4)
        _ = try overlay.entries(in: KeyRange(prefix: [0, 0, 0, 1]), limit: 1)
        #expect(base.scans == 1)
    }

    /// A scan skips deleted keys of the snapshot without a call of the body, at either end too.
    @Test func removedKeysAreNotSeen() throws {
        let range = KeyRange(prefix: [0, 0, 0, 1])
        for removed in [1, 7, 3, 5] as [UInt8] {
            #expect(try overlay.delete([0, 0, 0, 1, removed]))
            #expect(try overlay.value([0, 0, 0, 1, removed]) == nil)
            for descending in [false, true] {
                let keys = try overlay.entries(in: range, descending: descending).map(\.key)
                #expect(!keys.contains([0, 0, 0, 1, removed]))
            }
        }
        #expect(try overlay.entries(in: range).isEmpty)
        #expect(try overlay.insert([0, 0, 0, 1, 3], [4]) == nil)
        #expect(try overlay.entries(in: range).map(\.value) == [[4]])
    }

    /// Adjacent spaces, the last of which is followed by a key with fewer bytes than a space, and ranges within one
    /// space, of a whole space, and across the borders of spaces.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func whatAScanPassesOnIsTheSameInWhateverSpacesChangesAre(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let spaces: [[UInt8]] = [[0, 0, 0, 0xFE], [0, 0, 0, 0xFF], [0, 0, 1, 0], [0, 0, 1]]
        var model = MapModel()
        for entry in try base.entries(in: KeyRange(prefix: [0, 0, 0, 1])) { model[entry.key] = entry.value }
        func key() -> [UInt8] {
            (spaces.randomElement(using: &random) ?? [])
                + (0..<Int.random(in: 0...2, using: &random)).map { _ in .random(in: 0...3, using: &random) }
        }
        for step in 0..<300 {
            let changed = key()
            if Int.random(in: 0..<4, using: &random) > 0 {
                let value = [UInt8](repeating: UInt8(step % 256), count: step % 7)
                try overlay.put(changed, value)
                model[changed] = value
            } else {
                #expect(try overlay.delete(changed) == (model.remove(changed) != nil))
            }
            guard step % 3 == 0 else { continue }
            let space = spaces.randomElement(using: &random) ?? []
            let ranges = [
                KeyRange(prefix: space), KeyRange(from: space + [1], to: space + [3]), KeyRange(from: key(), to: key()),
            ]
            for range in ranges {
                for descending in [false, true] {
                    let expected = model.entries(in: range, descending: descending)
                    #expect(
                        try overlay.entries(in: range, descending: descending) == expected, "step \(step), \(range)")
                }
            }
        }
    }
}
