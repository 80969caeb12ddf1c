import Foundation
import Testing
import TidelineStore

@Suite("A value protected by a lock")
struct LockedValueTests {
    @Test("Each of many threads sees the change of the thread before it")
    func exclusion() async {
        let counts = LockedValue([0, 0])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5_000 {
                        counts.withLock { counts in
                            counts[0] += 1
                            counts[1] += counts[0]
                        }
                    }
                }
            }
        }
        #expect(counts.withLock { $0 } == [40_000, 40_000 * 40_001 / 2])
    }

    @Test("An error releases the lock")
    func errors() {
        struct Own: Error {}
        let value = LockedValue(1)
        #expect(throws: Own.self) {
            try value.withLock { value throws(Own) in
                value = 2
                throw Own()
            }
        }
        #expect(value.withLock { $0 } == 2)
    }
}
