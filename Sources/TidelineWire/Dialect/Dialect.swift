package import HTTPTypes
package import TidelineStore

/// The form of the table protocol that a family of servers uses: that of Azure Mobile Apps, or of its successor.
///
/// A dialect creates requests and interprets responses. It has no connection and no state, and is the same for every
/// table. Before anything is sent, it throws ``WireError/Code/invalidRequest``, ``WireError/Code/invalidID`` or
/// ``WireError/Code/invalidFilter``, with the table, column or id at fault. It rejects column names that begin with
/// `__`, which are reserved, parameters that begin with `$`, which the protocol reserves, and the parameter
/// `__includeDeleted`, for which there is an option.
package protocol Dialect: Sendable {
    /// The greatest number of rows that a request may ask for.
    var maximumPageSize: Int { get }
    /// Whether an update replaces the whole row, so that the row to replace must be known.
    var replacesWholeRows: Bool { get }
    /// Whether the response to an insert of an existing id contains the server's row, not the client's.
    var answersInsertsWithServerRow: Bool { get }

    /// The value of the header `ZUMO-API-VERSION`.
    var apiVersion: String { get }
    /// The syntax of filters.
    var syntax: OData.Syntax { get }
    /// The types of the server's columns that are compared with literals of their own, by table and column.
    var edmTypes: [String: [String: EdmType]] { get }
    /// The option that requests the total count.
    var countOption: (name: String, value: String) { get }
    /// The parameter that includes soft-deleted rows.
    var includeDeletedParameter: String { get }

    /// Checks the id of a new row.
    ///
    /// - Throws: ``WireError/Code/invalidID``, with the id and the violated rule.
    func validateNewID(_ id: String) throws(WireError)

    /// Returns a request that changes columns of the row with the given id. System columns are omitted.
    /// - Parameters:
    ///   - current: The server's row in `version`, as JSON, if ``replacesWholeRows`` is `true`; see ``WholeRow``.
    ///   - version: The version that the change is based on, or `nil` to change the row regardless of its version.
    func update(
        _ row: Row, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns a request that restores the soft-deleted row with the given id. For `current` and `version`, see
    /// ``update(_:in:replacing:version:parameters:features:)``.
    func undelete(
        _ id: String, in table: String, replacing current: String?, version: String?, parameters: [(String, String)],
        features: RequestFeatures
    ) throws(WireError) -> WireRequest

    /// Returns the target of the next page, relative to the base URL, or `nil` if the response has no link to it.
    ///
    /// If a link leads to another port or path of the same scheme and host, and the target of the request is known, the
    /// request is repeated with the link's `$skip` and `$top`.
    ///
    /// - Parameters:
    ///   - link: The link in the body of the response (``PageInfo/nextLink``).
    ///   - target: The target of the request.
    /// - Throws: ``WireError/Code/invalidRequest`` for a link that leads elsewhere. Links are untrusted data.
    func nextPage(
        after response: HTTPResponse, link: String?, target: String, base: BaseURL
    ) throws(WireError) -> String?
}

extension Dialect {
    /// Returns a request that changes columns of a row, without features.
    package func update(
        _ row: Row, in table: String, replacing current: String? = nil, version: String?,
        parameters: [(String, String)] = []
    ) throws(WireError) -> WireRequest {
        try update(row, in: table, replacing: current, version: version, parameters: parameters, features: [])
    }

    /// Returns a request that restores a soft-deleted row, without parameters.
    package func undelete(
        _ id: String, in table: String, replacing current: String? = nil, version: String?,
        features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try undelete(id, in: table, replacing: current, version: version, parameters: [], features: features)
    }

    // MARK: Responses

    /// Returns the target of the next page of a response whose body has no link.
    package func nextPage(after response: HTTPResponse, base: BaseURL) throws(WireError) -> String? {
        try nextPage(after: response, link: nil, target: "", base: base)
    }

    /// Returns whether a response carries a mark of a table service, or `nil` if it does not tell: a header that only
    /// the service sends, or the exact form of its errors.
    package func mark(of response: HTTPResponse, _ body: [UInt8]) -> Bool? {
        // A row or a list shows the service itself.
        guard response.status.code >= 300 || ErrorBody.isPage(body) else { return nil }
        if response.headerFields[.zumoServerVersion] != nil { return true }
        return (400..<500).contains(response.status.code) && ErrorBody.hasExactForm(body) ? true : nil
    }

    /// Returns whether a body is a list of rows in the form of the dialect, whatever the rows contain.
    package func isList(_ body: [UInt8]) -> Bool { ListBody.isList(body) }

    /// Returns whether a status may mean that the request asked for too many rows.
    package func mayRefusePageSize(status: Int) -> Bool { status == 400 }

    /// Returns the version in the response for a single row, or `nil` if there is no version.
    package func version(of response: HTTPResponse) -> String? {
        response.headerFields.value(of: .eTag).flatMap { ETag.version(fromETag: $0) }
    }

    // MARK: Headers

    /// Returns the headers of every request, in addition to those of its ``WireRequest``.
    ///
    /// - Parameters:
    ///   - version: The version of this package.
    ///   - installationID: The identifier of the app's installation, or `nil` to omit it.
    package func headers(version: String, installationID: String?) -> HTTPFields {
        var fields: HTTPFields = [.zumoVersion: "ZUMO/\(apiVersion.dropLast(2)) (lang=Swift; version=\(version))"]
        fields[.installationID] = installationID
        return fields
    }

    /// Returns the header with the token of a signed-in user.
    package func authentication(token: String) -> HTTPField { HTTPField(name: .zumoAuth, value: token) }
}

extension HTTPFields {
    /// Returns the value of a field, as the subscript does, which takes five times as long for a field that occurs
    /// once.
    func value(of name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(index + 1)...].contains { $0.name == name } ? self[name] : self[index].value
    }
}

extension HTTPField.Name {
    // The names are valid constants, so none of these is nil.
    /// `ZUMO-API-VERSION`.
    package static let zumoAPIVersion = Self("ZUMO-API-VERSION")!
    /// `X-ZUMO-SERVER-VERSION`, of every response of an Azure Mobile Apps back end.
    package static let zumoServerVersion = Self("X-ZUMO-SERVER-VERSION")!
    /// `X-ZUMO-FEATURES`.
    package static let zumoFeatures = Self("X-ZUMO-FEATURES")!
    /// `Link`.
    package static let link = Self("Link")!
    package static let installationID = Self("X-ZUMO-INSTALLATION-ID")!
    package static let zumoVersion = Self("X-ZUMO-VERSION")!
    package static let zumoAuth = Self("X-ZUMO-AUTH")!
}
