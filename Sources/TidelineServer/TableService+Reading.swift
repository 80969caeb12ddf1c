internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension TableService {
    /// Returns a page, with a link to the next one if the page is full.
    func read(
        _ wanted: TableRead, from table: ServedTable, for request: HTTPRequest, _ access: TableAccess
    ) throws -> TableResponse {
        guard let (page, condition) = try page(of: wanted, from: table, access) else {
            try store.read { try table.requireCurrent(in: $0) }
            return TableResponse(.ok, json: Array("[]".utf8))
        }
        var query = page
        let size = min(wanted.top ?? options.defaultPageSize, options.maximumPageSize)
        query.limit = size
        var rows = PageRows(maximumCount: size, maximumBytes: options.maximumPageBytes, omitsNulls: false)
        if query.includesTotalCount { rows.writer.bytes += Array(#"{"results":"#.utf8) }
        rows.writer.beginArray()
        let total = try readInTime { reader in
            try table.requireCurrent(in: reader)
            return try scan(query, where: condition, reader) { rows.append($0) }
        }
        rows.writer.endArray()
        if let total { rows.writer.bytes += Array(",\"count\":\(total)}".utf8) }
        var answer = TableResponse(.ok, json: rows.writer.bytes)
        if rows.hasMore || rows.count == size {
            answer.response.headerFields[.link] = link(after: wanted.skip, rows.count, request)
        }
        return answer
    }

    /// Reads within the time limit of queries.
    func readInTime<T>(_ body: (Store.Reader) throws -> T) throws -> T {
        try store.read { reader in
            try reader.limitTime?(options.maximumQueryTime)
            return try body(reader)
        }
    }

    /// Reads a row. That of a table with an owner is found by a query, within the time limit.
    func readRow<T>(_ access: TableAccess, _ body: (Store.Reader) throws -> T) throws -> T {
        access.owner == nil ? try store.read(body) : try readInTime(body)
    }

    /// Returns the query for the rows of a page and, if there is one, a costly condition; `nil` if no row matches.
    func page(
        of wanted: TableRead, from table: ServedTable, _ access: TableAccess
    ) throws -> (query: TableQuery, condition: RowPredicate?)? {
        let makeQuery = options.behavior.query ?? { try $0.query($1) }
        guard var query = try makeQuery(wanted, table.schema) else { return nil }
        if !options.behavior.leavesTombstones, query.selection == nil {
            query.selection = ["id"] + table.schema.allColumns.map(\.name).filter { $0 != "deleted" }
        }
        let filter = FilterSplit(query.predicate, isolatesRows: access.owner != nil)
        query.predicate = filter.stored
        query = access.limit(query)
        // It is null in rows that were written without a server.
        if !wanted.includesDeleted { query = query.filter(.column("deleted") != true) }
        return (query, filter.costly)
    }

    /// Calls `body` with the rows that match a query and, if there is one, a costly condition, until it returns
    /// ``TidelineStore/ScanStep/stop``.
    ///
    /// - Returns: The number of matching rows, if the query asks for it.
    func scan(
        _ query: TableQuery, where condition: RowPredicate?, _ reader: Store.Reader,
        _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int? {
        guard let condition else { return try reader.scan(query, body) }
        let (ids, total) = try find(query, where: condition, reader)
        // The store reads the rows to return, with the selected columns and in the same order.
        var found = TableQuery(query.table, order: query.order, selection: query.selection)
        var step = ScanStep.next
        for start in stride(from: 0, to: ids.count, by: Self.rowsPerLookup) where step == .next {
            let part = ids[start..<min(start + Self.rowsPerLookup, ids.count)]
            found.predicate = .membership(.column("id"), part.map(\.value))
            try reader.scan(found) { row in
                step = try body(row)
                return step
            }
        }
        return query.includesTotalCount ? total : nil
    }

    /// Returns the ids of the rows that match a query and a condition, and their total number without skip and limit,
    /// if the query asks for it.
    private func find(
        _ query: TableQuery, where condition: RowPredicate, _ reader: Store.Reader
    ) throws -> (ids: [RowID], total: Int) {
        let evaluator = Evaluator(schema: try reader.schema(of: query.table))
        try evaluator.validate(TableQuery(query.table).filter(condition))
        var limit = EvaluationLimit(time: options.maximumQueryTime, bytes: Self.maximumFilterMemory)
        var filter: CompiledFilter?
        var ids: [RowID] = []
        var total = 0
        let all = TableQuery(query.table, predicate: query.predicate, order: query.order)
        try reader.scan(all) { row in
            if filter?.shape !== row.shape {
                filter = try CompiledFilter(condition, of: evaluator, for: row.shape)
            }
            guard try filter?.matches(row, within: &limit) ?? false else { return .next }
            total += 1
            if total > query.skip, ids.count < query.limit ?? .max { ids.append(row.id) }
            return query.includesTotalCount || ids.count < query.limit ?? .max ? .next : .stop
        }
        return (ids, total)
    }

    /// The number of rows that are read at once for a costly condition. Rows can be large, and a store may sort them in
    /// memory.
    private static var rowsPerLookup: Int { 25 }

    /// The maximum size in bytes of the values that a costly filter creates for one row.
    private static var maximumFilterMemory: Int { 64 << 20 }

    /// Returns the link to the page after a full page. That page may be empty.
    private func link(after skip: Int, _ count: Int, _ request: HTTPRequest) -> String? {
        let (next, overflow) = skip.addingReportingOverflow(count)
        guard count > 0, !overflow, let path = request.path else { return nil }
        return LinkHeader.next(origin: origin(of: request), target: path, skip: next)
    }

    /// Returns the beginning of links for the sender of a request, or `nil` for relative ones.
    func origin(of request: HTTPRequest) -> String? {
        if let url = options.publicURL { return url }
        guard let scheme = request.scheme, let authority = request.authority, Self.isAuthority(authority) else {
            return nil
        }
        return "\(scheme)://\(authority)"
    }

    /// Returns whether a text of a client consists of a host and perhaps a port, and of nothing that would end a link.
    private static func isAuthority(_ text: String) -> Bool {
        let isPlain = text.utf8.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || "0123456789-._~:[]%".utf8.contains(byte)
        }
        return isPlain && !text.isEmpty && text.utf8.count <= 300
    }

    func lookup(
        _ id: String, in table: ServedTable, includeDeleted: Bool, _ access: TableAccess, _ reader: Store.Reader
    ) throws -> TableResponse {
        try table.requireCurrent(in: reader)
        let found: TableResponse?? = try access.withRow(.string(id), in: table, reader) { row in
            includeDeleted || !row.isDeleted ? answer(.ok, row: row) : nil
        }
        return try found.flatMap { $0 } ?? missing(id, in: table)
    }

    /// Returns a response with a single row, in the form that clients see.
    func answer(_ status: HTTPResponse.Status, row: borrowing RowView) -> TableResponse {
        guard !options.behavior.leavesTombstones else { return TableResponse(status, row: row) }
        return TableResponse(status, row: row.owned().filteringColumns { $0 != "deleted" })
    }

    func missing(_ id: String, in table: ServedTable) throws -> TableResponse {
        throw RequestRejection(
            .notFound, "table \(table.schema.name.debugDescription) has no row with id \(id.debugDescription)")
    }
}

/// The rows of a page, written directly from the store's buffer.
struct PageRows {
    let maximumCount: Int
    /// The maximum size in bytes, which one row may exceed.
    let maximumBytes: Int
    let omitsNulls: Bool
    var writer = JSONWriter()
    private(set) var count = 0
    /// Whether there was a row that the page has no room for.
    private(set) var hasMore = false

    mutating func append(_ row: borrowing RowView) -> ScanStep {
        let end = writer.bytes.count
        if count < maximumCount {
            if count > 0 { writer.separator() }
            writer.append(row, omitsNulls: omitsNulls)
            if count == 0 || writer.bytes.count <= maximumBytes {
                count += 1
                return .next
            }
            writer.bytes.removeSubrange(end...)
        }
        hasMore = true
        return .stop
    }
}

extension RowView {
    /// Whether the row is a tombstone.
    var isDeleted: Bool { self["deleted"]?.bool ?? false }
}
