internal import TidelineStore

/// A slot for one statement between uses, for statements used so often that a lookup by text is too slow.
final class KeptStatement {
    let sql: String
    private var statement: Statement?

    init(_ sql: String) { self.sql = sql }

    /// Returns the statement, or another one if it is in use. Return it with ``putBack(_:to:)``.
    func take(from connection: Connection) throws(StoreError) -> Statement {
        guard let statement else { return try connection.takeStatement(sql) }
        self.statement = nil
        return statement
    }

    /// Ends the execution. Values bound without a copy stay bound; SQLite does not read them before new values are
    /// bound.
    func putBack(_ statement: Statement, to connection: Connection) {
        guard self.statement == nil else { return connection.putBack(statement) }
        statement.rewind()
        self.statement = statement
    }

    /// Returns the statement to the connection's cache.
    func leave(to connection: Connection) {
        guard let statement else { return }
        self.statement = nil
        connection.putBack(statement)
    }
}
