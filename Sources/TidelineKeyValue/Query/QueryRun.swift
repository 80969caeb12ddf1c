internal import TidelineStore

/// One query over one snapshot.
struct QueryRun {
    let query: Query
    let table: StoredTable
    private let keys: any KeySource
    private let isWriting: Bool

    /// - Parameter isWriting: Whether a body may change the table. Then rows are copied before any is passed on, so
    ///   that none is read, nor searched for, in what a change has moved.
    /// - Throws: What ``Query/validate(against:)`` throws.
    init(_ query: Query, table: StoredTable, keys: any KeySource, isWriting: Bool) throws(StoreError) {
        try table.evaluator.validate(query)
        self.query = query
        self.table = table
        self.keys = keys
        self.isWriting = isWriting
    }

    /// How the query is answered.
    var plan: QueryPlan { QueryPlan(path(for: .rows), for: query, of: table) }

    /// Calls `body` with each row of the query's window, in order, until it returns ``ScanStep/stop``.
    ///
    /// - Parameter rowCount: How many rows the table has, asked at most once.
    /// - Returns: How many rows match, if the query asks.
    func scan(
        rowCount: () throws -> Int, _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int? {
        guard query.limit != 0 else { return query.includesTotalCount ? try count(rowCount: rowCount) : nil }
        let projection = query.selection == nil ? nil : RowProjection(query.resultColumns(of: table.schema), of: table)
        guard query.includesTotalCount else {
            _ = try run(projection, countsMatches: false, copies: isWriting, body)
            return nil
        }
        // Before the body, which may change how many there are.
        let known = query.predicate == nil ? try rowCount() : nil
        let counted = try run(projection, countsMatches: known == nil, copies: isWriting, body)
        return known ?? counted
    }

    /// How many rows match, without regard to order, skip and limit.
    func count(rowCount: () throws -> Int) throws -> Int {
        guard query.predicate != nil else { return try rowCount() }
        return try walk(for: .count).countMatches()
    }

    /// The keys of the rows in the query's window.
    func matchingIDs() throws -> RowKeys {
        var keys = RowKeys(of: table)
        guard query.limit != 0 else { return keys }
        // Where rows are sorted, no column needs to be kept.
        let projection = RowProjection([], of: table)
        _ = try run(projection, countsMatches: false, copies: false) { row in
            keys.append(row)
            return .next
        }
        return keys
    }

    // MARK: Running

    private func path(for purpose: QueryPlanner.Purpose) -> AccessPath {
        QueryPlanner(query, of: table, purpose: purpose).plan()
    }

    private func walk(for purpose: QueryPlanner.Purpose) throws(StoreError) -> RowWalk {
        try RowWalk(path(for: purpose), of: table, keys: keys)
    }

    /// - Returns: How many rows match, when they are counted.
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
        var sorter = RowSorter(query, table: table, projection: projection)
        var count = 0
        try walk.forEachMatch { row throws(RowDamage) in
            guard try sorter.isTooLate(row) else { return false }
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
