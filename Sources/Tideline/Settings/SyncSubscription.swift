public import TidelineStore

/// Rows of one table that a client keeps in step with the server; see ``SyncClient/start(_:settings:)``.
///
/// A list of subscriptions must not contain two of the same table and query id.
public struct SyncSubscription: Sendable {
    /// The table and the rows to pull.
    public var query: TableQuery
    /// The name of the incremental pull, or `nil` to fetch all rows each time; see
    /// ``SyncTable/pull(_:queryID:settings:)``.
    public var queryID: String?
    /// The priority; 0 by default. A running sync pulls subscriptions with a higher priority first, those with the same
    /// priority side by side. ``SyncClient/pull(_:settings:progress:)`` begins pulls in this order.
    public var priority: Int
    /// The time between two pulls, or `nil` to pull only at the start, on request, and after a change signal; one
    /// minute by default.
    public var interval: Duration?

    /// Creates a subscription to the rows that match a query.
    public init(_ query: TableQuery, queryID: String?, priority: Int = 0, interval: Duration? = .seconds(60)) {
        self.query = query
        self.queryID = queryID
        self.priority = priority
        self.interval = interval
    }

    /// Creates a subscription to all rows of a table.
    public init(_ table: String, queryID: String? = "all", priority: Int = 0, interval: Duration? = .seconds(60)) {
        self.init(TableQuery(table), queryID: queryID, priority: priority, interval: interval)
    }

    /// The name of the table.
    public var table: String { query.table }

    /// Whether both name the same incremental pull.
    func isSamePull(as other: SyncSubscription) -> Bool {
        guard table == other.table else { return false }
        guard let queryID, let otherID = other.queryID else { return queryID == nil && other.queryID == nil }
        return queryID.utf8.elementsEqual(otherID.utf8)
    }

    /// Whether both match the same rows of their table.
    func hasSameRows(as other: SyncSubscription) -> Bool {
        guard let predicate = query.predicate, let otherPredicate = other.query.predicate else {
            return query.predicate == nil && other.query.predicate == nil
        }
        return predicate.isIdentical(to: otherPredicate)
    }
}
