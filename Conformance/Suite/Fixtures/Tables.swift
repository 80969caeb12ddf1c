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

extension [Row] {
    /// Returns these rows after others were inserted or merged into them, one after the other.
    func merging(_ changes: [Row]) -> [Row] {
        changes.reduce(into: self) { rows, change in
            if let index = rows.firstIndex(where: { $0.id == change.id }) {
                rows[index] = rows[index].merging(change)
            } else {
                rows.append(change)
            }
        }
    }
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

    /// Calls `body` with each row that a query finds, and returns the total count, if the query includes it.
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

extension ConformanceSettings {
    /// The row counts for each operation: 1, 17, 1,001, and ``rows``, or a quarter of them in faster profiles.
    var amounts: [Int] { Set([1, 17, 1_001, profile == .long ? rows : max(rows / 4, 1)]).sorted() }
}

/// The row counts of promises that may hold for a few rows and not for many: arrays, caches, and batches have a size.
enum Amounts {
    static let all = [1, 2, 17, 1_001, 5_000]

    /// Returns a table for `count` rows, named after the number, with ties in every column.
    static func schema(_ count: Int) -> TableSchema {
        TableSchema(
            "Amount \(count)", columns: [.int("n"), .int("m"), .string("s")], systemColumns: [], indexes: [["n"]])
    }

    /// Returns `count` rows in an order other than that of their identifiers.
    static func rows(_ count: Int) -> [Row] {
        // The factor is a prime that is not a divisor of any amount.
        (0..<count).map { $0 * 2_713 % count }.map { number in
            [
                "id": .string(id(number)), "n": number % 11 == 0 ? .null : .int(Int64(number % 7)),
                "m": .int(Int64(number % 3)), "s": .string("text \(number % 13)"),
            ]
        }
    }

    /// Returns an identifier; identifiers sort like the numbers.
    static func id(_ number: Int) -> String { "Row-\(100_000 + number)" }
}
