/// A condition on a row, or an operand of one: a tree that every store and both dialects of the wire understand.
///
/// ```swift
/// .column("complete") == false && .column("text").hasPrefix("B")
/// .column("priority").isIn([1, 2]) || .column("due").year == 2026
/// ```
///
/// Operands and conditions are one type, as in the protocol's filters, where `substringof('b',text) eq true` is a
/// condition too. What each node means, down to null, text and overflow, is defined by ``Evaluator`` alone.
public indirect enum Predicate: Sendable, Hashable {
    /// The value of a column; `id` is one.
    case column(String)
    /// A value.
    case literal(Value)
    /// A comparison of two operands.
    case comparison(Comparison, Predicate, Predicate)
    /// True when all conditions are; true when there are none.
    case and([Predicate])
    /// True when at least one condition is; false when there are none.
    case or([Predicate])
    /// True when the condition is not.
    case not(Predicate)
    /// Whether the operand equals one of the values; false when there are none.
    case membership(Predicate, [Value])
    /// A function of its operands, as many as ``Function/arity`` says.
    case function(Function, [Predicate])
    /// Arithmetic on two numbers.
    case arithmetic(Arithmetic, Predicate, Predicate)

    /// The comparisons.
    public enum Comparison: String, Sendable, Hashable, Codable, CaseIterable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// The arithmetic operations.
    public enum Arithmetic: String, Sendable, Hashable, Codable, CaseIterable {
        case add, subtract, multiply, divide, modulo
    }

    /// The functions.
    public enum Function: String, Sendable, Hashable, Codable, CaseIterable {
        // Text
        case length, indexOf, substring, startsWith, endsWith, contains, lower, upper, trim, concat, replace
        /// Equality of two texts without regard to ASCII case.
        case equalsIgnoringCase
        // Numbers
        case round, floor, ceiling
        // Parts of an instant, in UTC
        case year, month, day, hour, minute, second

        /// How many operands the function takes.
        public var arity: ClosedRange<Int> {
            switch self {
            case .length, .lower, .upper, .trim, .round, .floor, .ceiling, .year, .month, .day, .hour, .minute,
                .second:
                1...1
            case .indexOf, .startsWith, .endsWith, .contains, .concat, .equalsIgnoringCase: 2...2
            case .substring: 2...3
            case .replace: 3...3
            }
        }
    }
}

// MARK: - Literals and operators

extension Predicate: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .literal(.string(value)) }
    public init(integerLiteral value: Int64) { self = .literal(.int(value)) }
    public init(floatLiteral value: Double) { self = .literal(.double(value)) }
    public init(booleanLiteral value: Bool) { self = .literal(.bool(value)) }
}

extension Predicate {
    /// An operand with the value null: `.column("due") == .null`.
    public static var null: Predicate { .literal(.null) }

    /// An operand with a value of Swift.
    public static func value(_ value: some ColumnValue) -> Predicate { .literal(value.value) }

    public static func == (a: Predicate, b: Predicate) -> Predicate { .comparison(.equal, a, b) }
    public static func != (a: Predicate, b: Predicate) -> Predicate { .comparison(.notEqual, a, b) }
    public static func < (a: Predicate, b: Predicate) -> Predicate { .comparison(.less, a, b) }
    public static func <= (a: Predicate, b: Predicate) -> Predicate { .comparison(.lessOrEqual, a, b) }
    public static func > (a: Predicate, b: Predicate) -> Predicate { .comparison(.greater, a, b) }
    public static func >= (a: Predicate, b: Predicate) -> Predicate { .comparison(.greaterOrEqual, a, b) }

    /// Compares with a value of Swift: `.column("due") < date`.
    public static func == (a: Predicate, b: some ColumnValue) -> Predicate { a == .value(b) }
    public static func != (a: Predicate, b: some ColumnValue) -> Predicate { a != .value(b) }
    public static func < (a: Predicate, b: some ColumnValue) -> Predicate { a < .value(b) }
    public static func <= (a: Predicate, b: some ColumnValue) -> Predicate { a <= .value(b) }
    public static func > (a: Predicate, b: some ColumnValue) -> Predicate { a > .value(b) }
    public static func >= (a: Predicate, b: some ColumnValue) -> Predicate { a >= .value(b) }

    /// Both; a chain of `&&` becomes one flat node.
    public static func && (a: Predicate, b: Predicate) -> Predicate {
        if case .and(let terms) = a { .and(terms + [b]) } else { .and([a, b]) }
    }

    /// Either; a chain of `||` becomes one flat node.
    public static func || (a: Predicate, b: Predicate) -> Predicate {
        if case .or(let terms) = a { .or(terms + [b]) } else { .or([a, b]) }
    }

    public static prefix func ! (a: Predicate) -> Predicate { .not(a) }

    public static func + (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.add, a, b) }
    public static func - (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.subtract, a, b) }
    public static func * (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.multiply, a, b) }
    public static func / (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.divide, a, b) }
    public static func % (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.modulo, a, b) }

    /// Equal to one of the values.
    public func isIn(_ values: [Value]) -> Predicate { .membership(self, values) }
    /// Within a range, both ends included.
    public func isBetween(_ low: Predicate, _ high: Predicate) -> Predicate { .and([self >= low, self <= high]) }
    /// Null.
    public var isNull: Predicate { self == .null }
    /// Not null.
    public var isNotNull: Predicate { self != .null }
}

// MARK: - Functions

extension Predicate {
    /// The number of Unicode scalars of a text.
    public var length: Predicate { .function(.length, [self]) }
    /// The position of the first occurrence of `text`, from 0, in Unicode scalars; -1 when there is none.
    public func index(of text: Predicate) -> Predicate { .function(.indexOf, [self, text]) }
    /// The text from a position on, in Unicode scalars, of at most `length` scalars when that is given.
    public func substring(from start: Predicate, length: Predicate? = nil) -> Predicate {
        .function(.substring, [self, start] + (length.map { [$0] } ?? []))
    }
    /// Begins with `prefix`.
    public func hasPrefix(_ prefix: Predicate) -> Predicate { .function(.startsWith, [self, prefix]) }
    /// Ends with `suffix`.
    public func hasSuffix(_ suffix: Predicate) -> Predicate { .function(.endsWith, [self, suffix]) }
    /// Contains `text`.
    public func contains(_ text: Predicate) -> Predicate { .function(.contains, [self, text]) }
    /// `A`–`Z` made `a`–`z`.
    public var lowercased: Predicate { .function(.lower, [self]) }
    /// `a`–`z` made `A`–`Z`.
    public var uppercased: Predicate { .function(.upper, [self]) }
    /// Without ASCII white space at both ends.
    public var trimmed: Predicate { .function(.trim, [self]) }
    /// Followed by `text`.
    public func appending(_ text: Predicate) -> Predicate { .function(.concat, [self, text]) }
    /// With every `text` replaced by `replacement`.
    public func replacing(_ text: Predicate, with replacement: Predicate) -> Predicate {
        .function(.replace, [self, text, replacement])
    }
    /// Equal to `text` without regard to ASCII case.
    public func equalsIgnoringCase(_ text: Predicate) -> Predicate { .function(.equalsIgnoringCase, [self, text]) }
    /// The nearest whole number, halves away from zero.
    public var rounded: Predicate { .function(.round, [self]) }
    /// The greatest whole number not above.
    public var floor: Predicate { .function(.floor, [self]) }
    /// The least whole number not below.
    public var ceiling: Predicate { .function(.ceiling, [self]) }
    /// The year of an instant in UTC.
    public var year: Predicate { .function(.year, [self]) }
    /// The month of an instant in UTC, 1 to 12.
    public var month: Predicate { .function(.month, [self]) }
    /// The day of the month of an instant in UTC, 1 to 31.
    public var day: Predicate { .function(.day, [self]) }
    /// The hour of an instant in UTC, 0 to 23.
    public var hour: Predicate { .function(.hour, [self]) }
    /// The minute of an instant, 0 to 59.
    public var minute: Predicate { .function(.minute, [self]) }
    /// The whole second of an instant, 0 to 59.
    public var second: Predicate { .function(.second, [self]) }
}
