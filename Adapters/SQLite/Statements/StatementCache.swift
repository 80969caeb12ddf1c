internal import TidelineStore

/// The prepared statements of a connection that are not in use, by their text.
final class StatementCache {
    private let database: OpaquePointer
    private let path: String?
    /// The most recently used statements, the latest at the end: comparing a few texts is cheaper than hashing one.
    private var recent: [Statement] = []
    private var idle: [String: [Statement]] = [:]
    private var idleCount = 0
    private var uses = 0

    private static let maximumRecentStatements = 8
    /// The maximum number of further statements; beyond it, the least recently used one is finalized.
    private static let maximumIdleStatements = 128

    init(of database: OpaquePointer, path: String?) {
        self.database = database
        self.path = path
    }

    /// Finalizes all statements.
    func removeAll() {
        recent.removeAll()
        idle.removeAll()
    }

    /// Returns a prepared statement, from the cache if possible. Return it with ``putBack(_:)``.
    func take(_ sql: String) throws(StoreError) -> Statement {
        if let index = recent.lastIndex(where: { $0.sql == sql }) { return recent.remove(at: index) }
        if let statement = idle[sql]?.popLast() {
            idleCount -= 1
            return statement
        }
        return try Statement(sql, on: database, path: path)
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
        idle[statement.sql, default: []].append(statement)
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
