internal import TidelineStore

/// The change of a query's result from one commit to a later one, without positions.
///
/// Deltas of consecutive commits are merged without the rows that did not change. A merged delta is never larger than
/// both results together.
struct ResultDelta: Sendable {
    /// The change of one row.
    struct Entry: Sendable {
        /// The key of the row in the earlier result, or `nil` if it was not there.
        var old: RowOrder.Key?
        /// The row in the later result, or `nil` if it is not there.
        var new: KeyedList<Row>.Entry?
    }

    /// The whole earlier result, if the query was read: `entries` are changes of it.
    var whole: KeyedList<Row>?
    /// The changed rows by identity.
    var entries: [Value: Entry] = [:]
    /// The number of matching rows, if the query counts them and their number changed.
    var matchingCount: Int?

    /// Whether the delta changes nothing.
    var isEmpty: Bool { whole == nil && entries.isEmpty && matchingCount == nil }

    /// Adds the change of a row after the changes so far.
    mutating func add(old: RowOrder.Key?, new: KeyedList<Row>.Entry?) {
        guard let identity = (old ?? new?.key)?.identity else { return }
        let first = entries[identity].map(\.old) ?? old
        entries[identity] = first == nil && new == nil ? nil : Entry(old: first, new: new)
    }

    /// Adds the delta of a later commit.
    mutating func merge(_ later: ResultDelta) {
        matchingCount = later.matchingCount ?? matchingCount
        guard later.whole == nil else {
            (whole, entries) = (later.whole, later.entries)
            return
        }
        for entry in later.entries.values { add(old: entry.old, new: entry.new) }
    }
}
