public import TidelineStore

/// How a store of keys and bytes answers a query: the way to the rows, what is asked of each, how they come into order.
///
/// Its description is one line:
/// ```
/// TodoItem: index (complete, due), complete = false, in order of due; filter: text contains "x"
/// TodoItem: look-up of 2 ids, id in ("a", "b")
/// TodoItem: scan of all rows; keeps the best 50 by priority descending
/// ```
public struct QueryPlan: Sendable {
    /// The ways to the rows.
    public enum Access: Sendable, Hashable {
        /// There is no way to go: no row can match.
        case nothing
        /// The rows of that many ids, each looked up.
        case ids(Int)
        /// The rows whose ids lie in a range.
        case idRange
        /// All rows of the table.
        case allRows
        /// The index over these columns.
        case index([String])
    }

    /// How rows come into the query's order.
    public enum Ordering: Sendable, Hashable {
        /// As they are found.
        case native
        /// By sorting all that match.
        case sort
        /// By keeping that many of those that match, the first in the order.
        case keep(Int)
    }

    /// The table.
    public let table: String
    /// The way to the rows.
    public let access: Access
    /// The conditions by which the keys of ``access`` are bounded.
    public let bounds: [Predicate]
    /// What is asked of each row found; nil when the bounds say all.
    public let filter: Predicate?
    /// The query's order.
    public let order: [OrderTerm]
    /// How rows come into that order.
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
        case .keep(let count): text += "; keeps the best \(count) by \(orderText)"
        }
        return text
    }

    private var accessText: String {
        switch access {
        case .nothing: "no row can match"
        case .ids(let count): "look-up of \(count) \(count == 1 ? "id" : "ids")"
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
