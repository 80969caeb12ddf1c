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
    ///
    /// Unchecked, as one thread has the connection, and nothing comes back for it while it is read or changed.
    @exclusivity(unchecked) private var steps: [Statement?] = Array(
        repeating: nil, count: TransactionStep.allCases.count)
    /// The tables used last, the latest at the end. Unchecked as above.
    @exclusivity(unchecked) private var tables: [TableStatements] = []
    /// How the snapshot of the read that is under way is held.
    private var snapshot = Snapshot.none
    /// The definitions as of the version of the database's content that this connection saw last.
    private var seen: (version: UInt32, catalog: Catalog)?
    /// The shape of the last batch that was written, and the table whose columns it has.
    private var batch: (shape: RowShape, table: StoredTable)?
    private var isClosed = false

    private enum Snapshot {
        /// There is no read, or a write transaction.
        case none
        /// By the statement that reads the version, which is under way; nothing else was read yet.
        case fresh
        /// In the same way; a statement has read.
        case used
        /// By a transaction.
        case begun
    }

    private static let maximumTables = 12
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
        tables.removeAll()
        recent.removeAll()
        idle.removeAll()
        steps.removeAll()
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// What is kept ready for the table of that name.
    func statements(of name: String, in catalog: Catalog) throws(StoreError) -> TableStatements {
        var index = tables.count - 1
        while index >= 0 {
            let known = tables[index]
            if known.catalog === catalog, known.table.name.isSameBytes(as: name) {
                if index != tables.count - 1 { tables.swapAt(index, tables.count - 1) }
                return known
            }
            index -= 1
        }
        let table = try catalog.table(name)
        let known = tables.firstIndex { $0.table === table }.map { tables.remove(at: $0) }
        let statements = known ?? TableStatements(table)
        statements.catalog = catalog
        tables.append(statements)
        if tables.count > Self.maximumTables { tables.removeFirst().leave(to: self) }
        return statements
    }

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

    // MARK: Reading

    /// Begins a read and fixes its snapshot.
    ///
    /// SQLite keeps a snapshot for as long as a statement is under way in it. The one that reads the version is, until the
    /// end; only from the second statement on is there a transaction, within which statements end with less work.
    func beginReading() throws(StoreError) {
        _ = try statement(of: .readVersion).step()
        snapshot = .fresh
    }

    /// To be called before each statement of a read.
    func willRead() throws(StoreError) {
        switch snapshot {
        case .none, .begun: return
        case .fresh: snapshot = .used
        case .used:
            try perform(.begin)
            snapshot = .begun
        }
    }

    /// Ends a read. Nothing is lost when a snapshot cannot be ended in an orderly way.
    func endReading() {
        let hasTransaction = snapshot == .begun
        snapshot = .none
        steps[TransactionStep.readVersion.place]?.rewind()
        guard hasTransaction, isInTransaction else { return }
        do {
            try perform(.commit)
        } catch {
            rollBack()
        }
    }

    // MARK: Definitions

    /// The definitions as of the snapshot of the transaction under way; those known are kept until another connection or
    /// process changes the database.
    func catalog(_ changed: () throws(StoreError) -> Catalog) throws(StoreError) -> Catalog {
        let version = tideline_data_version(handle)
        if let seen, seen.version == version { return seen.catalog }
        let catalog = try changed()
        seen = (version, catalog)
        return catalog
    }

    /// Forgets the definitions, which the transaction under way is about to change.
    func forgetCatalog() { seen = nil }

    /// Notes that the transaction was committed, which counts as a change of the database, too. No other can have come
    /// between: this connection sees those of others when it begins its next transaction.
    func keepCatalog() {
        if let seen { self.seen = (tideline_data_version(handle), seen.catalog) }
    }

    // MARK: Results

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
