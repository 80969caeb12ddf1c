public import HTTPTypes

/// The protocol of a server that is not a table service, for ``ServerDialect/init(_:)``.
///
/// A dialect translates: it makes requests, and says what responses mean. It sends nothing itself and keeps no state.
/// The client adds the server's address and the authentication to each request, retries, stores rows and cursors, and
/// finds lost responses and conflicts. See <doc:SpeakingToAnotherServer>.
///
/// Rows use the names of the local table: its columns, `id`, and two columns of the client.
/// - `version` is any text that changes with each change of the row on the server, such as a revision or an entity tag.
///   The client compares it and sends it back; see ``RowRequest/version``. Rows of a server without versions omit it;
///   of two changes of one row, the last one then wins.
/// - `updatedAt` is the time of the change on the server. It can be omitted. Without it, two states of a row are the
///   same if their versions are, so a version must not be used for another state of the same row, even after the row
///   was deleted.
///
/// An app column that a row of the server omits is null. Columns that the table does not define are ignored, but a page
/// or response without any app column is an error if it has a name that differs from one only in case.
///
/// A method that throws fails its push operation, or its pull, with an error that contains the thrown one.
public protocol CustomDialect: Sendable {
    /// A position in the server's rows or changes, from which a pull continues: a sequence number, a time, the text of
    /// a link.
    ///
    /// The client stores it as JSON with the rows of its page, per table and query id. A stored cursor that cannot be
    /// decoded, such as one of an earlier version of the app, lets the next pull begin with the first row.
    associatedtype Cursor: Codable & Sendable

    /// The name of the dialect, such as `notes`, for messages and for the stored cursors.
    ///
    /// Cursors are only used by a dialect of the same name. Change it when the server's positions no longer apply.
    var name: String { get }

    /// Whether an update sends the whole row, because the server replaces rows; `false` by default.
    ///
    /// If `true`, an update and an undelete have ``RowRequest/current`` and ``RowRequest/wholeRow``, and the column
    /// `__extra` of each row stores columns of the server that the table does not define, as a JSON object; a row
    /// without it has none.
    var replacesWholeRows: Bool { get }

    /// The maximum number of changes in flight at the same time that the server can handle; no limit by default.
    ///
    /// ``PushSettings/maxInFlight`` limits it further.
    var maxInFlight: Int { get }

    // MARK: Pull

    /// Returns the request for a page of rows or changes.
    ///
    /// - Parameters:
    ///   - page: The table, the filter, and the number of rows wanted.
    ///   - cursor: The cursor of the page before, or of the last page of an earlier pull; `nil` to begin with the first
    ///     row.
    /// - Throws: Any error if the server cannot answer the query, such as one with a filter.
    func request(for page: PageRequest, after cursor: Cursor?) throws -> ServerRequest

    /// Returns the rows of a page, from a response whose meaning is ``AnswerMeaning/Kind/done``.
    ///
    /// No change must be missed: all rows that match the query have been returned, in their state at the time of the
    /// response or a later one, when a page is the last. Changes after that must be returned after its cursor.
    /// - Throws: Any error if the response cannot be read. The pull ends, and the rows of earlier pages stay.
    func page(
        in response: TransportResponse, to page: PageRequest, after cursor: Cursor?
    ) throws -> ServerPage<Cursor>

    /// Returns the meaning of the response to a request for a page; by default, that of its HTTP status
    /// (``AnswerMeaning/init(byStatusOf:)``), where only 410 is ``AnswerMeaning/Kind/gone``.
    ///
    /// ``AnswerMeaning/Kind/gone`` means that the server no longer knows the cursor, such as one beyond its newest
    /// change after it was restored from a backup. The pull then begins with the first row, once.
    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Cursor?) throws -> AnswerMeaning

    // MARK: Push

    /// Returns the request for one row: an insert, an update, a delete, an undelete, or a lookup.
    ///
    /// A change must be carried out at most once for each state of the row: it applies only if the row has
    /// ``RowRequest/version``, or does not exist if the change is an insert. The client then recognizes its own changes
    /// when it repeats a request whose response was lost.
    /// - Throws: Any error if the row cannot be sent.
    func request(for row: RowRequest) throws -> ServerRequest

    /// Returns the meaning of the response to a request for one row.
    ///
    /// ``AnswerMeaning/Kind/refused`` with the status 404 means that the table is missing. A conflict is not believed
    /// if the row still has ``RowRequest/version``: the operation fails, and is sent again later.
    /// - Throws: Any error if the response cannot be read.
    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning

    /// The maximum number of requests of rows that the server takes in one HTTP request; 1 by default, without batches.
    ///
    /// The requests of operations that are in flight at the same time are sent together, so that
    /// ``PushSettings/maxInFlight`` and ``maxInFlight`` limit their number, too. Each response has its own meaning; if
    /// that of the batch is lost, it is unknown of each change whether the server applied it. A request is sent alone
    /// if its operation was sent before, so that one that the server cannot handle does not make others fail; after the
    /// server refused a batch in the same push; and with a ``SyncContextDelegate``.
    var maxBatchCount: Int { get }

    /// Returns one request for several rows, each of which ``request(for:)`` has made. It contains no token of the
    /// user: the client adds it to the batch.
    ///
    /// - Throws: Any error if the requests cannot be sent together; their operations then fail.
    func request(forBatch requests: [ServerRequest]) throws -> ServerRequest

    /// Returns the responses in the successful response to a batch, one for each request, in the order of the requests.
    ///
    /// After a refusal of the batch (400 to 499 without 401, 407, 408, 425, and 429), each request is sent alone. Any
    /// other response with a status of failure is the response to each request. So is a success that reports a failure
    /// of the whole batch, such as an expired sign-in, if it cannot be divided, ``isFromService(_:)`` returns `true`
    /// for it, and its ``meaning(of:to:)`` is not ``AnswerMeaning/Kind/done``.
    /// - Throws: Any error if the response cannot be divided. As after a wrong number of responses, nothing else is
    ///   then known about the changes: the push ends with code network and this error, and each is sent again alone.
    func responses(in response: TransportResponse, toBatch requests: [ServerRequest]) throws -> [TransportResponse]

    /// Returns whether the service itself gave a response, and not something between the app and the service, such as
    /// the sign-in page of a network, a proxy, or a gateway; `nil` by default, for a response that does not tell.
    ///
    /// Without an answer to this question, redirects, the statuses of proxies (407, 421, 451, 511, and 520 to 530), and
    /// web pages in place of rows are not from the service. After ``AnswerMeaning/Kind/refused``, the client requests a
    /// page of the table, once in a push and after each web page: only a page that ``page(in:to:after:)`` can read
    /// shows that the service is there. Return `true` for a response with a header or a form that only the service
    /// uses, which saves this request.
    ///
    /// After ``AnswerMeaning/Kind/gone``, the client requests such a page in any case, once for each table in a push
    /// and after each web page: a table that is missing must not make its rows look deleted. An operation in a missing
    /// table fails and is sent again later.
    func isFromService(_ response: TransportResponse) -> Bool?

    /// Checks the identifier of a new row, in addition to the rules of all dialects: 1 to 255 characters, no control
    /// characters, none of `"`, `+`, `?`, `\`, `/`, and backtick, and not `.` or `..`. By default accepts all.
    ///
    /// - Throws: Any error for an identifier that the server does not accept.
    func validateNewID(_ id: String) throws

    // MARK: Headers

    /// The headers of every request, such as `Accept`; none by default.
    var headers: HTTPFields { get }

    /// Returns the header with the token of ``SyncClient/currentUser``; by default `Authorization: Bearer`.
    func authentication(token: String) -> HTTPField

    // MARK: Change signals

    /// Returns a sequence of the names of tables that have changed on the server, such as one that polls it; by default
    /// `nil`, for a server that signals nothing.
    ///
    /// A sync that runs itself asks for it when it starts, and again after the sequence has ended or thrown, with
    /// increasing delays. Names are hints; see ``ChangeSignals``.
    ///
    /// After the first element of each sequence, the client pulls all subscriptions, because changes before it were not
    /// signaled. Let the sequence begin with a name, of any table, as soon as it would signal a change.
    /// - Parameter connection: Sends requests to the server.
    func changeSignals(over connection: DialectConnection) -> ChangeSignals?
}

extension CustomDialect {
    public var replacesWholeRows: Bool { false }
    public var maxInFlight: Int { .max }
    public var maxBatchCount: Int { 1 }
    public var headers: HTTPFields { [:] }

    public func meaning(
        of response: TransportResponse, to page: PageRequest, after cursor: Cursor?
    ) throws -> AnswerMeaning {
        var meaning = AnswerMeaning(byStatusOf: response)
        // A missing page may be a mistake of the server, after which the pull must not begin again.
        if meaning.kind == .gone, response.response.status != .gone { meaning.kind = .refused }
        return meaning
    }

    public func request(forBatch requests: [ServerRequest]) throws -> ServerRequest {
        throw SyncError(.invalidArgument, "the dialect \(name) has no batches")
    }

    public func responses(
        in response: TransportResponse, toBatch requests: [ServerRequest]
    ) throws -> [TransportResponse] { [] }

    public func isFromService(_ response: TransportResponse) -> Bool? { nil }

    public func validateNewID(_ id: String) throws {}

    public func authentication(token: String) -> HTTPField {
        HTTPField(name: .authorization, value: "Bearer \(token)")
    }

    public func changeSignals(over connection: DialectConnection) -> ChangeSignals? { nil }
}
