public import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The response of a ``TableService``.
public struct TableResponse: Sendable, Hashable {
    /// The status and headers.
    public var response: HTTPResponse
    /// The body; may be empty.
    public var body: [UInt8]

    /// Creates a response.
    public init(response: HTTPResponse, body: [UInt8]) {
        self.response = response
        self.body = body
    }
}

extension TableResponse {
    /// Creates a response with JSON.
    init(_ status: HTTPResponse.Status, json: [UInt8]) {
        self.init(response: HTTPResponse(status: status, headerFields: [.contentType: "application/json"]), body: json)
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

    init(_ rejection: RequestRejection) {
        self.init(rejection.status, error: rejection.message)
        if rejection.status == .unauthorized { response.headerFields[.wwwAuthenticate] = "Bearer" }
        guard !rejection.allowedMethods.isEmpty else { return }
        response.headerFields[.allow] = rejection.allowedMethods.map(\.rawValue).joined(separator: ", ")
    }

    init(_ error: StoreError) {
        switch error.code {
        case .noSuchTable: self.init(.notFound, error: error.description)
        case .invalidValue, .unsupportedQuery, .schemaMismatch: self.init(.badRequest, error: error.description)
        case .readOnly: self.init(.forbidden, error: error.description)
        case .busy, .locked, .full, .closed, .cancelled:
            self.init(.serviceUnavailable, error: error.description)
            response.headerFields[.retryAfter] = "1"
        default: self.init(.internalServerError, error: error.description)
        }
    }
}
