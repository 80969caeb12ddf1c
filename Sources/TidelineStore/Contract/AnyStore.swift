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
    public func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        try base.redefine { try body(Writer(writer: $0)) }
    }
    public func tables() throws -> [TableSchema] { try base.tables() }
    public var externalCommits: ExternalCommits? { base.externalCommits }
    public func close() throws { try base.close() }

    public func read<T>(_ body: (Reader) throws -> T) throws -> T {
        try base.read { try body(Reader(reader: $0)) }
    }

    public func write<T>(_ body: (Writer) throws -> T) throws -> T {
        try base.write { try body(Writer(writer: $0)) }
    }
}

/// The reading methods of ``AnyStore/Reader`` and ``AnyStore/Writer``.
protocol AnyReading: StoreReader {
    var reader: any StoreReader { get }
}

extension AnyReading {
    public func schema(of table: String) throws -> TableSchema { try reader.schema(of: table) }
    public func shape(of table: String) throws -> RowShape { try reader.shape(of: table) }

    public func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try reader.withRow(in: table, id: id, body)
    }

    @discardableResult
    public func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try reader.scan(query, body)
    }

    public func count(_ query: TableQuery) throws -> Int { try reader.count(query) }
    public var limitTime: ((Duration) throws -> Void)? { reader.limitTime }
}

extension AnyStore {
    /// The reader of a store whose type is chosen at run time.
    public struct Reader: AnyReading {
        let reader: any StoreReader
    }

    /// The writer of a store whose type is chosen at run time.
    public struct Writer: AnyReading, StoreWriter {
        fileprivate let writer: any StoreWriter
        var reader: any StoreReader { writer }

        public func upsert(_ rows: borrowing PackedRows, into table: String) throws {
            try writer.upsert(rows, into: table)
        }

        @discardableResult
        public func delete(ids: [RowID], from table: String) throws -> Int { try writer.delete(ids: ids, from: table) }

        @discardableResult
        public func delete(matching query: TableQuery) throws -> Int { try writer.delete(matching: query) }

        public func externalCommitNumber() throws -> UInt64? { try writer.externalCommitNumber() }
    }
}
