internal import TidelineStore

extension PlainSession {
    typealias Match = (key: RowOrder.Key, row: PlainRow)

    func scan(_ asked: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try checkTime()
        let table = try queried(asked.table)
        let query = flaw?.misunderstood(asked, table.layout.schema) ?? asked
        try validate(query, table)
        let found = try ordered(query, table)
        let window = flaw?.window(of: found, query) ?? found.dropFirst(query.skip).prefix(query.limit ?? .max)
        let visited = try deliver(window, query, table, body)
        guard query.includesTotalCount || flaw == .countNotAsked else { return nil }
        switch flaw {
        case .countAfterLimit: return window.count
        case .countAfterSkip: return max(found.count - query.skip, 0)
        case .countUntilStop: return min(found.count, visited + query.skip)
        default: return found.count
        }
    }

    func count(_ asked: TableQuery) throws -> Int {
        guard flaw == .countsKept, let memory else { return try counted(asked) }
        return try memory.count(asked) { try counted(asked) }
    }

    private func counted(_ asked: TableQuery) throws -> Int {
        try checkTime()
        let table = try queried(asked.table)
        let query = flaw?.misunderstood(asked, table.layout.schema) ?? asked
        try validate(query, table)
        if flaw == .countHeedsLimit, let limit = query.limit { return min(limit, try matches(query, table).count) }
        let plan = PlainPlan(query.predicate, table: table)
        guard plan.isExact, flaw?.meansOtherwise != true else { return try matches(query, table).count }
        return plan.intervals.reduce(0) { $0 + keys(in: $1, of: plan, table).count }
    }

    /// Returns a table as queries see it.
    private func queried(_ name: String) throws -> PlainTable {
        var table = try table(name)
        guard let old = start.tables[name] else { return table }
        if flaw == .ownWritesUnseenByQueries { return old }
        if flaw == .indexBehindInWrite { table.indexes = old.indexes }
        return table
    }

    /// Returns the matching rows, in order.
    func ordered(_ query: TableQuery, _ table: PlainTable) throws -> [Match] {
        let order = table.layout.evaluator.order(query.order, for: table.layout.shape)
        let found = try matches(query, table)
        if let flawed = flaw?.ordered(found, query, order, table.layout) { return flawed }
        let sorted = found.sorted { order.precedes($0.key, $1.key) }
        return memory?.recalled(query, sorted) ?? sorted
    }

    private func validate(_ query: TableQuery, _ table: PlainTable) throws {
        if flaw == .queryNotValidated { return }
        if flaw == .deepConditionsRefused, query.predicate.map({ $0.depth > 50 }) ?? false {
            throw StoreError(.unsupportedQuery, "the condition is too deep", table: query.table)
        }
        try table.layout.evaluator.validate(query)
    }

    /// Returns the matching rows.
    private func matches(_ query: TableQuery, _ table: PlainTable) throws -> [Match] {
        let layout = table.layout
        let condition = try query.predicate.map { predicate throws(StoreError) in
            try layout.evaluator.compile(predicate, for: layout.shape)
        }
        let order = layout.evaluator.order(query.order, for: layout.shape)
        let own = flaw?.meansOtherwise == true ? query.predicate : nil
        var batch = PackedRows(shape: layout.shape)
        var found: [Match] = []
        for row in candidates(query, table) {
            batch.removeAll()
            try batch.append(row, positions: layout.positions)
            batch.withRow(at: 0) { view in
                let matches =
                    own.map { flaw?.value(of: $0, in: view, layout.evaluator) == .bool(true) }
                    ?? condition?.matches(view) ?? true
                if matches { found.append((order.key(of: view), row)) }
            }
        }
        return found
    }

    /// Returns the rows that may match.
    private func candidates(_ query: TableQuery, _ table: PlainTable) -> [PlainRow] {
        if flaw == .tableNameIsAPrefix, query.predicate == nil { return rowsOfTables(beginningLike: table) }
        guard flaw?.meansOtherwise != true else { return table.rows.entries.map(\.element) }
        let plan = PlainPlan(query.predicate, table: table)
        return plan.intervals.flatMap { interval in
            keys(in: interval, of: plan, table).compactMap { table.rows[$0] }
        }
    }

    private func keys(in interval: PlainPlan.Interval, of plan: PlainPlan, _ table: PlainTable) -> [[UInt8]] {
        guard let index = plan.index else {
            return table.rows.entries(from: interval.lower, below: interval.upper).map(\.key)
        }
        return table.indexes[index].entries.entries(from: interval.lower, below: interval.upper).map(\.element)
    }

    private func rowsOfTables(beginningLike table: PlainTable) -> [PlainRow] {
        let name = table.layout.schema.name
        return (elsewhere?() ?? state).tables.filter { $0.key.hasPrefix(name) }
            .sorted { $0.key < $1.key }
            .flatMap { $0.value.rows.entries.map(\.element) }
    }

    /// Passes rows to a body until it stops, and returns their number.
    private func deliver(
        _ rows: ArraySlice<Match>, _ query: TableQuery, _ table: PlainTable,
        _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> Int {
        let schema = table.layout.schema
        let columns = flaw?.resultColumns(query, table.layout) ?? query.resultColumns(of: schema)
        let positions = columns.map { table.layout.position(of: $0.name) ?? 0 }
        let shape = RowShape(table: schema.name, idType: schema.idType, columns: columns)
        // More than 32 MiB are given back to the system at the end, so that each scan takes them again.
        let copies = [UInt8](repeating: 1, count: flaw == .scanCopiesRows ? rows.count * 6_000 : 0)
        defer { withExtendedLifetime(copies) {} }
        var visited = 0
        for match in rows {
            var batch = PackedRows(shape: shape)
            let row =
                flaw == .scanSeesChanges || flaw == .longScanSeesChanges && visited >= 2_048
                ? state.tables[schema.name]?.rows[table.key(of: match.row.id)] : match.row
            guard let row else { continue }
            try batch.append(row, positions: positions)
            visited += 1
            if try step(batch, body) == .stop, flaw != .scanDoesNotStop { break }
        }
        return visited
    }

    private func step(
        _ batch: borrowing PackedRows, _ body: (borrowing RowView) throws -> ScanStep
    ) throws -> ScanStep {
        do {
            return try batch.withRow(at: 0, body)
        } catch {
            guard flaw == .scanErrorSwallowed else { throw error }
            return .stop
        }
    }
}
