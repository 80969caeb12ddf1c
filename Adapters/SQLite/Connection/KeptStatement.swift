internal import TidelineStore

/// The place of one statement between its uses, for who needs it so often that it is not looked for by its text.
final class KeptStatement {
    let sql: String
    private var statement: Statement?

    init(_ sql: String) { self.sql = sql }

    /// The statement, to be given to ``putBack(_:to:)``; another one where it is in use.
    func take(from connection: Connection) throws(StoreError) -> Statement {
        guard let statement else { return try connection.takeStatement(sql) }
        self.statement = nil
        return statement
    }

    /// Ends the execution. What was bound without a copy stays bound: nothing reads it before the next values are.
    func putBack(_ statement: Statement, to connection: Connection) {
        guard self.statement == nil else { return connection.putBack(statement) }
        statement.rewind()
        self.statement = statement
    }

    /// Gives the place up.
    func leave(to connection: Connection) {
        guard let statement else { return }
        self.statement = nil
        connection.putBack(statement)
    }
}
