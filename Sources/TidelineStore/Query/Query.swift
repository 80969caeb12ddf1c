/// What to read from one table: which rows, in which order, which part of them, which columns.
///
/// ```swift
/// Query("TodoItem")
///     .filter(.column("complete") == false)
///     .order(by: "due").limit(50)
/// ```
///
/// What a query means is defined by ``Evaluator``; every store answers as it does, or throws
/// ``StoreError/Code/unsupportedQuery``.
public struct Query: Sendable, Hashable {
    /// The table.
    public var table: String
    /// Which rows; all when nil.
    public var predicate: Predicate?
    /// The order; rows equal in all terms, and all rows when there is no term, come in ascending order of id.
    public var order: [OrderTerm]
    /// How many rows to leave out at the beginning.
    public var skip: Int
    /// How many rows at most; nil for all that remain.
    public var limit: Int?
    /// The columns wanted, all when nil. `id` always comes, and so does `version` where the table keeps it.
    public var selection: [String]?
    /// Whether to count all rows that match, without regard to ``skip`` and ``limit``.
    public var includesTotalCount: Bool

    /// A query of one table; see the properties.
    public init(
        _ table: String, predicate: Predicate? = nil, order: [OrderTerm] = [], skip: Int = 0, limit: Int? = nil,
        selection: [String]? = nil, includesTotalCount: Bool = false
    ) {
        self.table = table
        self.predicate = predicate
        self.order = order
        self.skip = skip
        self.limit = limit
        self.selection = selection
        self.includesTotalCount = includesTotalCount
    }

    /// The rows that match `predicate` too.
    public func filter(_ predicate: Predicate) -> Query {
        with { $0.predicate = $0.predicate.map { $0 && predicate } ?? predicate }
    }

    /// Ordered by a column, after the terms already there.
    public func order(by column: String, descending: Bool = false) -> Query {
        with { $0.order.append(OrderTerm(column, descending: descending)) }
    }

    /// Leaving out the first `count` rows.
    public func skip(_ count: Int) -> Query { with { $0.skip = count } }

    /// At most `count` rows.
    public func limit(_ count: Int) -> Query { with { $0.limit = count } }

    /// Only these columns, beside `id` and `version`.
    public func select(_ columns: String...) -> Query { with { $0.selection = columns } }

    /// With the count of all rows that match.
    public func includingTotalCount() -> Query { with { $0.includesTotalCount = true } }

    private func with(_ change: (inout Query) -> Void) -> Query {
        var copy = self
        change(&copy)
        return copy
    }
}

/// One key of an order. Ascending, nulls come first; descending, last.
public struct OrderTerm: Sendable, Hashable, Codable {
    /// The column; `id` is one.
    public var column: String
    /// From the greatest to the least.
    public var isDescending: Bool

    /// The order by a column.
    public init(_ column: String, descending: Bool = false) {
        self.column = column
        isDescending = descending
    }
}

/// The rows that a query found.
public struct QueryResult: Sendable {
    /// The rows, in order.
    public var rows: [Row]
    /// How many rows match without regard to skip and limit, if the query asked.
    public var totalCount: Int?

    /// A result.
    public init(rows: [Row], totalCount: Int? = nil) {
        self.rows = rows
        self.totalCount = totalCount
    }
}
