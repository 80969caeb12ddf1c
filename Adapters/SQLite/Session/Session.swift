internal import CSQLite
internal import TidelineStore

/// Access to the database for one read or write body; ends with the body.
final class Session {
    private var openConnection: Connection?
    let catalog: Catalog
    private let isWriting: Bool
    /// The error of a partially applied change, after which the transaction can only be rolled back.
    private(set) var failure: StoreError?
    /// Whether the time of the queries is limited.
    private var isTimed = false
    /// The statements of the two tables used last. The next call is usually about one of them: a row of the app, or its
    /// operation.
    private var last: TableStatements?
    private var previous: TableStatements?

    init(_ connection: Connection, _ catalog: Catalog, isWriting: Bool) {
        openConnection = connection
        self.catalog = catalog
        self.isWriting = isWriting
    }

    func end() {
        if isTimed { openConnection?.limitTime(nil) }
        openConnection = nil
    }

    func connection() throws(StoreError) -> Connection {
        guard let openConnection else { throw .bodyReturned }
        return openConnection
    }

    func table(_ name: String) throws(StoreError) -> StoredTable { try statements(name, on: try connection()).table }

    /// Returns the table with the given name and the statements that the connection keeps for it.
    private func statements(_ name: String, on connection: Connection) throws(StoreError) -> TableStatements {
        if let last, last.table.name == name { return last }
        let statements =
            if let previous, previous.table.name == name { previous } else {
                try connection.tableStatements(of: name, in: catalog)
            }
        (last, previous) = (statements, last)
        return statements
    }

    func limitTime(_ limit: QueryTimeLimit) throws(StoreError) {
        try connection().limitTime(limit)
        isTimed = true
    }

    func externalCommitNumber() throws(StoreError) -> UInt64? {
        let connection = try connection()
        return connection.path == nil ? nil : try connection.externalCommitNumber()
    }

    // MARK: Reading

    func withRow<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let connection = try connection()
        let statements = try statements(name, on: connection)
        let table = statements.table
        guard id.type == table.schema.idType else { return nil }
        try connection.willRead()
        let statement = try statements.selectRow.take(from: connection.statements)
        defer { statements.selectRow.putBack(statement, to: connection.statements) }
        // The row is read after the bound id is gone, which is safe: SQLite reads parameters only in the step.
        guard try statement.withBoundID(id, { try statement.step() }) else { return nil }
        return try statement.rowBuffer(for: table.shape).withRow(of: statement.handle, body)
    }

    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let connection = try connection()
        let statements = try statements(query.table, on: connection)
        let (kept, parameters) = try statements.query(query, for: .rows, evictingTo: connection.statements)
        let total = query.includesTotalCount ? try count(query, statements, on: connection) : nil
        if query.limit == 0 { return total }
        let statement = try prepare(kept, parameters, in: statements.table, on: connection)
        defer { putBack(statement, of: kept, to: connection) }
        let buffer = statement.rowBuffer(for: kept.shape)
        // A single row needs no copy: the body gets it from the buffer, and the scan does not continue after it.
        if isWriting, query.limit != 1 {
            try copyThenScan(statement, buffer, kept.shape, body)
            return total
        }
        while try statement.step() {
            if case .stop = try buffer.withRow(of: statement.handle, body) { break }
        }
        return total
    }

    /// Calls `body` after all rows were found. The body may change the table, and a change that moves a row forward in
    /// the index would make SQLite return the row again.
    private func copyThenScan(
        _ statement: Statement, _ buffer: RowBuffer, _ shape: RowShape, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        guard try statement.step() else { return }
        var found = PackedRows(shape: shape)
        repeat {
            try buffer.withRow(of: statement.handle) { (row) throws in try found.append(copying: row) }
        } while try statement.step()
        for position in 0..<found.count {
            if case .stop = try found.withRow(at: position, body) { break }
        }
    }

    func count(_ query: TableQuery) throws(StoreError) -> Int {
        let connection = try connection()
        return try count(query, try statements(query.table, on: connection), on: connection)
    }

    private func count(
        _ query: TableQuery, _ statements: TableStatements, on connection: Connection
    ) throws(StoreError) -> Int {
        let (kept, parameters) = try statements.query(query, for: .count, evictingTo: connection.statements)
        let statement = try prepare(kept, parameters, in: statements.table, on: connection)
        defer { putBack(statement, of: kept, to: connection) }
        return try statement.step() ? Int(statement.int(0)) : 0
    }

    private func prepare(
        _ query: KeptQuery, _ parameters: [Value], in table: StoredTable, on connection: Connection
    ) throws(StoreError) -> Statement {
        try connection.checkTime()
        try connection.willRead()
        do throws(StoreError) {
            let statement = try query.statement.take(from: connection.statements)
            try statement.bind(parameters)
            return statement
        } catch {
            throw error.refusedQuery(in: table.name)
        }
    }

    /// Returns a statement to its cache, without the copies of the bound values.
    private func putBack(_ statement: Statement, of query: KeptQuery, to connection: Connection) {
        statement.reset()
        query.statement.putBack(statement, to: connection.statements)
    }

    // MARK: Writing

    func upsert(_ rows: borrowing PackedRows, into name: String) throws(StoreError) {
        let connection = try writableConnection()
        let statements = try statements(name, on: connection)
        guard !rows.isEmpty else { return }
        var upsert = try Upsert(statements, of: rows.shape, count: rows.count, on: connection)
        defer { upsert.finish() }
        do {
            try upsert.run(rows)
        } catch {
            throw failed(error, in: name)
        }
    }

    func delete(ids: [RowID], from name: String) throws(StoreError) -> Int {
        let connection = try writableConnection()
        let statements = try statements(name, on: connection)
        let idType = statements.table.schema.idType
        let statement = try statements.deleteRow.take(from: connection.statements)
        defer { statements.deleteRow.putBack(statement, to: connection.statements) }
        var deleted = 0
        do {
            for id in ids where id.type == idType {
                try statement.withBoundID(id) { try statement.run() }
                deleted += connection.changes
            }
        } catch {
            throw failed(error, in: name)
        }
        return deleted
    }

    func delete(matching query: TableQuery) throws(StoreError) -> Int {
        let connection = try writableConnection()
        let statements = try statements(query.table, on: connection)
        let (kept, parameters) = try statements.query(query, for: .deletion, evictingTo: connection.statements)
        let statement = try prepare(kept, parameters, in: statements.table, on: connection)
        defer { putBack(statement, of: kept, to: connection) }
        do {
            try statement.run()
        } catch {
            throw failed(error, in: query.table)
        }
        return connection.changes
    }

    private func writableConnection() throws(StoreError) -> Connection {
        if let failure { throw failure }
        let connection = try connection()
        // After some errors SQLite has already rolled back; a later write would not be part of a transaction.
        guard connection.isInTransaction else {
            throw StoreError(.io, "the transaction was rolled back after an earlier error", path: connection.path)
        }
        return connection
    }

    private func failed(_ error: any Error, in table: String) -> StoreError {
        let failure = (error as? StoreError) ?? StoreError(.io, "\(error)", cause: error)
        self.failure = failure.inTable(table)
        return failure.inTable(table)
    }
}

extension StoreError {
    /// Returns the error for a statement of a valid query that SQLite rejects because it exceeds the engine's limits.
    fileprivate func refusedQuery(in table: String) -> StoreError {
        var error = inTable(table)
        if engineCode == Int(SQLITE_ERROR), code != .corrupt { error.code = .unsupportedQuery }
        return error
    }
}
