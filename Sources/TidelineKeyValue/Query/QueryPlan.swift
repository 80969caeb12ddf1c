public import TidelineStore

/// A key-value store's plan for a query: the access path, the residual predicate, and the ordering.
///
/// Its description is one line:
/// ```
/// TodoItem: index (complete, due), complete = false, in order of due; filter: text contains "x"
/// TodoItem: lookup of 2 ids, id in ("a", "b")
/// TodoItem: scan of all rows; keeps the first 50 by priority descending
/// ```
public struct QueryPlan: Sendable {
    /// The access path.
    public enum Access: Sendable, Hashable {
        /// No access, because no row can match.
        case nothing
        /// A lookup of each of the given number of identifiers.
        case ids(Int)
        /// A scan of the rows in a range of identifiers.
        case idRange
        /// A scan of all rows of the table.
        case allRows
        /// A scan of the index over the given columns.
        case index([String])
    }

    /// The method of producing the query's order.
    public enum Ordering: Sendable, Hashable {
        /// The access path already yields the order.
        case native
        /// Sorting all matching rows.
        case sort
        /// Keeping the given number of matching rows that are first in the order.
        case keep(Int)
    }

    /// The table.
    public let table: String
    /// The access path.
    public let access: Access
    /// The conditions that bound the keys of ``access``.
    public let bounds: [RowPredicate]
    /// The residual predicate that is evaluated for each row found, or `nil` if the bounds satisfy all conditions.
    public let filter: RowPredicate?
    /// The query's order.
    public let order: [OrderTerm]
    /// The method of producing that order.
    public let ordering: Ordering
}

extension QueryPlan: CustomStringConvertible {
    public var description: String {
        var text = "\(table): \(accessText)"
        if !bounds.isEmpty { text += ", " + PredicateText.list(bounds) }
        if ordering == .native, !order.isEmpty { text += ", in order of \(orderText)" }
        if let filter { text += "; filter: \(PredicateText.text(filter))" }
        switch ordering {
        case .native: break
        case .sort: text += "; sorts by \(orderText)"
        case .keep(let count): text += "; keeps the first \(count) by \(orderText)"
        }
        return text
    }

    private var accessText: String {
        switch access {
        case .nothing: "no row can match"
        case .ids(let count): "lookup of \(count) \(count == 1 ? "id" : "ids")"
        case .idRange: "range of ids"
        case .allRows: "scan of all rows"
        case .index(let columns): "index (\(columns.joined(separator: ", ")))"
        }
    }

    private var orderText: String {
        guard !order.isEmpty else { return "id" }
        return order.map { $0.column + ($0.isDescending ? " descending" : "") }.joined(separator: ", ")
    }
}
