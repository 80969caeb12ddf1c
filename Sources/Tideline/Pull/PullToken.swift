public import TidelineStore

/// How far an incremental pull has come; see ``SyncTable/pullToken(queryID:)``.
public struct PullToken: Sendable, Hashable, Codable {
    /// The greatest `updatedAt` up to which all rows were applied; the next pull begins there, or at the look-back before
    /// ``serverDate`` if that is earlier. Nil before the first row.
    public internal(set) var updatedAt: Timestamp?
    /// The server's clock when the pull began that came this far; nil when the server did not say.
    public internal(set) var serverDate: Timestamp?
    /// The filter that the query id stands for, as the server is asked; empty for all rows.
    public internal(set) var filter: String
    /// The end of the millisecond of ``updatedAt``, where a pull read all rows up to there and to the end.
    var drainedTo: Timestamp?
    /// Of a pull that has not ended, from a server that sends no date: the newest stamp of its first answer. A pull that
    /// goes on from here need not look further back than it must; when it has ended, this takes the place of the date.
    var firstStamp: Timestamp?
    /// The columns that the pull stored, as ``TableSchema/columnFingerprint``: with others by now, rows lack some.
    var columns: String?
    /// Whether the pull that brings all rows, into a table that had some, has not ended; nil for no.
    var isRefreshing: Bool?

    init(updatedAt: Timestamp?, serverDate: Timestamp?, filter: String, columns: String? = nil) {
        self.updatedAt = updatedAt
        self.serverDate = serverDate
        self.filter = filter
        self.columns = columns
    }

    /// Where the next pull begins; nil at the first row.
    ///
    /// A row may be stamped before ``serverDate`` and committed after the pull, though not later than the look-back
    /// allows. A millisecond that was read whole need not be read again once the server's clock was that far beyond it.
    func start(lookback: Duration) -> Timestamp? {
        guard let updatedAt else { return nil }
        // More than all the years that a timestamp knows would only overflow.
        let parts = min(lookback, .seconds(400_000_000_000)).components
        let ticks = parts.seconds * Timestamp.ticksPerSecond + parts.attoseconds / 100_000_000_000
        return min(drainedTo ?? updatedAt, (serverDate ?? updatedAt).advanced(byTicks: -ticks))
    }

    /// The token with its millisecond read to the end.
    var drained: PullToken {
        var token = self
        token.drainedTo = updatedAt?.flooredToMillisecond.advanced(byTicks: Timestamp.ticksPerMillisecond)
        return token
    }

    /// The token, so that the next pull brings the rows from `ceiling` on.
    func limited(to ceiling: Timestamp?) -> PullToken {
        guard let ceiling, let updatedAt else { return self }
        var token = self
        token.updatedAt = min(updatedAt, ceiling)
        token.drainedTo = nil
        return token
    }
}
