internal import HTTPTypes
package import TidelineStore

extension Dialect {
    /// Returns a request for a page of rows that match the query, in its order, with its `skip` and `limit`. Requests
    /// the total count if ``TableQuery/includesTotalCount`` is `true`.
    /// - Parameter schema: The local definition of the table, which determines the types of literals (``OData``), or
    ///   `nil`.
    package func read(
        _ query: TableQuery, schema: TableSchema?, options: ReadOptions
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: query.table)
        do {
            try target.append(query, schema: schema, in: self)
        } catch {
            var error = error
            error.table = query.table
            throw error
        }
        if options.includeDeleted { target.append(includeDeletedParameter, "true") }
        return try request(.get, target, parameters: options.parameters, features: options.features)
    }

    /// Returns a request for one row.
    package func lookup(
        _ id: String, in table: String, includeDeleted: Bool = false, parameters: [(String, String)] = [],
        features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: table, id: id)
        if includeDeleted { target.append(includeDeletedParameter, "true") }
        return try request(.get, target, parameters: parameters, features: features)
    }

    /// Returns a request that inserts a row. System columns are omitted. If the row has no id, the server creates one.
    package func insert(
        _ row: Row, into table: String, parameters: [(String, String)] = [], features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        let target = try Target(table: table)
        if row.id != nil { try validateNewID(row.idText) }
        return try request(
            .post, target, parameters: parameters, features: features, body: try body(of: row, in: table))
    }

    /// Returns a request that deletes the row with the given id. For `version`, see
    /// ``update(_:in:replacing:version:parameters:features:)``.
    package func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)] = [],
        features: RequestFeatures = []
    ) throws(WireError) -> WireRequest {
        try request(
            .delete, try Target(table: table, id: id), version: version, parameters: parameters, features: features)
    }

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
