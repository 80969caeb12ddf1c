import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

/// A store that the contract is held against. To add one: a case in ``all``.
struct StoreUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Opens the store in a folder, or makes an empty one where it does not persist.
    let open: @Sendable (_ folder: String) throws -> any LocalStore

    static let all: [StoreUnderTest] = [
        StoreUnderTest(testDescription: "SQLite file") { try SQLiteStore(path: "\($0)/store.sqlite") },
        StoreUnderTest(testDescription: "SQLite in memory") { _ in try SQLiteStore.inMemory() },
    ]

    /// The stores that keep their rows when they are closed.
    static let persistent = all.filter { $0.testDescription != "SQLite in memory" }

    /// Calls `body` with an empty store, in which `tables` are defined.
    func withStore<T>(_ tables: TableSchema..., body: (any LocalStore) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            let store = try open(folder)
            try store.define(tables)
            let result = try body(store)
            try store.close()
            return result
        }
    }
}

/// Expects a ``StoreError`` of that code, and returns it.
@discardableResult
func expectError(
    _ code: StoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation, performing: body)
    #expect(
        error?.code == code, "\(error.map(String.init(describing:)) ?? "nothing thrown")",
        sourceLocation: sourceLocation)
    return error
}

extension TableSchema {
    /// A table like that of the quick start.
    static let items = TableSchema(
        "TodoItem",
        columns: [.string("text"), .bool("complete"), .int("priority"), .double("score"), .timestamp("due")],
        indexes: [["complete", "due"], ["priority"]])
}

extension StoreReader {
    /// All rows of a table, in order of id.
    func allRows(_ table: String) throws -> [Row] { try rows(matching: Query(table)).rows }

    /// The ids that a query finds, in its order.
    func ids(_ query: Query) throws -> [String] { try rows(matching: query).rows.map(\.id) }
}
