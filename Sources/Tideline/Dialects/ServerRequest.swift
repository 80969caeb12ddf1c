public import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// A request that a ``CustomDialect`` makes. The client adds the server's address and the authentication, and sends it.
public struct ServerRequest: Sendable, Hashable {
    /// The HTTP method.
    public let method: HTTPRequest.Method
    /// The path and query, percent-encoded, relative to the address of the server: `notes/_changes?since=4`; or the
    /// link of ``init(following:)``.
    public let target: String
    /// The headers, which take precedence over ``SyncOptions/headers``.
    public var headers: HTTPFields
    /// The body, or `nil` if there is none.
    public var body: [UInt8]?
    /// Whether the target is a link of the server.
    let isLink: Bool

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - path: The segments of the path after the address of the server. They are percent-encoded, so that an
    ///     identifier may be a segment.
    ///   - query: The names and values of the query, which are percent-encoded.
    ///   - headers: The headers. A request with a body has `Content-Type: application/json` unless they name another
    ///     type.
    ///   - body: The body, or `nil` if there is none.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for a segment that is empty, `.`, or `..`.
    public init(
        _ method: HTTPRequest.Method, path: [String], query: [(name: String, value: String)] = [],
        headers: HTTPFields = [:], body: [UInt8]? = nil
    ) throws {
        if let segment = path.first(where: { ["", ".", ".."].contains($0) }) {
            throw SyncError(.invalidArgument, "\(segment.debugDescription) cannot be a segment of a URL's path")
        }
        let parameters = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        self.method = method
        isLink = false
        target =
            path.map { PercentEncoding.encode($0) }.joined(separator: "/")
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        self.headers = headers
        self.body = body
        if body != nil, headers[.contentType] == nil { self.headers[.contentType] = "application/json" }
    }

    /// Creates a request for the address in a link of the server, such as that of its next page.
    ///
    /// The link is absolute, begins with a slash, or is relative to the address of the server. If it leads to another
    /// server, or to a path that is not below the server's address, nothing is sent, and the pull fails with
    /// ``SyncError/Code/invalidAnswer``: no other host receives the token of the user.
    /// - Parameters:
    ///   - link: The link, percent-encoded.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` for a link that could lead elsewhere: one
    ///   with a scheme other than `http` and `https`, a host without a scheme, a user, a segment `..`, or characters
    ///   that a URL cannot contain.
    public init(following link: String) throws {
        var path = link.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")[...]
        let isPlain = link.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}#".utf8.contains($0) }
        let scheme = ["https://", "http://"].first { path.hasPrefix($0) }
        path = path.dropFirst(scheme?.count ?? 0)
        guard isPlain, !path.hasPrefix("//"), !path.prefix(while: { $0 != "/" }).contains(scheme == nil ? ":" : "@"),
            !path.split(separator: "/").contains("..")
        else {
            throw SyncError(
                .invalidArgument, "the link \(link.prefix(200).debugDescription) does not lead to the server's address")
        }
        method = .get
        isLink = true
        target = link
        headers = [:]
        body = nil
    }

    init(_ wire: WireRequest) {
        (method, target, headers, body, isLink) = (wire.method, wire.target, wire.headers, wire.body, false)
    }

    var wire: WireRequest { WireRequest(method: method, target: target, headers: headers, body: body) }
}

extension ServerCall {
    /// Creates a call for the request of a dialect.
    init(
        _ request: ServerRequest, mark: @escaping @Sendable (TransportResponse) -> Bool? = { _ in nil },
        meaning: @escaping @Sendable (TransportResponse) throws -> AnswerMeaning
    ) {
        self.init(request: request.wire, meaning: meaning, mark: mark, isLink: request.isLink)
    }
}

/// A request for one row, which a dialect translates; see ``CustomDialect/request(for:)``.
public struct RowRequest: Sendable {
    /// The kind of the request.
    public enum Action: Sendable, Hashable, CaseIterable {
        /// Insert ``RowRequest/row``. If a row with the identifier exists, also a soft-deleted one, the answer is a
        /// conflict.
        case insert
        /// Change the columns of ``RowRequest/row``, including to null, and leave all others.
        case update
        /// Delete the row.
        case delete
        /// Restore the soft-deleted row with its content at that time. A refusal leads to an insert. It is not
        /// requested if no lookup and no conflict shows a soft-deleted row.
        case undelete
        /// Return the row, also if it is soft-deleted, with true in the column `deleted`.
        case lookUp
    }

    /// The kind of the request.
    public let action: Action
    /// The definition of the row's table.
    public let schema: TableSchema
    /// The identifier of the row.
    public let id: String
    /// The columns to write, with the identifier. It contains only columns of the app: no `version` or `updatedAt`.
    public let row: Row
    /// The version of the server row on which the change is based. The change is only allowed if the row has this
    /// version; any other is a conflict. `nil` for any version.
    public let version: String?
    /// The parameters of ``PushSettings/parameters``; none for a lookup and an undelete.
    public internal(set) var parameters: [(name: String, value: String)]
    /// The row to replace, as JSON, which may have columns that the table no longer defines.
    let currentJSON: String?

    /// Creates a request, such as for a test of a dialect.
    public init(
        _ action: Action, of id: String, in schema: TableSchema, row: Row = Row(), version: String? = nil,
        current: Row? = nil, parameters: [(name: String, value: String)] = []
    ) {
        self.init(
            action, id: id, schema: schema, row: row, version: version, currentJSON: current?.json,
            parameters: parameters)
    }

    init(
        _ action: Action, id: String, schema: TableSchema, row: Row = Row(), version: String? = nil,
        currentJSON: String? = nil, parameters: [(name: String, value: String)] = []
    ) {
        self.action = action
        self.schema = schema
        self.id = id
        self.row = row
        self.version = version
        self.currentJSON = currentJSON
        self.parameters = parameters
    }

    /// The name of the row's table.
    public var table: String { schema.name }

    /// The server row in ``version``, if ``CustomDialect/replacesWholeRows`` is `true` and the row is updated or
    /// restored.
    public var current: Row? {
        currentJSON.flatMap { try? RowCodec(schema: schema).row($0) }
    }

    /// The app's columns of the row after the change: those of ``current`` with those of ``row``.
    public var wholeRow: Row {
        var whole = (current ?? Row()).merging(row).filteringColumns { !SystemColumns.contains(name: $0) }
        whole.id = .string(id)
        return whole
    }
}

/// A request for a page of a pull, which a dialect translates; see ``CustomDialect/request(for:after:)``.
public struct PageRequest: Sendable {
    /// The definition of the table.
    public let schema: TableSchema
    /// The filter of the rows to return, or `nil` for all rows.
    public let predicate: RowPredicate?
    /// The number of rows wanted; see ``PullSettings/pageSize``. A page may have fewer or more.
    public let pageSize: Int
    /// The parameters of ``PullSettings/parameters``.
    public let parameters: [(name: String, value: String)]
    /// How long before a response a change may have got its time and not be visible in it; see
    /// ``PullSettings/lookback`` and ``ServerPage/nextPull``.
    public let lookback: Duration
    /// Whether the pull skips rows that do not fit the table.
    var skipsRejectedRows = false

    /// Creates a request, such as for a test of a dialect.
    public init(
        of schema: TableSchema, predicate: RowPredicate? = nil, pageSize: Int = 1000,
        parameters: [(name: String, value: String)] = [], lookback: Duration = .seconds(5)
    ) {
        self.schema = schema
        self.predicate = predicate
        self.pageSize = pageSize
        self.parameters = parameters
        self.lookback = lookback
    }

    /// The name of the table.
    public var table: String { schema.name }
}

/// A page of rows or changes that a dialect has read; see ``CustomDialect/page(in:to:after:)``.
public struct ServerPage<Cursor: Sendable>: Sendable {
    /// The rows, each in its state at the end of the page. Rows with true in the column `deleted` are removed locally.
    ///
    /// If an identifier occurs more than once, as in a list of changes, the last row counts.
    public var rows: [Row] {
        get { list?.rows ?? ownRows }
        set { (list, ownRows) = (nil, newValue) }
    }
    /// The identifiers of rows that were deleted, and are not among ``rows``.
    public var deletedIDs: [String]
    /// The position after the page, from which the next page or the next pull continues.
    public var cursor: Cursor
    /// The position from which the next pull begins, if that is not ``cursor`` of the last page; `nil` by default.
    ///
    /// A server that lists changes by time may show a change after one with a later time. The next pull must then step
    /// back to the server's time (``TransportResponse/serverTime``) less ``PageRequest/lookback``, or to its newest
    /// change if that is earlier. Only the position of the first page of a pull is used, because a change may have
    /// become visible after that page.
    public var nextPull: Cursor?
    /// Whether the pull ends with this page. If not, ``cursor`` must differ from that of the page before.
    public var isLast: Bool
    /// The number of rows from this page to the end of the pull, if the server tells it, for ``PullProgress/total``.
    public var remaining: Int?
    private var ownRows: [Row] = []
    /// The rows that were read straight into their stored form, if ``rows`` has not been set since.
    var list: JSONList?
    /// The rows of the JSON that do not fit the table, whether or not ``rows`` has been set since.
    private(set) var skipped: [SkippedRow] = []

    /// Creates a page.
    public init(
        rows: [Row], deletedIDs: [String] = [], cursor: Cursor, isLast: Bool, nextPull: Cursor? = nil,
        remaining: Int? = nil
    ) {
        ownRows = rows
        self.deletedIDs = deletedIDs
        self.cursor = cursor
        self.isLast = isLast
        self.nextPull = nextPull
        self.remaining = remaining
    }

    /// Creates a page from JSON, whose rows become those of the store without a value in between. It takes about a
    /// fortieth of the instructions of a page that `JSONDecoder` and ``JSONFields`` read.
    ///
    /// The members of a row's object have the names and the types of the table's columns: text for strings, for
    /// instants in ISO 8601, and for bytes in base64; true in the member `deleted` marks a deleted row; the version may
    /// be a number. No row may occur twice. Members that the table does not define are skipped, or become the column
    /// `__extra` where the table has it.
    /// - Parameters:
    ///   - body: The body of the response: an array of rows, or an object with such an array.
    ///   - name: The member with the array, or `nil` if the body is the array.
    ///   - page: The request.
    ///   - names: The server's names of columns that it names otherwise, by the table's names; also those of `id`,
    ///     `version`, `updatedAt`, and `deleted`.
    ///   - end: Returns the cursor, ``isLast``, and ``remaining``, from the other members of the object, whose types
    ///     follow from the JSON, and from the last row; `nil` in a page without rows.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAnswer`` for a body that is not such a page, for one
    ///   without any app column but with a name that differs from one only in case, and for a row that does not fit the
    ///   table, unless the pull skips such rows; ``SyncError/Code/invalidArgument`` for two columns with one name; and
    ///   the errors of `end`.
    public init(
        json body: [UInt8], list name: String?, of page: PageRequest, renaming names: [String: String] = [:],
        end: (_ rest: Row, _ last: Row?) throws -> (cursor: Cursor, isLast: Bool, remaining: Int?)
    ) throws {
        let list = try JSONList(body, name, of: page, renaming: names)
        let (cursor, isLast, remaining) = try end(list.rest, list.last)
        self.init(rows: [], cursor: cursor, isLast: isLast, remaining: remaining)
        self.list = list
        skipped = list.skipped
    }
}
