internal import CSQLite
internal import Foundation
internal import TidelineStore

/// A connection to the database with its prepared statements. Used by one thread at a time, which the pool guarantees.
final class Connection {
    let handle: OpaquePointer
    /// The path of the file; `nil` for an in-memory database.
    let path: String?
    let statements: StatementCache
    /// The statements of every transaction, by ``TransactionStep``.
    ///
    /// Exclusivity is unchecked because one thread uses the connection, and no access overlaps another.
    @exclusivity(unchecked) private var steps: [Statement?] = Array(
        repeating: nil, count: TransactionStep.allCases.count)
    /// The most recently used tables, the latest at the end. Unchecked for the same reason.
    @exclusivity(unchecked) private var tables: [TableStatements] = []
    /// How the snapshot of the current read is held.
    private var snapshot = Snapshot.none
    /// The definitions, with the version of the database content for which this connection loaded them.
    private var seen: (version: UInt32, catalog: Catalog)?
    /// The limit that the engine's progress handler reads.
    private var timeLimit: TimeLimitBox?
    private var isClosed = false
    /// The state of the file when it was opened as immutable, or `nil` if SQLite locks it and notices changes itself.
    private var immutableFile: FileState?
    private let process = OpeningProcess()
    private lazy var resolvedPath = path.map(DatabaseFile.file)
    /// The write-ahead log and its shared memory. They stay in place while this connection is open, because its lock on
    /// the file keeps others from removing them at their last close.
    private var logFiles: [LogFile] = []
    private lazy var folderChanges = resolvedPath.map {
        FolderChanges(($0 as NSString).deletingLastPathComponent)
    }

    private enum Snapshot {
        /// No read is active, or a write transaction is.
        case none
        /// Held by the statement that reads the version, which is still active; no other statement has read yet.
        case fresh
        /// Held in the same way; one statement has read.
        case used
        /// Held by a transaction.
        case begun
    }

    private static let maximumTables = 12

    init(handle: OpaquePointer, path: String?) {
        self.handle = handle
        self.path = path
        statements = StatementCache(of: handle, path: path)
    }

    deinit { close() }

    /// Closes the file; the connection cannot be used afterwards. Closing it again does nothing.
    func close() {
        // In a child of the process that opened the file, SQLite's state belongs to the parent.
        guard !isClosed, !process.isForked else { return }
        isClosed = true
        tables.removeAll()
        statements.removeAll()
        steps.removeAll()
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// Returns the statements and queries kept for the table with the given name.
    func tableStatements(of name: String, in catalog: Catalog) throws(StoreError) -> TableStatements {
        var index = tables.count - 1
        while index >= 0 {
            let known = tables[index]
            if known.catalog === catalog, known.table.name == name {
                if index != tables.count - 1 { tables.swapAt(index, tables.count - 1) }
                return known
            }
            index -= 1
        }
        let table = try catalog.table(name)
        let known = tables.firstIndex { $0.table === table }.map { tables.remove(at: $0) }
        let new = known ?? TableStatements(table)
        new.catalog = catalog
        tables.append(new)
        if tables.count > Self.maximumTables { tables.removeFirst().leave(to: statements) }
        return new
    }

    // MARK: Running SQL

    func perform(_ step: TransactionStep) throws(StoreError) { try statement(of: step).run() }

    private func statement(of step: TransactionStep) throws(StoreError) -> Statement {
        guard !isClosed else { throw StoreError(.closed, "the connection is closed", path: path) }
        if let known = steps[step.rawValue] { return known }
        let new = try Statement(step.sql, on: handle, path: path)
        steps[step.rawValue] = new
        return new
    }

    /// Runs a statement that has no parameters and returns no rows.
    func execute(_ sql: String) throws(StoreError) {
        let statement = try statements.take(sql)
        defer { statements.putBack(statement) }
        try statement.run()
    }

    /// Runs a statement once, without caching it; for definitions and settings.
    func executeOnce(_ sql: String) throws(StoreError) { try Statement(sql, on: handle, path: path).run() }

    /// Returns the first column of the only row as an integer.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try statements.take(sql)
        defer { statements.putBack(statement) }
        return try statement.step() ? statement.int(0) : 0
    }

    /// Returns a number that changes with the commits of other connections, in this process or another, not with those
    /// of this connection. No read may be active.
    func externalCommitNumber() throws(StoreError) -> UInt64 {
        let statement = try statement(of: .readVersion)
        defer { statement.rewind() }
        return try statement.step() ? UInt64(truncatingIfNeeded: statement.int(0)) : 0
    }

    /// Throws an error if the time of the reader is over. A short statement ends before the engine looks at the clock.
    func checkTime() throws(StoreError) { try timeLimit?.limit.check() }

    /// Ends statements with an error when the time of a limit is over, or no longer.
    func limitTime(_ limit: QueryTimeLimit?) {
        timeLimit = limit.map(TimeLimitBox.init)
        // About 100 µs of work between two looks at the clock.
        sqlite3_progress_handler(
            handle, timeLimit == nil ? 0 : 4_000,
            { box in
                // The connection keeps the box while the handler is set.
                box.map { Unmanaged<TimeLimitBox>.fromOpaque($0).takeUnretainedValue().limit.isExceeded } == true
                    ? 1 : 0
            }, timeLimit.map { Unmanaged.passUnretained($0).toOpaque() })
    }

    // MARK: Reading

    /// Begins a read and fixes its snapshot.
    ///
    /// SQLite keeps a snapshot as long as a statement in it is active. The statement that reads the version stays
    /// active until the end of the read. Only a second query begins a transaction, within which ending a statement is
    /// cheaper.
    func beginReading() throws(StoreError) {
        _ = try statement(of: .readVersion).step()
        snapshot = .fresh
    }

    /// Prepares for the next statement of a read; call it before each one.
    func willRead() throws(StoreError) {
        switch snapshot {
        case .none, .begun: return
        case .fresh: snapshot = .used
        case .used:
            try perform(.begin)
            snapshot = .begun
        }
    }

    /// Ends a read. Nothing is lost if the snapshot cannot be ended normally.
    func endReading() {
        let hasTransaction = snapshot == .begun
        snapshot = .none
        steps[TransactionStep.readVersion.rawValue]?.rewind()
        guard hasTransaction, isInTransaction else { return }
        do {
            try perform(.commit)
        } catch {
            rollBack()
        }
    }

    // MARK: Files

    /// Notes the log and its shared memory, which SQLite has opened for a read, so that it is noticed if they are
    /// removed or replaced.
    func noteLogFiles() {
        guard let resolvedPath else { return }
        logFiles = ["-wal", "-shm"].map { LogFile("\(resolvedPath)\($0)") }
    }

    /// Throws an error if the file, its log, or the shared memory of the log is not at its path anymore, before a
    /// commit is acknowledged.
    func requireFiles() throws(StoreError) {
        try folderChanges?.recheck { () throws(StoreError) in
            guard tideline_has_moved(handle) == 0, logFiles.allSatisfy(\.isInPlace) else {
                throw .filesMoved(path: path)
            }
        }
    }

    /// Prepares for changes of a file that SQLite takes for immutable. Nothing may have been read from it.
    func noteImmutableFile() { immutableFile = currentFile }

    private var currentFile: FileState? { path.map { FileState(of: $0, header: header(FileExtent.headerSize)) } }

    /// Whether a file that was opened as immutable has changed since, or has a log now.
    var isOutdated: Bool {
        guard let immutableFile, let path else { return false }
        return DatabaseFile.hasLog(path) || currentFile != immutableFile
    }

    /// Calls `body`, and throws ``StoreError/Code/busy`` if the file, which cannot be locked, was changed meanwhile:
    /// the body may have read pages of different commits.
    func requiringSameFile<T>(_ body: () throws -> T) throws -> T {
        guard immutableFile != nil else { return try body() }
        do {
            let result = try body()
            guard !isOutdated else { throw changedFile }
            return result
        } catch is StoreError where isOutdated {
            throw changedFile
        }
    }

    private var changedFile: StoreError {
        StoreError(
            .busy, "another process changed the file during the read, and it cannot be locked here; read again",
            path: path)
    }

    // MARK: Definitions

    /// Returns the definitions as of the current transaction's snapshot. They are cached until another connection or
    /// process changes the database.
    func catalog(_ changed: () throws(StoreError) -> Catalog) throws(StoreError) -> Catalog {
        let version = tideline_data_version(handle)
        if let seen, seen.version == version { return seen.catalog }
        let catalog = try changed()
        seen = (version, catalog)
        return catalog
    }

    /// Discards the cached definitions, which the current transaction is about to change.
    func forgetCatalog() { seen = nil }

    /// Keeps the cached definitions valid after a commit, which itself changes the data version. No other change can be
    /// missed: this connection sees those of others when it begins its next transaction.
    func keepCatalog() {
        if let seen { self.seen = (tideline_data_version(handle), seen.catalog) }
    }

    // MARK: Results

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }

    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls back an open transaction. After some errors, SQLite has already done so.
    func rollBack() {
        guard isInTransaction else { return }
        // A rollback fails only if the transaction is over or the file is unusable; the next use reports that.
        try? perform(.rollBack)
    }
}

/// The statements that transactions run in addition to their own, prepared once per connection.
///
/// A step's number is its place in ``Connection``'s list.
enum TransactionStep: Int, CaseIterable {
    case begin
    /// Waits for other writers, in any process.
    case beginWriting
    case commit, rollBack
    /// Opens a read transaction, which lasts until the statement is rewound.
    case readVersion

    var sql: String { ["BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", "PRAGMA data_version"][rawValue] }
}

/// A limit in memory whose address the engine keeps.
private final class TimeLimitBox {
    let limit: QueryTimeLimit
    init(_ limit: QueryTimeLimit) { self.limit = limit }
}

/// A file that stays the same while a connection is open.
private struct LogFile {
    private let path: String
    private let identity: Identity?

    private struct Identity: Equatable {
        let device: dev_t
        let file: ino_t
    }

    init(_ path: String) {
        self.path = path
        identity = Self.identity(path)
    }

    var isInPlace: Bool {
        guard let current = Self.identity(path) else { return false }
        return identity == nil || current == identity
    }

    private static func identity(_ path: String) -> Identity? {
        var status = stat()
        return stat(path, &status) == 0 ? Identity(device: status.st_dev, file: status.st_ino) : nil
    }
}
