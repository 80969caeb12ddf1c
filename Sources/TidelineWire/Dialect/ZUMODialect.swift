package import HTTPTypes
package import TidelineStore

/// The dialect of the Node and .NET Framework back ends of Azure Mobile Apps: ZUMO 2.
///
/// Rejects column names that begin with `__`, which are reserved. Also rejects parameters that begin with `$`, which
/// the protocol reserves, and the parameter `__includeDeleted`, for which there is an option.
package struct ZUMODialect: Dialect {
    /// Creates the dialect.
    package init() {}

    package var maximumPageSize: Int { 1000 }

    // MARK: Reading

    package func read(
        _ query: Query, schema: TableSchema?, options: ReadOptions
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: query.table)
        do {
            try target.append(query, schema: schema)
        } catch {
            var error = error
            error.table = query.table
            throw error
        }
        if options.includeDeleted { target.append("__includeDeleted", "true") }
        return try request(.get, target, parameters: options.parameters, features: options.features)
    }

    package func lookup(
        _ id: String, in table: String, includeDeleted: Bool, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        var target = try Target(table: table, id: id)
        if includeDeleted { target.append("__includeDeleted", "true") }
        return try request(.get, target, parameters: parameters, features: features)
    }

    // MARK: Writing

    package func insert(
        _ row: Row, into table: String, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        let target = try Target(table: table)
        if row.id != nil { try ItemID.validate(row.idText) }
        return try request(
            .post, target, parameters: parameters, features: features, body: try body(of: row, in: table))
    }

    package func update(
        _ row: Row, in table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        let target = try Target(table: table, id: row.idText)
        var change = row
        // The path contains the id. A second copy in the body could only contradict it.
        change.id = nil
        guard change.columnNames.contains(where: Self.travels) else {
            throw WireError(.invalidRequest, "an update needs a column to change", table: table, id: row.idText)
        }
        return try request(
            .patch, target, version: version, parameters: parameters, features: features,
            body: try body(of: change, in: table))
    }

    package func delete(
        _ id: String, from table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        try request(
            .delete, try Target(table: table, id: id), version: version, parameters: parameters, features: features)
    }

    package func undelete(
        _ id: String, in table: String, version: String?, parameters: [(String, String)], features: RequestFeatures
    ) throws(WireError) -> WireRequest {
        try request(
            .post, try Target(table: table, id: id), version: version, parameters: parameters, features: features)
    }

    // MARK: Responses

    package func nextPage(after response: HTTPResponse, base: BaseURL) throws(WireError) -> String? {
        guard let header = response.headerFields[.link], let link = LinkHeader.next(in: header) else { return nil }
        return try LinkTarget.target(of: link, base: base)
    }

    // MARK: Parts of requests

    private func request(
        _ method: HTTPRequest.Method, _ target: Target, version: String? = nil, parameters: [(String, String)] = [],
        features: RequestFeatures = [], body: [UInt8]? = nil
    ) throws(WireError) -> WireRequest {
        var target = target
        var features = features
        try target.append(parameters)
        if !parameters.isEmpty { features.insert(.queryParameters) }
        if version != nil { features.insert(.optimisticConcurrency) }
        var headers: HTTPFields = [.zumoAPIVersion: "2.0.0", .accept: "application/json"]
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

    private func body(of row: Row, in table: String) throws(WireError) -> [UInt8] {
        for (name, value) in row.values where Self.travels(name) {
            guard !name.hasPrefix("__") else {
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
        var writer = JSONWriter()
        writer.append(row, columns: Self.travels)
        return writer.bytes
    }

    /// Whether a column is sent. System columns are not: the server sets them, and rejects or stores values sent for
    /// them.
    private static func travels(_ column: String) -> Bool { !SystemColumns.names.contains(column) }
}

extension HTTPField.Name {
    // The names are valid constants, so none of these is nil.
    /// `ZUMO-API-VERSION`.
    package static let zumoAPIVersion = Self("ZUMO-API-VERSION")!
    /// `X-ZUMO-FEATURES`.
    package static let zumoFeatures = Self("X-ZUMO-FEATURES")!
    /// `Link`.
    package static let link = Self("Link")!
}
