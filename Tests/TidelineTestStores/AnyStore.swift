public import TidelineStore
internal import TidelineTestSupport

/// A type-erased store, so that one test body runs over stores of every kind.
///
/// The store is closed when its last reference is released; files in a temporary folder are removed with it.
public final class AnyStore: LocalStore {
    /// The wrapped store.
    public let base: any LocalStore
    private let folder: TemporaryFolder?

    init(_ base: any LocalStore, in folder: TemporaryFolder?) {
        self.base = base
        self.folder = folder
    }

    deinit { try? base.close() }

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
    let base: any StoreReader

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
    let base: any StoreWriter

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
