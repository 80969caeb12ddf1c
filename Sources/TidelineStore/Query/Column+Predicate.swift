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
    /// Whether the column's value is within a range, including both ends.
    public func isBetween(_ low: T, and high: T) -> RowPredicate { .and([self >= low, self <= high]) }
    /// Whether the column is null.
    public var isNull: RowPredicate { .column(self).isNull }
    /// Whether the column is not null.
    public var isNotNull: RowPredicate { .column(self).isNotNull }
}

extension RowPredicate {
    fileprivate static func comparison<T>(_ comparison: Comparison, _ column: Column<T>, _ value: T?) -> RowPredicate {
        .comparison(comparison, .column(column), .value(value))
    }
}
