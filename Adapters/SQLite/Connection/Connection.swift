internal import CSQLite
internal import TidelineStore

/// A connection to the database with its prepared statements. Used by one thread at a time; the pool sees to it.
final class Connection {
    let handle: OpaquePointer
    /// The file, nil for a database in memory.
    let path: String?
    /// The statements used last, the latest at the end: comparing a few texts is cheaper than hashing one.
    private var recent: [Statement] = []
    private var idle: [StatementText: [Statement]] = [:]
    private var idleCount = 0
    private var uses = 0
    /// The statements of every transaction, by ``TransactionStep``.
    private var steps: [Statement?] = Array(repeating: nil, count: TransactionStep.allCases.count)
    /// The definitions as of the version of the database's content that this connection saw last.
    var seen: (version: Int64, catalog: Catalog)?
    /// The shape of the last batch that was written, and the table whose columns it has.
    private var batch: (shape: RowShape, table: StoredTable)?
    private var isClosed = false

    private static let maximumRecentStatements = 8
    /// Beyond this many further statements, the one that was not used for the longest time is let go.
    private static let maximumIdleStatements = 128

    init(handle: OpaquePointer, path: String?) {
        self.handle = handle
        self.path = path
    }

    deinit { close() }

    /// Lets go of the file; nothing may be done with the connection afterwards. Closing again does nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        recent.removeAll()
        idle.removeAll()
        steps.removeAll()
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// A prepared statement, from the cache if it is there; to be given to ``putBack(_:)``.
    func takeStatement(_ sql: String) throws(StoreError) -> Statement {
        if let index = recent.lastIndex(where: { $0.sql.isSameBytes(as: sql) }) { return recent.remove(at: index) }
        if let statement = idle[StatementText(sql)]?.popLast() {
            idleCount -= 1
            return statement
        }
        return try Statement(sql, on: self)
    }

    /// Resets a statement and keeps it for the next use.
    func putBack(_ statement: Statement) {
        statement.reset()
        recent.append(statement)
        if recent.count > Self.maximumRecentStatements { keep(recent.removeFirst()) }
    }

    private func keep(_ statement: Statement) {
        uses += 1
        statement.lastUse = uses
        idle[StatementText(statement.sql), default: []].append(statement)
        idleCount += 1
        if idleCount > Self.maximumIdleStatements { dropLeastRecentlyUsed() }
    }

    private func dropLeastRecentlyUsed() {
        idle = idle.filter { !$0.value.isEmpty }
        let oldest = idle.min { ($0.value.first?.lastUse ?? 0) < ($1.value.first?.lastUse ?? 0) }
        guard let sql = oldest?.key else { return }
        idle[sql]?.removeFirst()
        idleCount -= 1
    }

    /// Whether a batch of a shape has the columns of a table, in its order: one batch after another is of one shape, which
    /// is compared once.
    func hasColumns(of table: StoredTable, _ shape: RowShape) -> Bool {
        if let batch, batch.shape === shape, batch.table === table { return true }
        guard shape.hasSameColumns(as: table.shape) else { return false }
        batch = (shape, table)
        return true
    }

    // MARK: Running SQL

    /// Runs a step of a transaction.
    func perform(_ step: TransactionStep) throws(StoreError) { try statement(of: step).run() }

    private func statement(of step: TransactionStep) throws(StoreError) -> Statement {
        guard !isClosed else { throw StoreError(.closed, "the connection is closed", path: path) }
        if let known = steps[step.place] { return known }
        let new = try Statement(step.rawValue, on: self)
        steps[step.place] = new
        return new
    }

    /// A number that differs from that of an earlier transaction on this connection when another connection has
    /// changed the database meanwhile. As the first read of a transaction it fixes the snapshot.
    func dataVersion() throws(StoreError) -> Int64 {
        let statement = try statement(of: .readDataVersion)
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : 0
    }

    /// Runs a statement without parameters and results.
    func execute(_ sql: String) throws(StoreError) {
        let statement = try takeStatement(sql)
        defer { putBack(statement) }
        try statement.run()
    }

    /// Runs a statement once, for definitions and settings, which are not worth caching.
    func executeOnce(_ sql: String) throws(StoreError) { try Statement(sql, on: self).run() }

    /// The first column of the only row, as an integer.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try takeStatement(sql)
        defer { putBack(statement) }
        return try statement.step() ? statement.int(0) : 0
    }

    /// How many rows the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back what is open. SQLite may have done it already, after some errors.
    func rollBack() {
        guard isInTransaction else { return }
        // A rollback fails only where the transaction is over or the file is beyond help, which the next use reports.
        try? perform(.rollBack)
    }
}
