/// A request for rows of one table: the rows to match, their order, the range, and the columns.
///
/// ```swift
/// TableQuery("TodoItem")
///     .filter(.column("complete") == false)
///     .order(by: "due").limit(50)
/// ```
///
/// ``Evaluator`` defines the meaning of a query. Every store returns the same result or throws
/// ``StoreError/Code/unsupportedQuery``.
public struct TableQuery: Sendable {
    /// The table.
    public var table: String
    /// The condition that rows must satisfy, or `nil` for all rows.
    public var predicate: RowPredicate?
    /// The order terms. Rows that are equal in all terms, and all rows if there is no term, are in ascending order of
    /// identifier.
    public var order: [OrderTerm]
    /// The number of rows to skip at the beginning.
    public var skip: Int
    /// The maximum number of rows, or `nil` for all remaining rows.
    public var limit: Int?
    /// The columns to return, or `nil` for all. The result always contains `id`, and `version` if the table keeps it.
    public var selection: [String]?
    /// Whether to count all matching rows, regardless of ``skip`` and ``limit``.
    public var includesTotalCount: Bool

    /// Creates a query of one table from the properties of the same names.
    public init(
        _ table: String, predicate: RowPredicate? = nil, order: [OrderTerm] = [], skip: Int = 0, limit: Int? = nil,
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

    /// Returns this query restricted to rows that also match `predicate`.
    public func filter(_ predicate: RowPredicate) -> TableQuery {
        with { $0.predicate = $0.predicate.map { $0 && predicate } ?? predicate }
    }

    /// Returns this query ordered by a column, after the existing terms.
    public func order(by column: String, descending: Bool = false) -> TableQuery {
        with { $0.order.append(OrderTerm(column, descending: descending)) }
    }

    /// Returns this query ordered by a typed column, after the existing terms.
    public func order(by column: Column<some ColumnValue>, descending: Bool = false) -> TableQuery {
        order(by: column.name, descending: descending)
    }

    /// Returns this query without the first `count` rows.
    public func skip(_ count: Int) -> TableQuery { with { $0.skip = count } }

    /// Returns this query limited to `count` rows.
    public func limit(_ count: Int) -> TableQuery { with { $0.limit = count } }

    /// Returns this query with only the given columns, `id`, and `version`.
    public func select(_ columns: String...) -> TableQuery { with { $0.selection = columns } }

    /// Returns this query with the count of all matching rows.
    public func includingTotalCount() -> TableQuery { with { $0.includesTotalCount = true } }

    private func with(_ change: (inout TableQuery) -> Void) -> TableQuery {
        var copy = self
        change(&copy)
        return copy
    }
}

/// One term of an order. Nulls are first in ascending order and last in descending order.
public struct OrderTerm: Sendable, Hashable, Codable {
    /// The column, which may be `id`.
    public var column: String
    /// Whether the order is descending.
    public var isDescending: Bool

    /// Creates a term for a column.
    public init(_ column: String, descending: Bool = false) {
        self.column = column
        isDescending = descending
    }
}

/// The rows that a query returned.
public struct QueryResult: Sendable {
    /// The rows, in order.
    public var rows: [Row]
    /// The number of matching rows regardless of skip and limit, if the query requested it.
    public var totalCount: Int?

    /// Creates a result.
    public init(rows: [Row], totalCount: Int? = nil) {
        self.rows = rows
        self.totalCount = totalCount
    }
}
