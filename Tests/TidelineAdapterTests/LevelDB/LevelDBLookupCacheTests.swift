import Testing
import TidelineKeyValue

@testable import TidelineLevelDB

/// Tests the cache of the keys of a space that was empty, and of keys that a transaction found. The checks and the
/// random test of engines test the engine with it.
@Suite struct LevelDBLookupCacheTests {
    private func key(_ space: UInt8, _ number: Int) -> [UInt8] { [0, 0, 0, space] + Array("key \(number)".utf8) }

    @Test func whatWasNotedIsNeverLacking() throws {
        let cache = LookupCache()
        var emptinessAsked = 0
        func lack(_ number: Int, of space: UInt8 = 1, isEmpty: Bool = true) -> Bool {
            key(space, number).withUnsafeBytes {
                cache.lacks($0) { _ in
                    emptinessAsked += 1
                    return isEmpty
                }
            }
        }
        #expect(lack(0))
        #expect(!lack(0, of: 2, isEmpty: false))
        for number in 0..<30_000 {
            key(1, number).withUnsafeBytes { cache.noteStored($0, hash: KeyHash.of($0)) }
            key(2, number).withUnsafeBytes { cache.noteStored($0, hash: KeyHash.of($0)) }
        }
        #expect((0..<30_000).allSatisfy { !lack($0) && !lack($0, of: 2) })
        #expect(emptinessAsked == 2)
        // Most keys that were not recorded must be known to be absent, or the cache would have no use.
        #expect((30_000..<40_000).filter { lack($0) }.count > 9_500)
    }

    @Test func aFilterThatHasNoMoreRoomSaysSo() {
        var filter = KeyFilter()
        var count = 0
        while count < 10_000_000, filter.insert(UInt64(count) &* 0x9E37_79B9_7F4A_7C15) { count += 1 }
        #expect(count > 1_000_000 && count < 10_000_000)
    }

    @Test func aFullCacheKeepsItsKeysAsLongAsTheySaveLookups() throws {
        let cache = LookupCache(maximumSize: 100_000)
        /// Returns the number of keys that were remembered, and remembers the others.
        func remembered(_ numbers: Range<Int>) -> Int {
            numbers.count { number in
                key(1, number).withUnsafeBytes { key in
                    if cache.contains(key) { return true }
                    cache.insert(key)
                    return false
                }
            }
        }
        let capacity = try #require((0..<2_000).first { remembered($0..<$0 + 1) + remembered($0..<$0 + 1) == 0 })
        for _ in 0..<5 { #expect(remembered(0..<capacity * 3 / 2) == capacity) }
        // Other keys replace them.
        #expect(remembered(capacity * 2..<capacity * 3) == 0)
        #expect(remembered(capacity * 2..<capacity * 3) > capacity / 4)
        #expect(remembered(0..<1) == 0)
    }
}
