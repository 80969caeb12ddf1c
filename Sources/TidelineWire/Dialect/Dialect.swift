package import HTTPTypes
package import TidelineStore

/// The form of the table protocol that a family of servers uses. Creates requests and interprets responses.
///
/// A dialect has no connection and no state, and is the same for every table. It throws errors before anything is sent:
/// ``WireError/Code/invalidRequest``, ``WireError/Code/invalidID`` or ``WireError/Code/invalidFilter``, with the table,
/// column or id at fault.
package protocol Dialect: Sendable {
    /// The greatest number of rows that a request may ask for.
    var maximumPageSize: Int { get }
    /// Whether an update replaces the whole row, so that the row to replace must be known.
    var replacesWholeRows: Bool { get }
    /// Whether the response to an insert of an existing id contains the server's row, not the client's.
    var answersInsertsWithServerRow: Bool { get }

    /// Checks the id of a new row.
    ///
    /// - Throws: ``WireError/Code/invalidID``, with the id and the violated rule.
    func validateNewID(_ id: String) throws(WireError)

    /// Returns a request for a page of rows that match the query, in its order, with its `skip` and `limit`. Requests
    /// the total count if ``TableQuery/includesTotalCount`` is `true`.
    /// - Parameter schema: The local definition of the table, which determines the types of literals (``OData``), or
    ///   `nil`.
    func read(_ query: TableQuery, schema: TableSchema?, options: ReadOptions) throws(WireError) -> WireRequest

    /// Returns a request for one row.
    func lookup(
        _ id: String, in table: String, includeDeleted: Bool, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that inserts a row. System columns are omitted. If the row has no id, the server creates one.
    func insert(
        _ row: Row, into table: String, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that changes columns of the row with the given id. System columns are omitted.
    /// - Parameters:
    ///   - current: The server's row in `version`, as JSON, if ``replacesWholeRows`` is `true`; see ``WholeRow``.
    ///   - version: The version that the change is based on, or `nil` to change the row regardless of its version.
    func update(
        _ row: Row, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that deletes the row with the given id. For `version`, see
    /// ``update(_:in:replacing:version:parameters:features:)``.
    func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that restores the soft-deleted row with the given id. For `current` and `version`, see
    /// ``update(_:in:replacing:version:parameters:features:)``.
    func undelete(
        _ id: String, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that calls a custom API of the server.
    /// - Parameter name: The path of the API, relative to the root of the server's APIs, with segments separated by
    ///   `/`.
    func invokeAPI(
        _ name: String, method: HTTPRequest.Method, parameters: [(String, String)], headers: HTTPFields, body: [UInt8]?
    ) throws(WireError) -> WireRequest

    /// Returns a request that exchanges the token of an identity provider for a token of the server.
    func signIn(provider: String, token: [String: String]) throws(WireError) -> WireRequest

    /// Returns the user and the authentication token in the response to ``signIn(provider:token:)``.
    ///
    /// - Throws: ``WireError`` if the response does not contain both. The error never contains the response.
    func signedInUser(_ body: [UInt8]) throws(WireError) -> (id: String, token: String)

    // MARK: Responses

    /// Returns whether a response carries a mark of a table service, or `nil` if it does not tell: a header that only
    /// the service sends, or the exact form of its errors.
    func mark(of response: HTTPResponse, _ body: [UInt8]) -> Bool?
    /// Returns whether a body is a list of rows in the form of the dialect, whatever the rows contain.
    func isList(_ body: [UInt8]) -> Bool
    /// Returns whether a status may mean that the request asked for too many rows.
    func mayRefusePageSize(status: Int) -> Bool

    /// Returns the target of the next page, relative to the base URL, or `nil` if the response has no link to it.
    ///
    /// - Parameters:
    ///   - link: The link in the body of the response (``PageInfo/nextLink``).
    ///   - target: The target of the request.
    /// If a link leads to another port or path of the same scheme and host, and the target of the request is known, the
    /// request is repeated with the link's `$skip` and `$top`.
    /// - Throws: ``WireError/Code/invalidRequest`` for a link that leads elsewhere. Links are untrusted data.
    func nextPage(
        after response: HTTPResponse, link: String?, target: String, base: BaseURL
    ) throws(WireError) -> String?

    /// Returns the version in the response for a single row, or `nil` if there is no version.
    func version(of response: HTTPResponse) -> String?

    /// Returns the readable message in the body of a failed request, or an empty string if there is no message.
    func errorMessage(_ body: [UInt8]) -> String

    // MARK: Headers

    /// Returns the headers of every request, in addition to those of its ``WireRequest``.
    ///
    /// - Parameters:
    ///   - version: The version of this package.
    ///   - installationID: The identifier of the app's installation, or `nil` to omit it.
    func headers(version: String, installationID: String?) -> HTTPFields

    /// Returns the header with the token of a signed-in user.
    func authentication(token: String) -> HTTPField
}

extension Dialect {
    /// Returns a request for one row, without parameters.
    package func lookup(
        _ id: String, in table: String, includeDeleted: Bool = false, features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try lookup(id, in: table, includeDeleted: includeDeleted, parameters: [], features: features)
    }

    /// Returns a request that inserts a row, without features.
    package func insert(
        _ row: Row, into table: String, parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try insert(row, into: table, parameters: parameters, features: [])
    }

    /// Returns a request that changes columns of a row, without features.
    package func update(
        _ row: Row, in table: String, replacing current: String? = nil, version: String?,
        parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try update(row, in: table, replacing: current, version: version, parameters: parameters, features: [])
    }

    /// Returns a request that deletes a row, without features.
    package func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try delete(id, from: table, version: version, parameters: parameters, features: [])
    }

    /// Returns a request that restores a soft-deleted row, without parameters.
    package func undelete(
        _ id: String, in table: String, replacing current: String? = nil, version: String?,
        features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try undelete(id, in: table, replacing: current, version: version, parameters: [], features: features)
    }

    /// Returns the target of the next page of a response whose body has no link.
    package func nextPage(after response: HTTPResponse, base: BaseURL) throws(WireError) -> String? {
        try nextPage(after: response, link: nil, target: "", base: base)
    }

    package func errorMessage(_ body: [UInt8]) -> String { ErrorBody.message(of: body) }
}
