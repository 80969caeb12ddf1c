/// A store whose type is chosen at run time.
///
/// ```swift
/// let store = AnyStore(try usesLMDB ? LMDBStore(path: path) : SQLiteStore(path: path))
/// let client = try SyncClient(url: url, store: store, transport: transport)
/// ```
/// Each transaction opens the store's type once, and each call within the transaction is dispatched dynamically.
public struct AnyStore: LocalStore {
    /// The underlying store.
    public let base: any LocalStore

    /// Wraps a store. An `AnyStore` is not wrapped again.
    public init(_ store: any LocalStore) { base = (store as? AnyStore)?.base ?? store }

    public var capabilities: StoreCapabilities { base.capabilities }
    public func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    public func tables() throws -> [TableSchema] { try base.tables() }
    public func close() throws { try base.close() }

    public func read<T>(_ body: (AnyReader) throws -> T) throws -> T {
        try base.read { try body(AnyReader(base: $0)) }
    }

    public func write<T>(_ body: (AnyWriter) throws -> T) throws -> T {
        try base.write { try body(AnyWriter(base: $0)) }
    }
}

/// The reader of an ``AnyStore``.
public struct AnyReader: StoreReader {
    fileprivate let base: any StoreReader

    public func schema(of table: String) throws -> TableSchema { try base.schema(of: table) }
    public func shape(of table: String) throws -> RowShape { try base.shape(of: table) }

    public func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try base.withRow(in: table, id: id, body)
    }

    @discardableResult
    public func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try base.scan(query, body)
    }

    public func count(_ query: Query) throws -> Int { try base.count(query) }
}

/// The writer of an ``AnyStore``.
public struct AnyWriter: StoreWriter {
    fileprivate let base: any StoreWriter

    public func schema(of table: String) throws -> TableSchema { try base.schema(of: table) }
    public func shape(of table: String) throws -> RowShape { try base.shape(of: table) }

    public func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try base.withRow(in: table, id: id, body)
    }

    @discardableResult
    public func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try base.scan(query, body)
    }

    public func count(_ query: Query) throws -> Int { try base.count(query) }

    public func upsert(_ rows: borrowing PackedRows, into table: String) throws { try base.upsert(rows, into: table) }

    @discardableResult
    public func delete(ids: [RowID], from table: String) throws -> Int { try base.delete(ids: ids, from: table) }

    @discardableResult
    public func delete(matching query: Query) throws -> Int { try base.delete(matching: query) }
}
