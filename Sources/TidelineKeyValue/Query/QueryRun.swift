internal import TidelineStore

/// The execution of one query on one snapshot.
struct QueryRun {
    let query: TableQuery
    let table: StoredTable
    private let keys: any KeySource
    private let isWriting: Bool
    /// The path of a query that needs no planning, because it looks up the entries of one index.
    private let lookup: AccessPath?

    /// Creates an execution.
    ///
    /// - Parameters:
    ///   - isWriting: Whether a body may change the table. If so, rows are copied before any is passed to the body, so
    ///     that no row is read or searched for in data that a change has moved.
    ///   - lookup: The path of a query that looks up the entries of one index, if it is known.
    /// - Throws: The errors of ``TableQuery/validate(against:)``.
    init(
        _ query: TableQuery, table: StoredTable, keys: any KeySource, isWriting: Bool, lookup: AccessPath?
    ) throws(StoreError) {
        self.lookup = lookup ?? AccessPath(lookingUp: query, in: table)
        if self.lookup == nil { try table.evaluator.validate(query) }
        self.query = query
        self.table = table
        self.keys = keys
        self.isWriting = isWriting
    }

    var plan: QueryPlan { QueryPlan(path(for: .rows), for: query, of: table) }

    /// Calls `body` with each row of the query's window, in order, until it returns ``ScanStep/stop``.
    ///
    /// - Parameter rowCount: Returns the number of rows in the table. It is called at most once.
    /// - Returns: The number of matching rows, if the query requests it.
    func scan(
        rowCount: () throws -> Int, _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int? {
        guard query.limit != 0 else { return query.includesTotalCount ? try count(rowCount: rowCount) : nil }
        let projection = query.selection == nil ? nil : RowProjection(query.resultColumns(of: table.schema), of: table)
        guard query.includesTotalCount else {
            _ = try run(projection, countsMatches: false, copies: isWriting, body)
            return nil
        }
        // Read before the body runs, which may change the number of rows.
        let known = query.predicate == nil ? try rowCount() : nil
        let counted = try run(projection, countsMatches: known == nil, copies: isWriting, body)
        return known ?? counted
    }

    /// Returns the number of matching rows, regardless of order, skip, and limit.
    func count(rowCount: () throws -> Int) throws -> Int {
        guard query.predicate != nil else { return try rowCount() }
        return try walk(for: .count).countMatches()
    }

    /// Returns the keys of the rows in the query's window.
    func matchingIDs() throws -> KeyList {
        var keys = KeyList()
        guard query.limit != 0 else { return keys }
        // If rows are sorted, no columns need to be kept.
        let projection = RowProjection([], of: table)
        var key = KeyBuilder(table.rows)
        _ = try run(projection, countsMatches: false, copies: false) { row in
            key.begin(table.rows)
            unsafe row.withIDBytes { unsafe key.append(id: $0, of: table.ids) }
            unsafe key.bytes.withUnsafeBytes { unsafe keys.append($0) }
            return .next
        }
        return keys
    }

    // MARK: Running

    private func path(for purpose: QueryPlanner.Purpose) -> AccessPath {
        lookup ?? QueryPlanner(query, of: table, purpose: purpose).plan()
    }

    private func walk(for purpose: QueryPlanner.Purpose) throws(StoreError) -> RowWalk {
        try RowWalk(path(for: purpose), of: table, keys: keys)
    }

    /// - Returns: The number of matching rows, if they are counted.
    private func run(
        _ projection: RowProjection?, countsMatches: Bool, copies: Bool,
        _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int {
        let walk = try walk(for: .rows)
        if !walk.path.direction.isOrdered { return try sort(walk, projection, body) }
        var window = RowWindow(query, countsMatches: countsMatches)
        guard copies else {
            guard let projection else { return try walk.forEachRow(in: &window, body) }
            var copy = PackedRows(shape: projection.shape)
            return try walk.forEachRow(in: &window) { row in
                copy.removeAll()
                try projection.append(row, to: &copy)
                return try copy.withRow(at: 0, body)
            }
        }
        var found = PackedRows(shape: projection?.shape ?? table.shape)
        let count = try walk.forEachRow(in: &window) { row in
            try found.append(row, projection)
            return .next
        }
        for position in 0..<found.count {
            if case .stop = try found.withRow(at: position, body) { break }
        }
        return count
    }

    private func sort(
        _ walk: RowWalk, _ projection: RowProjection?, _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int {
        var sorter = RowSorter(query, table: table, projection: projection, isLimited: keys is TimedKeys)
        var count = 0
        try walk.forEachMatch { row throws(RowDamage) in
            guard try sorter.isBeyondLimit(row) else { return false }
            count += 1
            return true
        } _: { row in
            count += 1
            try sorter.add(row)
            return .next
        }
        try sorter.forEachSortedRow(body)
        return count
    }
}
