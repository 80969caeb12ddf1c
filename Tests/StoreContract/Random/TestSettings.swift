import Foundation

/// What the environment sets for the random tests.
enum TestSettings {
    static func number(_ name: String, default value: Int) -> Int {
        ProcessInfo.processInfo.environment["TIDELINE_TEST_\(name)"].flatMap { Int($0) } ?? value
    }

    /// So many seeds, from `TIDELINE_TEST_SEED` on or from 1.
    static func seeds(_ count: Int) -> [UInt64] {
        let first = UInt64(max(number("SEED", default: 1), 0))
        return (0..<UInt64(max(count, 1))).map { first + $0 }
    }
}
