// A typed column in a condition: `Column<Bool>("complete") == true && Column<Date>("due") < date`.
extension Column {
    public static func == (column: Column, value: T?) -> RowPredicate { .comparison(.equal, column, value) }
    public static func != (column: Column, value: T?) -> RowPredicate { .comparison(.notEqual, column, value) }
    public static func < (column: Column, value: T) -> RowPredicate { .comparison(.less, column, value) }
    public static func <= (column: Column, value: T) -> RowPredicate { .comparison(.lessOrEqual, column, value) }
    public static func > (column: Column, value: T) -> RowPredicate { .comparison(.greater, column, value) }
    public static func >= (column: Column, value: T) -> RowPredicate { .comparison(.greaterOrEqual, column, value) }

    /// Whether the column's value equals one of the values.
    public func isIn(_ values: some Sequence<T>) -> RowPredicate { .column(self).isIn(values) }
    /// Whether the optional column's value equals one of the values.
    public func isIn<Wrapped>(_ values: some Sequence<Wrapped>) -> RowPredicate where T == Wrapped? {
        .column(self).isIn(values)
    }
    /// Whether the column's value is within a range, including both ends.
    public func isBetween(_ low: T, and high: T) -> RowPredicate { .and([self >= low, self <= high]) }
    /// Whether the column is null.
    public var isNull: RowPredicate { .column(self).isNull }
    /// Whether the column is not null.
    public var isNotNull: RowPredicate { .column(self).isNotNull }
}

/// A column value that is text: `String` and its optional.
public protocol TextColumnValue: ColumnValue {}
extension String: TextColumnValue {}
extension Optional: TextColumnValue where Wrapped: TextColumnValue {}

extension Column where T: TextColumnValue {
    /// Whether the text begins with `prefix`.
    public func hasPrefix(_ prefix: String) -> RowPredicate { .column(self).hasPrefix(.value(prefix)) }
    /// Whether the text ends with `suffix`.
    public func hasSuffix(_ suffix: String) -> RowPredicate { .column(self).hasSuffix(.value(suffix)) }
    /// Whether the text contains `text`.
    public func contains(_ text: String) -> RowPredicate { .column(self).contains(.value(text)) }
    /// Whether the text equals `text`, ignoring ASCII case.
    public func equalsIgnoringCase(_ text: String) -> RowPredicate { .column(self).equalsIgnoringCase(.value(text)) }
}

/// A condition on a row: a ``RowPredicate``, or a column of type `Bool`.
public protocol RowCondition: Sendable {
    /// The condition as a predicate.
    var predicate: RowPredicate { get }
}

extension RowPredicate: RowCondition {
    public var predicate: RowPredicate { self }
}

extension Column: RowCondition where T == Bool {
    public var predicate: RowPredicate { .column(self) }
}

// A column of type bool is a condition: `!$0.complete && $0.urgent`.
extension Column<Bool> {
    /// Whether the column is false or null.
    public static prefix func ! (column: Column) -> RowPredicate { !.column(column) }
    public static func && (a: Column, b: Column) -> RowPredicate { .column(a) && .column(b) }
    public static func && (a: Column, b: RowPredicate) -> RowPredicate { .column(a) && b }
    public static func && (a: RowPredicate, b: Column) -> RowPredicate { a && .column(b) }
    public static func || (a: Column, b: Column) -> RowPredicate { .column(a) || .column(b) }
    public static func || (a: Column, b: RowPredicate) -> RowPredicate { .column(a) || b }
    public static func || (a: RowPredicate, b: Column) -> RowPredicate { a || .column(b) }
}

extension RowPredicate {
    fileprivate static func comparison<T>(_ comparison: Comparison, _ column: Column<T>, _ value: T?) -> RowPredicate {
        .comparison(comparison, .column(column), .value(value))
    }
}
