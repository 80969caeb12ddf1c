/// A condition on a row or an operand of a condition, as a tree that every store and both wire dialects support.
///
/// ```swift
/// .column("complete") == false && .column("text").hasPrefix("B")
/// .column("priority").isIn([1, 2]) || .column("due").year == 2026
/// ```
///
/// Operands and conditions have the same type, as in the protocol's filters, where `substringof('b',text) eq true` is
/// also a condition. ``Evaluator`` alone defines the meaning of each node, including null, text, and overflow.
public indirect enum RowPredicate: Sendable {
    /// The value of a column, which may be `id`.
    case column(String)
    /// A constant value.
    case literal(Value)
    /// A comparison of two operands.
    case comparison(Comparison, RowPredicate, RowPredicate)
    /// True if all conditions are true, or if there are no conditions.
    case and([RowPredicate])
    /// True if at least one condition is true; false if there are no conditions.
    case or([RowPredicate])
    /// True if the condition is not true.
    case not(RowPredicate)
    /// Whether the operand equals one of the values; false if there are no values.
    case membership(RowPredicate, [Value])
    /// A function of its operands, whose number is given by ``Function/arity``.
    case function(Function, [RowPredicate])
    /// Arithmetic on two numbers.
    case arithmetic(Arithmetic, RowPredicate, RowPredicate)

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
        package var arity: ClosedRange<Int> {
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

extension RowPredicate: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .literal(.string(value)) }
    public init(integerLiteral value: Int64) { self = .literal(.int(value)) }
    public init(floatLiteral value: Double) { self = .literal(.double(value)) }
    public init(booleanLiteral value: Bool) { self = .literal(.bool(value)) }
}

extension RowPredicate {
    /// The operand null: `.column("due") == .null`.
    public static var null: RowPredicate { .literal(.null) }

    /// Returns the operand of a typed column.
    public static func column(_ column: Column<some ColumnValue>) -> RowPredicate { .column(column.name) }

    /// Returns an operand with a Swift value.
    public static func value(_ value: some ColumnValue) -> RowPredicate { .literal(value.columnValue) }

    public static func == (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.equal, a, b) }
    public static func != (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.notEqual, a, b) }
    public static func < (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.less, a, b) }
    public static func <= (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.lessOrEqual, a, b) }
    public static func > (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.greater, a, b) }
    public static func >= (a: RowPredicate, b: RowPredicate) -> RowPredicate { .comparison(.greaterOrEqual, a, b) }

    /// Compares an operand with a Swift value: `.column("due") < date`.
    public static func == (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a == .value(b) }
    public static func != (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a != .value(b) }
    public static func < (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a < .value(b) }
    public static func <= (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a <= .value(b) }
    public static func > (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a > .value(b) }
    public static func >= (a: RowPredicate, b: some ColumnValue) -> RowPredicate { a >= .value(b) }

    /// Returns the conjunction of two conditions. A chain of `&&` becomes one flat node.
    public static func && (a: RowPredicate, b: RowPredicate) -> RowPredicate {
        if case .and(let terms) = a { .and(terms + [b]) } else { .and([a, b]) }
    }

    /// Returns the disjunction of two conditions. A chain of `||` becomes one flat node.
    public static func || (a: RowPredicate, b: RowPredicate) -> RowPredicate {
        if case .or(let terms) = a { .or(terms + [b]) } else { .or([a, b]) }
    }

    public static prefix func ! (a: RowPredicate) -> RowPredicate { .not(a) }

    public static func + (a: RowPredicate, b: RowPredicate) -> RowPredicate { .arithmetic(.add, a, b) }
    public static func - (a: RowPredicate, b: RowPredicate) -> RowPredicate { .arithmetic(.subtract, a, b) }
    public static func * (a: RowPredicate, b: RowPredicate) -> RowPredicate { .arithmetic(.multiply, a, b) }
    public static func / (a: RowPredicate, b: RowPredicate) -> RowPredicate { .arithmetic(.divide, a, b) }
    public static func % (a: RowPredicate, b: RowPredicate) -> RowPredicate { .arithmetic(.modulo, a, b) }

    /// Whether the operand equals one of the values.
    public func isIn(_ values: [Value]) -> RowPredicate { .membership(self, values) }
    /// Whether the operand equals one of the Swift values.
    public func isIn(_ values: some Sequence<some ColumnValue>) -> RowPredicate { isIn(values.map(\.columnValue)) }
    /// Whether the operand is within a range, including both ends.
    public func isBetween(_ low: RowPredicate, and high: RowPredicate) -> RowPredicate {
        .and([self >= low, self <= high])
    }
    /// Whether the operand is null.
    public var isNull: RowPredicate { self == .null }
    /// Whether the operand is not null.
    public var isNotNull: RowPredicate { self != .null }
}

// MARK: - Functions

extension RowPredicate {
    /// The number of Unicode scalars in a text.
    public var length: RowPredicate { .function(.length, [self]) }
    /// The position of the first occurrence of `text`, from 0, in Unicode scalars, or -1 if there is none.
    public func index(of text: RowPredicate) -> RowPredicate { .function(.indexOf, [self, text]) }
    /// The text from a position, in Unicode scalars, limited to `length` scalars if given.
    public func substring(from start: RowPredicate, length: RowPredicate? = nil) -> RowPredicate {
        .function(.substring, [self, start] + (length.map { [$0] } ?? []))
    }
    /// Whether the text begins with `prefix`.
    public func hasPrefix(_ prefix: RowPredicate) -> RowPredicate { .function(.startsWith, [self, prefix]) }
    /// Whether the text ends with `suffix`.
    public func hasSuffix(_ suffix: RowPredicate) -> RowPredicate { .function(.endsWith, [self, suffix]) }
    /// Whether the text contains `text`.
    public func contains(_ text: RowPredicate) -> RowPredicate { .function(.contains, [self, text]) }
    /// The text with `A`–`Z` replaced by `a`–`z`.
    public var lowercased: RowPredicate { .function(.lower, [self]) }
    /// The text with `a`–`z` replaced by `A`–`Z`.
    public var uppercased: RowPredicate { .function(.upper, [self]) }
    /// The text without ASCII white space at both ends.
    public var trimmed: RowPredicate { .function(.trim, [self]) }
    /// The text followed by `text`.
    public func appending(_ text: RowPredicate) -> RowPredicate { .function(.concat, [self, text]) }
    /// The text with every `text` replaced by `replacement`.
    public func replacing(_ text: RowPredicate, with replacement: RowPredicate) -> RowPredicate {
        .function(.replace, [self, text, replacement])
    }
    /// Whether the text equals `text`, ignoring ASCII case.
    public func equalsIgnoringCase(_ text: RowPredicate) -> RowPredicate {
        .function(.equalsIgnoringCase, [self, text])
    }
    /// The nearest whole number, with halves rounded away from zero.
    public var rounded: RowPredicate { .function(.round, [self]) }
    /// The greatest whole number that is not greater.
    public var floor: RowPredicate { .function(.floor, [self]) }
    /// The least whole number that is not less.
    public var ceiling: RowPredicate { .function(.ceiling, [self]) }
    /// The year of an instant in UTC.
    public var year: RowPredicate { .function(.year, [self]) }
    /// The month of an instant in UTC, 1 to 12.
    public var month: RowPredicate { .function(.month, [self]) }
    /// The day of the month of an instant in UTC, 1 to 31.
    public var day: RowPredicate { .function(.day, [self]) }
    /// The hour of an instant in UTC, 0 to 23.
    public var hour: RowPredicate { .function(.hour, [self]) }
    /// The minute of an instant, 0 to 59.
    public var minute: RowPredicate { .function(.minute, [self]) }
    /// The whole second of an instant, 0 to 59.
    public var second: RowPredicate { .function(.second, [self]) }
}
