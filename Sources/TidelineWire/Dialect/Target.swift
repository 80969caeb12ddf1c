internal import TidelineStore

/// Builds the percent-encoded path and query of a request.
struct Target {
    private(set) var text: String
    private var hasQuery = false

    /// Creates the path of a table or row.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` if the table's name is empty or a dot segment;
    ///   ``WireError/Code/invalidID`` if the id is invalid.
    init(table: String, id: String? = nil) throws(WireError) {
        guard !table.isEmpty, table != ".", table != ".." else {
            throw WireError(.invalidRequest, "the table's name cannot be used in a URL", table: table)
        }
        text = "tables/\(PercentEncoding.encode(table))"
        guard let id else { return }
        do {
            try ItemID.validateExisting(id)
        } catch {
            var error = error
            error.table = table
            throw error
        }
        text += "/\(PercentEncoding.encode(id))"
    }

    /// Creates a path from segments that the caller provides.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` if a segment is blank or a dot segment.
    init(_ root: String, segments: [String]) throws(WireError) {
        text = root
        for segment in segments {
            guard !segment.allSatisfy(\.isWhitespace), segment != ".", segment != ".." else {
                throw WireError(.invalidRequest, "\(segment.debugDescription) cannot be used in a URL's path")
            }
            text += "/\(PercentEncoding.encode(segment))"
        }
    }

    mutating func append(_ name: String, _ value: String) {
        text += "\(hasQuery ? "&" : "?")\(name)=\(PercentEncoding.encodeValue(value))"
        hasQuery = true
    }

    /// Appends the options for a query.
    mutating func append(_ query: TableQuery, schema: TableSchema?, in dialect: some Dialect) throws(WireError) {
        guard query.skip >= 0, query.limit ?? 0 >= 0 else {
            throw WireError(.invalidRequest, "skip and limit must not be negative")
        }
        for name in query.order.map(\.column) + (query.selection ?? []) { try OData.requireIdentifier(name) }
        if let predicate = query.predicate {
            let filter = try OData.portableFilter(
                predicate, schema: schema, syntax: dialect.syntax, edmTypes: dialect.edmTypes[query.table] ?? [:])
            append("$filter", filter)
        }
        if !query.order.isEmpty { append("$orderby", OData.orderBy(query.order)) }
        if query.skip > 0 { append("$skip", String(query.skip)) }
        if let limit = query.limit { append("$top", String(limit)) }
        if let selection = query.selection, !selection.isEmpty {
            append("$select", selection.joined(separator: ","))
        }
        if query.includesTotalCount { append(dialect.countOption.name, dialect.countOption.value) }
    }

    /// Appends the app's parameters.
    mutating func append(_ parameters: [(String, String)]) throws(WireError) {
        for (name, value) in parameters {
            guard !name.isEmpty, name.utf8.first != UInt8(ascii: "$") else {
                throw WireError(
                    .invalidRequest,
                    "the parameter name \(name.debugDescription) must not be empty or begin with $")
            }
            guard name.asciiLowercased != "__includedeleted" else {
                throw WireError(.invalidRequest, "\(name) is not a parameter; use the read option includeDeleted")
            }
            append(PercentEncoding.encode(name), value)
        }
    }
}
