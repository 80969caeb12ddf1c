public import TidelineStore

/// The progress of an incremental pull; see ``SyncTable/pullToken(queryID:)``.
public struct PullToken: Sendable, Hashable, Codable {
    /// The watermark: the greatest `updatedAt` up to which all rows were applied, or `nil` before the first row and in
    /// a ``CustomDialect``. The next pull begins there, or at ``serverDate`` (or, without one, this time) minus the
    /// look-back if that is earlier.
    public internal(set) var updatedAt: Timestamp?
    /// The server's clock when the pull began. For a server that sends no date, the newest timestamp of the first
    /// response, or `nil` until the pull has ended. `nil` in a ``CustomDialect``.
    public internal(set) var serverDate: Timestamp?
    /// The filter of the query id as text; empty for all rows.
    public internal(set) var filter: String
    /// Whether a complete pull read all rows up to and including ``updatedAt``; `nil` for no.
    var isDrained: Bool?
    /// The greatest identifier that an unfinished pull read of the millisecond of ``updatedAt``, which it read by
    /// identifier; `nil` for none.
    var drainedID: String?
    /// The newest timestamp of the first response, for an unfinished pull from a server that sends no date. A pull that
    /// continues from here looks back only as far as necessary. When the pull ends, this replaces the date.
    var firstStamp: Timestamp?
    /// The columns that the pull stored, as ``TableSchema/columnFingerprint``. If the table's columns differ, stored
    /// rows lack some.
    var columns: String?
    /// Whether a pull of all rows into a table that was not empty is unfinished; `nil` for no.
    var isRefreshing: Bool?
    /// Whether that pull only fills columns, because the definition had changed; `nil` for no.
    var fillsColumns: Bool?
    /// Whether the table was empty when the latest complete pull ended; `nil` for no. If the table is empty and the
    /// token does not say so, something has removed the rows, and the next pull begins with the first row.
    var isLeftEmpty: Bool?
    /// The rows whose stamps are ahead of the server's clock, or `nil` if there are none.
    var ahead: Ahead?
    /// When the rows were last compared with the server by the device's clock, or `nil` if they were not; see
    /// ``PullSettings/removesLeavers``.
    var comparedAt: Timestamp?
    /// The identifiers of rows that were removed because the server did not show them, or `nil` if there are none. The
    /// next pull requests them: their timestamps may be older than the token.
    var hidden: [String]?
    /// The name of the custom dialect whose cursor this is, or `nil` for a watermark of a table service.
    var dialect: String?
    /// The cursor of the custom dialect, as JSON.
    var cursor: String?
    /// The cursor from which the pull after an unfinished one begins, as JSON, or `nil` for that of its last page.
    var nextPull: String?

    init(updatedAt: Timestamp?, serverDate: Timestamp?, filter: String, columns: String? = nil) {
        self.updatedAt = updatedAt
        self.serverDate = serverDate
        self.filter = filter
        self.columns = columns
    }

    /// The token of a pull that has stored rows, and whose first token comes with later ones.
    ///
    /// The next pull begins with the first row. Until then, whatever removes the rows removes this token, too, so that
    /// the pull does not store one that includes them.
    static func begun(filter: String, fillsColumns: Bool) -> PullToken {
        var token = PullToken(updatedAt: nil, serverDate: nil, filter: filter)
        token.isRefreshing = true
        token.fillsColumns = fillsColumns ? true : nil
        return token
    }

    /// Whether the next pull begins with the first row; see ``begun(filter:fillsColumns:)``.
    var isBegun: Bool { updatedAt == nil && cursor == nil }

    /// The rows that were stamped by a clock ahead of the server's `Date`.
    ///
    /// The look-back would request them in each pull until the server's clock has passed them. As soon as no row can be
    /// committed among them anymore, the next pulls leave them out.
    struct Ahead: Sendable, Hashable, Codable {
        /// The server's clock when the pull ended that received ``PullToken/updatedAt``.
        var date: Timestamp
        /// The stamps that were read completely, or `nil` if there are none yet.
        var read: Span?
    }

    /// A closed range of stamps.
    struct Span: Sendable, Hashable, Codable {
        var first: Timestamp
        var last: Timestamp
    }

    /// The lower bound of a pull.
    struct Start: Sendable, Hashable {
        var bound: Timestamp
        /// Whether rows at the bound itself are not requested.
        var isExclusive = false

        /// The earliest timestamp that is requested.
        var first: Timestamp { isExclusive ? bound.advanced(byTicks: 1) : bound }
    }

    /// Returns where the next pull begins, or `nil` to begin at the first row.
    ///
    /// A row may be timestamped before ``serverDate`` and committed after the pull, within the look-back. Rows at
    /// ``updatedAt`` that were read completely are not read again once the server's clock has passed them by the
    /// look-back. The bound does not exceed ``updatedAt``: a server whose clock goes back stamps its next row directly
    /// after its newest one.
    func start(lookback: Duration) -> Start? {
        guard let updatedAt else { return nil }
        let earliest = (serverDate ?? updatedAt).advanced(by: .zero - lookback)
        return earliest <= updatedAt ? Start(bound: earliest) : Start(bound: updatedAt, isExclusive: isDrained == true)
    }

    /// Where an unfinished pull stopped reading the millisecond of ``updatedAt`` by identifier, or `nil` if the next
    /// one begins it again: rows can have come before that identifier since.
    func drainedStart(lookback: Duration) -> (start: Timestamp, lastID: String)? {
        guard let start = updatedAt?.flooredToMillisecond, let drainedID else { return nil }
        let end = start.advanced(byTicks: Timestamp.ticksPerMillisecond)
        // Without a date, the next pull looks back to the first stamp.
        guard let serverDate, serverDate.advanced(by: .zero - lookback) < end else { return (start, drainedID) }
        return nil
    }

    /// The token with all rows up to ``updatedAt`` marked as read completely.
    var drained: PullToken {
        var token = self
        token.isDrained = true
        return token
    }

    /// Returns the token, limited so that the next pull fetches rows from `ceiling` on.
    func limited(to ceiling: Timestamp) -> PullToken {
        guard let updatedAt else { return self }
        var token = self
        token.updatedAt = min(updatedAt, ceiling)
        token.isDrained = nil
        token.drainedID = nil
        token.ahead = nil
        return token
    }
}

/// Reads and writes pull tokens in the config table.
struct TokenStore: Sendable {
    let config: ConfigTable
    let makeID: @Sendable () -> String

    func token(table: String, queryID: String, in reader: some StoreReader) throws -> PullToken? {
        try Self.token(in: row(table: table, queryID: queryID, in: reader))
    }

    /// Returns the tokens of a table, with their query ids.
    func tokens(of table: String, in reader: some StoreReader) throws -> [(queryID: String, token: PullToken)] {
        try reader.rows(matching: config.query(.token, table: table)).rows.compactMap { row in
            try Self.token(in: row).map { (row["key"]?.string ?? "", $0) }
        }
    }

    /// Replaces the expected token with another; `nil` removes it.
    ///
    /// - Returns: Whether the stored token was the expected one. If not, nothing is written.
    func replace(
        _ expected: PullToken?, with token: PullToken?, table: String, queryID: String, in writer: some StoreWriter
    ) throws -> Bool {
        let existing = try row(table: table, queryID: queryID, in: writer)
        guard try Self.token(in: existing) == expected else { return false }
        guard token != expected else { return true }
        guard let token else {
            try remove(table: table, queryID: queryID, in: writer)
            return true
        }
        try config.set(
            RecordJSON.encode(token), of: existing?.idText ?? makeID(), .token, table: table, key: queryID, in: writer)
        return true
    }

    /// Removes the token of a pull, the tokens of a table, or all tokens.
    func remove(table: String? = nil, queryID: String? = nil, in writer: some StoreWriter) throws {
        try writer.delete(matching: config.query(.token, table: table, key: queryID))
    }

    fileprivate static func token(in row: Row?) throws -> PullToken? {
        try row?["value"]?.string.map { try RecordJSON.decode(from: $0) }
    }

    private func row(table: String, queryID: String, in reader: some StoreReader) throws -> Row? {
        try reader.rows(matching: config.query(.token, table: table, key: queryID).limit(1)).rows.first
    }
}

extension ConfigTable {
    /// Records in the table's tokens that the table is empty on purpose, so that the next pulls continue from them.
    func noteEmpty(table: String, in writer: some StoreWriter) throws {
        try changeTokens(of: table, in: writer) { $0.isLeftEmpty = true }
    }

    /// Records in the table's tokens that a row was removed because the server did not show it. With too many such
    /// rows, the tokens are removed instead, so that the next pulls begin with the first row.
    func noteHidden(_ id: String, of table: String, in writer: some StoreWriter) throws {
        var count = 0
        try changeTokens(of: table, in: writer) { token in
            token.hidden = (token.hidden ?? []) + [id]
            count = max(count, token.hidden?.count ?? 0)
        }
        if count > Self.maximumHidden { try writer.delete(matching: query(.token, table: table)) }
    }

    /// Records in the table's tokens that columns were dropped, so that the next pulls fill those that are defined
    /// again.
    func noteDroppedColumns(of table: String, in writer: some StoreWriter) throws {
        try changeTokens(of: table, in: writer) { $0.columns = nil }
    }

    private func changeTokens(
        of table: String, in writer: some StoreWriter, _ change: (inout PullToken) -> Void
    ) throws {
        for var row in try writer.rows(matching: query(.token, table: table)).rows {
            guard var token = try TokenStore.token(in: row) else { continue }
            change(&token)
            row["value"] = .string(try RecordJSON.encode(token))
            try writer.upsert(row, into: name)
        }
    }

    private static var maximumHidden: Int { 200 }
}
