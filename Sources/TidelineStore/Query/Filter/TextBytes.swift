/// Byte-by-byte comparison of texts, as in queries and keys.
extension UnsafeRawBufferPointer {
    /// Returns the order of these bytes relative to `other`: negative, zero, or positive.
    ///
    /// Bytes are unsigned, and a prefix is less than a longer text.
    @inlinable
    package func compare(_ other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let a = baseAddress, let b = other.baseAddress {
            let order = unsafe a.compareBytes(b, count: common)
            if order != 0 { return order }
        }
        return count - other.count
    }

    /// Returns the order of these bytes relative to others: negative, zero, or positive.
    ///
    /// - Parameters:
    ///   - folding: Whether `A`–`Z` equal `a`–`z` in these bytes. `other` is already folded unless `bothSides` is
    ///     `true`.
    func order(to other: UnsafeRawBufferPointer, folding: Bool, bothSides: Bool = false) -> Int {
        guard folding else { return unsafe compare(other) }
        for index in 0..<Swift.min(count, other.count) {
            let (a, b) = unsafe (self[index].asciiFolded, bothSides ? other[index].asciiFolded : other[index])
            if a != b { return Int(a) - Int(b) }
        }
        return count - other.count
    }

    /// Whether another buffer of the same length has the same bytes.
    @inlinable
    @inline(__always)
    func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard let base = baseAddress, let bytes = other.baseAddress else { return true }
        return unsafe base.compareBytes(bytes, count: count) == 0
    }

    /// Returns the offset of the first zero byte at or after an offset.
    @inlinable
    package func firstZero(from start: Int) -> Int? {
        guard let base = baseAddress, start <= count,
            let found = unsafe (base + start).firstByte(0, count: count - start)
        else {
            return nil
        }
        return unsafe found - base
    }

    @inlinable
    package var hasZero: Bool { unsafe baseAddress.map { unsafe $0.firstByte(0, count: count) != nil } ?? false }

    func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
        unsafe count >= prefix.count && equals(prefix, at: 0)
    }

    func hasSuffix(_ suffix: UnsafeRawBufferPointer) -> Bool {
        unsafe count >= suffix.count && equals(suffix, at: count - suffix.count)
    }

    func contains(_ other: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe other.first else { return true }
        guard let base = baseAddress else { return false }
        var offset = 0
        while offset + other.count <= count {
            // Search only as far as the other bytes still fit.
            guard let found = unsafe (base + offset).firstByte(first, count: count - other.count - offset + 1) else {
                return false
            }
            offset = unsafe found - base
            if unsafe equals(other, at: offset) { return true }
            offset += 1
        }
        return false
    }

    /// Whether the bytes at `offset` equal those of `other`. The caller guarantees that there are enough bytes.
    private func equals(_ other: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        guard let base = baseAddress, let bytes = other.baseAddress else { return unsafe other.isEmpty }
        return unsafe (base + offset).compareBytes(bytes, count: other.count) == 0
    }
}
