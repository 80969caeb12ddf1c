public import HTTPTypes
public import TidelineStore

/// A request of the ZUMO 2 dialect as a server understands it.
public enum TableRequest: Sendable, Hashable {
    /// A page of a table.
    case read(TableRead)
    /// One row.
    case lookup(table: String, id: String, includeDeleted: Bool)
    /// A new row, in the body.
    case insert(table: String)
    /// A change of a row, in the body.
    case update(table: String, id: String, ifMatch: IfMatch?)
    /// The deletion of a row.
    case delete(table: String, id: String, ifMatch: IfMatch?)
    /// The return of a soft-deleted row.
    case undelete(table: String, id: String, ifMatch: IfMatch?)

    /// The table that the request is about.
    public var table: String {
        switch self {
        case .read(let read): read.table
        case .lookup(let table, _, _), .insert(let table), .update(let table, _, _), .delete(let table, _, _),
            .undelete(let table, _, _):
            table
        }
    }

    /// From method, path with query, and headers.
    ///
    /// - Parameters:
    ///   - target: Path and query, such as `/tables/TodoItem?$top=50`; the slash at the beginning may be missing.
    ///   - maximumPageSize: The greatest `$top` allowed.
    /// - Throws: ``RequestRejection`` with the status to answer: 404 for a path that is no table's, 405 for a method
    ///   that its path does not know, 400 for all else.
    public init(
        method: HTTPRequest.Method, target: String, headers: HTTPFields, maximumPageSize: Int = 1000
    ) throws(RequestRejection) {
        let url = try RequestURL(target)
        try Self.requireVersion(headers, url)
        let ifMatch = try Self.ifMatch(headers)
        switch (method, url.id) {
        case (.get, nil):
            self = .read(try TableRead(url, maximumPageSize: maximumPageSize))
        case (.post, nil):
            self = .insert(table: url.table)
        case (.get, let id?):
            self = .lookup(table: url.table, id: id, includeDeleted: try url.includesDeleted())
        case (.post, let id?):
            self = .undelete(table: url.table, id: id, ifMatch: ifMatch)
        case (.patch, let id?):
            self = .update(table: url.table, id: id, ifMatch: ifMatch)
        case (.delete, let id?):
            self = .delete(table: url.table, id: id, ifMatch: ifMatch)
        default:
            let allowed: [HTTPRequest.Method] = url.id == nil ? [.get, .post] : [.get, .post, .patch, .delete]
            throw RequestRejection(
                .methodNotAllowed, "\(method.rawValue) is not a method of this path", allowedMethods: allowed)
        }
    }

    /// The header, or the parameter of the same name that the original servers take in its place.
    private static func requireVersion(_ headers: HTTPFields, _ url: RequestURL) throws(RequestRejection) {
        let name = "zumo-api-version"
        let parameter = url.parameters.first { $0.name.asciiLowercased == name }?.value
        guard headers[.zumoAPIVersion] ?? parameter == "2.0.0" else {
            throw RequestRejection(.badRequest, "the header ZUMO-API-VERSION: 2.0.0 is required")
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

/// What a request for a page asks.
public struct TableRead: Sendable, Hashable {
    /// The table.
    public var table: String
    /// The text of `$filter`; its literals take their types from the table's definition (``query(_:)``).
    public var filter: String?
    /// The order; by id alone when empty.
    public var order: [OrderTerm]
    /// How many rows to leave out.
    public var skip: Int
    /// How many rows at most; nil for as many as the server likes to give.
    public var top: Int?
    /// The columns asked for; nil for all.
    public var selection: [String]?
    /// Whether soft-deleted rows are asked for, too.
    public var includesDeleted: Bool
    /// Whether the count of all rows that match is asked for.
    public var includesTotalCount: Bool

    /// The query, with the filter read for a table. Soft-deleted rows and the size of a page are left to the caller.
    ///
    /// - Throws: ``WireError/Code/invalidFilter``.
    public func query(_ schema: TableSchema) throws(WireError) -> Query {
        var query = Query(
            table, order: order, skip: skip, limit: top, selection: selection, includesTotalCount: includesTotalCount)
        if let filter { query.predicate = try OData.parseFilter(filter, schema: schema) }
        return query
    }

    init(_ url: RequestURL, maximumPageSize: Int) throws(RequestRejection) {
        table = url.table
        let options = try url.options()
        filter = options["$filter"]
        do {
            order = try OData.parseOrderBy(options["$orderby"] ?? "")
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
        switch options["$inlinecount"] {
        case nil, "none": includesTotalCount = false
        case "allpages": includesTotalCount = true
        default: throw RequestRejection(.badRequest, "$inlinecount must be allpages or none")
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

/// Why a server does not take a request.
public struct RequestRejection: Error, Sendable {
    /// The status to answer.
    public var status: HTTPResponse.Status
    /// What is wrong, for a person.
    public var message: String
    /// What the header `Allow` names; empty for no header.
    public var allowedMethods: [HTTPRequest.Method]

    /// A rejection.
    public init(
        _ status: HTTPResponse.Status, _ message: String, allowedMethods: [HTTPRequest.Method] = []
    ) {
        self.status = status
        self.message = message
        self.allowedMethods = allowedMethods
    }
}
