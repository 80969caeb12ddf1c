package import HTTPTypes
package import TidelineStore

/// A request of one of the dialects, as parsed by a server.
package enum TableRequest: Sendable, Hashable {
    /// Reads a page of a table.
    case read(TableRead)
    /// Reads one row.
    case lookup(table: String, id: String, includeDeleted: Bool)
    /// Inserts the row in the body.
    case insert(table: String)
    /// Changes a row. The changes are in the body.
    case update(table: String, id: String, ifMatch: IfMatch?)
    /// Replaces a row by the one in the body. Restores it if it is soft-deleted and `includeDeleted` is `true`.
    case replace(table: String, id: String, ifMatch: IfMatch?, includeDeleted: Bool)
    /// Deletes a row.
    case delete(table: String, id: String, ifMatch: IfMatch?)
    /// Restores a soft-deleted row.
    case undelete(table: String, id: String, ifMatch: IfMatch?)

    /// The name of the table.
    package var table: String {
        switch self {
        case .read(let read): read.table
        case .lookup(let table, _, _), .insert(let table), .update(let table, _, _), .delete(let table, _, _),
            .undelete(let table, _, _), .replace(let table, _, _, _):
            table
        }
    }

    /// Parses the method, the path with the query, and the headers of a request.
    ///
    /// - Parameters:
    ///   - target: The path and query, such as `/tables/TodoItem?$top=50`. The leading slash is optional.
    ///   - dialect: The dialect in which the request is read.
    ///   - maximumPageSize: The maximum value of `$top`.
    /// - Throws: ``RequestRejection``, with the status of the response: 404 for a path that is not the path of a table,
    ///   405 for a method that the path does not support, 400 in all other cases.
    package init(
        method: HTTPRequest.Method, target: String, headers: HTTPFields, dialect: DialectName = .zumo2,
        maximumPageSize: Int = 1000
    ) throws(RequestRejection) {
        let url = try RequestURL(target)
        try Self.requireVersion(headers, url, dialect)
        let ifMatch = try Self.ifMatch(headers)
        switch (method, url.id) {
        case (.get, nil):
            self = .read(try TableRead(url, dialect, maximumPageSize: maximumPageSize))
        case (.post, nil):
            self = .insert(table: url.table)
        case (.get, let id?):
            self = .lookup(table: url.table, id: id, includeDeleted: try url.includesDeleted())
        case (.post, let id?) where dialect == .zumo2:
            self = .undelete(table: url.table, id: id, ifMatch: ifMatch)
        case (.patch, let id?) where dialect == .zumo2:
            self = .update(table: url.table, id: id, ifMatch: ifMatch)
        case (.put, let id?) where dialect == .datasync3:
            self = .replace(
                table: url.table, id: id, ifMatch: ifMatch, includeDeleted: try url.includesDeleted())
        case (.delete, let id?):
            self = .delete(table: url.table, id: id, ifMatch: ifMatch)
        default:
            let ofRow: [HTTPRequest.Method] =
                dialect == .zumo2 ? [.get, .post, .patch, .delete] : [.get, .put, .delete]
            let allowed: [HTTPRequest.Method] = url.id == nil ? [.get, .post] : ofRow
            throw RequestRejection(
                .methodNotAllowed, "\(method.rawValue) is not supported for this path", allowedMethods: allowed)
        }
    }

    /// Checks the header, or the parameter of the same name, which the original servers accept instead. Datasync 3 does
    /// not require it.
    private static func requireVersion(
        _ headers: HTTPFields, _ url: RequestURL, _ dialect: DialectName
    ) throws(RequestRejection) {
        let name = "zumo-api-version"
        let parameter = url.parameters.first { $0.name.asciiLowercased == name }?.value
        switch dialect {
        case .zumo2:
            guard headers[.zumoAPIVersion] ?? parameter == "2.0.0" else {
                throw RequestRejection(.badRequest, "the header ZUMO-API-VERSION: 2.0.0 is required")
            }
        case .datasync3:
            guard let version = headers[.zumoAPIVersion] ?? parameter, version != "3.0.0" else { return }
            throw RequestRejection(
                .badRequest, "the version \(version.prefix(20).debugDescription) is not supported; use 2.0.0 or 3.0.0")
        }
    }

    private static func ifMatch(_ headers: HTTPFields) throws(RequestRejection) -> IfMatch? {
        guard let text = headers[.ifMatch] else { return nil }
        do {
            return try IfMatch(text)
        } catch {
            throw RequestRejection(.badRequest, error.message)
        }
    }
}

/// The parameters of a request for a page.
package struct TableRead: Sendable, Hashable {
    /// The name of the table.
    package var table: String
    /// The text of `$filter`. The table's definition determines the types of its literals (``query(_:)``).
    package var filter: String?
    /// The order of the rows. If empty, rows are ordered by id.
    package var order: [OrderTerm]
    /// The number of rows to skip.
    package var skip: Int
    /// The maximum number of rows, or `nil` if the server may choose.
    package var top: Int?
    /// The requested columns, or `nil` for all columns.
    package var selection: [String]?
    /// Whether to include soft-deleted rows.
    package var includesDeleted: Bool
    /// Whether to return the total number of matching rows.
    package var includesTotalCount: Bool

    /// Returns the query, with the filter parsed for a table. The caller handles soft-deleted rows and the page size.
    ///
    /// - Throws: ``WireError/Code/invalidFilter`` if the filter is invalid.
    package func query(_ schema: TableSchema) throws(WireError) -> TableQuery {
        var query = TableQuery(
            table, order: order, skip: skip, limit: top, selection: selection, includesTotalCount: includesTotalCount)
        if let filter { query.predicate = try OData.parseFilter(filter, schema: schema) }
        return query
    }

    init(_ url: RequestURL, _ dialect: DialectName, maximumPageSize: Int) throws(RequestRejection) {
        table = url.table
        let countOption = dialect == .zumo2 ? "$inlinecount" : "$count"
        let options = try url.options(countOption: countOption)
        filter = options["$filter"]
        do {
            // A repeated column decides nothing, but takes memory for each row.
            var columns: Set<RowID> = []
            order = try OData.parseOrderBy(options["$orderby"] ?? "").filter {
                columns.insert(.string($0.column)).inserted
            }
        } catch {
            throw RequestRejection(.badRequest, "$orderby: \(error)")
        }
        skip = try Self.count(options["$skip"], "$skip") ?? 0
        top = try Self.count(options["$top"], "$top")
        guard top ?? 0 <= maximumPageSize else {
            throw RequestRejection(.badRequest, "$top must not be greater than \(maximumPageSize)")
        }
        selection = try Self.selection(options["$select"])
        includesDeleted = try url.includesDeleted()
        let (yes, no) = dialect == .zumo2 ? ("allpages", "none") : ("true", "false")
        switch options[countOption] {
        case nil, no: includesTotalCount = false
        case yes: includesTotalCount = true
        default: throw RequestRejection(.badRequest, "\(countOption) must be \(yes) or \(no)")
        }
    }

    private static func count(_ text: String?, _ name: String) throws(RequestRejection) -> Int? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy(\.isDigit), let count = Int(text) else {
            throw RequestRejection(.badRequest, "\(name) must be a whole number that is not negative")
        }
        return count
    }

    private static func selection(_ text: String?) throws(RequestRejection) -> [String]? {
        guard let text, text != "*" else { return nil }
        let names = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(decoding: $0.trimmingBlanks, as: UTF8.self)
        }
        guard !names.contains("") else { throw RequestRejection(.badRequest, "$select has an empty name") }
        return names
    }
}

/// The reason why a server rejects a request.
package struct RequestRejection: Error, Sendable {
    /// The status of the response.
    package var status: HTTPResponse.Status
    /// A description of the problem.
    package var message: String
    /// The methods for the header `Allow`. If empty, the header is omitted.
    package var allowedMethods: [HTTPRequest.Method]

    /// Creates a rejection.
    package init(
        _ status: HTTPResponse.Status, _ message: String, allowedMethods: [HTTPRequest.Method] = []
    ) {
        self.status = status
        self.message = message
        self.allowedMethods = allowedMethods
    }
}

extension RequestRejection: CustomStringConvertible {
    /// The message and the status.
    package var description: String { "\(message) [HTTP \(status.code)]" }
}
