internal import CSQLite
internal import TidelineStore

/// One read or write body's access to the database; over when the body is.
final class Session {
    private var openConnection: Connection?
    let catalog: Catalog
    private let isWriting: Bool
    /// The error of a change that was made in part: the transaction can only be rolled back then.
    private(set) var failure: StoreError?
    /// The table found last: most often the next call is about it.
    private var lastTable: StoredTable?

    init(_ connection: Connection, _ catalog: Catalog, isWriting: Bool) {
        openConnection = connection
        self.catalog = catalog
        self.isWriting = isWriting
    }

    func end() { openConnection = nil }

    func connection() throws(StoreError) -> Connection {
        guard let openConnection else {
            throw StoreError(.closed, "a reader or writer was used after the body it was passed to")
        }
        return openConnection
    }

    func table(_ name: String) throws(StoreError) -> StoredTable {
        _ = try connection()
        if let lastTable, lastTable.schema.name.isSameBytes(as: name) { return lastTable }
        let table = try catalog.table(name)
        lastTable = table
        return table
    }

    // MARK: Reading

    func withRow<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let connection = try connection()
        let table = try self.table(name)
        guard id.type == table.schema.idType else { return nil }
        let statement = try connection.takeStatement(table.selectRow)
        defer { connection.putBack(statement) }
        return try statement.withBoundID(id) {
            guard try statement.step() else { return nil }
            return try statement.rowBuffer(table: table, shape: table.shape).withRow(of: statement, body)
        }
    }

    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let connection = try connection()
        let table = try self.table(query.table)
        try query.validate(against: table.schema)
        let total = query.includesTotalCount ? try count(query, in: table, on: connection) : nil
        if query.limit == 0 { return total }
        let columns = query.selection == nil ? nil : query.resultColumns(of: table.schema)
        let shape = columns.map { table.shape(of: $0) } ?? table.shape
        let compiled = try table.select(columns.map(StoredTable.columnList) ?? table.columnList, for: query)
        let statement = try prepare(compiled, in: table, on: connection)
        defer { connection.putBack(statement) }
        let buffer = statement.rowBuffer(table: table, shape: shape)
        if isWriting {
            try copyThenScan(statement, buffer, shape, body)
            return total
        }
        while try statement.step() {
            if case .stop = try buffer.withRow(of: statement, body) { break }
        }
        return total
    }

    /// Calls `body` when all rows were found: it may change the table, and SQLite, walking over an index, would come to a
    /// row again as often as that moves it ahead.
    private func copyThenScan(
        _ statement: Statement, _ buffer: RowBuffer, _ shape: RowShape, _ body: (borrowing RowView) throws -> ScanStep
    ) throws {
        var found = PackedRows(shape: shape)
        while try statement.step() {
            try buffer.withRow(of: statement) { (row) throws in try found.append(copying: row) }
        }
        for position in 0..<found.count {
            if case .stop = try found.withRow(at: position, body) { break }
        }
    }

    func count(_ query: Query) throws(StoreError) -> Int {
        let connection = try connection()
        let table = try self.table(query.table)
        try query.validate(against: table.schema)
        return try count(query, in: table, on: connection)
    }

    private func count(_ query: Query, in table: StoredTable, on connection: Connection) throws(StoreError) -> Int {
        let statement = try prepare(try table.selectCount(query), in: table, on: connection)
        defer { connection.putBack(statement) }
        return try statement.step() ? Int(statement.int(0)) : 0
    }

    private func prepare(
        _ query: CompiledQuery, in table: StoredTable, on connection: Connection
    ) throws(StoreError) -> Statement {
        do {
            let statement = try connection.takeStatement(query.sql)
            try statement.bind(query.parameters)
            return statement
        } catch {
            throw error.refusedQuery(in: table.schema.name)
        }
    }

    // MARK: Writing

    func upsert(_ rows: borrowing PackedRows, into name: String) throws(StoreError) {
        let connection = try writableConnection()
        let table = try self.table(name)
        guard !rows.isEmpty else { return }
        var upsert = try Upsert(into: table, of: rows.shape, on: connection)
        defer { upsert.finish() }
        do {
            try rows.forEachRow { (row) throws in try upsert.run(row) }
        } catch {
            throw failed(error, in: name)
        }
    }

    func delete(ids: [RowID], from name: String) throws(StoreError) -> Int {
        let connection = try writableConnection()
        let table = try self.table(name)
        let statement = try connection.takeStatement(table.deleteRow)
        defer { connection.putBack(statement) }
        var deleted = 0
        do {
            for id in ids where id.type == table.schema.idType {
                try statement.withBoundID(id) { try statement.run() }
                deleted += connection.changes
            }
        } catch {
            throw failed(error, in: name)
        }
        return deleted
    }

    func delete(matching query: Query) throws(StoreError) -> Int {
        let connection = try writableConnection()
        let table = try self.table(query.table)
        try query.validate(against: table.schema)
        let statement = try prepare(try table.delete(query), in: table, on: connection)
        defer { connection.putBack(statement) }
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
        // After some errors SQLite has rolled back already; what is written then would not be part of a transaction.
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

extension StoredTable {
    /// The shape of rows with these columns only.
    func shape(of columns: [ColumnSchema]) -> RowShape {
        RowShape(table: schema.name, idType: schema.idType, columns: columns)
    }
}

extension Statement {
    /// Calls `body` with the id bound to the only parameter, where it lies, without a copy.
    func withBoundID<T>(_ id: RowID, _ body: () throws -> T) throws -> T {
        switch id {
        case .int(let number):
            let result = sqlite3_bind_int64(handle, 1, number)
            guard result == SQLITE_OK else { throw failure(result) }
            return try body()
        case .string(var text):
            return try text.withUTF8 { bytes in
                let result = tideline_bind_static_text(handle, 1, bytes.baseAddress, UInt64(bytes.count))
                guard result == SQLITE_OK else { throw failure(result) }
                return try body()
            }
        }
    }
}

extension StoreError {
    /// SQLite refuses a statement made from a valid query where that goes beyond the engine's limits.
    fileprivate func refusedQuery(in table: String) -> StoreError {
        var error = inTable(table)
        if engineCode == Int(SQLITE_ERROR), code != .corrupt { error.code = .unsupportedQuery }
        return error
    }
}
