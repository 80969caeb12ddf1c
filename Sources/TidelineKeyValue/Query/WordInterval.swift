internal import TidelineStore

/// The ints, doubles or instants from one on up to another, as words that compare as their values do.
///
/// An int is its own word, an instant its ticks. A double's word is its bits, all but the sign flipped when it is
/// negative: the words of neighbours are neighbours. −0.0 has the word of 0.0, and NaN one outside of every interval.
struct WordInterval: Hashable, Sendable {
    let lower: Int64
    let upper: Int64

    /// No value.
    static let empty = WordInterval(lower: 0, upper: -1)

    init(lower: Int64, upper: Int64) {
        self.lower = lower
        self.upper = upper
    }

    var isEmpty: Bool { lower > upper }

    @inline(__always)
    func contains(_ word: Int64) -> Bool { lower <= word && word <= upper }

    /// The values of a column of `type` for which a comparison with a literal holds; `!=` is for the caller to turn
    /// around.
    init(_ comparison: Predicate.Comparison, _ literal: Value, type: ColumnType) {
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
    /// The words of all doubles that are numbers.
    static let doubles = WordInterval(lower: word(of: -.infinity), upper: word(of: .infinity))

    /// The word of a double.
    @inline(__always)
    static func word(of value: Double) -> Int64 { word(ofDoubleBits: Int64(bitPattern: value.bitPattern)) }

    /// The word of the double with these bits.
    @inline(__always)
    static func word(ofDoubleBits bits: Int64) -> Int64 { bits == .min ? 0 : bits ^ (bits >> 63 & .max) }

    /// The double of a word.
    static func double(of word: Int64) -> Double { Double(bitPattern: UInt64(bitPattern: word ^ (word >> 63 & .max))) }

    /// The word of an int, double or timestamp that a column of `type` may equal; nil when none of its values does.
    static func word(of literal: Value, type: ColumnType) -> Int64? {
        let interval = WordInterval(.equal, literal, type: type)
        return interval.isEmpty ? nil : interval.lower
    }

    /// A value that stands in a key as a column's value of that word does.
    static func keyValue(of word: Int64, type: ColumnType) -> Value {
        type == .double ? .double(double(of: word)) : .int(word)
    }

    private init(_ comparison: Predicate.Comparison, word: Int64, within all: WordInterval) {
        switch comparison {
        case .equal, .notEqual: self.init(lower: word, upper: word)
        case .lessOrEqual: self.init(lower: all.lower, upper: word)
        case .greaterOrEqual: self.init(lower: word, upper: all.upper)
        case .less: self = word > all.lower ? Self(lower: all.lower, upper: word - 1) : .empty
        case .greater: self = word < all.upper ? Self(lower: word + 1, upper: all.upper) : .empty
        }
    }

    // MARK: Doubles

    private init(_ comparison: Predicate.Comparison, double value: Double) {
        self = value.isNaN ? .empty : Self(comparison, word: Self.word(of: value), within: .doubles).skippingMinusZero
    }

    /// −0.0's own bits would be the word -1, which no value has: a bound there moves to the next that one has.
    private var skippingMinusZero: Self {
        Self(lower: lower == -1 ? 0 : lower, upper: upper == -1 ? -2 : upper)
    }

    /// Of doubles, compared with an int by exact value: the int may lie between two of them.
    private init(_ comparison: Predicate.Comparison, doublesBeside value: Int64) {
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

    /// Of ints, compared with a double by exact value.
    private init(_ comparison: Predicate.Comparison, intsBeside value: Double) {
        let bounds: (Int64?, Int64?) =
            switch comparison {
            case .equal, .notEqual: (Self.leastInt(notBelow: value), Self.greatestInt(notAbove: value))
            case .less: (.min, Self.greatestInt(below: value))
            case .lessOrEqual: (.min, Self.greatestInt(notAbove: value))
            case .greater: (Self.leastInt(above: value), .max)
            case .greaterOrEqual: (Self.leastInt(notBelow: value), .max)
            }
        guard let lower = bounds.0, let upper = bounds.1 else {
            self = .empty
            return
        }
        self.init(lower: lower, upper: upper)
    }

    private static func greatestInt(notAbove value: Double) -> Int64? {
        guard value >= -0x1p63 else { return nil }
        return value >= 0x1p63 ? .max : Int64(value.rounded(.down))
    }

    private static func greatestInt(below value: Double) -> Int64? {
        guard value > -0x1p63 else { return nil }
        return value >= 0x1p63 ? .max : Int64(value.rounded(.up)) - 1
    }

    private static func leastInt(notBelow value: Double) -> Int64? {
        guard value < 0x1p63 else { return nil }
        return value <= -0x1p63 ? .min : Int64(value.rounded(.up))
    }

    private static func leastInt(above value: Double) -> Int64? {
        guard value < 0x1p63 else { return nil }
        return value < -0x1p63 ? .min : Int64(value.rounded(.down)) + 1
    }
}
