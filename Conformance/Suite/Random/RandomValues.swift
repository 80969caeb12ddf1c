package import TidelineStore
package import TidelineSupport

/// Generates values that are easily mishandled, from small pools, so that equal and neighboring ones occur.
package struct RandomValues: Sendable {
    /// Whether doubles may be NaN.
    package var includesNaN: Bool
    /// Whether doubles may be infinite.
    package var includesInfinity: Bool
    /// Whether texts may be longer than an engine's keys and differ only in their last characters.
    package var includesLongTexts: Bool
    /// The fraction of nulls, 0 to 1, where null is allowed.
    package var nullShare: Double

    /// Creates a generator.
    package init(
        includesNaN: Bool = false, includesInfinity: Bool = true, includesLongTexts: Bool = false,
        nullShare: Double = 0.15
    ) {
        self.includesNaN = includesNaN
        self.includesInfinity = includesInfinity
        self.includesLongTexts = includesLongTexts
        self.nullShare = nullShare
    }

    /// Returns a value of a type, never null.
    package func value(_ type: ColumnType, using random: inout SplitMix64) -> Value {
        switch type {
        case .bool: .bool(Bool.random(using: &random))
        case .int: .int(int(using: &random))
        case .double: .double(double(using: &random))
        case .string: .string(string(using: &random))
        case .timestamp: .timestamp(timestamp(using: &random))
        case .bytes: .bytes(bytes(using: &random))
        case .json: .json(pick(Self.jsonTexts, using: &random))
        }
    }

    /// Returns a value of a column's type, or null if the column allows it.
    package func value(for column: ColumnSchema, using random: inout SplitMix64) -> Value {
        if column.isOptional, chance(nullShare, using: &random) { return .null }
        return value(column.type, using: &random)
    }

    /// Returns an integer: an extreme, a neighbor of 2^53, a small one, or an arbitrary one.
    package func int(using random: inout SplitMix64) -> Int64 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: pick(Self.extremeInts, using: &random)
        case 1: Int64.random(in: .min ... .max, using: &random)
        default: Int64.random(in: -4...12, using: &random)
        }
    }

    /// Returns a double: an extreme, a half, a small one, or an arbitrary one; finite and not NaN unless allowed.
    package func double(using random: inout SplitMix64) -> Double {
        let value: Double =
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: pick(Self.extremeDoubles, using: &random)
            case 2: Double(bitPattern: random.next())
            case 3: Double(int(using: &random))
            default: Double(Int.random(in: -8...24, using: &random)) / 2
            }
        if value.isNaN { return includesNaN ? .nan : 0.5 }
        return value.isInfinite && !includesInfinity ? 1e300 : value
    }

    /// Returns a text: a difficult one, a combination of difficult ones, or a short one.
    package func string(using random: inout SplitMix64) -> String {
        if includesLongTexts, chance(0.1, using: &random) {
            let count = pick([480, 500, 505, 600], using: &random)
            return String(repeating: "k", count: count) + pick(Self.texts, using: &random)
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5: return pick(Self.texts, using: &random)
        case 5: return pick(Self.texts, using: &random) + pick(Self.texts, using: &random)
        case 6: return String(repeating: pick(Self.fragments, using: &random), count: 300)
        default:
            let count = Int.random(in: 1...4, using: &random)
            return (0..<count).map { _ in pick(Self.fragments, using: &random) }.joined()
        }
    }

    /// Returns an instant: an end of the range, a neighbor at 100 ns, or an arbitrary one.
    package func timestamp(using random: inout SplitMix64) -> Timestamp {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return pick(
                [.min, .max, Timestamp.min.advanced(byTicks: 1), Timestamp.max.advanced(byTicks: -1)], using: &random)
        case 1: return Timestamp(clampingTicks: .random(in: Timestamp.min.ticks...Timestamp.max.ticks, using: &random))
        default:
            let base = pick(Self.instants, using: &random)
            return Timestamp(clampingTicks: base + Int64.random(in: -1...1, using: &random))
        }
    }

    private func bytes(using random: inout SplitMix64) -> [UInt8] {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: []
        case 1: Array(repeating: 0, count: Int.random(in: 1...3, using: &random))
        case 2: Array(UInt8.min...UInt8.max)
        default:
            (0..<Int.random(in: 1...4, using: &random)).map { _ in pick([0, 1, 65, 97, 128, 255], using: &random) }
        }
    }
}

extension RandomValues {
    /// Texts with special meaning in languages, engines, or encodings.
    package static let texts: [String] = [
        "", " ", "a", "A", "b", "B", "ab", "AB", "Ab", "a\0", "\0", "a\0b", "aa", "z", "Z", "12", "2", "-0", "1e3",
        "null",
        "%", "_", "*", "?", "[a]", "\\", "'", "''", "\"", "a%b", "a_b", "100%", " a ", "\t\u{B}a b\u{C}\r\n", "\u{A0}a",
        "é", "e\u{301}", "É", "ß", "İ", "ı", "ñ", "😀", "👨‍👩‍👧", "🇩🇪", "a😀b", "\u{10FFFF}", "\u{FFFD}", "\u{E000}", "日本",
        "{\"a\":1}", "[1,2]", "2026-01-02T03:04:05.678Z", "2026-01-02", "true", "0x41", "x'41'", "NaN",
        "; DROP TABLE t; --", "\u{7F}", "\u{200D}",
    ]
    private static let fragments = ["a", "b", "A", "B", "aa", "é", "e\u{301}", "😀", "%", "'", " ", "\0", "1"]
    private static let jsonTexts = [
        "{}", "[]", "[1, 2]", "[1,2]", "{\"a\":null}", "{\"a\":{\"b\":[true,\"é\"]}}", "[\"\\u0000\"]", "{\"A\":1}",
    ]
    private static let extremeInts: [Int64] = [
        .min, .min + 1, .max, .max - 1, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53), -(1 << 53) - 1, -1, 0, 1,
        1 << 31, 1 << 32, 3_037_000_500,
    ]
    private static let extremeDoubles: [Double] = [
        -0.0, 0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e-300, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        -.greatestFiniteMagnitude,
        0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, 9.3e18, .infinity, -.infinity, .nan, 0.49999999999999994,
        4503599627370495.5,
    ]
    /// Ticks of instants around which neighbors are drawn: 1970, 1969, a leap day, the turn of a year, the year 1600.
    private static let instants: [Int64] = [
        0, -1, -10_000_000, 17_091_648_000_000_000, 17_672_256_000_000_000, 17_672_255_999_999_999,
        -116_444_736_000_000_000,
    ]
}

/// Returns an element of a nonempty collection.
func pick<T>(_ elements: [T], using random: inout SplitMix64) -> T {
    elements[Int.random(in: 0..<elements.count, using: &random)]
}

func chance(_ share: Double, using random: inout SplitMix64) -> Bool {
    Double.random(in: 0..<1, using: &random) < share
}
