internal import TidelineStore

/// The prepared statements of a connection that are not in use.
final class StatementCache {
    private let database: OpaquePointer
    private let path: String?
    /// The most recently used statement is at the end. Comparing texts, most of which differ in length, is cheaper than
    /// hashing one.
    private var idle: [Statement] = []

    /// The maximum number of statements; beyond it, the least recently used one is finalized.
    private static let maximumStatements = 128

    init(of database: OpaquePointer, path: String?) {
        self.database = database
        self.path = path
    }

    /// Finalizes all statements.
    func removeAll() { idle.removeAll() }

    /// Returns a prepared statement, from the cache if possible. Return it with ``putBack(_:)``.
    func take(_ sql: String) throws(StoreError) -> Statement {
        if let index = idle.lastIndex(where: { $0.sql.isSameBytes(as: sql) }) { return idle.remove(at: index) }
        return try Statement(sql, on: database, path: path)
    }

    /// Resets a statement and keeps it for the next use.
    func putBack(_ statement: Statement) {
        statement.reset()
        idle.append(statement)
        if idle.count > Self.maximumStatements { idle.removeFirst() }
    }
}

/// A slot for one statement between uses, for statements used so often that a lookup by text is too slow.
final class KeptStatement {
    let sql: String
    private var statement: Statement?

    init(_ sql: String) { self.sql = sql }

    /// Returns the statement, or another one if it is in use. Return it with ``putBack(_:to:)``.
    func take(from cache: StatementCache) throws(StoreError) -> Statement {
        guard let statement else { return try cache.take(sql) }
        self.statement = nil
        return statement
    }

    /// Ends the execution. Values bound without a copy stay bound; SQLite does not read them before new values are
    /// bound.
    func putBack(_ statement: Statement, to cache: StatementCache) {
        guard self.statement == nil else { return cache.putBack(statement) }
        statement.rewind()
        self.statement = statement
    }

    func leave(to cache: StatementCache) {
        guard let statement else { return }
        self.statement = nil
        cache.putBack(statement)
    }
}
