internal import TidelineStore

/// The way of a pull through the server's rows: which page comes next, when the pull ends, and from where the next pull
/// continues. A pure state machine, one implementation for each kind of server.
protocol PullFeed: Sendable {
    /// The first page to request, or `nil` if the query can match no row.
    var first: (any PageStep)? { get }
    /// Notes what only the first response tells.
    ///
    /// - Returns: The page to request instead, if the pull cannot begin with this one; otherwise `nil`.
    mutating func begin(with page: PulledPage) -> (any PageStep)?
    /// Processes a page.
    ///
    /// - Throws: ``SyncError`` with code noProgress if the server returns the same rows again and again.
    mutating func receive(_ page: PulledPage) throws(SyncError) -> PendingPage
    /// Returns the token to store with a page: its own, or the stored one if that serves the next pull as well.
    func token(of page: PendingPage, replacing stored: PullToken) -> PullToken
    /// Returns a token that lets the next pull return rows that this one has skipped, or `nil` to leave the stored one.
    ///
    /// - Parameters:
    ///   - skipped: The least `updatedAt` of the skipped rows.
    ///   - before: The token before the first page with a skipped row.
    func limited(_ token: PullToken, to skipped: Timestamp, before: PullToken?) -> PullToken?
}

/// A page to request.
protocol PageStep: Sendable {
    /// The number of rows wanted.
    var limit: Int { get }
    /// Whether the page continues from a cursor that the server may no longer know.
    var hasCursor: Bool { get }
    /// Returns the request, with at most `limit` rows.
    func call(limit: Int) throws -> ServerCall
    /// Returns the rows in a successful response.
    ///
    /// - Parameter requestedAt: See ``PulledPage/requestedAt``.
    /// - Throws: ``SyncError`` with code invalidAnswer.
    func page(in answer: ServerAnswer, limit: Int, requestedAt: UInt64) throws -> PulledPage
}

/// A page that was received and is not stored yet, with the decision of the feed about it.
struct PendingPage: Sendable {
    let page: PulledPage
    /// Whether the page is in the order of `updatedAt`, and begins with rows of the page before.
    var isWindow = false
    /// The token after this page is stored, or `nil` if there is none yet.
    let token: PullToken?
    /// The least `updatedAt` of the pull so far.
    var oldest: Timestamp?
    /// The next page to request, or `nil` if the pull ends with this one.
    var next: (any PageStep)?
    /// The token after the page before it, which the machine sets.
    var tokenBefore: PullToken?
    /// See ``SyncDatabase/commitsOfOthers(_:)``, as far as known when the page was requested. The machine sets it.
    var commitsOfOthers: UInt64 = 0

    /// Whether the pull ends with this page.
    var isLast: Bool { next == nil }
}

/// The rows that a pull fetches, and its settings.
struct PullPlan: Sendable {
    private(set) var query: TableQuery
    /// The name of the incremental pull, or `nil` for a pull of all rows.
    private(set) var queryID: String?
    let settings: PullSettings
    /// The definition of the table.
    let schema: TableSchema
    /// Reads the rows of responses.
    private(set) var codec: RowCodec
    /// The columns that the pull stores; see ``PullToken/columns``.
    let columns: String

    init(query: TableQuery, queryID: String?, settings: PullSettings, schema: TableSchema) {
        self.query = query
        self.queryID = queryID
        self.settings = settings
        self.schema = schema
        codec = RowCodec(schema: schema)
        columns = schema.columnFingerprint
    }

    /// Whether the pages have only the identifiers and versions of rows, which are compared and not stored.
    var isListing: Bool { query.selection != nil }

    /// Returns the plan of a list of the identifiers and versions of all rows that match a predicate.
    func listing(_ predicate: RowPredicate?) -> PullPlan {
        var plan = self
        plan.query = TableQuery(schema.name, predicate: predicate, selection: ["id", "version"])
        plan.queryID = nil
        // Other columns of a server that ignores the selection are not read.
        plan.codec = RowCodec(
            schema: TableSchema(
                schema.name, columns: [], systemColumns: [.updatedAt, .version], idMatching: schema.idMatching))
        return plan
    }

    var parameters: [(String, String)] { settings.parameters.map { ($0.name, $0.value) } }
    var skipsRejectedRows: Bool { settings.whenRowDoesNotFit == .skipAndReport }
}

/// Where a pull begins.
struct FeedStart: Sendable {
    /// The token to continue from, or `nil` to begin with the first row.
    var token: PullToken?
    /// The stored token, which the pull replaces.
    var stored: PullToken?
    /// The filter as text; see ``PullToken/filter``.
    var filter = ""
    /// Whether the pull fetches all rows into a table that is not empty. Stored rows may lack columns that were added,
    /// so equal versions do not prove equal rows until the pull has ended.
    var isRefreshing = false
    /// Whether the table is empty, so that deleted rows need not be requested. Rows that are deleted during the pull
    /// are found by the next one, which looks back before the start of this one.
    var omitsDeleted = false
    /// Whether the pull refreshes the table only because the definition has changed. A row of an equal version then
    /// keeps app values where the server's are null, because a step of a migration may have set them. If not, the local
    /// rows may be in doubt, and the server's nulls replace them, too.
    var fillsColumns = false
}

/// Detects a cycle of any length in the last identifiers, cursors, or links of pages, which should never repeat.
///
/// It stores one identifier (Brent's cycle detection). The distance after which it stores a new one doubles, so that it
/// eventually reaches the length of the cycle.
struct LoopDetector: Sendable {
    private var mark: RowID?
    private var steps = 0
    private var distance = 1
    private var repetitions = 0

    /// Records the last identifier or the cursor of a page.
    /// - Returns: The number of consecutive repetitions of the stored identifier.
    mutating func note(_ id: String?) -> Int {
        let id = id.map { RowID.string($0) }
        if id == mark {
            repetitions += 1
            return repetitions
        }
        repetitions = 0
        steps += 1
        if steps == distance {
            mark = id
            steps = 0
            distance *= 2
        }
        return 0
    }
}
