/// A closed interval of ints, doubles, or timestamps, as 64-bit words that compare as the values do.
///
/// The word of an int is the int, and that of a timestamp its ticks. The word of a double is its bits, with all bits
/// except the sign flipped if it is negative, so that adjacent values have adjacent words. −0.0 has the word of 0.0,
/// and the word of NaN is outside every interval.
@usableFromInline
package struct WordInterval: Hashable, Sendable {
    @usableFromInline package let lower: Int64
    @usableFromInline package let upper: Int64

    package static let empty = WordInterval(lower: 0, upper: -1)

    package init(lower: Int64, upper: Int64) {
        self.lower = lower
        self.upper = upper
    }

    package var isEmpty: Bool { lower > upper }

    @inlinable
    @inline(__always)
    package func contains(_ word: Int64) -> Bool { lower <= word && word <= upper }

    /// Creates the interval of the values of a column of `type` that satisfy a comparison with a literal.
    ///
    /// For `!=`, it is the interval of `==`, and the caller negates the result.
    package init(_ comparison: RowPredicate.Comparison, _ literal: Value, type: ColumnType) {
        switch (type, literal) {
        case (.int, .int(let value)): self.init(comparison, word: value, within: .ints)
        case (.int, .double(let value)): self.init(comparison, intsBeside: value)
        case (.timestamp, .timestamp(let value)): self.init(comparison, word: value.ticks, within: .ints)
        case (.double, .double(let value)): self.init(comparison, double: value)
        case (.double, .int(let value)): self.init(comparison, doublesBeside: value)
        default: self = .empty
        }
    }

    // MARK: Words

    private static let ints = WordInterval(lower: .min, upper: .max)
    /// The words of all doubles except NaN.
    package static let doubles = WordInterval(lower: word(of: -.infinity), upper: word(of: .infinity))

    @inlinable
    @inline(__always)
    package static func word(of value: Double) -> Int64 { word(ofDoubleBits: Int64(bitPattern: value.bitPattern)) }

    @inlinable
    @inline(__always)
    package static func word(ofDoubleBits bits: Int64) -> Int64 { bits == .min ? 0 : bits ^ (bits >> 63 & .max) }

    static func double(of word: Int64) -> Double { Double(bitPattern: UInt64(bitPattern: word ^ (word >> 63 & .max))) }

    /// Returns the word of an int, double, or timestamp that a column of `type` may equal, or `nil` if none of its
    /// values does.
    package static func word(of literal: Value, type: ColumnType) -> Int64? {
        let interval = WordInterval(.equal, literal, type: type)
        return interval.isEmpty ? nil : interval.lower
    }

    /// Returns a value with the same key representation as the column's value with that word.
    package static func keyValue(of word: Int64, type: ColumnType) -> Value {
        type == .double ? .double(double(of: word)) : .int(word)
    }

    private init(_ comparison: RowPredicate.Comparison, word: Int64, within all: WordInterval) {
        switch comparison {
        case .equal, .notEqual: self.init(lower: word, upper: word)
        case .lessOrEqual: self.init(lower: all.lower, upper: word)
        case .greaterOrEqual: self.init(lower: word, upper: all.upper)
        case .less: self = word > all.lower ? Self(lower: all.lower, upper: word - 1) : .empty
        case .greater: self = word < all.upper ? Self(lower: word + 1, upper: all.upper) : .empty
        }
    }

    // MARK: Doubles

    private init(_ comparison: RowPredicate.Comparison, double value: Double) {
        self = value.isNaN ? .empty : Self(comparison, word: Self.word(of: value), within: .doubles).skippingMinusZero
    }

    /// The interval without the word -1, which would be the bits of −0.0 and belongs to no value. Bounds move to an
    /// adjacent word.
    private var skippingMinusZero: Self {
        Self(lower: lower == -1 ? 0 : lower, upper: upper == -1 ? -2 : upper)
    }

    /// Creates the interval of doubles that compare with an int by exact value. The int may lie between two doubles.
    private init(_ comparison: RowPredicate.Comparison, doublesBeside value: Int64) {
        let nearest = Double(value)
        guard let whole = Int64(exactly: nearest), whole == value else {
            let isAbove = nearest >= 0x1p63 || Int64(nearest) > value
            switch comparison {
            case .equal, .notEqual: self = .empty
            case .less, .lessOrEqual: self.init(isAbove ? .less : .lessOrEqual, double: nearest)
            case .greater, .greaterOrEqual: self.init(isAbove ? .greaterOrEqual : .greater, double: nearest)
            }
            return
        }
        self.init(comparison, double: nearest)
    }

    // MARK: Ints beside a double

    /// Creates the interval of ints that compare with a double by exact value.
    private init(_ comparison: RowPredicate.Comparison, intsBeside value: Double) {
        guard !value.isNaN else {
            self = .empty
            return
        }
        // Infinities compare with all ints as these bounds do.
        let finite = max(-0x1p64, min(value, 0x1p64))
        let (floor, ceiling) = (Int128(finite.rounded(.down)), Int128(finite.rounded(.up)))
        let (least, greatest) = (Int128(Int64.min), Int128(Int64.max))
        let (lower, upper): (Int128, Int128) =
            switch comparison {
            case .equal, .notEqual: (ceiling, floor)
            case .less: (least, ceiling - 1)
            case .lessOrEqual: (least, floor)
            case .greater: (floor + 1, greatest)
            case .greaterOrEqual: (ceiling, greatest)
            }
        let isBeside = lower <= greatest && upper >= least
        self = isBeside ? Self(lower: Int64(clamping: lower), upper: Int64(clamping: upper)) : .empty
    }
}
