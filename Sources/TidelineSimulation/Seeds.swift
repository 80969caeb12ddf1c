internal import Foundation

/// The seeds of a parameterized test.
///
/// Two environment variables replace them: `TIDELINE_SEEDS`, a number of seeds, and `TIDELINE_SEED`, a single one.
public struct Seeds: RandomAccessCollection, Sendable {
    private let range: Range<UInt64>

    /// Creates the seeds 1 to `count`.
    public init(_ count: Int) {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["TIDELINE_SEED"].flatMap(UInt64.init), seed < .max {
            range = seed..<seed + 1
        } else {
            let wanted = environment["TIDELINE_SEEDS"].flatMap(Int.init) ?? count
            range = 1..<UInt64(Swift.max(0, wanted)) + 1
        }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }
    public subscript(position: Int) -> UInt64 { range.lowerBound + UInt64(position) }
}
