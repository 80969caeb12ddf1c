public import TidelineStore

/// Changes of several rows and tables that are committed together; see ``SyncClient/transaction(_:)``.
///
/// Reads see the changes made so far. The methods work as those of ``SyncTable``, but without waiting. A transaction is
/// valid within its closure only; after that, each method throws ``SyncError/Code/invalidArgument``.
public final class SyncTransaction {
    /// The error of the app's closure, which ends the transaction and is thrown to the caller unchanged.
    struct BodyError: Error {
        let error: any Error
    }

    private var scope: (any TransactionScope)?
    /// The first error after which the store may have only a part of a change. The transaction cannot be committed
    /// then, even if the app continues.
    var failure: SyncError?

    init(_ scope: any TransactionScope) { self.scope = scope }

    func run<T>(_ body: (SyncTransaction) throws -> T) throws -> T {
        defer { scope = nil }
        let result: T
        do {
            result = try body(self)
        } catch {
            throw BodyError(error: error)
        }
        if let failure { throw failure }
        return result
    }

    // MARK: Changes

    /// Inserts a row and queues the insert; see ``SyncTable/insert(_:)``.
    ///
    /// - Returns: The row as stored.
    @discardableResult
    public func insert(_ row: Row, into table: String) throws -> Row {
        try perform { scope in
            guard row.needsID else { return try scope.insert(row, into: table) }
            var row = row
            row.id = .string(scope.options.environment.makeID())
            return try scope.insert(row, into: table)
        }
    }

    /// Merges the columns that `row` names into the stored row with its identifier, and queues the update; see
    /// ``SyncTable/update(_:overwriting:)``.
    public func update(_ row: Row, in table: String, overwriting: Bool = false) throws {
        try perform { try $0.update(row, in: table, overwriting: overwriting) }
    }

    /// Changes a stored row with a closure and queues the update; see ``SyncTable/update(id:_:)``.
    ///
    /// - Returns: The row as stored.
    @discardableResult
    public func update(id: String, in table: String, _ change: (inout Row) throws -> Void) throws -> Row {
        try perform { scope in
            try scope.options.requireRowWriting(table: table, id: id)
            return try scope.update(id: id, in: table, change)
        }.get()
    }

    /// Deletes the row with the given identifier and queues the delete; see ``SyncTable/delete(id:version:)``.
    public func delete(id: String, version: String? = nil, from table: String) throws {
        try perform { try $0.delete(Row(id: id, version: version), from: table) }
    }

    // MARK: Reading

    /// Returns the local row with the given identifier, or `nil` if there is none; see ``SyncTable/row(id:)``.
    public func row(id: String, in table: String) throws -> Row? {
        try perform { try $0.row(id: id, in: table) }
    }

    /// Returns the local rows that match a query; see ``SyncTable/rows(matching:)``.
    public func rows(matching query: TableQuery) throws -> QueryResult {
        try querying(query.table) { try $0.rows(matching: query) }
    }

    /// Runs a query of a table. An error of the query is one of the argument.
    func querying<T>(_ table: String, _ body: (any StoreReader) throws -> T) throws -> T {
        try perform(isReading: true) { scope in
            do {
                return try scope.reading(body)
            } catch {
                throw SyncError.wrapping(error).asArgumentError(table: table)
            }
        }
    }

    /// Runs a closure and maps its error.
    func mapped<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw SyncError.wrapping(error)
        }
    }

    /// Performs a step of the transaction. Only errors that are found before anything is written let it continue.
    ///
    /// - Parameter isReading: Whether the step writes nothing: it may then find a row that does not fit a record.
    func perform<T>(isReading: Bool = false, _ body: (any TransactionScope) throws -> T) throws -> T {
        if let failure { throw failure }
        guard let scope else {
            throw SyncError(
                .invalidArgument, "the transaction has ended; use it only within the closure of transaction(_:)")
        }
        do {
            return try body(scope)
        } catch {
            let error = SyncError.wrapping(error)
            let isUnreadable = (error.cause as? StoreError)?.code == .unreadableRecord
            if !(isReading && isUnreadable),
                ![.invalidArgument, .rowExists, .noSuchRow, .rowChanged].contains(error.code)
            {
                failure = error
            }
            throw error
        }
    }
}

/// The work of a ``SyncTransaction``, without the type of the store.
protocol TransactionScope {
    var options: SyncOptions { get }

    func insert(_ row: Row, into table: String) throws -> Row
    func update(_ row: Row, in table: String, overwriting: Bool) throws
    /// Returns the row as stored, or the error that the closure threw.
    func update(id: String, in table: String, _ change: (inout Row) throws -> Void) throws -> Result<Row, any Error>
    func delete(_ row: Row, from table: String) throws
    /// Changes the rows of a table without queueing operations, and returns their number.
    func rewrite(_ table: String, _ change: (inout Row) throws -> Void) throws -> Int
    /// Records a migration step. Returns `false` if it was recorded before.
    func beginMigration(_ name: String) throws -> Bool
    func row(id: String, in table: String) throws -> Row?
    func reading<T>(_ body: (any StoreReader) throws -> T) throws -> T
}
