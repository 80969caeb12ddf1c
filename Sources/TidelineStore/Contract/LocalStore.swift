/// A local store: tables of rows on the device, read in snapshots and written in transactions.
///
/// It is what the original SDK calls `MSSyncContextDataSource`. Implement it directly over an engine that has a query
/// language.
///
/// ## What an implementer guarantees
/// - **A read sees one snapshot** throughout its body, whatever is written meanwhile; **a write is all or nothing** over
///   all tables and sees its own changes. When the body throws, nothing of it remains and the error is thrown on.
/// - **Bodies are synchronous** and run on the calling thread, once. A reader or writer used after its body throws
///   ``StoreError/Code/closed``.
/// - **Any number of threads** may call at once. Readers run beside each other and beside one writer; writers wait for
///   each other. A write inside a read or write body of the same store on the same thread is a mistake of the caller
///   and throws ``StoreError/Code/busy`` where it would otherwise wait for itself.
/// - **Every failure throws** a ``StoreError``; nothing traps on data. After a failure the store works on.
/// - **Answers are the evaluator's** (``Evaluator``), for every query; what a store cannot answer so, it refuses.
public protocol LocalStore: Sendable {
    /// What a read body gets.
    associatedtype Reader: StoreReader
    /// What a write body gets.
    associatedtype Writer: StoreWriter

    /// What this store can do, unchanging while it is open.
    var capabilities: StoreCapabilities { get }

    /// Creates tables and indexes, and evolves those that exist; all of them or none.
    ///
    /// A column that is new reads null in the rows there are; an index that is new is filled from them. A column that
    /// is no longer named stays stored, out of sight. The same definition again does nothing.
    /// - Throws: ``StoreError/Code/schemaMismatch`` for an invalid definition (``TableSchema/validate()``), a column
    ///   whose type changed, or another id type or matching.
    func define(_ tables: [TableSchema]) throws

    /// The definitions of all tables, the framework's own included, in order of name.
    func tables() throws -> [TableSchema]

    /// Runs `body` on one consistent snapshot.
    func read<T>(_ body: (Reader) throws -> T) throws -> T

    /// Runs `body` as one transaction, which is committed when it returns and rolled back when it throws.
    ///
    /// When this returns, the transaction is as durable as ``StoreCapabilities/durability`` says.
    func write<T>(_ body: (Writer) throws -> T) throws -> T

    /// Closes the store after the work in flight has ended. Every later call throws ``StoreError/Code/closed``, but
    /// closing again does nothing.
    /// - Throws: ``StoreError/Code/busy`` inside a read or write body of the same store on the same thread, where it
    ///   would wait for itself; the store stays open then.
    func close() throws
}

extension LocalStore {
    /// The definitions of the app's tables: all but those with ``TableSchema/isSystem``.
    public func appTables() throws -> [TableSchema] { try tables().filter { !$0.isSystem } }
}

/// Whether a scan goes on to the next row.
public enum ScanStep: Sendable {
    /// Go on.
    case next
    /// Stop here.
    case stop
}

/// Reading within one snapshot; valid only inside the body it was passed to.
public protocol StoreReader {
    /// The definition of a table.
    /// - Throws: ``StoreError/Code/noSuchTable``.
    func schema(of table: String) throws -> TableSchema

    /// The shape of a table's rows. The default makes it from the definition; a store that keeps it spares each call
    /// that.
    /// - Throws: ``StoreError/Code/noSuchTable``.
    func shape(of table: String) throws -> RowShape

    /// Calls `body` with the row of that id, borrowed; nil, without calling it, when there is none.
    ///
    /// Ids compare as the table's ``TableSchema/idMatching`` says. An id of the wrong type or length finds nothing.
    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T?

    /// Calls `body` with each row that matches, borrowed, in the query's order, until it returns ``ScanStep/stop``.
    ///
    /// - Returns: How many rows match without regard to skip and limit, if the query asks; it is complete even when
    ///   the scan was stopped.
    /// - Throws: What ``Query/validate(against:)`` throws; ``StoreError/Code/noSuchTable``;
    ///   ``StoreError/Code/unsupportedQuery`` for what the store cannot answer as the evaluator does.
    @discardableResult
    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int?

    /// How many rows match the query's predicate; order, skip, limit and selection do not matter.
    func count(_ query: Query) throws -> Int
}

extension StoreReader {
    public func shape(of table: String) throws -> RowShape { try schema(of: table).makeShape() }

    /// The row of that id, nil when there is none.
    public func row(in table: String, id: RowID) throws -> Row? {
        try withRow(in: table, id: id) { $0.owned() }
    }

    /// The row of that textual id, nil when there is none.
    public func row(in table: String, id: String) throws -> Row? { try row(in: table, id: .string(id)) }

    /// The rows that match.
    public func rows(matching query: Query) throws -> QueryResult {
        var result = QueryResult(rows: [])
        result.totalCount = try scan(query) { view in
            result.rows.append(view.owned())
            return .next
        }
        return result
    }
}

/// Reading and writing within one transaction; valid only inside the body it was passed to.
public protocol StoreWriter: StoreReader {
    /// Inserts rows, or merges them into those of the same id: a column that is absent keeps its value, null clears it.
    ///
    /// Rows apply in their order, so of two with one id the last counts. The id keeps the spelling stored first.
    /// - Throws: ``StoreError/Code/noSuchTable``; ``StoreError/Code/invalidValue``, naming column and id: a column that
    ///   the table does not define, a value of another type than its column, null or nothing in a column that is not
    ///   optional, an id that is empty or longer than ``StoreCapabilities/maximumIDLength``, a double the store does
    ///   not keep. The transaction can only be rolled back then: throw the error on.
    func upsert(_ rows: borrowing PackedRows, into table: String) throws

    /// Deletes the rows of these ids; those that do not exist are passed over.
    /// - Returns: How many rows were deleted.
    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int

    /// Deletes the rows that the query finds, by its predicate, order, skip and limit.
    /// - Returns: How many rows were deleted.
    @discardableResult
    func delete(matching query: Query) throws -> Int
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

    /// Deletes the row of that id, if it exists.
    /// - Returns: Whether it did.
    @discardableResult
    public func delete(id: String, from table: String) throws -> Bool {
        try delete(ids: [.string(id)], from: table) > 0
    }
}
