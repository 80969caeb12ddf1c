public import TidelineStore

/// The progress of an incremental pull; see ``SyncTable/pullToken(queryID:)``.
public struct PullToken: Sendable, Hashable, Codable {
    /// The watermark: the greatest `updatedAt` up to which all rows were applied, or `nil` before the first row. The
    /// next pull begins there, or at ``serverDate`` minus the look-back if that is earlier.
    public internal(set) var updatedAt: Timestamp?
    /// The server's clock when the pull began, or `nil` if the server did not send it.
    public internal(set) var serverDate: Timestamp?
    /// The filter of the query id, as sent to the server; empty for all rows.
    public internal(set) var filter: String
    /// The end of the millisecond of ``updatedAt``, if a complete pull read all rows up to there.
    var drainedTo: Timestamp?
    /// The newest timestamp of the first response, for an unfinished pull from a server that sends no date. A pull that
    /// continues from here looks back only as far as necessary. When the pull ends, this replaces the date.
    var firstStamp: Timestamp?
    /// The columns that the pull stored, as ``TableSchema/columnFingerprint``. If the table's columns differ, stored
    /// rows lack some.
    var columns: String?
    /// Whether a pull of all rows into a table that was not empty is unfinished; `nil` for no.
    var isRefreshing: Bool?

    init(updatedAt: Timestamp?, serverDate: Timestamp?, filter: String, columns: String? = nil) {
        self.updatedAt = updatedAt
        self.serverDate = serverDate
        self.filter = filter
        self.columns = columns
    }

    /// Returns the timestamp at which the next pull begins, or `nil` to begin at the first row.
    ///
    /// A row may be timestamped before ``serverDate`` and committed after the pull, within the look-back. A millisecond
    /// that was read completely is not read again once the server's clock has passed it by the look-back.
    func start(lookback: Duration) -> Timestamp? {
        guard let updatedAt else { return nil }
        // A longer duration exceeds the range of timestamps and would overflow.
        let parts = min(lookback, .seconds(400_000_000_000)).components
        let ticks = parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
        return min(drainedTo ?? updatedAt, (serverDate ?? updatedAt).advanced(byTicks: -ticks))
    }

    /// The token with its millisecond marked as read completely.
    var drained: PullToken {
        var token = self
        token.drainedTo = updatedAt?.flooredToMillisecond.advanced(byTicks: Timestamp.ticksPerMillisecond)
        return token
    }

    /// Returns the token, limited so that the next pull fetches rows from `ceiling` on.
    func limited(to ceiling: Timestamp?) -> PullToken {
        guard let ceiling, let updatedAt else { return self }
        var token = self
        token.updatedAt = min(updatedAt, ceiling)
        token.drainedTo = nil
        return token
    }
}
