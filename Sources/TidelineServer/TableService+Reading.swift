internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension TableService {
    /// A page: rows go from the store's buffer into the body as they are, one after the other.
    func read(_ wanted: TableRead, from table: ServedTable, for request: HTTPRequest) throws -> TableResponse {
        guard var query = try query(of: wanted, for: table) else { return TableResponse(.ok, json: Array("[]".utf8)) }
        if options.quirks.contains(.hardDelete), query.selection == nil {
            query.selection = ["id"] + table.schema.allColumns.map(\.name).filter { $0 != "deleted" }
        }
        if !wanted.includesDeleted { query = query.filter(.column("deleted") == false) }
        let size = min(wanted.top ?? options.defaultPageSize, options.maximumPageSize)
        query.limit = size
        var writer = JSONWriter()
        var count = 0
        if query.includesTotalCount { writer.bytes += Array(#"{"results":"#.utf8) }
        writer.beginArray()
        let total = try store.read { reader in
            try reader.scan(query) { row in
                if count > 0 { writer.separator() }
                writer.append(row)
                count += 1
                return .next
            }
        }
        writer.endArray()
        if let total { writer.bytes += Array(",\"count\":\(total)}".utf8) }
        var answer = TableResponse(.ok, json: writer.bytes)
        if count == size { answer.response.headerFields[.link] = link(after: wanted.skip, size, request) }
        return answer
    }

    /// The query for a page; nil when the filter names a column that matches no row.
    private func query(of wanted: TableRead, for table: ServedTable) throws -> Query? {
        let quirky = options.quirks.contains(.filtersLikeSQL)
        do {
            var query = try wanted.query(table.schema)
            if quirky { query.predicate = query.predicate?.withSQLNulls }
            return query
        } catch {
            guard quirky, error.column != nil else { throw error }
            return nil
        }
    }

    /// The link to the page after a full one, which may turn out to be empty.
    private func link(after skip: Int, _ size: Int, _ request: HTTPRequest) -> String? {
        let (next, overflow) = skip.addingReportingOverflow(size)
        guard size > 0, !overflow, let path = request.path else { return nil }
        var origin: String?
        if let scheme = request.scheme, let authority = request.authority { origin = "\(scheme)://\(authority)" }
        return LinkHeader.next(origin: origin, target: path, skip: next)
    }

    func lookup(_ id: String, in table: ServedTable, includeDeleted: Bool) throws -> TableResponse {
        let found: TableResponse?? = try store.read { reader in
            try reader.withRow(in: table.schema.name, id: .string(id)) { row in
                let showsDeleted = includeDeleted && !options.quirks.contains(.hidesDeletedRows)
                return showsDeleted || !row.isDeleted ? answer(.ok, row: row) : nil
            }
        }
        return try found.flatMap { $0 } ?? missing(id, in: table)
    }

    /// An answer with a single row, as a client sees it.
    func answer(_ status: HTTPResponse.Status, row: borrowing RowView) -> TableResponse {
        guard options.quirks.contains(.hardDelete) else { return TableResponse(status, row: row) }
        return TableResponse(status, row: row.owned().filteringColumns { $0 != "deleted" })
    }

    func missing(_ id: String, in table: ServedTable) throws -> TableResponse {
        throw RequestRejection(
            .notFound, "table \(table.schema.name.debugDescription) has no row with the id \(id.debugDescription)")
    }
}

extension RowView {
    /// Whether the row is a tombstone.
    var isDeleted: Bool { self["deleted"]?.bool ?? false }
}
