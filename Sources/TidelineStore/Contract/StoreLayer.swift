/// A store around another one, its ``base``, which changes what it overrides and forwards everything else.
///
/// ```swift
/// struct LoggedStore<Base: LocalStore>: StoreLayer {
///     typealias Reader = Base.Reader
///     typealias Writer = Base.Writer
///
///     let base: Base
///
///     func define(_ tables: [TableSchema]) throws {
///         print("define", tables.map(\.name))
///         try base.define(tables)
///     }
/// }
/// ```
/// A layer cannot lose a power of its base: the contract's requirements have no default implementations, so that each
/// is either forwarded here or implemented by the layer. A layer names its reader and writer. If they are those of the
/// base, the methods with bodies are forwarded, too. A layer whose writer is a ``WriterLayer`` implements both
/// ``LocalStore/write(_:)`` and ``LocalStore/redefine(_:)``, and one with a ``ReaderLayer`` implements
/// ``LocalStore/read(_:)``. No body can then pass by the layer's own reader or writer.
///
/// The base has a concrete type. Around a store whose type is chosen at run time, it is an ``AnyStore``.
public protocol StoreLayer: LocalStore {
    /// The type of the store around which this one is.
    associatedtype Base: LocalStore

    /// The store around which this one is.
    var base: Base { get }
}

// Each write of an app passes through these methods. Inlined into the layers' modules, they cost one call, as if each
// layer contained them.
extension StoreLayer {
    @inlinable @inline(__always)
    public var capabilities: StoreCapabilities { base.capabilities }
    @inlinable @inline(__always)
    public func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    @inlinable @inline(__always)
    public func tables() throws -> [TableSchema] { try base.tables() }
    @inlinable @inline(__always)
    public var externalCommits: ExternalCommits? { base.externalCommits }
    @inlinable @inline(__always)
    public func close() throws { try base.close() }
}

// The reader and the writer have no defaults, and these methods do not mention the base's types: the compiler would
// infer the types from either, even if a layer has methods with other types, and would not call those
// (docs/workarounds.md).
extension StoreLayer where Reader == Base.Reader {
    @inlinable @inline(__always)
    public func read<T>(_ body: (Reader) throws -> T) throws -> T { try base.read(body) }
}

extension StoreLayer where Writer == Base.Writer {
    @inlinable @inline(__always)
    public func redefine(_ body: (Writer) throws -> [TableSchema]) throws { try base.redefine(body) }
    @inlinable @inline(__always)
    public func write<T>(_ body: (Writer) throws -> T) throws -> T { try base.write(body) }
}

/// A reader around another one, its ``base``, which forwards everything that it does not override.
public protocol ReaderLayer: StoreReader {
    /// The type of the reader around which this one is.
    associatedtype Base: StoreReader

    /// The reader around which this one is.
    var base: Base { get }
}

extension ReaderLayer {
    @inlinable @inline(__always)
    public func schema(of table: String) throws -> TableSchema { try base.schema(of: table) }
    @inlinable @inline(__always)
    public func shape(of table: String) throws -> RowShape { try base.shape(of: table) }

    @inlinable @inline(__always)
    public func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try base.withRow(in: table, id: id, body)
    }

    @inlinable @inline(__always)
    @discardableResult
    public func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try base.scan(query, body)
    }

    @inlinable @inline(__always)
    public func count(_ query: TableQuery) throws -> Int { try base.count(query) }
    @inlinable @inline(__always)
    public var limitTime: ((Duration) throws -> Void)? { base.limitTime }
}

/// A writer around another one, its base, which forwards everything that it does not override.
public protocol WriterLayer: ReaderLayer, StoreWriter where Base: StoreWriter {}

extension WriterLayer {
    @inlinable @inline(__always)
    public func upsert(_ rows: borrowing PackedRows, into table: String) throws { try base.upsert(rows, into: table) }

    @inlinable @inline(__always)
    @discardableResult
    public func delete(ids: [RowID], from table: String) throws -> Int { try base.delete(ids: ids, from: table) }

    @inlinable @inline(__always)
    @discardableResult
    public func delete(matching query: TableQuery) throws -> Int { try base.delete(matching: query) }

    @inlinable @inline(__always)
    public func externalCommitNumber() throws -> UInt64? { try base.externalCommitNumber() }
}
