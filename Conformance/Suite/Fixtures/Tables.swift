internal import TidelineStore

extension TableSchema {
    /// A table of to-do items with two indexes, used by most checks.
    static let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .int("priority"), .double("score"), .timestamp("due")],
        indexes: [["complete", "due"], ["priority"]])

    /// A second table, without an index.
    static let notes = TableSchema("Note", columns: [.string("text"), .int("number")])
}

extension StoreReader {
    /// Returns all rows of a table, sorted by identifier.
    func allRows(_ table: String) throws -> [Row] { try rows(matching: TableQuery(table)).rows }

    /// Returns the identifiers of the rows that a query finds, in order.
    func ids(_ query: TableQuery) throws -> [String] { try rows(matching: query).rows.map(\.idText) }
}

extension LocalStore {
    /// Stores a row in a transaction of its own.
    func put(_ row: Row, into table: String) throws { try write { try $0.upsert(row, into: table) } }

    /// Stores rows in one transaction.
    func put(_ rows: [Row], into table: String) throws { try write { try $0.upsert(rows, into: table) } }

    /// Stores a batch in one transaction.
    func put(_ rows: borrowing PackedRows, into table: String) throws {
        try write { try $0.upsert(rows, into: table) }
    }

    /// Deletes rows by their identifiers in a transaction of its own.
    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int { try write { try $0.delete(ids: ids, from: table) } }

    /// Deletes the rows that a query finds in a transaction of its own.
    @discardableResult
    func delete(matching query: TableQuery) throws -> Int { try write { try $0.delete(matching: query) } }

    /// Runs a write whose body throws at its end, and fails unless the write throws that error.
    func rollBack(_ body: (Writer) throws -> Void) throws {
        do {
            try write { writer in
                try body(writer)
                throw Abort()
            }
        } catch is Abort {
            return
        }
        throw CheckFailure("the write returned although its body threw")
    }

    /// Returns the row with the given identifier.
    func row(in table: String, _ id: RowID) throws -> Row? { try read { try $0.row(in: table, id: id) } }

    /// Returns all rows of a table, sorted by identifier.
    func allRows(_ table: String) throws -> [Row] { try read { try $0.allRows(table) } }

    /// Returns the rows that a query finds, and the total count if the query includes it.
    func rows(matching query: TableQuery) throws -> QueryResult { try read { try $0.rows(matching: query) } }

    /// Calls `body` with each row that a query finds.
    /// - Returns: The total count, if the query includes it.
    @discardableResult
    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try read { try $0.scan(query, body) }
    }

    /// Returns the identifiers of the rows that a query finds, in order.
    func ids(_ query: TableQuery) throws -> [String] { try read { try $0.ids(query) } }

    /// Returns the number of rows that a query matches.
    func count(_ query: TableQuery) throws -> Int { try read { try $0.count(query) } }
}

/// An error that a body throws on purpose.
struct Abort: Error {}
