internal import TidelineStore

/// A dialect as the core sees it: requests, the meaning of their responses, and the way of a pull through the rows.
///
/// It is not generic, so that the core need not be: ``AdaptedDialect`` adapts the dialects of apps.
protocol ClientDialect: RequestFormat {
    /// Whether an update replaces the whole row, so that the row to replace must be known.
    var replacesWholeRows: Bool { get }
    /// The greatest number of changes that may be in flight at the same time.
    var maxInFlight: Int { get }
    /// The greatest number of rows that a request may ask for.
    var maximumPageSize: Int { get }

    /// Checks the identifier of a new row.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument.
    func validateNewID(_ id: String, of table: String) throws(SyncError)

    /// Returns the request for a row.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument, or `WireError`, if the row cannot be sent.
    func call(for request: RowRequest) throws -> ServerCall
    /// Returns the batches of the requests for rows in a push, or `nil` if each is sent alone.
    func makeBatches() -> RequestBatches?
    /// Returns a request whose response shows that the service has the table of a row: its list, perhaps of that row
    /// alone.
    func confirmation(for request: RowRequest) throws -> ServerCall
    /// Returns whether a response to ``confirmation(for:)`` is such a list.
    func isConfirmation(_ answer: ServerAnswer, for request: RowRequest) -> Bool
    /// Returns whether the response to a lookup has the form of the dialect, whatever the row contains.
    func isLookUp(_ answer: ServerAnswer) -> Bool

    /// Returns the server row in a response, with the types of the table; `nil` if the response has none that can be
    /// read.
    ///
    /// - Throws: If the response to a lookup cannot be read, and ``OperationFailure`` for a row that does not fit the
    ///   table.
    func row(in answer: ServerAnswer, to request: RowRequest, _ codec: RowCodec) throws -> Row?

    /// Returns whether a page may have been refused because it asked for too many rows.
    func mayRefusePageSize(_ refusal: SyncError) -> Bool
    /// Returns whether a pull can continue from a token that was stored earlier, perhaps in another dialect.
    func canContinue(from token: PullToken) -> Bool
    /// Makes the feed of a pull.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument for a query that the dialect cannot pull.
    func makeFeed(_ plan: PullPlan, from start: FeedStart) throws -> any PullFeed

    /// Returns the names of tables that change on the server, or `nil` if the server does not signal them.
    func changeSignals(over connection: DialectConnection) -> ChangeSignals?
}

extension ClientDialect {
    func makeBatches() -> RequestBatches? { nil }
}

/// Sends requests of a dialect to the server of a client, with its authentication, for
/// ``CustomDialect/changeSignals(over:)``.
public struct DialectConnection: Sendable {
    let connection: ServerConnection
    let subscribed: SubscribedTables

    /// The tables of the current subscriptions of the sync.
    public var tables: [String] { subscribed.names }

    /// Sends a request and returns a response with a status from 200 to 299. The request is not retried.
    ///
    /// - Parameter timeout: The time limit, such as that of a long poll, or `nil` for ``SyncOptions/timeout``.
    /// - Throws: ``SyncError`` for any other response, and if the server is not reached.
    public func send(_ request: ServerRequest, timeout: Duration? = nil) async throws -> TransportResponse {
        let call = ServerCall(request) { AnswerMeaning(byStatusOf: $0) }
        let answer = try await connection.send(call, retries: false, timeout: timeout)
        guard answer.kind == .done else { throw answer.failure() }
        return answer.response
    }
}
