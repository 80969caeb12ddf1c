/// The keys from one on and before another, within one key space.
public struct KeyRange: Sendable, Hashable {
    /// The first key that may be in the range.
    public var lower: [UInt8]
    /// The first key after the range.
    public var upper: [UInt8]

    /// The keys from `lower` on and before `upper`; none when `upper` is not greater.
    public init(from lower: [UInt8], to upper: [UInt8]) {
        self.lower = lower
        self.upper = upper
    }

    /// The keys that begin with `prefix`, which must have a byte other than 0xFF.
    public init(prefix: [UInt8]) {
        self.init(from: prefix, to: KeyRange.end(ofPrefix: prefix))
    }

    /// The first key after all that begin with `prefix`, which must have a byte other than 0xFF.
    static func end(ofPrefix prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while end.last == 0xFF { end.removeLast() }
        precondition(!end.isEmpty, "no key comes after all that begin with 0xFF only")
        end[end.count - 1] += 1
        return end
    }

    /// Whether a key lies in the range.
    public func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        !key.precedes(lower) && key.precedes(upper)
    }

    /// Whether no key lies in the range.
    public var isEmpty: Bool { !lower.withUnsafeBytes { $0.precedes(upper) } }
}

extension UnsafeRawBufferPointer {
    /// Whether these bytes come before those as keys do.
    func precedes(_ other: [UInt8]) -> Bool { other.withUnsafeBytes { compare($0) < 0 } }
}
