/// A local store: tables of rows on the device, read in snapshots and written in transactions.
///
/// It corresponds to the original SDK's `MSSyncContextDataSource`. Implement it directly for an engine that has a query
/// language.
///
/// ## Requirements for implementers
/// - **A read sees one snapshot** for the duration of its body, regardless of concurrent writes. **A write is all or
///   nothing** across all tables and sees its own changes. When the body throws, the store rolls back its changes and
///   rethrows the error.
/// - **Bodies are synchronous** and run once, on the calling thread. A reader or writer used after its body returns
///   throws ``StoreError/Code/closed``.
/// - **Any number of threads** may call a store concurrently. Readers run concurrently with each other and with one
///   writer if ``StoreCapabilities/readersDoNotBlockWriters`` is `true`; writers are serialized. A write inside a read
///   or write body of the same store on the same thread is a programming error and throws ``StoreError/Code/busy``
///   where it would otherwise deadlock.
/// - **A process that forks** cannot use its open stores in the child: reads and writes there throw
///   ``StoreError/Code/closed``, and closing them has no effect. Open the files again only after `exec`.
/// - **Every failure throws** a ``StoreError``; no data causes a trap. The store remains usable after a failure.
/// - **Names compare with `==`**: a row or query may contain the name of a table or column in any of Unicode's
///   normalization forms. Results contain the names of the definition, which are in form C.
/// - **Query results are those of the evaluator** (``Evaluator``). A store rejects a query that it cannot answer this
///   way.
///
/// ## Errors of opening
/// The initializer that opens a store is up to the implementer. The same circumstance has the same code in every store:
///
/// | circumstance | code |
/// |---|---|
/// | the folder around the store does not exist, or no store exists where one must | ``StoreError/Code/io`` |
/// | a file is in the place of a folder, or a folder in the place of a file | ``StoreError/Code/io`` |
/// | no permission to read the files or their folder | ``StoreError/Code/io`` |
/// | no permission to write to the files, or to create them in their folder | ``StoreError/Code/readOnly`` |
/// | the files do not identify themselves as a store | ``StoreError/Code/notAStore`` |
/// | the files identify themselves as a store and are damaged | ``StoreError/Code/corrupt`` |
/// | a later version of the format | ``StoreError/Code/newerFormat`` |
/// | a name that is not in normalization form C, defined by an earlier version | ``StoreError/Code/schemaMismatch`` |
/// | another process or store has files open that cannot be shared | ``StoreError/Code/locked`` |
///
/// An opening that fails changes nothing in files that exist and leaves no new ones, except that LevelDB may have
/// rewritten its files with the same content.
public protocol LocalStore: Sendable {
    /// The reader that a read body receives.
    associatedtype Reader: StoreReader
    /// The writer that a write body receives.
    associatedtype Writer: StoreWriter

    /// The capabilities of this store, which do not change while it is open.
    var capabilities: StoreCapabilities { get }

    /// Creates tables and indexes, and migrates existing ones, all or none.
    ///
    /// A new column is null in existing rows, and a new index is built from them. A column that is absent from the new
    /// definition stays stored but is not accessible. Repeating a definition has no effect.
    /// - Throws: ``StoreError/Code/schemaMismatch`` if a definition is invalid (``TableSchema/validate()``), or
    ///   contradicts another one or the stored one (``TableEvolution``), such as by the type of a column or identifier;
    ///   ``StoreError/Code/tooManyTables``.
    func define(_ tables: [TableSchema]) throws

    /// Defines tables as ``define(_:)``, with definitions that `body` derives from the store in the transaction that
    /// applies them.
    ///
    /// `body` sees the tables, columns, and rows that all processes have committed, and may write rows. Its writes and
    /// the definitions are committed together or not at all. No other change of the store happens between them.
    /// - Parameter body: A closure that returns the tables to define. If it returns none, no definition changes.
    /// - Throws: As ``define(_:)``, and rethrows the error of `body`.
    func redefine(_ body: (Writer) throws -> [TableSchema]) throws

    /// Returns the definitions of all tables, including the framework's own, ordered by name.
    func tables() throws -> [TableSchema]

    /// Runs `body` on one consistent snapshot.
    func read<T>(_ body: (Reader) throws -> T) throws -> T

    /// Runs `body` as one transaction, which is committed when `body` returns and rolled back when it throws.
    ///
    /// When this method returns, the transaction is durable to the degree stated by ``StoreCapabilities/durability``.
    func write<T>(_ body: (Writer) throws -> T) throws -> T

    /// The commits of other processes, and of other stores over the same files, or `nil` if and only if
    /// ``StoreCapabilities/sharesFilesWithProcesses`` is `false`.
    var externalCommits: ExternalCommits? { get }

    /// Closes the store after operations in progress have finished.
    ///
    /// Every later call throws ``StoreError/Code/closed``, except that closing again has no effect.
    /// - Throws: ``StoreError/Code/busy`` inside a read or write body of the same store on the same thread, where it
    ///   would deadlock. The store then stays open.
    func close() throws
}

extension LocalStore {
    /// Returns the definitions of the app's tables: all except those with ``TableSchema/isSystem``.
    package func appTables() throws -> [TableSchema] { try tables().filter { !$0.isSystem } }
}

/// The commits of other processes, and of other stores over the same files, as one open store sees them.
public struct ExternalCommits: Sendable {
    /// The path of a small file by which the processes that share the files tell each other to look for commits, or
    /// `nil`.
    ///
    /// An observed store creates the file, and maps it into memory. It then sees the commits of other observed stores
    /// at once, and needs to compare ``number`` only a few times a second, for programs that write without one. The
    /// path must be the same for all stores over the same files; the store removes the file with its others.
    public let signalPath: String?

    /// Returns a number that changes when another process, or another store over the same files, commits a change.
    ///
    /// The commits of this store do not change it, and neither do transactions that are rolled back or change nothing.
    /// Live queries compare it several times a second to see the changes of other processes, so it must be cheap.
    /// Numbers can be compared only with those of the same open store.
    ///
    /// It throws ``StoreError/Code/busy`` if the number cannot be read now, such as inside a write body of the same
    /// store on the same thread; see ``StoreWriter/externalCommitNumber()``.
    public let number: @Sendable () throws -> UInt64

    /// Creates the value from the two parts.
    public init(signalPath: String? = nil, number: @escaping @Sendable () throws -> UInt64) {
        self.signalPath = signalPath
        self.number = number
    }
}

/// Whether a scan continues with the next row.
public enum ScanStep: Sendable {
    /// Continue with the next row.
    case next
    /// End the scan.
    case stop
}

/// Read access within one snapshot, valid only inside the body that it was passed to.
public protocol StoreReader {
    /// Returns the definition of a table.
    /// - Throws: ``StoreError/Code/noSuchTable``.
    func schema(of table: String) throws -> TableSchema

    /// Returns the shape of a table's rows, ``TableSchema/makeShape()``, which a store may keep.
    ///
    /// The rows of ``withRow(in:id:_:)``, and those of a ``scan(_:_:)`` without a selection, have its columns at its
    /// positions. Live queries read them there.
    /// - Throws: ``StoreError/Code/noSuchTable``.
    func shape(of table: String) throws -> RowShape

    /// Calls `body` with the row with the given identifier, borrowed, or returns `nil` if there is none.
    ///
    /// Identifiers compare according to the table's ``TableSchema/idMatching``. An identifier of the wrong type or
    /// length matches no row.
    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T?

    /// Calls `body` with each matching row, borrowed, in the query's order, until it returns ``ScanStep/stop``.
    ///
    /// - Returns: The number of matching rows regardless of skip and limit if the query requests it. It is complete
    ///   even if the scan was stopped.
    /// - Throws: The errors of ``TableQuery/validate(against:)``; ``StoreError/Code/noSuchTable``;
    ///   ``StoreError/Code/unsupportedQuery`` if the store cannot answer the query as the evaluator does.
    @discardableResult
    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int?

    /// Returns the number of rows that match the query's predicate. Order, skip, limit, and selection are ignored.
    func count(_ query: TableQuery) throws -> Int

    /// Limits the time that the queries of this reader may take together, from the call on, or `nil` if and only if
    /// ``StoreCapabilities/limitsQueryTime`` is `false`. Then ``scan(_:_:)`` and ``count(_:)`` throw
    /// ``StoreError/Code/timeLimit``, and ``withRow(in:id:_:)`` may.
    ///
    /// A server that answers the queries of others calls it, because a query without an index can read a whole table.
    /// The stores of this package check the time while they look for rows, and those of SQLite and PostgreSQL also
    /// while they sort them. Those over key-value engines also limit the memory for sorting, and then throw
    /// ``StoreError/Code/unsupportedQuery``. A writer may have no limit in any store; the one of PostgreSQL has one,
    /// because its server may not respond.
    var limitTime: ((Duration) throws -> Void)? { get }
}

extension StoreReader {
    /// Returns the row with the given identifier, or `nil` if there is none.
    public func row(in table: String, id: RowID) throws -> Row? {
        try withRow(in: table, id: id) { $0.owned() }
    }

    /// Returns the row with the given string identifier, or `nil` if there is none.
    public func row(in table: String, id: String) throws -> Row? { try row(in: table, id: .string(id)) }

    /// Returns the rows that match.
    public func rows(matching query: TableQuery) throws -> QueryResult {
        var result = QueryResult(rows: [])
        result.totalCount = try scan(query) { view in
            result.rows.append(view.owned())
            return .next
        }
        return result
    }
}

/// Read and write access within one transaction, valid only inside the body that it was passed to.
public protocol StoreWriter: StoreReader {
    /// Inserts rows, or merges them into the existing rows with the same identifiers.
    ///
    /// In a merge, an absent column keeps its value and null clears it. Rows are applied in their order, so the last of
    /// several rows with one identifier takes precedence. The identifier keeps the form that was stored first.
    /// - Throws: ``StoreError/Code/noSuchTable``; ``StoreError/Code/invalidValue``, naming the column and identifier,
    ///   if a column is not defined by the table, a value has another type than its column, a column that is not
    ///   optional is null, or absent from a new row, an identifier is empty or longer than
    ///   ``StoreCapabilities/maximumIDLength``, or the store does not support a double. The transaction can then only
    ///   be rolled back: rethrow the error.
    func upsert(_ rows: borrowing PackedRows, into table: String) throws

    /// Deletes the rows with the given identifiers. Identifiers without a row are skipped.
    /// - Returns: The number of deleted rows.
    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int

    /// Deletes the rows that the query returns, considering its predicate, order, skip, and limit.
    /// - Returns: The number of deleted rows.
    @discardableResult
    func delete(matching query: TableQuery) throws -> Int

    /// Returns the number of the store's ``LocalStore/externalCommits`` as of this transaction, which no other commit
    /// can follow before the transaction ends, or `nil` if the store has none.
    func externalCommitNumber() throws -> UInt64?
}

extension StoreWriter {
    /// Inserts or merges rows; see ``upsert(_:into:)-(PackedRows,_)``.
    public func upsert(_ rows: [Row], into table: String) throws {
        var packed = PackedRows(shape: try shape(of: table))
        guard !rows.isEmpty else { return }
        for row in rows { try packed.append(row) }
        try upsert(packed, into: table)
    }

    /// Inserts or merges one row.
    public func upsert(_ row: Row, into table: String) throws { try upsert([row], into: table) }

    /// Deletes the row with the given identifier, if it exists.
    /// - Returns: Whether the row existed.
    @discardableResult
    public func delete(id: String, from table: String) throws -> Bool {
        try delete(ids: [.string(id)], from: table) > 0
    }
}
