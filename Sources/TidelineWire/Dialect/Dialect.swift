public import HTTPTypes
public import TidelineStore

/// How one family of servers speaks the table protocol: requests from what the client wants, meaning from answers.
///
/// A dialect holds no connection and no state; it is the same for every table. Errors are thrown before anything is
/// sent: ``WireError/Code/invalidRequest``, ``WireError/Code/invalidID``, ``WireError/Code/invalidFilter``, with the
/// table, column or id at fault.
public protocol Dialect: Sendable {
    /// The greatest number of rows that the server gives in one page.
    var maximumPageSize: Int { get }

    /// Asks for a page: rows that match the query, in its order, `skip` and `limit` as they are, with the total count if
    /// ``Query/includesTotalCount``.
    /// - Parameter schema: The local definition of the table, which types literals (``OData``); nil when there is none.
    func read(_ query: Query, schema: TableSchema?, options: ReadOptions) throws(WireError) -> WireRequest

    /// Asks for one row.
    func lookup(
        _ id: String, in table: String, includeDeleted: Bool, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Sends a new row. System columns are left out; without an id the server makes one.
    func insert(
        _ row: Row, into table: String, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Sends the columns to change of the row of that id; system columns are left out.
    /// - Parameter version: The version that the change was made on; nil to change the row whatever its version.
    func update(
        _ row: Row, in table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Deletes the row of that id; for `version` see ``update(_:in:version:parameters:features:)``.
    func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Brings back the soft-deleted row of that id; for `version` see ``update(_:in:version:parameters:features:)``.
    func undelete(
        _ id: String, in table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Calls an API of the server's own.
    /// - Parameter name: Its path below the APIs of the server; `/` parts segments.
    func invokeAPI(
        _ name: String, method: HTTPRequest.Method, parameters: [(String, String)], headers: HTTPFields, body: [UInt8]?
    ) throws(WireError) -> WireRequest

    /// Exchanges the token of an identity provider for one of the server.
    func signIn(provider: String, token: [String: String]) throws(WireError) -> WireRequest

    /// The user in the answer to ``signIn(provider:token:)``, and the token that signs requests in.
    ///
    /// - Throws: ``WireError`` for an answer that does not hold both; it never repeats the answer.
    func signedInUser(_ body: [UInt8]) throws(WireError) -> (id: String, token: String)

    /// The target of the page after this one, relative to the base URL; nil when the server names none.
    ///
    /// A link is data from outside: one that leads off the base URL's scheme, host, port or path is an error.
    func nextPage(after response: HTTPResponse, base: BaseURL) throws(WireError) -> String?

    /// The version that an answer with a single row names; nil when it names none.
    func version(of response: HTTPResponse) -> String?

    /// What the body of a failed request says, for a person; empty when it says nothing.
    func errorMessage(_ body: [UInt8]) -> String
}

extension Dialect {
    /// ``lookup(_:in:includeDeleted:parameters:features:)`` without parameters.
    public func lookup(
        _ id: String, in table: String, includeDeleted: Bool = false, features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try lookup(id, in: table, includeDeleted: includeDeleted, parameters: [], features: features)
    }

    /// ``insert(_:into:parameters:features:)`` without anything to tell.
    public func insert(
        _ row: Row, into table: String, parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try insert(row, into: table, parameters: parameters, features: [])
    }

    /// ``update(_:in:version:parameters:features:)`` without anything to tell.
    public func update(
        _ row: Row, in table: String, version: String?, parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try update(row, in: table, version: version, parameters: parameters, features: [])
    }

    /// ``delete(_:from:version:parameters:features:)`` without anything to tell.
    public func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try delete(id, from: table, version: version, parameters: parameters, features: [])
    }

    /// ``undelete(_:in:version:parameters:features:)`` without parameters.
    public func undelete(
        _ id: String, in table: String, version: String?, features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try undelete(id, in: table, version: version, parameters: [], features: features)
    }

    public func errorMessage(_ body: [UInt8]) -> String { ErrorBody.message(of: body) }

    public func version(of response: HTTPResponse) -> String? {
        response.headerFields[.eTag].flatMap { ETag.version(fromETag: $0) }
    }
}
