internal import TidelineKeyValue

/// The range of the keys that were deleted since the last compaction. A scan reads each of them until then.
struct DeletedKeys {
    /// The number of deleted keys after which their range is compacted.
    static let limit = 20_000

    private var count = 0
    private var first: [UInt8] = []
    private var last: [UInt8] = []

    mutating func add(_ key: UnsafeRawBufferPointer) {
        if count == 0 || key.compare(first) < 0 { first = Array(key) }
        if count == 0 || key.compare(last) > 0 { last = Array(key) }
        count += 1
    }

    /// Returns the range if it is to be compacted, and begins a new one.
    mutating func takeFullRange() -> (first: [UInt8], last: [UInt8])? {
        guard count >= Self.limit else { return nil }
        defer { self = DeletedKeys() }
        return (first, last)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func compare(_ other: [UInt8]) -> Int { other.withUnsafeBytes { compare($0) } }
}
