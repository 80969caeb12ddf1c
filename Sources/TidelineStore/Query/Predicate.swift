/// A condition on a row or an operand of a condition, as a tree that every store and both wire dialects support.
///
/// ```swift
/// .column("complete") == false && .column("text").hasPrefix("B")
/// .column("priority").isIn([1, 2]) || .column("due").year == 2026
/// ```
///
/// Operands and conditions have the same type, as in the protocol's filters, where `substringof('b',text) eq true` is
/// also a condition. ``Evaluator`` alone defines the meaning of each node, including null, text, and overflow.
public indirect enum Predicate: Sendable, Hashable {
    /// The value of a column, which may be `id`.
    case column(String)
    /// A constant value.
    case literal(Value)
    /// A comparison of two operands.
    case comparison(Comparison, Predicate, Predicate)
    /// True if all conditions are true, or if there are no conditions.
    case and([Predicate])
    /// True if at least one condition is true; false if there are no conditions.
    case or([Predicate])
    /// True if the condition is not true.
    case not(Predicate)
    /// Whether the operand equals one of the values; false if there are no values.
    case membership(Predicate, [Value])
    /// A function of its operands, whose number is given by ``Function/arity``.
    case function(Function, [Predicate])
    /// Arithmetic on two numbers.
    case arithmetic(Arithmetic, Predicate, Predicate)

    /// The comparison operators.
    public enum Comparison: String, Sendable, Hashable, Codable, CaseIterable {
        case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    }

    /// The arithmetic operators.
    public enum Arithmetic: String, Sendable, Hashable, Codable, CaseIterable {
        case add, subtract, multiply, divide, modulo
    }

    /// The functions.
    public enum Function: String, Sendable, Hashable, Codable, CaseIterable {
        // Text
        case length, indexOf, substring, startsWith, endsWith, contains, lower, upper, trim, concat, replace
        /// Equality of two texts, ignoring ASCII case.
        case equalsIgnoringCase
        // Numbers
        case round, floor, ceiling
        // Components of an instant, in UTC
        case year, month, day, hour, minute, second

        /// The number of operands that the function accepts.
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
    /// The operand null: `.column("due") == .null`.
    public static var null: Predicate { .literal(.null) }

    /// Returns an operand with a Swift value.
    public static func value(_ value: some ColumnValue) -> Predicate { .literal(value.value) }

    public static func == (a: Predicate, b: Predicate) -> Predicate { .comparison(.equal, a, b) }
    public static func != (a: Predicate, b: Predicate) -> Predicate { .comparison(.notEqual, a, b) }
    public static func < (a: Predicate, b: Predicate) -> Predicate { .comparison(.less, a, b) }
    public static func <= (a: Predicate, b: Predicate) -> Predicate { .comparison(.lessOrEqual, a, b) }
    public static func > (a: Predicate, b: Predicate) -> Predicate { .comparison(.greater, a, b) }
    public static func >= (a: Predicate, b: Predicate) -> Predicate { .comparison(.greaterOrEqual, a, b) }

    /// Compares an operand with a Swift value: `.column("due") < date`.
    public static func == (a: Predicate, b: some ColumnValue) -> Predicate { a == .value(b) }
    public static func != (a: Predicate, b: some ColumnValue) -> Predicate { a != .value(b) }
    public static func < (a: Predicate, b: some ColumnValue) -> Predicate { a < .value(b) }
    public static func <= (a: Predicate, b: some ColumnValue) -> Predicate { a <= .value(b) }
    public static func > (a: Predicate, b: some ColumnValue) -> Predicate { a > .value(b) }
    public static func >= (a: Predicate, b: some ColumnValue) -> Predicate { a >= .value(b) }

    /// Returns the conjunction of two conditions. A chain of `&&` becomes one flat node.
    public static func && (a: Predicate, b: Predicate) -> Predicate {
        if case .and(let terms) = a { .and(terms + [b]) } else { .and([a, b]) }
    }

    /// Returns the disjunction of two conditions. A chain of `||` becomes one flat node.
    public static func || (a: Predicate, b: Predicate) -> Predicate {
        if case .or(let terms) = a { .or(terms + [b]) } else { .or([a, b]) }
    }

    public static prefix func ! (a: Predicate) -> Predicate { .not(a) }

    public static func + (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.add, a, b) }
    public static func - (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.subtract, a, b) }
    public static func * (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.multiply, a, b) }
    public static func / (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.divide, a, b) }
    public static func % (a: Predicate, b: Predicate) -> Predicate { .arithmetic(.modulo, a, b) }

    /// Whether the operand equals one of the values.
    public func isIn(_ values: [Value]) -> Predicate { .membership(self, values) }
    /// Whether the operand is within a range, including both ends.
    public func isBetween(_ low: Predicate, _ high: Predicate) -> Predicate { .and([self >= low, self <= high]) }
    /// Whether the operand is null.
    public var isNull: Predicate { self == .null }
    /// Whether the operand is not null.
    public var isNotNull: Predicate { self != .null }
}

// MARK: - Functions

extension Predicate {
    /// The number of Unicode scalars in a text.
    public var length: Predicate { .function(.length, [self]) }
    /// The position of the first occurrence of `text`, from 0, in Unicode scalars, or -1 if there is none.
    public func index(of text: Predicate) -> Predicate { .function(.indexOf, [self, text]) }
    /// The text from a position, in Unicode scalars, limited to `length` scalars if given.
    public func substring(from start: Predicate, length: Predicate? = nil) -> Predicate {
        .function(.substring, [self, start] + (length.map { [$0] } ?? []))
    }
    /// Whether the text begins with `prefix`.
    public func hasPrefix(_ prefix: Predicate) -> Predicate { .function(.startsWith, [self, prefix]) }
    /// Whether the text ends with `suffix`.
    public func hasSuffix(_ suffix: Predicate) -> Predicate { .function(.endsWith, [self, suffix]) }
    /// Whether the text contains `text`.
    public func contains(_ text: Predicate) -> Predicate { .function(.contains, [self, text]) }
    /// The text with `A`–`Z` replaced by `a`–`z`.
    public var lowercased: Predicate { .function(.lower, [self]) }
    /// The text with `a`–`z` replaced by `A`–`Z`.
    public var uppercased: Predicate { .function(.upper, [self]) }
    /// The text without ASCII white space at both ends.
    public var trimmed: Predicate { .function(.trim, [self]) }
    /// The text followed by `text`.
    public func appending(_ text: Predicate) -> Predicate { .function(.concat, [self, text]) }
    /// The text with every `text` replaced by `replacement`.
    public func replacing(_ text: Predicate, with replacement: Predicate) -> Predicate {
        .function(.replace, [self, text, replacement])
    }
    /// Whether the text equals `text`, ignoring ASCII case.
    public func equalsIgnoringCase(_ text: Predicate) -> Predicate { .function(.equalsIgnoringCase, [self, text]) }
    /// The nearest whole number, with halves rounded away from zero.
    public var rounded: Predicate { .function(.round, [self]) }
    /// The greatest whole number that is not greater.
    public var floor: Predicate { .function(.floor, [self]) }
    /// The least whole number that is not less.
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
