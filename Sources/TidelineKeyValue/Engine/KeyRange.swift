internal import TidelineStore

/// A half-open range of keys within one key space.
public struct KeyRange: Sendable, Hashable {
    /// The inclusive lower bound.
    public var lower: [UInt8]
    /// The exclusive upper bound.
    public var upper: [UInt8]

    /// Creates the range of keys from `lower` up to but not including `upper`. It is empty if `upper` is not greater.
    public init(from lower: [UInt8], to upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// Creates the range of keys that begin with `prefix`, which must have a byte other than 0xFF.
    public init(prefix: [UInt8]) {
        self.init(from: prefix, to: KeyRange.end(ofPrefix: prefix))
    }

    /// Returns the first key after all that begin with `prefix`, which must have a byte other than 0xFF.
    static func end(ofPrefix prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while end.last == 0xFF { end.removeLast() }
        precondition(!end.isEmpty, "no key comes after all that begin with 0xFF only")
        end[end.count - 1] += 1
        return end
    }

    /// Returns whether the range contains a key.
    public func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        unsafe !key.precedes(lower) && key.precedes(upper)
    }

    /// Whether the range contains no keys.
    public var isEmpty: Bool { unsafe !lower.withUnsafeBytes { unsafe $0.precedes(upper) } }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes are ordered before others in key order.
    func precedes(_ other: [UInt8]) -> Bool { unsafe other.withUnsafeBytes { unsafe compare($0) < 0 } }
}
