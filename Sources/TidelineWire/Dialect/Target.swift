internal import TidelineStore

/// The path and query of a request under construction, percent-encoded as it grows.
struct Target {
    private(set) var text: String
    private var hasQuery = false

    /// The path of a table, or of a row in it.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` for a name that is empty or a dot segment,
    ///   ``WireError/Code/invalidID``.
    init(table: String, id: String? = nil) throws(WireError) {
        guard !table.isEmpty, table != ".", table != ".." else {
            throw WireError(.invalidRequest, "the table's name cannot be part of a URL", table: table)
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

    /// A path of segments that are names from outside.
    ///
    /// - Throws: ``WireError/Code/invalidRequest`` for a segment that is blank or a dot segment.
    init(_ root: String, segments: [String]) throws(WireError) {
        text = root
        for segment in segments {
            guard !segment.allSatisfy(\.isWhitespace), segment != ".", segment != ".." else {
                throw WireError(.invalidRequest, "\(segment.debugDescription) cannot be a part of a URL's path")
            }
            text += "/\(PercentEncoding.encode(segment))"
        }
    }

    mutating func append(_ name: String, _ value: String) {
        text += "\(hasQuery ? "&" : "?")\(name)=\(PercentEncoding.encodeValue(value))"
        hasQuery = true
    }

    /// Adds the options that say a query.
    mutating func append(_ query: Query, schema: TableSchema?) throws(WireError) {
        guard query.skip >= 0, query.limit ?? 0 >= 0 else {
            throw WireError(.invalidRequest, "skip and limit must not be negative")
        }
        for name in query.order.map(\.column) + (query.selection ?? []) { try OData.requireIdentifier(name) }
        if let predicate = query.predicate { append("$filter", try OData.portableFilter(predicate, schema: schema)) }
        if !query.order.isEmpty { append("$orderby", OData.orderBy(query.order)) }
        if query.skip > 0 { append("$skip", String(query.skip)) }
        if let limit = query.limit { append("$top", String(limit)) }
        if let selection = query.selection, !selection.isEmpty {
            append("$select", selection.joined(separator: ","))
        }
        if query.includesTotalCount { append("$inlinecount", "allpages") }
    }

    /// Adds the app's own parameters.
    mutating func append(_ parameters: [(String, String)]) throws(WireError) {
        for (name, value) in parameters {
            guard !name.isEmpty, !name.hasPrefix("$") else {
                throw WireError(
                    .invalidRequest,
                    "the parameter \(name.debugDescription) is empty or begins with $, which is the protocol's")
            }
            guard name.asciiLowercased != "__includedeleted" else {
                throw WireError(.invalidRequest, "\(name) is an option of the read, not a parameter")
            }
            append(PercentEncoding.encode(name), value)
        }
    }
}
