package import HTTPTypes
package import TidelineStore

/// The common parts of the dialects of Azure Mobile Apps and of its successor: paths, query options, and
/// versions in headers.
///
/// Rejects column names that begin with `__`, which are reserved. Also rejects parameters that begin with `$`, which
/// the protocol reserves, and the parameter `__includeDeleted`, for which there is an option.
package protocol ODataDialect: Dialect {
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
}

extension ODataDialect {
    package var edmTypes: [String: [String: EdmType]] { [:] }

    // MARK: Requests

    package func read(
        _ query: TableQuery, schema: TableSchema?, options: ReadOptions
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: query.table)
        do {
            try target.append(
                query, schema: schema, syntax: syntax, edmTypes: edmTypes[query.table] ?? [:], countOption: countOption)
        } catch {
            var error = error
            error.table = query.table
            throw error
        }
        if options.includeDeleted { target.append(includeDeletedParameter, "true") }
        return try request(.get, target, parameters: options.parameters, features: options.features)
    }

    package func lookup(
        _ id: String, in table: String, includeDeleted: Bool, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: table, id: id)
        if includeDeleted { target.append(includeDeletedParameter, "true") }
        return try request(.get, target, parameters: parameters, features: features)
    }

    package func insert(
        _ row: Row, into table: String, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        let target = try Target(table: table)
        if row.id != nil { try validateNewID(row.idText) }
        return try request(
            .post, target, parameters: parameters, features: features, body: try body(of: row, in: table))
    }

    package func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        try request(
            .delete, try Target(table: table, id: id), version: version, parameters: parameters, features: features)
    }

    // MARK: Responses

    package func mark(of response: HTTPResponse, _ body: [UInt8]) -> Bool? {
        // A row or a list shows the service itself.
        guard response.status.code >= 300 || ErrorBody.isPage(body) else { return nil }
        if response.headerFields[.zumoServerVersion] != nil { return true }
        return (400..<500).contains(response.status.code) && ErrorBody.hasExactForm(body) ? true : nil
    }

    package func isList(_ body: [UInt8]) -> Bool { ListBody.isList(body) }

    package func mayRefusePageSize(status: Int) -> Bool { status == 400 }

    package func version(of response: HTTPResponse) -> String? {
        response.headerFields.value(of: .eTag).flatMap { ETag.version(fromETag: $0) }
    }

    // MARK: Headers

    package func headers(version: String, installationID: String?) -> HTTPFields {
        var fields: HTTPFields = [.zumoVersion: "ZUMO/\(apiVersion.dropLast(2)) (lang=Swift; version=\(version))"]
        fields[.installationID] = installationID
        return fields
    }

    package func authentication(token: String) -> HTTPField { HTTPField(name: .zumoAuth, value: token) }

    // MARK: Parts of requests

    func request(
        _ method: HTTPRequest.Method, _ target: Target, version: String? = nil, parameters: [(String, String)] = [],
        features: RequestFeatures = [], body: [UInt8]? = nil
    ) throws(WireError) -> WireRequest {
        var target = target
        var features = features
        try target.append(parameters)
        if !parameters.isEmpty { features.insert(.queryParameters) }
        if version != nil { features.insert(.optimisticConcurrency) }
        var headers: HTTPFields = [.zumoAPIVersion: apiVersion, .accept: "application/json"]
        if body != nil { headers[.contentType] = "application/json" }
        headers[.zumoFeatures] = features.headerValue
        if let version {
            let quoted = ETag.quote(version)
            guard HTTPField.isValidValue(quoted) else {
                throw WireError(.invalidRequest, "the version \(version.debugDescription) cannot be sent in a header")
            }
            headers[.ifMatch] = quoted
        }
        return WireRequest(method: method, target: target.text, headers: headers, body: body)
    }

    func body(of row: Row, in table: String) throws(WireError) -> [UInt8] {
        try requireSayable(row, in: table)
        var writer = JSONWriter()
        writer.append(row, columns: ODataColumns.travels)
        return writer.bytes
    }

    /// Throws if a column cannot be sent.
    func requireSayable(_ row: Row, in table: String) throws(WireError) {
        for (name, value) in row.values where ODataColumns.travels(name) {
            guard !name.isReserved else {
                throw WireError(
                    .invalidRequest, "names that begin with __ are reserved", table: table, column: name, id: row.idText
                )
            }
            if case .double(let double) = value, !double.isFinite {
                throw WireError(
                    .invalidValue, "\(double) cannot be represented in JSON", table: table, column: name, id: row.idText
                )
            }
        }
    }

    /// Returns the row without its id, which the path contains. A second copy in the body could only contradict it.
    func change(in row: Row, of table: String) throws(WireError) -> Row {
        var change = row
        change.id = nil
        guard change.columnNames.contains(where: ODataColumns.travels) else {
            throw WireError(.invalidRequest, "an update needs a column to change", table: table, id: row.idText)
        }
        return change
    }
}

/// The columns of a row that are sent.
enum ODataColumns {
    /// Whether a column is sent. System columns are not: the server sets them, and rejects or stores values sent for
    /// them.
    static func travels(_ column: String) -> Bool { !SystemColumns.contains(name: column) }
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
