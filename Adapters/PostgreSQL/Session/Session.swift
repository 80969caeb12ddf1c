internal import TidelineStore

/// Access to the database for one read or write body; ends with the body.
final class Session {
    private var openConnection: Connection?
    let catalog: Catalog
    /// The number of commits of other stores as of a write.
    private let externalCommits: UInt64?
    /// Whether the transaction has changed something.
    private(set) var hasChanges = false
    /// The error of a statement or of a partially applied change, after which the transaction can only be rolled back.
    private(set) var failure: StoreError?
    /// The table used last: the next call is usually about the same table.
    private var last: StoredTable?
    private var cursorCount = 0
    private var timeLimit: QueryTimeLimit?
    /// The time in milliseconds after which the server ends each statement.
    private var statementTimeout = Double.infinity

    /// The unit in which the time of a statement is limited to the rest of the limit, so that few settings are sent.
    private static let timeoutUnit = Duration.milliseconds(500)

    init(_ connection: Connection, _ catalog: Catalog, externalCommits: UInt64? = nil) {
        openConnection = connection
        self.catalog = catalog
        self.externalCommits = externalCommits
    }

    func end() { openConnection = nil }

    /// Limits the time of queries, until the end of the transaction.
    func limitTime(to duration: Duration) throws(StoreError) {
        let connection = try connection()
        // The last statement may have had no limit.
        connection.limit = .time(connection.settings.rows)
        try limitStatements(to: duration / .milliseconds(1), on: connection)
        timeLimit = QueryTimeLimit(duration)
    }

    private func limitStatements(to milliseconds: Double, on connection: Connection) throws(StoreError) {
        statementTimeout = max(1, min(milliseconds.rounded(.up), Double(Int32.max)))
        try connection.runLater("SET LOCAL statement_timeout = \(Int32(statementTimeout))")
    }

    func externalCommitNumber() throws(StoreError) -> UInt64? {
        _ = try connection()
        return externalCommits
    }

    /// Notes that the transaction changes definitions.
    func willDefine() throws(StoreError) -> Connection {
        hasChanges = true
        let connection = try connection()
        // The last statement may have had a limit.
        connection.limit = .serverResponds
        return connection
    }

    private func connection() throws(StoreError) -> Connection {
        guard let openConnection else { throw .bodyReturned }
        if let failure { throw failure }
        return openConnection
    }

    func table(_ name: String) throws(StoreError) -> StoredTable {
        _ = try connection()
        if let last, last.name == name { return last }
        let table = try catalog.table(name)
        last = table
        return table
    }

    /// Calls `body` with the connection. PostgreSQL accepts no more statements in a transaction in which one has
    /// failed.
    ///
    /// - Parameter isLong: Whether the time depends on the rows of the table.
    private func attempt<T>(
        in table: StoredTable, isLong: Bool = false, _ body: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        let connection = try connection()
        do throws(StoreError) {
            try timeLimit?.check()
            try limitWait(isLong: isLong, on: connection)
            return try body(connection)
        } catch {
            let isTimedOut = timeLimit != nil && error.hasState(SQLState.queryCanceled)
            let error = (isTimedOut ? QueryTimeLimit.error : error).inTable(table.name)
            failure = error
            throw error
        }
    }

    /// Limits how long to wait for the responses to the next statements. If there is a time limit, the server ends each
    /// of them first, if it responds, which may take as long as any other response (half of the limit for rows).
    private func limitWait(isLong: Bool, on connection: Connection) throws(StoreError) {
        guard let timeLimit else {
            connection.limit = isLong ? .serverResponds : .time(connection.settings.rows)
            return
        }
        let remaining = max(timeLimit.remaining, .zero)
        connection.limit = .time(remaining + Self.timeoutUnit + max(.seconds(1), connection.settings.rows / 2))
        let units = max(1, (remaining / Self.timeoutUnit).rounded(.up))
        let timeout = units * (Self.timeoutUnit / .milliseconds(1))
        if timeout < statementTimeout { try limitStatements(to: timeout, on: connection) }
    }

    // MARK: Reading

    func withRow<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let table = try table(name)
        guard id.type == table.schema.idType else { return nil }
        var parameters = Parameters()
        parameters.append(table.keyValue(id), as: SQLType(id.type))
        let result = try attempt(in: table) { connection throws(StoreError) in
            try connection.run(table.selectRow, parameters)
        }
        guard result.count > 0 else { return nil }
        var rows = PackedRows(shape: table.shape)
        try ResultColumns(table.shape, fields: Array(1..<table.shape.count + 1)).append(0, of: result, to: &rows)
        return try rows.withRow(at: 0, body)
    }

    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let table = try table(query.table)
        let plan = try QueryPlan(query, table)
        let total = query.includesTotalCount ? try count(plan) : nil
        if query.limit == 0 { return total }
        var positions = Array(0..<table.shape.count)
        if query.selection != nil {
            positions = query.resultColumns(of: table.schema).compactMap { table.shape.index(of: $0.name) }
        }
        try scan(plan, positions, isOrdered: true, body)
        return total
    }

    func count(_ query: TableQuery) throws -> Int { try count(QueryPlan(query, try table(query.table))) }

    private func count(_ plan: QueryPlan) throws -> Int {
        guard plan.residual == nil else {
            var unlimited = 0
            try forEachMatch(plan, [], isOrdered: false) { _, _ in
                unlimited += 1
                return .next
            }
            return unlimited
        }
        return try attempt(in: plan.table, isLong: true) { connection throws(StoreError) in
            let statement = plan.count
            return Int(try connection.runOnce(statement.sql, statement.parameters).int(0, 0) ?? 0)
        }
    }

    private func scan(
        _ plan: QueryPlan, _ positions: [Int], isOrdered: Bool, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        let shape = plan.table.shape(of: positions)
        let columns = ResultColumns(shape, fields: Array(1..<positions.count + 1))
        var window = plan.residualWindow
        var row = PackedRows(shape: shape)
        try forEachMatch(plan, positions, isOrdered: isOrdered) { result, position in
            guard window.skip == 0 else {
                window.skip -= 1
                return .next
            }
            row.removeAll()
            try columns.append(position, of: result, to: &row)
            let step = try row.withRow(at: 0, body)
            window.limit = window.limit.map { $0 - 1 }
            return window.limit == 0 ? .stop : step
        }
    }

    /// Calls `body` with each row that matches, regardless of the window if it is not SQL that applies it.
    ///
    /// - Parameter positions: The columns to select; they are the first ones after the id.
    private func forEachMatch(
        _ plan: QueryPlan, _ positions: [Int], isOrdered: Bool, _ body: (QueryRows, Int) throws -> ScanStep
    ) throws {
        let all = positions + plan.residualColumns.filter { !positions.contains($0) }
        let fields = plan.residualColumns.map { (all.firstIndex(of: $0) ?? 0) + 1 }
        let tested = ResultColumns(plan.residual?.shape ?? plan.table.shape, fields: fields)
        var row = PackedRows(shape: tested.shape)
        cursorCount += 1
        let cursor = "tideline_\(cursorCount)"
        var chunks = try attempt(in: plan.table, isLong: true) { connection throws(StoreError) in
            try RowChunks(of: plan.table, plan.window, isOrdered: isOrdered, cursor: cursor, on: connection) { window in
                plan.select(all, isOrdered: isOrdered, window)
            }
        }
        do {
            reading: while let chunk = try attempt(
                in: plan.table, isLong: true, { _ throws(StoreError) in try chunks.next() })
            {
                for position in 0..<chunk.count {
                    if let residual = plan.residual {
                        row.removeAll()
                        try tested.append(position, of: chunk.rows, to: &row)
                        guard try row.withRow(at: 0, { try residual.matches($0) }) else { continue }
                    }
                    if case .stop = try body(chunk.rows, position) { break reading }
                }
            }
        } catch {
            // The error of the body is the relevant one. A cursor that stays open ends with the transaction.
            _ = try? attempt(in: plan.table) { _ throws(StoreError) in try chunks.close() }
            throw error
        }
        try attempt(in: plan.table) { _ throws(StoreError) in try chunks.close() }
    }

    // MARK: Writing

    func upsert(_ rows: borrowing PackedRows, into name: String) throws {
        let table = try table(name)
        guard !rows.isEmpty else { return }
        let connection = try connection()
        hasChanges = true
        do {
            try limitWait(isLong: false, on: connection)
            var upsert = try Upsert(into: table, of: rows.shape, on: connection)
            try upsert.run(rows)
        } catch {
            let error = ((error as? StoreError) ?? StoreError(.io, "\(error)", cause: error)).inTable(name)
            failure = error
            throw error
        }
    }

    func delete(ids: [RowID], from name: String) throws(StoreError) -> Int {
        let table = try table(name)
        let keys = ids.filter { $0.type == table.schema.idType }.map { table.keyValue($0) }
        var deleted = 0
        var rest = keys[...]
        while !rest.isEmpty {
            var parameters = Parameters()
            let keys = parameters.append(ArrayParameter(rest.prefix(Self.deletedAtOnce), SQLType(table.schema.idType)))
            rest = rest.dropFirst(Self.deletedAtOnce)
            deleted += try attempt(in: table) { connection throws(StoreError) in
                try connection.run("DELETE FROM \(table.sqlName) WHERE \(table.key) = ANY (\(keys))", parameters)
                    .changes
            }
        }
        if deleted > 0 { hasChanges = true }
        return deleted
    }

    private static let deletedAtOnce = 5_000

    func delete(matching query: TableQuery) throws -> Int {
        let table = try table(query.table)
        let plan = try QueryPlan(query, table)
        guard query.isWindow || plan.residual != nil else {
            let statement = plan.delete
            let deleted = try attempt(in: table, isLong: true) { connection throws(StoreError) in
                try connection.run(statement.sql, statement.parameters).changes
            }
            if deleted > 0 { hasChanges = true }
            return deleted
        }
        if query.limit == 0 { return 0 }
        var ids: [RowID] = []
        try scan(plan, [], isOrdered: query.isWindow) { row in
            ids.append(row.id)
            return .next
        }
        return try delete(ids: ids, from: table.name)
    }
}
