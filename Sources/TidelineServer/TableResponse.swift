public import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The response of a ``TableService``.
public struct TableResponse: Sendable, Hashable {
    /// The status and headers.
    public var response: HTTPResponse
    /// The body; may be empty.
    public var body: [UInt8]
    /// The reason of a failure of the server, for its log. It is not in the body, because it can name the server's
    /// files and databases.
    public var failureReason: String?

    /// Creates a response without a failure.
    public init(response: HTTPResponse, body: [UInt8]) {
        self.response = response
        self.body = body
    }
}

extension TableResponse {
    /// Creates a response with JSON.
    package init(_ status: HTTPResponse.Status, json: [UInt8]) {
        self.init(response: HTTPResponse(status: status, headerFields: [.contentType: "application/json"]), body: json)
    }

    /// Creates the response to a read that finds no rows.
    init(emptyPage wanted: TableRead, _ dialect: DialectName) {
        let json: String
        switch dialect {
        case .zumo2: json = wanted.includesTotalCount ? #"{"results":[],"count":0}"# : "[]"
        case .datasync3: json = wanted.includesTotalCount ? #"{"items":[],"count":0}"# : #"{"items":[]}"#
        }
        self.init(.ok, json: Array(json.utf8))
    }

    /// Creates a response with a single row and its version.
    init(_ status: HTTPResponse.Status, row: borrowing RowView) {
        var writer = JSONWriter()
        writer.append(row)
        self.init(status, json: writer.bytes)
        if let version = row["version"]?.string { response.headerFields[.eTag] = ETag.quote(version) }
    }

    /// Creates a response with a single row and its version.
    init(_ status: HTTPResponse.Status, row: Row) {
        var writer = JSONWriter()
        writer.append(row)
        self.init(status, json: writer.bytes)
        if let version = row["version"]?.string { response.headerFields[.eTag] = ETag.quote(version) }
    }

    /// Creates a response for a failed request: `{"error": "…"}`.
    init(_ status: HTTPResponse.Status, error message: String) {
        var writer = JSONWriter()
        writer.append(Row(dictionaryLiteral: ("error", .string(message))))
        self.init(status, json: writer.bytes)
    }

    /// Creates the response to a request that has failed.
    init(failure error: any Error) {
        switch error {
        case let rejection as RequestRejection: self.init(rejection)
        case let error as WireError: self.init(.badRequest, error: error.description)
        case let error as StoreError: self.init(error)
        case is OutdatedDefinition: self.init(StoreError(.busy, "other services keep changing the table; try again"))
        default: self.init(.internalServerError, because: error)
        }
    }

    init(_ rejection: RequestRejection) {
        self.init(rejection.status, error: rejection.message)
        if rejection.status == .unauthorized { response.headerFields[.wwwAuthenticate] = "Bearer" }
        guard !rejection.allowedMethods.isEmpty else { return }
        response.headerFields[.allow] = rejection.allowedMethods.map(\.rawValue).joined(separator: ", ")
    }

    init(_ error: StoreError) {
        switch error.code {
        case .noSuchTable: self.init(.notFound, error: error.publicDescription)
        case .invalidValue, .unsupportedQuery, .schemaMismatch, .timeLimit:
            self.init(.badRequest, error: error.publicDescription)
        // A database server that cannot be reached or refuses writes now can accept them later.
        case .busy, .locked, .full, .closed, .cancelled, .io, .readOnly:
            self.init(.serviceUnavailable, because: error)
            response.headerFields[.retryAfter] = "1"
        default: self.init(.internalServerError, because: error)
        }
    }

    /// Creates a response for a failure of the server.
    init(_ status: HTTPResponse.Status, because error: any Error) {
        let kind = (error as? StoreError).map { " (\($0.code))" } ?? ""
        self.init(status, error: "the server's store failed\(kind); the reason is in the log of the server")
        failureReason = "\(error)"
    }
}

extension StoreError {
    /// The description without the path, which can name the server's files and databases.
    fileprivate var publicDescription: String {
        var error = self
        error.path = nil
        return error.description
    }
}
