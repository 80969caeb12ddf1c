internal import TidelineStore

extension UnsafeRawBufferPointer {
    /// Returns the order of these bytes relative to `other` in key order: negative, zero, or positive.
    ///
    /// Bytes are unsigned, and a prefix is less than a longer key.
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let a = baseAddress, let b = other.baseAddress {
            let order = unsafe a.compareBytes(b, count: common)
            if order != 0 { return order }
        }
        return count - other.count
    }
}
